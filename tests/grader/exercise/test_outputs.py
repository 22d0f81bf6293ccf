"""Outputs are cut while a notebook is read: what is left is what JSON says, wherever the file breaks into pieces."""

from __future__ import annotations

import io
import json
import random
from typing import Any

import pytest

from annotated_grader.exercise import outputs
from annotated_grader.exercise.outputs import without_outputs
from annotated_grader.exercise.submission import MOST_BYTES, read, read_bytes

TEXTS = ['a"b', "\\", '\\"', "outputs", '"outputs": [', "[", "]}", "\u00e9\u2028", "", "x" * 40]
KEYS = ["outputs", "attachments", "source", "data", 'x"y']


def value(draw: random.Random, depth: int = 0) -> Any:
    """Some JSON."""
    kind = draw.random() if depth < 5 else 0.1
    if kind < 0.3:
        return draw.choice([*TEXTS, 1, None, True, -1.5e-3, float("nan")])
    if kind < 0.65:
        return [value(draw, depth + 1) for _ in range(draw.randint(0, 3))]
    return {draw.choice(KEYS): value(draw, depth + 1) for _ in range(draw.randint(0, 3))}


def cut(whole: Any) -> Any:
    """The same without outputs, by recursion."""
    if isinstance(whole, list):
        return [cut(part) for part in whole]
    if not isinstance(whole, dict):
        return whole
    empty = {key: type(part)() for key, part in whole.items() if isinstance(part, list | dict) and key in KEYS[:2]}
    return {key: cut(part) for key, part in whole.items()} | empty


@pytest.mark.parametrize("piece", [1, 2, 7, 64, 2**20])
def test_what_is_left_is_what_recursion_leaves(monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    monkeypatch.setattr(outputs, "_CHUNK", piece)
    draw = random.Random(piece)
    for number in range(300):
        whole = [value(draw), value(draw)]
        data = json.dumps(whole, ensure_ascii=number % 2 > 0, indent=number % 3 or None).encode()
        assert repr(json.loads(without_outputs(io.BytesIO(data), 10**6))) == repr(cut(whole))


def test_pictures_cost_nothing_and_code_is_bounded() -> None:
    picture = {"data": {"image/png": "A" * (2 * 2**20)}}
    cells = [{"cell_type": "code", "source": "x = 1", "outputs": [picture] * 12}]
    data = json.dumps({"cells": cells}).encode()
    assert len(data) > MOST_BYTES
    left = read_bytes(io.BytesIO(data), "a.ipynb")
    assert len(left) < 200 and read(left, "a.ipynb").cells[0].code == "x = 1"
    assert len(read_bytes(io.BytesIO(data), "a.py")) == MOST_BYTES + 1
    assert len(without_outputs(io.BytesIO(b'["' + b"a" * 3000 + b'"]'), 1000)) == 1001


@pytest.mark.parametrize(
    "data", [b"", b"no JSON", b'{"outputs": [', b'{"outputs": ["a', b'"', b'{"a": "\\', b"]]]}{[", b"\xff"]
)
def test_what_is_no_notebook_comes_to_its_reader(data: bytes) -> None:
    left = without_outputs(io.BytesIO(data), 100)
    assert left == data or data.startswith(b'{"outputs"')

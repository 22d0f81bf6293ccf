"""The record of today's tokenizers: the cuts spell the texts, and the reader of a wheel cuts as the lists say."""

from __future__ import annotations

import base64
import hashlib
import re
import zipfile
from pathlib import Path

import pytest

from annotated_book import recorded
from annotated_book.training.subwords import today


def spelled(pieces: list[str]) -> str:
    """The text that pieces for human eyes spell."""
    parts = re.split("(<0x[0-9A-F]{2}>)", "".join(pieces))
    return b"".join(
        bytes([int(part[3:5], 16)]) if part.startswith("<0x") else part.replace("▁", " ").encode() for part in parts
    ).decode()


def test_the_recorded_cuts_spell_their_texts() -> None:
    rows = recorded("subwords/today").results["tokenizers"]
    assert [row["name"].split(" (")[0] for row in rows] == ["GPT-3", "GPT-4", "GPT-4o", "Claude 2", "DeepSeek"]
    for row in rows:
        assert set(row["examples"]) == set(today.TEXTS)
        for text, pieces in row["examples"].items():
            assert spelled(pieces) == text, (row["name"], text)


def test_a_list_of_a_wheel_is_read_and_used(tmp_path: Path) -> None:
    entries = [bytes([byte]) for byte in range(256)] + [b" s", b"ea", b" sea", b"at"]
    lines = b"\n".join(base64.b64encode(entry) + b" %d" % rank for rank, entry in enumerate(entries))
    name = hashlib.sha1(today.ADDRESS.format("cl100k_base").encode(), usedforsecurity=False).hexdigest()
    with zipfile.ZipFile(tmp_path / "made.whl", "w") as made:
        made.writestr(today.FOLDER + name, lines)
    with zipfile.ZipFile(tmp_path / "made.whl") as wheel:
        size, found = today._cuts(wheel, "cl100k_base")
    assert size == len(entries) and found["1234567 + 89"][:3] == ["1", "2", "3"]
    ranks = today.ranks_of(lines)
    assert today.by_ranks("a seat", ranks, today.PATTERNS["cl100k_base"]) == ["a", "▁sea", "t"]


def test_without_a_wheel_it_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(today.WHEEL, raising=False)
    with pytest.raises(FileNotFoundError, match="wheel of litellm"):
        today.run()

"""Boxes of figure 1: their code is there, their places do not overlap, their names are those of a trace."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import annotated
from annotated import paper
from annotated.analysis.tracing import trace
from annotated_book.pages import page_file
from annotated_book.viz.figure_one import BOXES, Box, code_of
from annotated_book.viz.figure_one.boxes import page_of
from annotated_book.viz.figure_one.drawing import HEIGHT, WIDTH

ROOT = Path(annotated.__file__).parent.parent


def test_every_box_has_its_code_its_section_and_a_place_of_its_own() -> None:
    sections = paper.entries()
    for box in BOXES:
        assert f"section {box.paper}" in sections
        for part in code_of(box):
            for number, line in part["lines"]:
                source = (ROOT / part["file"]).read_text(encoding="utf-8").splitlines()
                assert source[number - 1].strip() == line
    for i, one in enumerate(BOXES):
        x, y, w, h = one.place
        assert x >= 0 and x + w <= WIDTH and y >= 0 and y + h <= HEIGHT
        for other in BOXES[:i]:
            ox, oy, ow, oh = other.place
            assert x >= ox + ow or ox >= x + w or y >= oy + oh or oy >= y + h, f"{one.name} covers {other.name}"


@pytest.mark.parametrize("piece", ["no such line", "self"])
def test_a_line_that_is_not_there_or_not_the_only_one_is_an_error(piece: str) -> None:
    name = "annotated.model.layers.EncoderLayer.forward"
    box = Box("x", "x", "x", "source", "[S]", "3", "x", ((name, (piece,)),), (0, 0, 1, 1))
    with pytest.raises(LookupError, match="exactly one"):
        code_of(box)


def test_the_boxes_are_those_of_the_trace() -> None:
    traced = trace(annotated.load("classroom"), "The cat sleeps.")
    named = {box.name for box in BOXES} - {"source.tokens", "target.tokens"}
    assert {re.sub(r"\.\d\.", ".*.", name) for name in traced.boxes} == named


def test_every_box_leads_to_a_page_that_exists() -> None:
    for box in BOXES:
        assert page_file(page_of(box)).is_file(), box.name
    assert page_of(next(box for box in BOXES if box.part == "decoder.add_norm_3")) == "machine/residuals"

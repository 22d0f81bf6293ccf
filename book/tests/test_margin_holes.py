"""The text column has no hole where something wide follows a margin note: the note begins higher if there is room."""

from __future__ import annotations

from typing import Any

import pytest

LARGEST = 70
"""Pixels between a wide block and what stands above it."""
HOLES = """() => {
  const box = e => e.getBoundingClientRect(), wide = ".wide, .cell.tag_wide, .cell.tag_full-width, div.library-source";
  const found = [];
  let note, free = 0;
  for (const one of document.querySelectorAll(`.bd-article :is(aside.margin-note, ${wide})`)) {
    if (!one.offsetHeight) continue;
    if (one.matches("aside")) { if (note) free = box(note).bottom; note = one; continue; }
    let before = one.previousElementSibling;
    while (before && (before.matches("aside") || !before.offsetHeight)) before = before.previousElementSibling;
    const isFree = note && box(note).top - free > 40;
    if (before && isFree) found.push(Math.round(box(one).top - box(before).bottom));
    free = box(one).bottom;
    note = undefined;
  }
  return found;
}"""


@pytest.mark.parametrize("page", ["subwords", "batches", "teacher_forcing", "label_smoothing", "warm_up"])
def test_no_hole_is_left_beside_a_note(visit: Any, page: str) -> None:
    with visit(f"training/{page}.html", viewport={"width": 1440, "height": 900}) as v:
        v.rest()
        v.page.evaluate("dispatchEvent(new Event('resize'))")
        assert [hole for hole in v.page.evaluate(HOLES) if hole > LARGEST] == []

"""The pilot's rule: give a size up after its first pair, or decide with three seeds; then the next size."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from annotated.chapters.table_3.pilot import chosen_size, compare, current_size
from annotated.chapters.table_3.records import record_file
from annotated.chapters.table_3.size import SIZES, Size

FIRST, SECOND, *_ = SIZES.values()


def record(folder: Path, size: Size, row: str, losses: list[float | None]) -> None:
    for seed, loss in enumerate(losses):
        path = record_file(row, seed, size, folder)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"row": row, "seed": seed, "valid_loss": loss, "diverged": loss is None}))


@pytest.mark.parametrize(
    ("base", "shallow", "verdict"),
    [
        ([], [], "first pair"),
        ([4.0], [], "first pair"),
        ([4.0], [4.6], "three seeds"),
        ([4.6], [4.0], "given up"),  # the shallow model is ahead: not what the paper found
        ([None], [4.0], "given up"),
        ([4.0, 4.1], [4.6, 4.7, 4.8], "three seeds"),
        ([4.0, 4.1, 4.2], [4.6, 4.7, 4.8], "chosen"),  # 0.6 apart, deviation 0.1
        ([4.0, 4.1, 4.2], [4.4, 4.5, 4.6], "too close"),  # 0.4 apart
        ([4.0, None, 4.2], [4.6, 4.7, 4.8], "given up"),
    ],
)
def test_the_verdict_on_a_size(tmp_path: Path, base: list, shallow: list, verdict: str) -> None:
    record(tmp_path, FIRST, "base", base)
    record(tmp_path, FIRST, "C1", shallow)
    assert compare(FIRST, tmp_path).verdict == verdict


def test_further_seeds_of_the_chosen_size_do_not_change_the_verdict(tmp_path: Path) -> None:
    record(tmp_path, FIRST, "base", [4.0, 4.1, 4.2, 9.0, 1.0])
    record(tmp_path, FIRST, "C1", [4.6, 4.7, 4.8])
    assert compare(FIRST, tmp_path).separation == pytest.approx(6.0)


def test_the_next_size_is_tried_when_one_is_given_up(tmp_path: Path) -> None:
    assert current_size(tmp_path) == (FIRST, "first pair") and chosen_size(tmp_path) is None
    record(tmp_path, FIRST, "base", [4.6])
    record(tmp_path, FIRST, "C1", [4.0])
    assert current_size(tmp_path) == (SECOND, "first pair")
    record(tmp_path, SECOND, "base", [4.0, 4.1, 4.2])
    record(tmp_path, SECOND, "C1", [4.6, 4.7, 4.8])
    assert chosen_size(tmp_path) == SECOND


def test_the_pilot_can_fail(tmp_path: Path) -> None:
    for size in SIZES.values():
        record(tmp_path, size, "base", [5.0])
        record(tmp_path, size, "C1", [4.0])
    assert current_size(tmp_path) is None and chosen_size(tmp_path) is None


def test_sizes_grow_and_the_papers_form_comes_first() -> None:
    sizes = list(SIZES.values())
    for divisor in (8, 16):
        updates = [size.updates for size in sizes if size.divisor == divisor]
        assert updates == sorted(updates)
    wide = [size.norm for size in sizes if size.divisor == 8]
    assert wide == ["post", "pre"] * (len(wide) // 2)
    assert len(SIZES) == len(sizes) == len({size.name for size in sizes})

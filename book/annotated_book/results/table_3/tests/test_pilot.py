"""The pilot's rule: give a size up after its first pair, or decide with three seeds; then the next size."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotated_book.experiments.runs_file import write_run
from annotated_book.experiments.settings import SIZES, Size
from annotated_book.results.table_3.pilot import chosen_size, compare, current_size
from annotated_book.results.table_3.records import run_name

FIRST, SECOND, *_ = SIZES.values()


@pytest.fixture
def records(tmp_path: Path) -> Path:
    """A file of runs that is not there yet."""
    return tmp_path / "runs.jsonl"


def record(records: Path, size: Size, row: str, losses: list[float | None]) -> None:
    for seed, loss in enumerate(losses):
        content = {"row": row, "seed": seed, "valid_loss": loss, "diverged": loss is None}
        write_run(records, run_name(row, seed, size), content)


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
def test_the_verdict_on_a_size(records: Path, base: list, shallow: list, verdict: str) -> None:
    record(records, FIRST, "base", base)
    record(records, FIRST, "C1", shallow)
    assert compare(FIRST, records).verdict == verdict


def test_further_seeds_of_the_chosen_size_do_not_change_the_verdict(records: Path) -> None:
    record(records, FIRST, "base", [4.0, 4.1, 4.2, 9.0, 1.0])
    record(records, FIRST, "C1", [4.6, 4.7, 4.8])
    assert compare(FIRST, records).separation == pytest.approx(6.0)


def test_the_next_size_is_tried_when_one_is_given_up(records: Path) -> None:
    assert current_size(records) == (FIRST, "first pair") and chosen_size(records) is None
    record(records, FIRST, "base", [4.6])
    record(records, FIRST, "C1", [4.0])
    assert current_size(records) == (SECOND, "first pair")
    record(records, SECOND, "base", [4.0, 4.1, 4.2])
    record(records, SECOND, "C1", [4.6, 4.7, 4.8])
    assert chosen_size(records) == SECOND


def test_the_pilot_can_fail(records: Path) -> None:
    for size in SIZES.values():
        record(records, size, "base", [5.0])
        record(records, size, "C1", [4.0])
    assert current_size(records) is None and chosen_size(records) is None


def test_sizes_grow_and_the_papers_form_comes_first() -> None:
    sizes = list(SIZES.values())
    for divisor in (8, 16):
        updates = [size.updates for size in sizes if size.divisor == divisor]
        assert updates == sorted(updates)
    wide = [size.norm for size in sizes if size.divisor == 8]
    assert wide == ["post", "pre"] * (len(wide) // 2)
    assert len(SIZES) == len(sizes) == len({size.name for size in sizes})

"""What the tests of Table 3 share: a few sentences in the place of the real text, and a size of a few updates."""

from __future__ import annotations

from pathlib import Path

import pytest
import zstandard

from annotated.analysis.real_text import DATA
from annotated.classroom import classroom_pairs
from annotated_book.experiments.settings import Size


def lines(split: str, count: int) -> str:
    """Classroom pairs as the lines of a TSV file."""
    return "".join(f"{pair.source}\t{pair.target}\n" for pair in classroom_pairs(split, count))  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def small_text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the three files of the real text, a few hundred classroom sentences in them."""
    folder = tmp_path_factory.mktemp("text")
    (folder / "train.tsv.zst").write_bytes(zstandard.compress(lines("train", 400).encode()))
    for split in ("valid", "test"):
        (folder / f"{split}.tsv").write_text(lines(split, 12), encoding="utf-8")
    return folder


@pytest.fixture
def text(small_text: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, where the experiment looks for the real text."""
    monkeypatch.setenv(DATA, str(small_text))
    return small_text


@pytest.fixture
def size() -> Size:
    """Four updates, two of them validated."""
    return Size(8, updates=4, batch_tokens=60, warmup=2, learning_rate_scale=0.5, max_length=24, validations=2)


@pytest.fixture(scope="session")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the text is prepared once for all tests."""
    return tmp_path_factory.mktemp("work")

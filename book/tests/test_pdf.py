"""The printed book: contents with the right numbers, an outline, a number on each sheet, and chapters of few sheets."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

LONGEST = 12
"""Sheets of a chapter on a first reading."""
CHAPTERS = ["attention/query_key_value", "machine/residuals"]


def test_the_printed_book_has_contents_an_outline_and_numbers(extension: Any, book: Path, tmp_path: Path) -> None:
    pytest.importorskip("pypdf", reason="pypdf is in the extra `dev`")
    if not all((book / f"{name}.html").is_file() for name in CHAPTERS):
        pytest.skip("a preview without these chapters")
    with ThreadPoolExecutor(1) as other:  # other tests' browser has its own loop in this thread
        written = other.submit(extension("tools.pdf").make, book, tmp_path / "book.pdf", only=CHAPTERS).result()
    texts = [sheet.extract_text() for sheet in written.pages]
    listed = {title: int(at) for title, at in re.findall(r"^(\d+\. .*?)\s*(\d+)$", texts[0], re.M)}
    assert len(listed) == 2
    for title, at in listed.items():
        assert title.split(". ")[1] in texts[at - 1]
    assert all(re.search(rf"^{number}$", text, re.M) for number, text in enumerate(texts, 1) if number > 1)
    starts = [*listed.values(), len(texts) + 1]
    assert max(b - a for a, b in zip(starts, starts[1:], strict=False)) <= LONGEST
    assert [one["/Title"] for one in written.outline if isinstance(one, dict)] == [
        "Attention",
        "The rest of the machine",
    ]

"""Addresses of pages and of downloads: what others link to stays where it is, wherever its sources lie."""

from __future__ import annotations

from pathlib import Path

import pytest

ADDRESSES = Path(__file__).with_name("addresses.txt").read_text(encoding="utf-8").splitlines()[1:]


def test_every_page_and_download_is_at_its_address(book: Path) -> None:
    if not (book / "results" / "claims.html").is_file():
        pytest.skip("a preview has a few of the pages")
    assert len(ADDRESSES) > 180
    assert [address for address in ADDRESSES if not (book / address).is_file()] == []


def test_every_built_page_is_listed(book: Path) -> None:
    """A page that is added keeps its address from then on."""
    pages = {path.relative_to(book).as_posix() for path in book.rglob("*.html")}
    pages = {page for page in pages if not page.startswith(("_static/", "_sources/", "source/"))}
    assert pages - set(ADDRESSES) == set(), "add it to addresses.txt"

"""Pages and their folders: where the text, the code and the records of a page lie, by its name.

`attention/masks` is a page. What it consists of lies in the folder of that name, its text in `masks/masks.md` there. A
page that has nothing but a text is a file alone, `reference/glossary.md`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

BOOK = Path(__file__).parent
"""The folder of all pages."""


def page_file(page: str, book: Path = BOOK) -> Path:
    """Where the text of a page lies.

    Examples
    --------
    >>> page_file("attention/masks").relative_to(BOOK).as_posix()
    'attention/masks/masks.md'
    """
    folder = book / page
    inside = folder / f"{folder.name}.md"
    return inside if inside.is_file() else folder.with_name(f"{folder.name}.md")


def page_of(file: Path, book: Path = BOOK) -> str:
    """The page whose text a file is.

    Examples
    --------
    >>> page_of(BOOK / "attention" / "masks" / "masks.md"), page_of(BOOK / "reference" / "glossary.md")
    ('attention/masks', 'reference/glossary')
    """
    page = file.relative_to(book).with_suffix("")
    return (page.parent if page.parent.name == page.name else page).as_posix()


def page_files(book: Path = BOOK) -> list[Path]:
    """The texts of all pages; deeper in a page's folder, Markdown is data."""
    return sorted(file for file in book.rglob("*.md") if len(file.relative_to(book).parts) <= 3)


def page_texts(book: Path = BOOK) -> dict[str, str]:
    """The source of every page by its name."""
    return {page_of(file, book): file.read_text(encoding="utf-8") for file in page_files(book)}


@cache
def _folders() -> dict[str, Path]:
    inside = [place.parent for place in BOOK.glob("*/*/__init__.py") if place.parents[1].name != "viz"]
    return {folder.name: folder for folder in (BOOK / "intro", *inside)}


def page_folder(name: str) -> Path:
    """The folder of a page by the last part of its name, which no other page has: 'masks' of `attention/masks`.

    Raises
    ------
    FileNotFoundError
        If no page with a folder has this name.
    """
    if name not in _folders():
        raise FileNotFoundError(f"no page is called {name!r}; there are {', '.join(sorted(_folders()))}")
    return _folders()[name]

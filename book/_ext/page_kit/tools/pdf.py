"""Print the built book into one PDF: every page of the table of contents through Chromium, then joined.

    python book/_ext/page_kit/tools/pdf.py _build/html _build/book.pdf

Charts are their still pictures, what proves is left out, and links between pages lead inside the file. It has a table
of contents, an outline and page numbers. Pages of the API are left out: they are looked up, not read.
"""

from __future__ import annotations

import argparse
import io
import shutil
import sys
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import yaml
from playwright.sync_api import Browser, PdfMargins, sync_playwright
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, DictionaryObject, NameObject

ROOT = Path(__file__).resolve().parents[4]
TITLE = "Attention Is All You Need, annotated"
LEFT_OUT = "reference/api/"
_MARGIN: PdfMargins = {"top": "18mm", "bottom": "18mm", "left": "16mm", "right": "16mm"}


@dataclass(frozen=True)
class Chapter:
    """A printed page of the book."""

    caption: str
    """Of its part."""
    file: Path
    title: str
    printed: bytes

    @cached_property
    def sheets(self) -> int:
        """Its length on paper."""
        return len(PdfReader(io.BytesIO(self.printed)).pages)


def parts_in_order(toc: Path) -> list[tuple[str, list[str]]]:
    """Captions and their pages, the first page under an empty caption."""
    data = yaml.safe_load(toc.read_text(encoding="utf-8"))
    parts = [("", [data["root"]])]
    for part in data["parts"]:
        names, todo = [], list(part["chapters"])
        while todo:
            entry = todo.pop(0)
            names.append(entry["file"])
            todo = [*entry.get("sections", []), *todo]
        parts.append((part["caption"], names))
    return parts


def print_page(browser: Browser, file: Path) -> tuple[str, bytes]:
    """Title and PDF of one page."""
    page = browser.new_page(color_scheme="light")
    page.goto(file.as_uri())
    page.emulate_media(media="print")
    title = page.title().partition(" \N{EM DASH} ")[0]  # with the chapter's number
    printed = page.pdf(format="A4", print_background=True, margin=_MARGIN)
    page.close()
    return title, printed


def lead_inside(writer: PdfWriter, starts: dict[Path, int]) -> int:
    """Turn links to other pages of the book into links to their first sheet; how many there were."""
    changed = 0
    for sheet in writer.pages:
        for reference in sheet.get("/Annots", []) or []:
            action = reference.get_object().get("/A", {})
            address = urlsplit(str(action.get("/URI", "")))
            target = Path(unquote(address.path)) if address.scheme == "file" else None
            if target in starts:
                place = writer.pages[starts[target]].indirect_reference
                jump = DictionaryObject({NameObject("/S"): NameObject("/GoTo")})
                jump[NameObject("/D")] = ArrayObject([place, NameObject("/Fit")])
                reference.get_object()[NameObject("/A")] = jump
                changed += 1
    return changed


def contents(browser: Browser, chapters: list[Chapter], first: int) -> bytes:
    """The table of contents, for a book whose first chapter begins on a sheet, counted from 1."""
    rows, at, caption = [], first, ""
    for chapter in chapters:
        if chapter.caption != caption:
            rows.append(f"<h2>{escape(chapter.caption)}</h2>")
            caption = chapter.caption
        rows.append(f"<p><span>{escape(chapter.title)}</span><span>{at}</span></p>")
        at += chapter.sheets
    style = "h2 { font-size: 12pt; margin: 5mm 0 1mm; break-after: avoid; } p { display: flex; justify-content: "
    style += "space-between; margin: 0 0 1mm; } body { font: 10.5pt/1.35 Georgia, 'DejaVu Serif', serif; }"
    return _pdf_of(browser, f"<style>{style}</style><h1>{TITLE}</h1>{''.join(rows)}", _MARGIN)


def numbered(browser: Browser, writer: PdfWriter) -> None:
    """Put its number at the foot of each sheet but the first."""
    style = "div { height: 296mm; position: relative; break-after: page; } span { position: absolute; bottom: 9mm; "
    style += (
        "width: 100%; text-align: center; font: 9pt Georgia, 'DejaVu Serif', serif; color: #444; } body { margin: 0; }"
    )
    feet = "".join(
        f"<div><span>{number if number > 1 else ''}</span></div>" for number in range(1, len(writer.pages) + 1)
    )
    printed = PdfReader(io.BytesIO(_pdf_of(browser, f"<style>{style}</style>{feet}", {})))
    for sheet, foot in zip(writer.pages, printed.pages, strict=False):
        sheet.merge_page(foot)


def _pdf_of(browser: Browser, html: str, margin: PdfMargins) -> bytes:
    page = browser.new_page()
    page.set_content(html)
    printed: bytes = page.pdf(format="A4", margin=margin)
    page.close()
    return printed


def make(html: Path, place: Path, only: list[str] | None = None) -> PdfWriter:
    """Print, join, and write the book."""
    found = filter(None, map(shutil.which, ("chromium", "chromium-headless-shell", "google-chrome")))
    program = next(found, None) or sys.exit("no Chromium to print with")
    writer, starts, chapters = PdfWriter(), {}, []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for caption, names in parts_in_order(ROOT / "_toc.yml"):
            for name in names:
                file = (html / f"{name}.html").resolve()
                if file.is_file() and (name in only if only else not name.startswith(LEFT_OUT)):
                    chapters.append(Chapter(caption, file, *print_page(browser, file)))
                    print(f"{chapters[-1].sheets:5} sheets: {name}", flush=True)
        before = len(PdfReader(io.BytesIO(contents(browser, chapters, 1))).pages)
        writer.append(PdfReader(io.BytesIO(contents(browser, chapters, before + 1))))
        heading, caption = None, ""
        for chapter in chapters:
            starts[chapter.file] = at = len(writer.pages)
            writer.append(PdfReader(io.BytesIO(chapter.printed)), import_outline=False)
            if chapter.caption != caption:
                caption, heading = chapter.caption, writer.add_outline_item(title=chapter.caption, page_number=at)
            writer.add_outline_item(title=chapter.title, page_number=at, parent=heading)
        numbered(browser, writer)
        browser.close()
    lead_inside(writer, starts)
    writer.add_metadata({"/Title": TITLE})
    writer.compress_identical_objects()
    place.parent.mkdir(parents=True, exist_ok=True)
    writer.write(place)
    return writer


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("html", type=Path, help="folder of the built HTML")
    parser.add_argument("pdf", type=Path, help="file to write")
    options = parser.parse_args()
    written = make(options.html, options.pdf)
    print(f"{options.pdf}: {len(written.pages)} sheets, {options.pdf.stat().st_size / 2**20:.1f} MiB")

"""Print the built book into one PDF: every page of the table of contents through Chromium, then joined.

    python book/_ext/page_kit/tools/pdf.py _build/html _build/book.pdf

Charts stand in it as their still pictures, answers are unfolded, and links between pages lead inside the file.
"""

from __future__ import annotations

import argparse
import io
import shutil
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import yaml
from playwright.sync_api import Browser, sync_playwright
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, DictionaryObject, NameObject

ROOT = Path(__file__).resolve().parents[4]


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
    """Title and PDF of one page, with its formulas set."""
    page = browser.new_page(color_scheme="light")
    page.goto(file.as_uri())
    page.wait_for_function("!window.MathJax?.startup?.promise || MathJax.startup.promise.then(() => true)")
    page.emulate_media(media="print")
    margin = {"top": "18mm", "bottom": "18mm", "left": "16mm", "right": "16mm"}
    title = page.locator("article h1").first.evaluate("e => e.firstChild.textContent.trim()")
    printed = page.pdf(format="A4", print_background=True, margin=margin)
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


def make(html: Path, place: Path, only: list[str] | None = None) -> PdfWriter:
    """Print, join, and write the book."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome") or sys.exit("no Chromium to print with")
    writer, starts = PdfWriter(), {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for caption, names in parts_in_order(ROOT / "_toc.yml"):
            heading = None
            for name in names:
                file = (html / f"{name}.html").resolve()
                if not file.is_file() or (only and name not in only):
                    continue
                title, printed = print_page(browser, file)
                starts[file] = len(writer.pages)
                writer.append(PdfReader(io.BytesIO(printed)), import_outline=False)
                if caption and heading is None:
                    heading = writer.add_outline_item(caption, starts[file])
                writer.add_outline_item(title, starts[file], parent=heading)
                print(f"{len(writer.pages):5} sheets after {name}", flush=True)
        browser.close()
    lead_inside(writer, starts)
    writer.add_metadata({"/Title": "Attention Is All You Need, annotated"})
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

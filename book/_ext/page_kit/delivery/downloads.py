"""Chapters to take away: each page's download is a notebook that runs anywhere, and the book carries the library.

The notebook's first cell finds the library, and the grader where the chapter uses it, or installs them, from wheels
beside it or the book's own, which each page offers; never by a name from an index, where anybody may register one.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

import annotated
from annotated_grader.exercise.build import WHEELS as OF_EXERCISES
from annotated_grader.exercise.build import first_cell
from page_kit.delivery.notebook_export import notebook_of
from page_kit.reference.execution import ROOT, library_digest

WHEELS = OF_EXERCISES | {"annotated_book": f"annotated_book-{annotated.__version__}-py3-none-any.whl"}
"""The packages that the notebook of a page may import, and the wheels that have them."""
_IN_THE_WHEELS = (
    "annotated grader exercises book/annotated_book book/pyproject.toml book/README.md book/LICENSE "
    "pyproject.toml setup.py README.md LICENSE LICENSE-TEXT"
).split()
_IN_WORDS = {".ipynb": "Notebook (.ipynb)", ".md": "Source of the page (.md)", ".pdf": "Print, or save as PDF"}
_OFFERED = {
    "annotated": ("Library (.whl)", "Download the library, which the notebook needs beside it"),
    "annotated_book": (
        "Charts and widgets (.whl)",
        "Download the pages' charts and widgets, which the notebook needs beside it",
    ),
    "annotated_grader": ("Grader (.whl)", "Download the grader, which notebooks of exercises need beside them"),
}
"""What each wheel is called in the download menu, and its title there."""


def wheel_digest() -> str:
    """A digest of what the wheels are made of."""
    digest = hashlib.sha256(library_digest().encode())
    for name in _IN_THE_WHEELS[1:]:
        for path in sorted([ROOT / name, *ROOT.joinpath(name).rglob("*")]):
            left_out = name == "book/annotated_book" and (path.suffix in (".md", ".yaml") or "tests" in path.parts)
            if path.is_file() and "__pycache__" not in path.parts and not left_out:
                digest.update(path.relative_to(ROOT).as_posix().encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def build_wheels(folder: Path) -> dict[str, Path]:
    """Build the wheels of library, grader and book into a folder, unless those there are of this very code.

    Returns
    -------
    dict
        The wheels by the packages that they have.

    Raises
    ------
    RuntimeError
        If pip cannot build them; the message is pip's.
    """
    wheels = {package: folder / name for package, name in WHEELS.items()}
    folder.mkdir(parents=True, exist_ok=True)
    stamp, digest = folder / "digest", wheel_digest()
    if stamp.is_file() and stamp.read_text() == digest and all(wheel.is_file() for wheel in wheels.values()):
        return wheels
    for old in folder.glob("*.whl"):
        old.unlink()
    # Neither the network nor a second environment: setuptools is there, as a dependency of the extra `book`.
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    with tempfile.TemporaryDirectory() as copy:  # in the checkout, what an earlier build left behind would get in
        built = shutil.ignore_patterns("build", "*.egg-info", "__pycache__")
        for name in _IN_THE_WHEELS:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, Path(copy, name), ignore=built)
            else:
                shutil.copy(ROOT / name, Path(copy, name))
        done = subprocess.run(
            [*command, "--wheel-dir", str(folder), copy, f"{copy}/grader", f"{copy}/book"],
            capture_output=True,
            text=True,
        )
    if done.returncode:
        raise RuntimeError(f"the wheels of library, grader and book could not be built:\n{done.stderr}")
    stamp.write_text(digest)
    return wheels


def add_wheels(app: Sphinx, config: Any) -> None:
    """Put the wheels among the book's static files."""
    folder = Path(app.outdir).parent / ".wheel"
    build_wheels(folder / "wheel")
    config.html_static_path += [str(folder)]


def offer_notebook(app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Write the chapter's notebook beside its source, and let the page's download button lead to it."""
    source = Path(app.env.doc2path(name)) if name in app.env.found_docs else None
    if doctree is None or source is None or "{code-cell}" not in (text := source.read_text(encoding="utf-8")):
        return
    code = first_cell(app.config.html_baseurl or "", wheels_for(text))
    place = Path(app.outdir, "_sources", name).with_suffix(".ipynb")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(notebook_of(text, code, source), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    context["ipynb_source"] = f"{name}.ipynb"


def wheels_for(text: str) -> dict[str, str]:
    """The wheels that a chapter's notebook needs: the library's, and those of the others that a cell imports."""
    return {package: wheel for package, wheel in WHEELS.items() if package == "annotated" or package in text}


def offer_wheels(app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Say in words what the download menu has, and let it offer what the page's notebook needs, too."""
    for menu in context.get("header_buttons", []):
        if menu.get("label") == "download-buttons":
            for button in menu["buttons"]:
                button["text"] = _IN_WORDS.get(button["text"], button["text"])
        if menu.get("label") == "download-buttons" and "ipynb_source" in context:
            menu["buttons"][1:1] = [
                {
                    "type": "link",
                    "url": context["pathto"](f"_static/wheel/{WHEELS[package]}", 1),
                    "text": text,
                    "tooltip": title,
                    "icon": "fas fa-file",
                    "label": "download-wheel-button",
                }
                for package, (text, title) in _OFFERED.items()
            ]


def setup(app: Sphinx) -> None:
    """Connect the above; the theme makes its download menu at priority 501."""
    app.connect("config-inited", add_wheels)
    app.connect("html-page-context", offer_notebook, priority=490)
    app.connect("html-page-context", offer_wheels, priority=510)

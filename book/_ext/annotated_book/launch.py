"""Chapters to take away: each page's download is a notebook that runs anywhere, and the book carries the library.

The notebook's first cell finds the library or installs it, from a wheel beside it or the book's own, which each page
offers; never by a name from an index, where anybody may register one.
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

from annotated.grading.exercise.build import first_cell
from annotated_book.execution import ROOT, library_digest
from annotated_book.plain import notebook_of

_IN_THE_WHEEL = ("annotated", "exercises", "pyproject.toml", "setup.py", "README.md", "LICENSE", "LICENSE-TEXT")


def wheel_digest() -> str:
    """A digest of what the wheel is made of: the library, and the exercises, of which chapters know nothing."""
    digest = hashlib.sha256(library_digest().encode())
    for name in _IN_THE_WHEEL[1:]:
        for path in sorted([ROOT / name, *ROOT.joinpath(name).rglob("*")]):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(path.relative_to(ROOT).as_posix().encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def build_wheel(folder: Path) -> Path:
    """Build the library's wheel into a folder, unless the one there is of this very code.

    Raises
    ------
    RuntimeError
        If pip cannot build it; the message is pip's.
    """
    folder.mkdir(parents=True, exist_ok=True)
    stamp, digest = folder / "digest", wheel_digest()
    if stamp.is_file() and stamp.read_text() == digest and (wheels := list(folder.glob("*.whl"))):
        return wheels[0]
    for old in folder.glob("*.whl"):
        old.unlink()
    # Neither the network nor a second environment: setuptools is there, as a dependency of the extra `book`.
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    with tempfile.TemporaryDirectory() as copy:  # in the checkout, what an earlier build left behind would get in
        for name in _IN_THE_WHEEL:
            whole = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            whole(ROOT / name, Path(copy, name))
        done = subprocess.run([*command, "--wheel-dir", str(folder), copy], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"the library's wheel could not be built:\n{done.stderr}")
    stamp.write_text(digest)
    return next(folder.glob("*.whl"))


def add_wheel(app: Sphinx, config: Any) -> None:
    """Put the wheel among the book's static files."""
    folder = Path(app.outdir).parent / ".wheel"
    app.annotated_wheel = build_wheel(folder / "wheel").name  # type: ignore[attr-defined]
    config.html_static_path += [str(folder)]


def offer_notebook(app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Write the chapter's notebook beside its source, and let the page's download button lead to it."""
    source = Path(app.env.doc2path(name)) if name in app.env.found_docs else None
    if doctree is None or source is None or "{code-cell}" not in (text := source.read_text(encoding="utf-8")):
        return
    code = first_cell(app.config.html_baseurl or "", app.annotated_wheel)  # type: ignore[attr-defined]
    place = Path(app.outdir, "_sources", name).with_suffix(".ipynb")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(notebook_of(text, code, ROOT), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    context["ipynb_source"] = f"{name}.ipynb"


def offer_wheel(app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Let the download menu of a page that offers its notebook offer the library too."""
    wheel: str = app.annotated_wheel  # type: ignore[attr-defined]
    for menu in context.get("header_buttons", []):
        if menu.get("label") == "download-buttons" and "ipynb_source" in context:
            button = {
                "type": "link",
                "url": context["pathto"](f"_static/wheel/{wheel}", 1),
                "text": ".whl",
                "tooltip": "Download the library, which the notebook needs beside it",
                "icon": "fas fa-file",
                "label": "download-wheel-button",
            }
            menu["buttons"].insert(1, button)


def setup(app: Sphinx) -> None:
    """Connect the above; the theme makes its download menu at priority 501."""
    app.connect("config-inited", add_wheel)
    app.connect("html-page-context", offer_notebook, priority=490)
    app.connect("html-page-context", offer_wheel, priority=510)

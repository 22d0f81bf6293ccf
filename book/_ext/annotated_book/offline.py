"""Pages that ask nobody but their own site: Vega and MathJax served from it, and a policy that forbids the rest.

Nothing is downloaded at build time either: Vega comes out of vl-convert, MathJax out of sphinx-mathjax-offline.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path
from typing import Any

import vl_convert
from sphinx.application import Sphinx
from sphinx.config import Config

from annotated.viz.theme import BOOK_VARIABLE, VEGA_LITE

# Vega compiles its expressions ('unsafe-eval'); widgets are modules made from a blob.
POLICY = (
    "default-src 'self' data: blob:; script-src 'self' 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' blob:; "
    "style-src 'self' 'unsafe-inline'; connect-src 'self' blob:"
)
MATHJAX_PARTS = ("tex-chtml.js", "output/chtml/fonts/woff-v2", "input/tex/extensions", "a11y", "sre", "ui")


def gather_assets(app: Sphinx, config: Config) -> None:
    """Put Vega and the used part of MathJax beside the build, and both asset folders on the static path.

    Own scripts must not live in `_static`: Jupyter Book would load every one of them on every page.
    """
    folder = Path(app.outdir).parent / ".offline"
    vendor = folder / "vendor"
    vendor.mkdir(parents=True, exist_ok=True)
    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=VEGA_LITE)
    (vendor / "vega.js").write_text("(()=>{" + bundle + "})();", encoding="utf-8")
    origin = importlib.util.find_spec("sphinx-mathjax-offline").origin  # type: ignore[union-attr]
    mathjax = Path(origin).parent / "static" / "mathjax"  # type: ignore[arg-type]
    for part in MATHJAX_PARTS:
        place = vendor / "mathjax" / part
        place.parent.mkdir(parents=True, exist_ok=True)
        if (mathjax / part).is_dir():
            shutil.copytree(mathjax / part, place, dirs_exist_ok=True)
        else:
            shutil.copy(mathjax / part, place)
    config.html_static_path += [str(folder), str(Path(app.srcdir, "_assets"))]


def finish_page(app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Add the policy, and leave out Thebe: it would run code on a foreign server, and its script is in error."""

    def is_thebe(script: Any) -> bool:
        return "thebe" in f"{getattr(script, 'filename', script)}{getattr(script, 'attributes', '')}".lower()

    context["script_files"] = [script for script in context["script_files"] if not is_thebe(script)]
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    context["metatags"] = policy + context.get("metatags", "")


def empty_icon_script(app: Sphinx, error: Exception | None) -> None:
    """Empty the theme's 1.4 MB icon script: its web font draws the same icons without it."""
    script = Path(app.outdir, "_static", "scripts", "fontawesome.js")
    if error is None and script.exists():
        script.write_text("", encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Connect the above, and tell every kernel that its charts go into the book."""
    os.environ[BOOK_VARIABLE] = "1"
    app.connect("config-inited", gather_assets)
    app.connect("html-page-context", finish_page, priority=999)
    app.connect("build-finished", empty_icon_script)
    app.add_css_file("book/book.css")
    app.add_js_file("book/charts.js", defer="defer")
    app.add_js_file("book/predictions.js", defer="defer")

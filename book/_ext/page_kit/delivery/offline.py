"""Pages that ask nobody but their own site: Vega served from it, and a policy that forbids the rest.

Nothing is downloaded at build time either: Vega comes out of vl-convert. And light pages: what the theme loads and a
page does not use is left out of it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pydata_sphinx_theme
import vl_convert
from fontTools import subset
from fontTools.ttLib import TTFont
from sphinx.application import Sphinx
from sphinx.config import Config

from annotated_book.viz.javascript import KIT, esm
from annotated_book.viz.renderers import BOOK_VARIABLE
from annotated_book.viz.theme import VEGA_LITE
from page_kit.data import BOOK
from page_kit.delivery.accessibility import repair

# Vega compiles its expressions ('unsafe-eval'); widgets are modules made from a blob.
ASSETS = BOOK / "_assets"
POLICY = (
    "default-src 'self' data: blob:; script-src 'self' 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' blob:; "
    "style-src 'self' 'unsafe-inline'; connect-src 'self' blob:"
)
STYLES = ("colour", "type", "formulas", "layout", "chapter", "boxes", "book", "print")
"""The book's own style sheets, in their order: later ones build on the names of the first."""
# The icons that the theme draws; one that is missing here is still drawn, from the whole font.
ICONS = (
    "angle-left angle-right arrow-down arrow-up bars book caret-down check chevron-down chevron-right chevron-up "
    "circle-exclamation circle-half-stroke circle-info compress download expand file file-code file-pdf "
    "info lightbulb link list magnifying-glass moon pencil rocket rotate-left sun triangle-exclamation xmark"
).split()


def gather_assets(app: Sphinx, config: Config) -> None:
    """Put Vega beside the build, and both asset folders on the static path.

    Own scripts must not live in `_static`: Jupyter Book would load every one of them on every page.
    """
    folder = Path(app.outdir).parent / ".offline"
    vendor = folder / "vendor"
    vendor.mkdir(parents=True, exist_ok=True)
    drawing = esm(KIT / "chart_drawing.js").replace("export ", "") + "window.drawIn = drawIn;"
    made_of = "\n".join([vl_convert.__version__, VEGA_LITE, pydata_sphinx_theme.__version__, *ICONS, drawing])
    stamp = folder.with_suffix(".made_of")
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != made_of:
        bundle = vl_convert.javascript_bundle(drawing, vl_version=VEGA_LITE)
        (vendor / "vega.js").write_text("(()=>{" + bundle + "})();", encoding="utf-8")
        write_icons(vendor / "icons.woff")
        stamp.write_text(made_of, encoding="utf-8")
    config.html_static_path += [str(folder), str(ASSETS)]
    config.html_search_scorer = str(ASSETS / "search" / "scorer.js")
    config.templates_path.insert(0, str(Path(__file__).parent / "templates"))


def write_icons(place: Path) -> None:
    """Write the part of the theme's icon font that is used: 150 KB less for a page to load."""
    static = Path(pydata_sphinx_theme.__file__).parent / "theme/pydata_sphinx_theme/static"
    style = (static / "styles/pydata-sphinx-theme.css").read_text(encoding="utf-8")
    rules = re.findall(r'((?:\.fa-[a-z0-9-]+:before,?)+)\{content:"\\([0-9a-f]+)"', style)
    codes = {name: int(code, 16) for names, code in rules for name in re.findall(r"\.fa-([a-z0-9-]+)", names)}
    of_boxes = map(ord, re.findall(r'--pst-icon-[a-z-]+:"([\ue000-\uf8ff])"', style))
    font = TTFont(static / "vendor/fontawesome/webfonts/fa-solid-900.ttf")
    subsetter = subset.Subsetter()
    subsetter.populate(unicodes=[*of_boxes, *(codes[name] for name in ICONS)])
    subsetter.subset(font)
    font.flavor = "woff"
    font.save(place)


def finish_page(app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Add the policy, and leave out Thebe: it would run code on a foreign server, and its script is in error."""

    def is_thebe(script: Any) -> bool:
        return "thebe" in f"{getattr(script, 'filename', script)}{getattr(script, 'attributes', '')}".lower()

    context["script_files"] = [script for script in context["script_files"] if not is_thebe(script)]
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    context["metatags"] = policy + context.get("metatags", "")


# Light or dark, and how much is shown, is known before the first paint, also where the browser refuses to remember
# anything. The fonts of title and text come with the style sheets, not after them; from a folder on a disk a browser
# loads no font ahead.
_THEME = """<script>(() => {
    const kept = name => { try { return localStorage.getItem(name); } catch { return null; /* private */ } };
    const [mode, theme, reading] = ["mode", "theme", "reading"].map(kept);
    const page = document.documentElement.dataset;
    page.reading = reading || "read";
    page.mode = mode || "auto";
    page.theme = theme && theme !== "auto" && page.mode !== "auto" ? theme
      : matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    if (location.protocol !== "file:") for (const font of ["display", "regular", "semibold"]) {
      const href = `${page.content_root || "./"}_static/fonts/serif-${font}.woff2`, type = "font/woff2";
      const ahead = Object.assign(document.createElement("link"), { rel: "preload", as: "font", type, href });
      ahead.crossOrigin = "";
      document.head.append(ahead);
    }
  })();</script>"""
_LEFT_OUT = [
    re.compile(r'<script data-cfasync="false">.*?</script>', re.DOTALL),  # _THEME replaces it
    re.compile(r'<script defer src="[^"]*scripts/fontawesome\.js[^>]*></script>'),
    re.compile(r'<link rel="preload" as="script"[^>]*>'),
    re.compile(r"<link [^>]*sphinx-thebe\.css[^>]*>"),
    re.compile(r'<script type="text/x-thebe-config">.*?</script>\s*<script>kernelName[^<]*</script>', re.DOTALL),
    re.compile(r"<script>window\.MathJax = .*?</script>"),
    re.compile(r'<meta name="docsearch:[^>]*>'),
    re.compile(r'<meta name="viewport" content="width=device-width, initial-scale=1"/>'),  # the second one
]
_SEARCH = re.compile(r'<script src="[^"]*(?:searchtools|language_data|searchindex)\.js"></script>')
# What is loaded for the sake of some pages, and how those can be known.
_WHERE_USED = [
    (
        re.compile(r"<(?:link|script) [^>]*(?:sphinx-design\.min\.css|design-tabs\.js)[^>]*>(?:</script>)?"),
        'class="sd-|"sd-',
    ),
    (
        re.compile(r"<(?:link|script) [^>]*togglebutton\.(?:css|js)[^>]*>(?:</script>)?"),
        'class="(?:[^"]* )?toggle[ "]|admonition dropdown|dropdown admonition',
    ),
    (
        re.compile(r"<(?:link|script) [^>]*(?:copybutton\.css|copybutton\.js|clipboard\.min\.js)[^>]*>(?:</script>)?"),
        'class="highlight',
    ),
]
_PATIENT = r"doctools|sphinx_highlight|clipboard\.min|copybutton|sphinx-book-theme|togglebutton|design-tabs"
_BLOCKING = re.compile(rf'<script (?!type)([^>]*src="[^"]*(?:{_PATIENT})\.js[^"]*")>')


def lighten(page: str, name: str) -> str:
    """A page of the theme without what it does not use, and with scripts that nothing waits for."""
    page = page.replace("</title>", f"</title>\n  {_THEME}", 1)
    head, start, body = page.partition("<body")
    page = re.sub(r"<!--.*?-->", "", head, flags=re.DOTALL) + start + body
    for pattern in _LEFT_OUT:
        page = pattern.sub("", page)
    if name != "search":
        page = _SEARCH.sub("", page)
    for pattern, sign in _WHERE_USED:
        if not re.search(sign, body):
            page = pattern.sub("", page)
    page = re.sub(r'(<html[^>]*) data-theme="auto"', r'\1 data-theme="light"', page, count=1)
    if name == "search":
        scripts = "".join(f'<script src="_static/{name}.js"></script>' for name in ("search/passages", "book/search"))
        page = page.replace("</body>", f"{scripts}</body>", 1)
        page = page.replace("</head>", '<link rel="stylesheet" href="_static/book/search.css"/></head>', 1)
    return page if name == "search" else _BLOCKING.sub(r"<script defer \1>", page)  # its script waits for none


def finish_pages(app: Sphinx) -> None:
    """Let every rendered page pass through `lighten` and `repair`."""
    templates = getattr(app.builder, "templates", None)
    if app.builder.format != "html" or templates is None:
        return
    render = templates.render

    def render_and_finish(template: str, context: dict[str, Any]) -> str:
        page = render(template, context)
        return repair(lighten(page, context.get("pagename", ""))) if template.endswith(".html") else page

    templates.render = render_and_finish


def drop_icon_script(app: Sphinx, error: Exception | None) -> None:
    """Empty the theme's 1.4 MB icon script, which no page asks for, and drop maps of minified files."""
    static = Path(app.outdir, "_static")
    if error is None and (static / "scripts").is_dir():
        (static / "scripts" / "fontawesome.js").write_text("", encoding="utf-8")
        for path in [*static.glob("scripts/*.map"), *static.glob("styles/*.map")]:
            path.unlink()


def setup(app: Sphinx) -> None:
    """Connect the above, and tell every kernel that its charts go into the book."""
    os.environ[BOOK_VARIABLE] = "1"
    app.connect("config-inited", gather_assets)
    app.connect("builder-inited", finish_pages, priority=900)
    app.connect("html-page-context", finish_page, priority=999)
    app.connect("build-finished", drop_icon_script)
    for sheet in STYLES:
        app.add_css_file(f"book/{sheet}.css")
    app.add_js_file("book/store.js", defer="defer", priority=400)
    app.add_js_file("book/charts.js", defer="defer")
    app.add_js_file("book/find.js", defer="defer")

"""The directive `library-source`: code of the library by object name, and the pages that hold its whole modules."""

from __future__ import annotations

import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import annotated

ROOT = Path(annotated.__file__).parent.parent
_DOCSTRING = re.compile(r'^(\s*)(?:r?""").*?"""\n', re.DOTALL | re.MULTILINE)


def find(name: str) -> Any:
    """The object of a dotted name: a class, function, method or property.

    Raises
    ------
    LookupError
        If there is none.
    """
    parts = name.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            if not hasattr(found, part):
                raise LookupError(f"{'.'.join(parts[:cut])} has no {part} on the way to {name}")
            found = getattr(found, part)
        return found.fget if isinstance(found, property) else found
    raise LookupError(f"there is no module {parts[0]}")


def source_of(name: str, with_docstring: bool = True) -> tuple[str, Path, int, str]:
    """Code, file (relative to the repository), first line and `Paper:` line of an object."""
    found = find(name)
    lines, start = inspect.getsourcelines(found)
    code = textwrap.dedent("".join(lines))
    paper = re.search(r"^\s*Paper: *(.+(?:\n[ \t]*\S.*)*)", inspect.getdoc(found) or "", re.MULTILINE)
    if not with_docstring:
        code = _DOCSTRING.sub("", code, count=1)
    path = Path(inspect.getsourcefile(found) or "").resolve().relative_to(ROOT)
    return code, path, start, " ".join(paper[1].split()) if paper else ""


class LibrarySource(SphinxDirective):
    """Show the code of an object of the library; `:no-docstring:` leaves its docstring out."""

    required_arguments = 1
    option_spec = {"no-docstring": directives.flag}

    def run(self) -> list[nodes.Node]:
        """The code, with a caption that names file, line and section of the paper."""
        name = self.arguments[0]
        try:
            code, path, start, paper = source_of(name, "no-docstring" not in self.options)
        except LookupError as error:
            return [self.state.document.reporter.error(str(error), line=self.lineno)]
        self.env.note_dependency(str(ROOT / path))
        page = "source/" + path.with_suffix("").as_posix()
        up = "../" * self.env.docname.count("/")
        link = nodes.reference("", path.as_posix(), refuri=f"{up}{page}.html#line-{start}")
        caption = nodes.paragraph("", "", link, nodes.Text(f", line {start}"), classes=["library-source-caption"])
        if paper:
            caption += nodes.Text(f" · Paper: {paper}")
        block = nodes.literal_block(code, code, language="python")
        if not hasattr(self.env, "library_sources"):
            self.env.library_sources = {}  # type: ignore[attr-defined]
        self.env.library_sources.setdefault(self.env.docname, set()).add((page, path.as_posix()))  # type: ignore[attr-defined]
        return [nodes.container("", caption, block, classes=["library-source"])]


def module_pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """A page for each module that a chapter shows code of, with a target for every line."""
    shown = getattr(app.env, "library_sources", {})
    for page, path in sorted(set().union(*shown.values())):
        formatter = HtmlFormatter(linenos="inline", lineanchors="line", anchorlinenos=True, wrapcode=True)
        code = highlight((ROOT / path).read_text(encoding="utf-8"), PythonLexer(), formatter)
        title = f'<h1 class="source-title">{path}</h1><p>Shown from the library as it is.</p>'
        body = f'{title}<div class="highlight-python">{code}</div>'
        yield page, {"title": path, "body": body, "page_source_suffix": "", "sourcename": ""}, "page.html"


def forget(app: Sphinx, env: Any, docname: str) -> None:
    """Forget what a chapter showed before it is read again."""
    getattr(env, "library_sources", {}).pop(docname, None)


def merge(app: Sphinx, env: Any, docnames: Any, other: Any) -> None:
    """Take over what another process found, when chapters are read in parallel."""
    if not hasattr(env, "library_sources"):
        env.library_sources = {}
    env.library_sources.update(getattr(other, "library_sources", {}))


def setup(app: Sphinx) -> None:
    """Register the directive and the pages."""
    app.add_directive("library-source", LibrarySource)
    app.connect("html-collect-pages", module_pages)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)

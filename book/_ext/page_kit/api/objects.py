"""What stands beside an object of the API reference: its source, its part of the paper, and the chapters that show it.

    :::{objects}
    annotated.model.attention.MultiHeadAttention
    annotated.Transformer | What a reader needs to know of it.
    :::

is a table of the objects to read first, each with its first sentence, or the one behind it, and its part of the paper.
`% api:` (see `api`) puts a line of facts under the name of each module: its file, its parts of the paper, the chapters
that show it and its tests. Each signature leads to its line in the book's own source pages, and copies the line that
imports its name.
"""

from __future__ import annotations

import ast
import inspect
import re
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import annotated
from annotated.paper import entries, parse
from page_kit.authoring.paper import link_to
from page_kit.authoring.source import ROOT, SHOWN, find, note_page, place_of, source_page
from page_kit.chapter.page_facts import chapters_in_order, commas, link
from page_kit.formulas.docstring_formulas import with_formulas
from page_kit.kept import kept
from page_kit.places import Place
from page_kit.raw_html import raw

API = "reference/api/"
_PAPER = re.compile(r"^\s*Paper: *(.+(?:\n[ \t]*\S.*)*)", re.MULTILINE)


class Objects(SphinxDirective):
    """The table of the objects to read first."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """The table, or a message about a name that the library lacks."""
        rows = []
        for name, _, said in (line.partition(" | ") for line in map(str.strip, self.content) if line):
            try:
                found = find(name)
            except LookupError as error:
                return [self.state.document.reporter.error(f"{name}: {error}", line=self.lineno)]
            doc = inspect.getdoc(found) or ""
            keys = " ".join(f"{{paper}}`{key.removeprefix('section ')}`" for key in paper_of(doc))
            rows.append((f"{{py:obj}}`~{name}`", with_formulas(said or first_sentence(doc)), keys))
        columns = 3 if any(keys for *_, keys in rows) else 2
        written = (("Read first", "What it is", "The paper"), ("---",) * 3, *rows)
        lines = [f"| {' | '.join(row[:columns])} |" for row in written]
        table = self.parse_text_to_nodes("\n".join(lines))
        return [nodes.container("", *table, classes=["stacked-table", "api-objects"])]


class Module(SphinxDirective):
    """The place of a module's facts."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The place; the module's source becomes a page of the book."""
        path = path_of(self.arguments[0])
        note_page(self.env, path)
        return [Place(fill=module_facts, module=self.arguments[0])]


def first_sentence(doc: str) -> str:
    """The first sentence of a docstring, in a line."""
    first = " ".join(doc.split("\n\n")[0].split())
    return re.split(r"(?<=[.!?]) (?=[A-Z`])", first)[0].replace("|", r"\|")


def paper_of(text: str) -> list[str]:
    """The parts of the paper that the `Paper:` lines of a text name, each once, in its order."""
    found = [key for lines in _PAPER.findall(text) for key in parse(" ".join(lines.split()))]
    return [key for key in dict.fromkeys(found) if key in entries()]


@cache
def path_of(module: str) -> Path:
    """The file of a module, relative to the repository."""
    place = ROOT / place_of(module)
    return (place / "__init__.py" if place.is_dir() else place.with_suffix(".py")).relative_to(ROOT)


@cache
def lines_of(module: str) -> dict[str, int]:
    """The line of each class, function, method and named value of a module: 'Masked.mix', 'MOST'."""
    found: dict[str, int] = {}

    def walk(body: list[ast.stmt], owner: str) -> None:
        for node in body:
            names = []
            if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                names = [node.name]
            elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names = [target.id for target in targets if isinstance(target, ast.Name)]
            for name in names:
                found.setdefault(f"{owner}{name}", node.lineno)
            if isinstance(node, ast.ClassDef):
                walk(node.body, f"{owner}{node.name}.")

    walk(ast.parse((ROOT / path_of(module)).read_text(encoding="utf-8")).body, "")
    return found


def link_sources(app: Sphinx, document: nodes.document) -> None:
    """Give each signature of the reference a link to its line."""
    docname = app.env.docname
    if not docname.startswith(API):
        return
    for signature in document.findall(addnodes.desc_signature):
        module, name = signature.get("module"), signature.get("fullname")
        line = lines_of(module).get(name) if module and module.startswith("annotated") and name else None
        if line:
            # Nobody imports the chapters' code, whose page is the heaviest.
            if "." not in name and name.isidentifier() and not module.startswith("annotated_book"):
                signature += import_button(module, name)
            page = note_page(app.env, path_of(module))
            target = f"{'../' * docname.count('/')}{page}.html#line-{line}"
            signature += nodes.reference(
                "", "source", refuri=target, classes=["api-source"], reftitle=f"{name}, line {line}"
            )


def import_button(module: str, name: str) -> nodes.raw:
    """A button that copies the line which imports a name, from `annotated` itself where it is exported; `copy.js`."""
    home = "annotated" if getattr(annotated, name, None) is find(f"{module}.{name}") else module
    words = f'type="button" class="copy" data-import hidden aria-label="Copy the import of {name}"'
    return raw(f'<button {words} data-copy="from {home} import {name}">import</button>')


def tests_of(path: Path) -> Path | None:
    """The tests that mirror a module, if there are: tests/model/test_masks.py for annotated/model/masks.py."""
    if path.parts[0] == "book":
        file = path.parent / "tests" / f"test_{path.stem}.py"
    else:
        own = path.parts[0] == "grader"
        file = Path("tests", *["grader"] * own, *path.parts[1 + own : -1], f"test_{path.stem}.py")
    return file if (ROOT / file).is_file() else None


def _shown_in(app: Sphinx, here: str, name: str, chapters: dict[str, dict[str, Any]]) -> list[nodes.Node]:
    """Links to those of the chapters that show code of an object, or of a module."""
    shown: dict[str, set[str]] = kept(app.env, SHOWN)
    pages = [page for page in chapters if any(f"{one}.".startswith(f"{name}.") for one in shown.get(page, ()))]
    return commas([link(app, here, page, str(chapters[page]["number"]), chapters[page]["title"]) for page in pages])


def module_facts(app: Sphinx, here: str, place: Place) -> nodes.paragraph:
    """A line: the file, the parts of the paper, the chapters."""
    module, path = place["module"], path_of(place["module"])
    uri = f"{'../' * here.count('/')}{source_page(path)}.html"
    line = nodes.paragraph("", "", nodes.reference("", path.as_posix(), refuri=uri), classes=["api-facts"])
    keys = paper_of((ROOT / path).read_text(encoding="utf-8"))
    if keys:
        line += [nodes.Text(" · the paper: "), *commas([link_to(key) for key in keys])]
    if path.name != "__init__.py" and (chapters := _shown_in(app, here, module, chapters_in_order(app.env))):
        line += [nodes.Text(" · shown in chapter " if len(chapters) == 1 else " · shown in chapters "), *chapters]
    if tests := tests_of(path):
        line += [nodes.Text(" · tests: "), nodes.inline("", tests.as_posix())]
    return line


def fill(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Write under an object the chapters that show it."""
    if not docname.startswith(API):
        return
    everyone = chapters_in_order(app.env)
    for entry in doctree.findall(addnodes.desc):
        signature, content = entry[0], entry[-1]
        if not signature.get("module"):
            continue
        chapters = _shown_in(app, docname, f"{signature['module']}.{signature['fullname']}", everyone)
        if chapters and not isinstance(entry.parent.parent, addnodes.desc):
            word = "Shown in chapter " if len(chapters) == 1 else "Shown in chapters "
            content.insert(0, nodes.paragraph("", word, *chapters, nodes.Text("."), classes=["api-facts"]))


def setup(app: Sphinx) -> None:
    """Register the directives, and connect the rest."""
    app.setup_extension("page_kit.places")
    app.add_directive("objects", Objects)
    app.add_directive("module-facts", Module)
    app.connect("doctree-read", link_sources)
    app.connect("doctree-resolved", fill)

"""The directives `library-source` and `equation-code`, and which modules get a page of source (`source_pages`).

    ```{library-source} annotated.model.attention.scaled_dot_product_attention
    :no-docstring:
    :highlight: scores = q @ k
    ```

shows the code of an object by its name, and marks the statements that have the text (or match the expression).
`:match:` shows those statements alone, with "..." for what lies between.

    :::{equation-code} annotated.model.attention.scaled_dot_product_attention
    :match: scores = q @ k

    $$\\text{scores} = QK^\\top / \\sqrt{d_k}$$
    :::

sets a formula beside the statements that compute it; `:equation: 1` takes the paper's own. A text that the code
no longer has is an error.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import textwrap
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import annotated
from annotated.paper import EQUATIONS, entries, parse
from page_kit.authoring.paper import link_to
from page_kit.kept import keep, kept

ROOT = Path(annotated.__file__).parent.parent
SOURCES, SHOWN = "library_sources", "library_shown"
"""What the environment keeps of each page: the files that it leads to, and the objects whose code it shows."""
FOLDERS = {"annotated": "", "annotated_grader": "grader/", "annotated_book": "book/"}
"""Where the packages lie that the reference documents."""
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
    path = Path(inspect.getsourcefile(inspect.unwrap(found)) or "").resolve().relative_to(ROOT)
    return code, path, start, " ".join(paper[1].split()) if paper else ""


def statements(code: str, pattern: str) -> list[int]:
    """The lines, from 1, of every statement with a line that has the text, or else matches the expression.

    A statement over several lines counts as a whole; of a compound one, such as `for`, only the line itself.
    Docstrings are no statements.

    Raises
    ------
    LookupError
        If no line does.
    """
    simple = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.stmt) and not hasattr(node, "body")]
    whole = {n: _span(node) for node in simple for n in _span(node)}
    texts = [node for node in simple if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)]
    ignored = {n for node in texts for n in _span(node)}
    lines = {n: line for n, line in enumerate(code.splitlines(), 1) if n not in ignored}
    found = [n for n, line in lines.items() if pattern in line]
    if not found:
        try:
            found = [n for n, line in lines.items() if re.search(pattern, line)]
        except re.error as error:
            raise LookupError(f"{pattern!r} is neither in the code nor a regular expression: {error}") from error
    if not found:
        raise LookupError(f"no line has or matches {pattern!r}")
    return sorted({n for line in found for n in whole.get(line, [line])})


def _span(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def excerpt(name: str, pattern: str) -> tuple[str, int]:
    """The matching statements of an object's code, with "..." for what lies between, and the number of the first."""
    whole = source_of(name)[0]
    shown = statements(whole, pattern)
    lines = whole.splitlines()
    blocks: list[list[str]] = [[]]
    for before, number in zip([shown[0] - 1, *shown], shown, strict=False):
        if number > before + 1:
            blocks.append([])
        blocks[-1].append(lines[number - 1])
    return "\n...\n".join(textwrap.dedent("\n".join(block)) for block in blocks), shown[0]


def place_of(module: str) -> Path:
    """Where a module's file or folder is, without an ending, relative to the repository."""
    return Path(FOLDERS.get(module.partition(".")[0], ""), module.replace(".", "/"))


def module_at(path: str) -> str:
    """The module of a file, relative to the repository."""
    return (
        path.removeprefix("grader/")
        .removeprefix("book/")
        .removesuffix(".py")
        .removesuffix("/__init__")
        .replace("/", ".")
    )


def source_page(path: Path) -> str:
    """The page that holds a file of library or grader, relative to the repository."""
    return "source/" + path.with_suffix("").as_posix()


def note_page(env: Any, path: Path, name: str = "") -> str:
    """The page of a file, to be written because the page that is read leads to it; `name` is the object it shows."""
    kept(env, SOURCES).setdefault(env.docname, set()).add((source_page(path), path.as_posix()))
    if name:
        found = inspect.unwrap(find(name))
        shown = f"{found.__module__}.{found.__qualname__}" if hasattr(found, "__qualname__") else name
        kept(env, SHOWN).setdefault(env.docname, set()).add(shown)
    return source_page(path)


class _CodeDirective(SphinxDirective):
    """What both directives share: finding the object, and the caption."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The nodes, or a message about what is missing."""
        try:
            return self.show(self.arguments[0])
        except LookupError as error:
            return [self.state.document.reporter.error(f"{self.arguments[0]}: {error}", line=self.lineno)]

    def show(self, name: str) -> list[nodes.Node]:
        """The nodes for an object."""
        raise NotImplementedError

    def caption(self, name: str, path: Path, line: int, paper: str) -> nodes.paragraph:
        """File and line, the object's page in the reference, and the parts of the paper, each a link."""
        self.env.note_dependency(str(ROOT / path))
        page = note_page(self.env, path, name)
        up = "../" * self.env.docname.count("/")
        link = nodes.reference("", path.as_posix(), refuri=f"{up}{page}.html#line-{line}")
        caption = nodes.paragraph("", "", link, nodes.Text(f", line {line}"), classes=["library-source-caption"])
        caption += [nodes.Text(" · "), soft_reference(name, self.env.docname)]
        keys = [key for key in parse(paper) if key in entries()]
        if keys:
            caption += nodes.Text(" · the paper: ")
            for number, key in enumerate(keys):
                caption += [nodes.Text(", ")] * bool(number) + [link_to(key)]
        return caption


class LibrarySource(_CodeDirective):
    """Show the code of an object: without its docstring, with statements marked, or only those that match."""

    option_spec = {
        "no-docstring": directives.flag,
        "highlight": directives.unchanged_required,
        "match": directives.unchanged_required,
    }

    def show(self, name: str) -> list[nodes.Node]:
        """The code, with a caption that names file, line and section of the paper."""
        code, path, start, paper = source_of(name, "no-docstring" not in self.options)
        if "match" in self.options:
            code, first = excerpt(name, self.options["match"])
            start += first - 1
        block = nodes.literal_block(code, code, language="python", force="match" in self.options)
        if "highlight" in self.options:
            block["highlight_args"] = {"hl_lines": statements(code, self.options["highlight"])}
        return [nodes.container("", self.caption(name, path, start, paper), block, classes=["library-source"])]


class EquationCode(_CodeDirective):
    """A formula and the statements that compute it, side by side where there is room."""

    has_content = True
    option_spec = {"match": directives.unchanged_required, "equation": directives.positive_int}

    def show(self, name: str) -> list[nodes.Node]:
        """Formula, statements and caption."""
        if "match" not in self.options:
            raise LookupError(":match: must name the line that computes the equation")
        _, path, start, paper = source_of(name)
        code, first = excerpt(name, self.options["match"])
        block = nodes.literal_block(code, code, language="python", force=True)
        formula = nodes.container(classes=["equation-code-formula"])
        self._formula(formula)
        right = nodes.container("", block, classes=["equation-code-lines"])
        caption = self.caption(name, path, start + first - 1, paper)
        return [nodes.container("", formula, right, caption, classes=["equation-code"])]

    def _formula(self, box: nodes.container) -> None:
        number = self.options.get("equation")
        if number is not None:
            if number not in (known := {equation.number: equation for equation in EQUATIONS}):
                raise LookupError(f"the paper has no equation {number}")
            box += nodes.math_block(
                "", known[number].tex, nowrap=False, number=None, label=None, docname=self.env.docname
            )
        box += self.parse_content_to_nodes()
        if not box.children:
            raise LookupError("a formula is missing: write it in the body, or :equation: with the paper's number")


def soft_reference(name: str, docname: str) -> pending_xref:
    """A link to an object's place in the reference, or its bare name if it has none."""
    *_, owner, last = name.split(".")
    shown = f"{owner}.{last}" if owner[:1].isupper() else last  # a method is named with its class
    text = nodes.literal("", shown, classes=["xref", "py"])
    reference = pending_xref("", text, refdomain="py", reftype="obj", reftarget=name, refdoc=docname, refexplicit=True)
    reference["soft"] = True
    return reference


def leave_soft(app: Sphinx, env: Any, node: pending_xref, content: nodes.Element) -> nodes.Element | None:
    """What was not found stays plain text, where the reference was a courtesy."""
    return content if node.get("soft") else None


def setup(app: Sphinx) -> None:
    """Register the directives."""
    app.add_directive("library-source", LibrarySource)
    app.add_directive("equation-code", EquationCode)
    app.connect("missing-reference", leave_soft, priority=900)
    keep(app, SOURCES, SHOWN)

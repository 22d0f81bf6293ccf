"""The directive `all-names`: the documented names in one list, for a field that filters it.

    :::{all-names}
    :::

A fold for each page of the reference, in the order of its index; in it each module with its classes, functions,
methods, fields and values as its source has them. Of the grader and of the book, which few import, fields and methods
are on their own pages only: with them the page would be 15 % heavier. An entry leads to its place in the reference
and says its kind, its first sentence and the parts of the paper that its docstring names. A field may be described by
its class, a method by the one that it overrides; what has no sentence shows its type and its value. The list is filled
in once every page has been read; the search leaves it out, and so does the printed book.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from page_kit.api.modules import breaking, homes
from page_kit.api.objects import API, first_sentence, lines_of, paper_of, path_of
from page_kit.authoring.source import ROOT, find
from page_kit.formulas.docstring_formulas import with_formulas
from page_kit.formulas.tex import mathml
from page_kit.places import Place

KINDS = {"attribute": "field", "property": "field", "data": "value", "exception": "class"}
"""Sphinx's kinds under the names that the list has for them; the others keep theirs."""
LONGEST_VALUE = 40
"""Characters of a type and a value that stand where the source has no sentence about them."""
PLURALS = {
    "module": "modules",
    "class": "classes",
    "function": "functions",
    "method": "methods",
    "field": "fields",
    "value": "values",
}
"""The kinds as the list counts them, in this order."""
SHORT = {
    "scaled_dot_product_attention": "attn sdpa",
    "MultiHeadAttention": "attn mha",
    "PositionwiseFeedForward": "ffn mlp",
    "sinusoidal_encoding": "pe",
}
"""Names of the library that readers know under abbreviations; the field finds them by these, too."""
_MARKS = re.compile(r"`([^`]+)`|\0([^\0]+)\0")


class Directive(SphinxDirective):
    """Leave the place."""

    def run(self) -> list[nodes.Node]:
        """The place."""
        return [Place(fill=fill)]


@dataclass(frozen=True)
class Name:
    """A documented name."""

    module: str
    name: str
    """In its module, `Masked.mix`; that of a module is empty."""
    kind: str
    page: str
    anchor: str

    @property
    def place(self) -> tuple[str, int, str]:
        """Modules in the alphabet's order, their names in that of the source."""
        return self.module, lines_of(self.module).get(self.name, 0) if self.name else -1, self.name


def attributes_of(docstring: str) -> dict[str, str]:
    """What a class says of its attributes, by their names.

    Examples
    --------
    >>> attributes_of("A pair.\\n\\nAttributes\\n----------\\na, b\\n    The parts.\\nc : int\\n    Their number.")
    {'a': 'The parts.', 'b': 'The parts.', 'c': 'Their number.'}
    """
    section = re.search(r"^(?:Attributes|Parameters)\n-+\n(.*?)(?=\n\n\S|\Z)", docstring, re.MULTILINE | re.DOTALL)
    found: dict[str, str] = {}
    for names, text in re.findall(r"^(\w[^\n]*)\n((?: {4}[^\n]*\n?|\n)*)", section[1] if section else "", re.MULTILINE):
        said = " ".join(text.split())
        found |= {name.strip(): said for name in names.partition(" : ")[0].split(",")}
    return found


def itself(node: ast.Assign | ast.AnnAssign) -> str:
    """What stands for a sentence about a value or a field: its type and its value, if both are short."""
    type = ast.unparse(node.annotation) if isinstance(node, ast.AnnAssign) else ""
    value = ast.unparse(node.value) if node.value is not None else ""
    shown = " = ".join(filter(None, (type, value)))
    return f"`{shown}`" if 0 < len(shown) <= LONGEST_VALUE and "`" not in shown else ""


@cache
def docstrings(module: str) -> dict[str, str]:
    """The docstring of each name of a module, and its own under the empty name."""
    found: dict[str, str] = {}

    def walk(owner: Any, prefix: str) -> None:
        found[prefix.rstrip(".")] = ast.get_docstring(owner) or ""
        for node, after in zip(owner.body, [*owner.body[1:], None], strict=True):
            if isinstance(node, ast.ClassDef):
                walk(node, f"{prefix}{node.name}.")
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                found.setdefault(f"{prefix}{node.name}", ast.get_docstring(node) or "")
            elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                said = after.value if isinstance(after, ast.Expr) else None
                text = said.value if isinstance(said, ast.Constant) and isinstance(said.value, str) else ""
                text = text or itself(node)
                found.update((f"{prefix}{target.id}", text) for target in targets if isinstance(target, ast.Name))
        if isinstance(owner, ast.ClassDef):
            for name, text in attributes_of(found[prefix.rstrip(".")]).items():
                if not found.get(f"{prefix}{name}") or found[f"{prefix}{name}"].startswith("`"):
                    found[f"{prefix}{name}"] = text

    walk(ast.parse((ROOT / path_of(module)).read_text(encoding="utf-8")), "")
    return found


def is_listed(module: str, name: str) -> bool:
    """Whether the list has a name: each of the library's, and what a module of the other packages defines itself."""
    return module.split(".")[0] == "annotated" or "." not in name


def names(domain: Any) -> Iterator[Name]:
    """The names of the list, each once."""
    modules = {full for full, entry in domain.objects.items() if entry.objtype == "module"}
    for full, entry in domain.objects.items():
        if entry.docname.startswith(API) and not entry.aliased:
            module = full
            while module and module not in modules:
                module = module.rpartition(".")[0]
            kind, name = KINDS.get(entry.objtype, entry.objtype), full[len(module) + 1 :]
            if is_listed(module, name):
                yield Name(module, name, kind, entry.docname, entry.node_id)


def overridden(full: str) -> str:
    """The docstring of the method that this one overrides."""
    try:
        found = find(full)
    except (LookupError, ImportError):
        return ""
    return (inspect.getdoc(found) or "") if callable(found) else ""


def in_html(text: str) -> str:
    """A sentence of a docstring: code and formulas are set as such.

    Examples
    --------
    >>> in_html("Where `x < 1`.")
    'Where <code>x &lt; 1</code>.'
    """
    parts = _MARKS.split(with_formulas(text, "\0", "\0"))
    made = [escape(parts[0], quote=False)]
    for code, tex, after in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        made.append(f"<code>{escape(code, quote=False)}</code>" if code else mathml(tex))
        made.append(escape(after, quote=False))
    return "".join(made)


def line(one: Name, here: str) -> str:
    """One entry of the list."""
    said = docstrings(one.module).get(one.name, "") or (overridden(f"{one.module}.{one.name}") if one.name else "")
    keys = paper_of(said)
    up = "../" * here.count("/")
    address = f"{one.page.removeprefix(API)}.html" if here.startswith(API) else f"{up}{one.page}.html"
    place = f' data-in="{one.module.removeprefix("annotated.")}"' if one.name else ""
    place += f' data-words="{SHORT[one.name]}"' if one.name in SHORT else ""
    parts = f'<b data-part="{";".join(keys)}">{", ".join(keys)}</b>' if keys and one.name else ""
    first = first_sentence(said).replace(r"\|", "|")  # escaped for tables
    sentence = f" {in_html(first)}" if first else ""
    link = f'<a href="{address}#{one.anchor}">{breaking(one.name or one.module)}</a>'
    return f'<li data-kind="{one.kind}"{place}>{link} <i>{one.kind}</i>{parts}{sentence}'


def in_folds(found: list[Name], pages: dict[str, str], here: str) -> str:
    """The list in HTML: how many names there are, and a fold for each page of the reference with its names."""
    sums = Counter(one.kind for one in found)
    kinds = ", ".join(
        f"{sums[kind]:,} {kind if sums[kind] == 1 else plural}" for kind, plural in PLURALS.items() if sums[kind]
    )
    folds = [f"<p>{len(found):,} names: {kinds}.</p>"]
    for page, title in pages.items():
        own = sorted((one for one in found if one.page == page), key=lambda one: one.place)
        if own:
            count = f"{len(own)} name{'s' if len(own) > 1 else ''}"
            head = f'<summary>{escape(title)} <span data-entries="{count}">{count}</span></summary>'
            folds.append(
                f'<details class="names-of-page">{head}<ul>{"".join(line(one, here) for one in own)}</ul></details>'
            )
    return f'<div class="all-names">{"".join(folds)}</div>'


def pages_in_order(folder: Path) -> dict[str, str]:
    """The pages of the reference and their titles, in the order of its index."""
    links = [re.fullmatch(r"\[(.+)\]\(([\w/]+)\.md\)", link) for link in homes(folder).values()]
    return {f"{API}{found[2]}": found[1] for found in links if found}


def fill(app: Sphinx, docname: str, place: Place) -> nodes.Node:
    """The list, on a page of HTML."""
    html = ""
    if app.builder.format == "html":
        found = list(names(app.env.get_domain("py")))
        html = in_folds(found, pages_in_order(Path(app.srcdir, "reference", "api")), docname)
    return nodes.raw("", html, format="html", classes=["no-search"])


def setup(app: Sphinx) -> None:
    """Register the directive and fill it in."""
    app.setup_extension("page_kit.places")
    app.add_directive("all-names", Directive)

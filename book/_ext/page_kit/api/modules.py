"""The API reference: pages written at build time from the library's modules, and names that resolve from anywhere.

A line `% api: annotated.model` in a page of reference/api stands for every module of that package, and
`% names: annotated` for a list of the names that a package exports; autodoc does the rest. In docstrings the `Paper:`
line becomes links, and a name in single backquotes becomes a link if it is the name of something public.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.ext.intersphinx import InventoryAdapter
from sphinx.util.docutils import SphinxRole
from sphinx.util.nodes import make_refnode

from annotated.paper import entries, parse
from page_kit.api.api_chapters import headings
from page_kit.authoring.source import find
from page_kit.formulas.docstring_formulas import with_formulas

LINE = re.compile(r"^% api: (\S+)$", re.MULTILINE)
LONGEST_VALUE = 160
NAMES = re.compile(r"^% names: (\S+)$", re.MULTILINE)
FILTER = """:::{filter} names
:items: .bd-article section section > dl.py, .bd-article .api-fold > dl.py
:groups: .bd-article section section, .bd-article .api-fold
:empty: hide
:names: dt .sig-name
:count: definitions | *
:::

"""
"""The field above the first module of a page. A definition is a class, function or value of a module."""
READING = {
    "annotated.model": ("attention masks feed_forward embeddings positional_encoding layers transformer".split()),
}
"""The order in which the modules of a package are read, where that is not the alphabet's; others follow."""
COMMANDS = ("annotated_grader.commands", "annotated_book.commands")
"""Like those of the library, they explain themselves on the command line."""
_BY_ITSELF = re.compile(r"Alias for field number \d+")
_NOT_CODE = re.compile(r"(`[^`]*`)")


def modules(name: str, elsewhere: Collection[str] = ()) -> list[str]:
    """A module, and if it is a package all public modules in it; nothing is imported but packages.

    What has a line of its own is left out: it stands `elsewhere`.
    """
    found = importlib.import_module(name)
    if not hasattr(found, "__path__"):
        return [name]
    names = [name]
    first = {f"{name}.{module}": at for at, module in enumerate(READING.get(name, ()))}
    inside = pkgutil.iter_modules(found.__path__, f"{name}.")
    for info in sorted(inside, key=lambda info: (first.get(info.name, len(first)), info.name)):
        if not info.name.rpartition(".")[2].startswith("_") and info.name not in {*elsewhere, *COMMANDS}:
            names += modules(info.name, elsewhere) if info.ispkg else [info.name]
    return names


def lines_of(folder: Path) -> set[str]:
    """The packages and modules that have a line of their own on some page of the folder."""
    return {name for page in folder.glob("*.md") for name in LINE.findall(page.read_text(encoding="utf-8"))}


def section(module: str, heading: str = "") -> str:
    """The MyST text that documents a module, under its name or another heading."""
    options = "\n   ".join((":members:", ":ignore-module-all:", ":show-inheritance:", ":member-order: bysource"))
    facts = f"```{{module-facts}} {module}\n```\n\n"
    return f"{heading or f'## {module}'}\n\n{facts}```{{eval-rst}}\n.. automodule:: {module}\n   {options}\n```\n"


def sections(names: list[str], source: Path) -> list[str]:
    """The MyST texts that document some modules."""
    return [section(name, heading) for name, heading in headings(names, source)]


def homes(folder: Path) -> dict[str, str]:
    """The page of `folder` that documents each package, as a link with its title; in the order of its index's table."""
    index = (folder / "index.md").read_text(encoding="utf-8") if (folder / "index.md").is_file() else ""
    files = dict.fromkeys([*re.findall(r"\]\(([\w/]+\.md)\)", index), *sorted(f.name for f in folder.glob("*.md"))])
    found = {}
    for name in files:
        text = (folder / name).read_text(encoding="utf-8")
        title = re.search(r"^# (.+)$", text, re.MULTILINE)
        found |= {package: f"[{title[1] if title else name}]({name})" for package in LINE.findall(text)}
    return found


def exports(package: str, folder: Path) -> str:
    """MyST lists of what a package exports, with the first sentence about each, under the page that documents it."""
    found = importlib.import_module(package)
    pages = homes(folder)
    groups: dict[str, list[str]] = {page: [] for page in [*pages.values(), ""]}
    for name in found.__all__:
        one = getattr(found, name)
        first = (inspect.getdoc(one) or "").split("\n\n")[0].replace("\n", " ")
        page = next((page for home, page in pages.items() if f"{one.__module__}.".startswith(f"{home}.")), "")
        groups[page].append(f"- {{py:obj}}`{package}.{name}`: {with_formulas(first)}\n")
    return "\n".join(f"{f'**{page}**' if page else ''}\n\n{''.join(items)}" for page, items in groups.items() if items)


def write_page(app: Sphinx, docname: str, source: list[str]) -> None:
    """Replace the lines `% api: ...` and `% names: ...` of a page by what they stand for."""
    if docname.startswith("reference/api/"):
        text = LINE.sub(FILTER + r"\g<0>", source[0], count=1)
        folder = Path(app.srcdir, "reference", "api")
        own = lines_of(folder)
        text = LINE.sub(lambda found: "\n".join(sections(modules(found[1], own), Path(app.srcdir))), text)
        source[0] = NAMES.sub(lambda found: exports(found[1], folder), text)


def outdated(app: Sphinx, env: Any, *_: Any) -> list[str]:
    """Pages of the reference are read again whenever a module was added, removed or changed."""
    packages = [importlib.import_module(name) for name in ("annotated", "annotated_grader", "annotated_book")]
    files = [file for package in packages for file in Path(inspect.getfile(package)).parent.rglob("*.py")]
    state = {str(file): file.stat().st_mtime_ns for file in files}
    changed = getattr(env, "library_state", None) != state
    env.library_state = state
    return [name for name in env.found_docs if name.startswith("reference/api/")] if changed else []


def protect(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Before napoleon: take the `Paper:` line out, and escape what reStructuredText would read as marks.

    The text of an attribute is kept from napoleon as a whole: what stands before a colon in it is no type. What Python
    says by itself of a field of a named tuple is left out.
    """
    text = "\n".join(lines)
    if _BY_ITSELF.fullmatch(text.strip()):
        text = ""
    match = re.search(r"^Paper: *(.+(?:\n[ \t]*\S.*)*)", text, re.MULTILINE)
    text = text[: match.start()] + text[match.end() :] if match else text
    if not name.startswith("annotated_book."):  # the heaviest page, which can do without the formulas' font
        text = with_formulas(text, ":math:`", "`")
    parts = _NOT_CODE.split(text)
    parts[::2] = [re.sub(r"(?<=\w)_(?!\w)|\|", r"\\\g<0>", part) for part in parts[::2]]
    lines[:] = "".join(parts).split("\n")
    kept = lines[:] if what in ("attribute", "data", "property") else []
    app.env.temp_data.setdefault("docstrings", {})[name] = (kept, " ".join(match[1].split()) if match else "")
    lines[:] = [] if kept else lines


def link_paper(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """After napoleon: put back what was taken out, the `Paper:` line as links."""
    kept, paper = app.env.temp_data["docstrings"].pop(name)
    lines[:] = kept or lines
    keys = [key for key in parse(paper) if key in entries()]
    if keys:
        links = ", ".join(f":paper:`{key.removeprefix('section ')}`" for key in keys)
        lines += ["", f":Paper: {links}", ""]


class NameRole(SphinxRole):
    """Single backquotes in docstrings: code, and a link where the text names something public."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """The reference, or the code alone where the text is no name."""
        code = nodes.literal(self.rawtext, self.text, classes=["xref", "py"])
        if not re.fullmatch(r"[A-Za-z_][\w.]*", self.text):
            return [code], []
        context = {key: self.env.ref_context.get(key) for key in ("py:module", "py:class")}
        reference = pending_xref("", code, refdomain="py", reftype="obj", reftarget=self.text, refdoc=self.env.docname)
        reference.attributes.update(context, soft=True)
        return [reference], []


def candidates(target: str, module: str | None, owner: str | None) -> list[str]:
    """Full names that a name may stand for, by the module and the class in whose documentation it stands."""
    # `import pandas as pd` under TYPE_CHECKING: importing the module needs no pandas, and autodoc sees the short name.
    names = [re.sub(r"^pd\.", "pandas.", target)]
    if module:
        names += [f"{module}.{owner}.{target}"] * bool(owner) + [f"{module}.{target}"]
    return [true_name(name) for name in names]


def true_name(name: str) -> str:
    """Where an object of the library is defined: `annotated.Transformer` is in `annotated.model.transformer`."""
    if not name.startswith(("annotated.", "annotated_grader.")):
        return name
    try:
        found = find(name)
    except (LookupError, ImportError):
        return name
    if inspect.isclass(found) or inspect.isfunction(found):
        return f"{found.__module__}.{found.__qualname__}"
    return name


def by_any_name(app: Sphinx, env: Any, node: pending_xref, content: nodes.Element) -> nodes.Element | None:
    """Resolve a name by where it is really defined, then by an external inventory, then by its last part."""
    if node.get("refdomain") != "py":
        return None
    known = env.get_domain("py").objects
    for name in candidates(node["reftarget"], node.get("py:module"), node.get("py:class")):
        if name in known:
            entry = known[name]
            return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, content, name)
        outside = external_names(env).get(name) or external_names(env).get(_shortened(name))
        if outside:
            title = f"{outside[0]} (in {outside[1]})"
            return nodes.reference("", "", content, internal=False, refuri=outside[2], reftitle=title)
    return None


def external_names(env: Any) -> dict[str, tuple[str, str, str]]:
    """Full name, project and address of external objects, by full, shortened and, if only one has it, last name."""
    if not hasattr(env, "external_names"):
        found: dict[str, tuple[str, str, str]] = {}
        for kind, objects in InventoryAdapter(env).main_inventory.items():
            if kind.startswith("py:"):
                found |= {name: (name, project, url) for name, (project, _, url, _) in objects.items()}
        lasts = Counter(name.rpartition(".")[2] for name in found)
        bare = {last: found[name] for name in found if lasts[last := name.rpartition(".")[2]] == 1}
        env.external_names = bare | {_shortened(name): place for name, place in found.items()} | found
    return env.external_names  # type: ignore[no-any-return]


def _shortened(name: str) -> str:
    """First and last part: libraries define their objects in private places, 'torch.nn.modules.linear.Linear'."""
    first, _, rest = name.partition(".")
    return f"{first}:{rest.rpartition('.')[2]}"


def plain_defaults(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """Leave out defaults that are no code, such as `<function f at 0x...>`: a signature with one is not parsed.

    A field of `DEFAULTS` is written as its value: a reader wants the 4 of `beam_size`.
    """
    pattern = r"= ?<[^<>]*(?:<[^<>]*>[^<>]*)*>"
    fields = getattr(obj, "__globals__", {}).get("DEFAULTS")

    def value(field: re.Match[str]) -> str:
        return repr(getattr(fields, field[1]))

    plain = signature and re.sub(pattern, "=...", signature)
    return plain and (plain if fields is None else re.sub(r"\bDEFAULTS\.(\w+)", value, plain)), returns


def shorten_values(app: Sphinx, document: nodes.document) -> None:
    """Long values of constants are in the source; a folder's is another one on each machine."""
    for node in document.findall(addnodes.desc_annotation):
        if len(node.astext()) > LONGEST_VALUE or re.search(r"\b\w+Path\(", node.astext()):
            node.children = [nodes.Text(" = …")]


def public_bases(app: Sphinx, name: str, obj: Any, options: Any, bases: list[Any]) -> None:
    """Show the public class behind a private base."""
    bases[:] = [next(b for b in _line(base) if not b.__name__.startswith("_")) for base in bases]


def _line(base: Any) -> Any:
    return getattr(base, "__mro__", (base,)) if not hasattr(base, "__origin__") else (base.__origin__,)


def breaking(text: str) -> str:
    """A name of code in HTML that breaks behind its dots and underscores, and inside a word only if it must.

    Examples
    --------
    >>> breaking("model.causal_mask")
    'model.<wbr>causal_<wbr>mask'
    """
    return re.sub(r"(?<=\w)([._])(?=\w)", r"\1<wbr>", text)


def break_names(app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Let the long names of these pages break behind dots and underscores."""
    if name.startswith("reference/api/") and "body" in context:
        shown = re.compile(r'(?<=<span class="pre">)[A-Za-z_][\w.]{15,}(?=</span>)')
        context["body"] = shown.sub(lambda found: breaking(found[0]), context["body"])


def configure(app: Sphinx, config: Config) -> None:
    """How autodoc and napoleon write."""
    config.default_role = "library-name"
    settings = {
        "autodoc_typehints_format": "short",
        "add_module_names": False,
        "python_use_unqualified_type_names": True,
        "toc_object_entries_show_parents": "hide",
        "napoleon_google_docstring": False,
        "napoleon_use_param": False,  # parameters described together stay together
        "napoleon_use_rtype": False,
        "autodoc_preserve_defaults": True,
        "copybutton_prompt_text": r">>> |\.\.\. ",  # a copied example runs
        "copybutton_prompt_is_regexp": True,
        "autodoc_type_aliases": {"ArrayLike": "numpy.typing.ArrayLike"},
    }
    for key, value in settings.items():
        setattr(config, key, value)
    # Projects without an inventory, the inside of types from NumPy and traitlets (`t.Any`), and three classes for which
    # the documentation of Python and PyTorch has no entry of that name.
    without = (
        r"(anywidget|ipywidgets|rich|tokenizers|numpy\._typing|t)\..*|ast\.(expr|stmt)|torch\.cuda\.streams\.Stream"
    )
    config.nitpick_ignore_regex = [("py:.*", without)]


def setup(app: Sphinx) -> None:
    """Connect the above."""
    app.setup_extension("sphinx.ext.autodoc")
    app.setup_extension("sphinx.ext.napoleon")
    app.add_role("library-name", NameRole())
    app.connect("config-inited", configure, priority=100)
    app.connect("source-read", write_page)
    app.connect("env-get-outdated", outdated)
    app.connect("autodoc-process-docstring", protect, priority=100)
    app.connect("autodoc-process-docstring", link_paper, priority=900)
    app.connect("autodoc-process-signature", plain_defaults)
    app.connect("doctree-read", shorten_values)
    app.connect("html-page-context", break_names)
    app.connect("autodoc-process-bases", public_bases)
    app.connect("missing-reference", by_any_name, priority=100)

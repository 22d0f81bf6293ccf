"""Order in which a page is changed: which part acts at which event of Sphinx, by priority and by the table of parts.

    python -m page_kit.tools.order     prints the table that `book/_ext/README.md` has; a test compares them

It is read off the source: what a part's `setup` connects, and the post-transforms that it adds.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from page_kit import PARTS

KIT = Path(__file__).parents[1]
EVENTS = {
    "config-inited": "settings are read",
    "builder-inited": "the build begins",
    "env-get-outdated": "which pages are read again",
    "env-before-read-docs": "before pages are read",
    "source-read": "the text of a page",
    "autodoc-process-docstring": "a docstring",
    "autodoc-process-signature": "a signature",
    "autodoc-process-bases": "the bases of a class",
    "doctree-read": "a page is read, others are not known yet",
    "env-purge-doc": "what is known of a page is forgotten",
    "env-merge-info": "what another process has read comes in",
    "env-updated": "all pages are read: which are written again",
    "env-check-consistency": "what the build complains of",
    "post-transform": "a page is about to be written: the first changes",
    "missing-reference": "a link that nobody knows",
    "doctree-resolved": "its links are known",
    "html-collect-pages": "pages without a source",
    "html-page-context": "its HTML is there, without what the theme puts around it",
    "build-finished": "the files are written",
}
"""Sphinx's events in their order, and what is done there."""
USUAL, POST_TRANSFORM = 500, "post-transform"


@dataclass(frozen=True)
class Step:
    """What a part does at an event."""

    event: str
    priority: int
    part: str
    handler: str


def steps_of(part: str, file: Path) -> Iterator[Step]:
    """What a part registers, in the order of its `setup`."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    own = {
        node.name: assigned.value.value
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        for assigned in node.body
        if isinstance(assigned, ast.Assign) and ast.unparse(assigned.targets[0]) == "default_priority"
        if isinstance(assigned.value, ast.Constant)
    }
    for call in ast.walk(next(node for node in tree.body if getattr(node, "name", "") == "setup")):
        match call:
            case ast.Call(func=ast.Attribute(attr="connect"), args=[ast.Constant(value=str(event)), handler]):
                given = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}
                name = handler.id if isinstance(handler, ast.Name) else "(lambda)"
                yield Step(event, given.get("priority", USUAL), part, name)
            case ast.Call(func=ast.Name(id="keep")):
                yield from (Step(event, USUAL, part, "keep") for event in ("env-purge-doc", "env-merge-info"))
            case ast.Call(func=ast.Attribute(attr="add_post_transform"), args=[ast.Name(id=name)]):
                yield Step(POST_TRANSFORM, own[name], part, name)


def steps() -> list[Step]:
    """All that the parts register, in the order in which Sphinx does it."""
    files = [("page_kit", KIT / "__init__.py"), ("places", KIT / "places.py")]
    files += [(part, KIT / f"{part.replace('.', '/')}.py") for part in PARTS]
    found = [step for part, file in files for step in steps_of(part, file)]
    return sorted(found, key=lambda step: (list(EVENTS).index(step.event), step.priority))


def as_table() -> str:
    """A row for each event: the parts that act there, with their priorities where they are not the usual 500."""
    rows = ["| event of Sphinx | what acts, in this order |", "|---|---|"]
    for event, about in EVENTS.items():
        acting = [
            f"`{step.part}.{step.handler}`" + (f" ({step.priority})" if step.priority != USUAL else "")
            for step in steps()
            if step.event == event
        ]
        rows.append(f"| `{event}`: {about} | {', '.join(acting)} |")
    return "\n".join(rows)


if __name__ == "__main__":
    print(as_table())

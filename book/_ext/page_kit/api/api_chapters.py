"""The reference's pages of the chapters' code: modules under the titles of their chapters, in folds.

The code of a chapter is a package, or a module, with the name of its page. These pages are long, so that each chapter
and each module is a fold: its line has the module's first sentence and counts its definitions. A link to something in a
fold, and a field that finds it, open it (`filter.js`); on paper and without scripts all are open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from annotated_book.pages import page_file
from page_kit.api.objects import API

CODE = "annotated_book"
WITHOUT_SCRIPTS = (
    "<noscript><style>.api-fold::details-content { content-visibility: visible; block-size: auto; }</style></noscript>"
)
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
_SECTION = re.compile(r"<section\b[^>]*>|</section>")
_HEAD = re.compile(r"\s*<h([23])>(.*?)</h\1>", re.DOTALL)
_SENTENCE = re.compile(r'<p id="(module-[^"]+)">(.*?)</p>', re.DOTALL)
_LIST = re.compile(r"<dl\b[^>]*>|</dl>")


def page_of(package: str, source: Path) -> tuple[str, str]:
    """The page whose code a package is, and its title; without such a page twice nothing."""
    page = "/".join(package.split(".")[1:])
    file = page_file(page, source) if page else source
    title = _TITLE.search(file.read_text(encoding="utf-8")) if file.is_file() else None
    return (page, title[1]) if title else ("", "")


def headings(modules: Sequence[str], source: Path) -> Iterator[tuple[str, str]]:
    """Modules with their headings: the chapters' ones below the title of their chapter, in the order of the book."""
    chapters: dict[str, list[str]] = {}
    for module in modules:
        chapters.setdefault(".".join(module.split(".")[:3]) if module.startswith(CODE) else "", []).append(module)
    pages = {package: page_of(package, source) for package in chapters}
    for package in sorted(chapters, key=lambda package: _order(pages[package][1]) if package else (0, 0)):
        page, title = pages[package]
        for module in chapters[package]:
            if module != package:
                yield module, f"{'###' if package else '##'} {module}"
            elif page:
                file = page_file(page, source).relative_to(source).as_posix()
                yield module, f"## {title}\n\nThe code of [this page](/{file}): `{module}`."
            else:
                yield module, f"## {module}"


def _order(title: str) -> tuple[int, int]:
    """Chapters by their numbers, then other pages, then what belongs to no page."""
    number = re.match(r"(\d+)\. ", title)
    return (0, int(number[1])) if number else (1, 0) if title else (2, 0)


def definitions(html: str) -> int:
    """How many classes, functions and values HTML of the reference has; not their methods and fields.

    Examples
    --------
    >>> definitions('<dl class="py class"><dl class="py method"></dl></dl><dl class="py data"></dl>')
    2
    """
    found, depth = 0, 0
    for token in _LIST.finditer(html):
        found += depth == 0 and token[0].startswith('<dl class="py')
        depth += -1 if token[0] == "</dl>" else 1
    return found


def with_folds(body: str) -> str:
    """The HTML of a page whose sections of the second and third level are folds.

    Examples
    --------
    >>> with_folds('<section id="a"><h3>m</h3><p id="module-m">It is.</p></section>').count("<details")
    1
    """
    made: list[str] = []
    inside: list[bool] = []
    at = 0
    for token in _SECTION.finditer(body):
        made.append(body[at : token.start()])
        at = token.end()
        if token[0] == "</section>":
            made.append("</details></section>" if inside.pop() else "</section>")
            continue
        head = _HEAD.match(body, at)
        inside.append(head is not None)
        made.append(token[0])
        if head:
            rest = body[head.end() : _end(body, head.end())]
            own = rest.partition("<section")[0]
            said = _SENTENCE.search(own)
            is_said = said is not None and (head[1] == "3" or head[2].startswith("annotated."))
            count = definitions(rest)
            made.append(f'<details class="api-fold"><summary><h{head[1]}>{head[2]}</h{head[1]}>')
            if count:
                amount = f"{count} definition{'s' if count > 1 else ''}"
                made.append(f' <span data-entries="{amount}">{amount}</span>')
            if is_said and said:
                sentence = re.sub(r"</?a\b[^>]*>", "", said[2])
                made.append(f'<span class="api-said">{sentence}</span>')
                own_left = f'{own[: said.start()]}<span id="{said[1]}"></span>{own[said.end() :]}'
            else:
                own_left = own
            made.append(f"</summary>{own_left}")
            at = head.end() + len(own)
    return "".join([*made, body[at:]])


def _end(body: str, at: int) -> int:
    """Where the section ends in which a place lies."""
    depth = 1
    for token in _SECTION.finditer(body, at):
        depth += -1 if token[0] == "</section>" else 1
        if not depth:
            return token.start()
    return len(body)


def fold(app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Fold the modules of the chapters' pages."""
    if name.startswith(f"{API}chapters") and "body" in context:
        context["body"] = WITHOUT_SCRIPTS + with_folds(context["body"])


def setup(app: Sphinx) -> None:
    """Connect the above."""
    app.connect("html-page-context", fold)

"""Picture of the paper map: the paper's contents, and the chapters, code and exercises of each part as dots."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

from sphinx.application import Sphinx

from annotated_grader.exercise.markdown import without_marks as plain
from page_kit.chapter.figure_one_margin import drawn
from page_kit.reference.coverage import Part, title_of_exercise

MOST = 6
"""How many dots are drawn at most; the number beside them is the whole count."""


def anchor_of(key: str) -> str:
    """The anchor of a part's card."""
    return "paper-" + re.sub(r"[^a-z0-9]+", "-", key.lower())


def dots(names: list[str], tone: str, thing: str) -> str:
    """A table's cell with a dot for each thing, up to `MOST`, and their number; their names show on hovering."""
    count = len(names)
    drawn = "<i></i>" * min(count, MOST) + ("<u></u>" if count > MOST else "")
    shown = f"{drawn}<b>{count}</b>" if count else ""
    words = f'<span class="visually-hidden">{count} {thing}{"" if count == 1 else "s"}</span>'
    title = f' title="{html.escape(", ".join(names), quote=True)}"' if names else ""
    marks = f'<span aria-hidden="true" data-value="{count}">{shown}</span>'
    return f'<td class="map-dots map-{tone}"{title}>{words}{marks}</td>'


def row(part: Part, title_of: Callable[[str], str], exercise: Callable[[str], str]) -> str:
    """One part of the paper; `title_of` names a page, `exercise` an exercise."""
    number = part.key.removeprefix("section ")
    depth = number.count(".") if number[:1].isdigit() else 0
    code = [found.rpartition(".")[2] for found in (*part.code, *part.around)]
    cells = dots([title_of(page) for page in part.chapters], "paper", "chapter") + dots(code, "code", "object")
    cells += dots([exercise(label) for label in part.exercises], "ours", "exercise")
    name = f"{number} {part.title}" if number != part.key else f"{part.key.capitalize()}: {part.title}"
    missing = ", ".join(gap for gap in part.gaps if gap in ("no code yet", "no chapter yet"))
    note = f' <em class="map-gap">{html.escape(missing)}</em>' if missing else ""
    anchor = anchor_of(part.key)
    link = f'<a href="#{anchor}">{html.escape(name)}</a>'
    return f'<tr data-follows="{anchor}"><th scope="row" style="--depth:{depth}">{link}{note}</th>{cells}</tr>'


def table(parts: dict[str, Part], title_of: Callable[[str], str], exercise: Callable[[str], str]) -> str:
    """All parts, sections first."""
    order = ("sections", "equations", "figures", "tables")
    rows = "".join(row(part, title_of, exercise) for kind in order for part in parts.values() if part.kind == kind)
    head = "".join(f'<th scope="col">{name}</th>' for name in ("Part of the paper", "Chapters", "Code", "Exercises"))
    return f'<table class="map-table sortable"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


HEADS = "attention/multi_head"


def heads(app: Sphinx, docname: str) -> str:
    """A link to the chapter on what is inside each attention of the figure; '' where that chapter is not built."""
    if HEADS not in app.env.found_docs:
        return ""
    link = f'<a href="{app.builder.get_relative_uri(docname, HEADS)}">{app.env.titles[HEADS].astext()}</a>'
    return f"; the heads inside each attention are in {link}"


def map_picture(app: Sphinx, docname: str, parts: dict[str, Part]) -> str:
    """The contents as a table of dots, and figure 1, whose boxes lead to their chapters, beside it."""

    def title_of(page: str) -> str:
        return str(app.env.titles[page].astext())

    def exercise(label: str) -> str:
        return plain(title_of_exercise(app.env, label))

    caption = f"<figcaption>Figure 1. A box leads to its chapter{heads(app, docname)}.</figcaption>"
    figure = f'<figure class="map-figure">{drawn(app, docname, [])}{caption}</figure>'
    return f'<div class="map-picture">{figure}{table(parts, title_of, exercise)}</div>'

"""The directive `exercise-index`: all exercises that grade themselves, by chapter or by the mistakes that they know.

    :::{exercise-index} chapters
    :::

lists them by chapter, with what each asks for (the `line` of its `exercise.md`), its difficulty, its time and a place
for the reader's mark; `misconceptions` is a table of the beliefs that they are about.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

from annotated_grader.exercise.catalogue import all_exercises
from annotated_grader.exercise.exercise import Exercise
from page_kit.authoring.graded import DOTS
from page_kit.chapter.front_matter import chapter
from page_kit.chapter.page_facts import commas, parts_of
from page_kit.claims.claim_boxes import ROWS, domain, ledger, plain, row_reference, with_formulas
from page_kit.places import Place
from page_kit.raw_html import raw

LAST = 1000
"""Stands for the number of a page that is no chapter."""
_COLUMNS = {"belief": 50, "verdict": 14, "exercises": 16, "discussed in": 20}
"""The columns of the table of misconceptions, with their widths."""


class ExerciseIndex(SphinxDirective):
    """`{exercise-index} chapters` or `misconceptions`."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """A place for the list."""
        self.env.note_reread()  # it tells of the other pages
        for exercise in all_exercises():
            self.env.note_dependency(str(exercise.folder / "exercise.md"))
        return [Place(fill=fill, by=directives.choice(self.arguments[0], ("chapters", "misconceptions")))]


def fill(app: Sphinx, docname: str, place: Place) -> list[nodes.Node]:
    """The list."""
    index = Index(app, docname)
    return index.by_chapter() if place["by"] == "chapters" else index.by_misconception()


class Index:
    """Writes the lists for the page that they stand on."""

    def __init__(self, app: Sphinx, docname: str) -> None:
        self.app, self.env, self.docname = app, app.env, docname

    def by_chapter(self) -> list[nodes.Node]:
        """A heading for each chapter, and a line for each of its exercises."""
        everything = all_exercises()
        total = exactly(sum(exercise.minutes for exercise in everything))
        text = f'<span class="exercises-total">{len(everything)} exercises, together about {total}.</span> '
        summary = '<span class="exercises-done" role="status"></span>'
        found: list[nodes.Node] = [
            nodes.paragraph("", "", raw(text + summary)),
            nodes.paragraph("", "", raw(_legend(everything)), classes=["exercises-legend"]),
        ]
        chapters = {exercise.chapter: exercise.number for exercise in everything}
        for docname in sorted(chapters, key=chapters.__getitem__):
            here = [exercise for exercise in everything if exercise.chapter == docname]
            head = nodes.paragraph(classes=["index-chapter"])
            head += self.page(docname, f"Chapter {chapters[docname]}")
            time = f" {exactly(sum(exercise.minutes for exercise in here))}"
            head += nodes.inline("", time, classes=["index-facts"])
            listed = nodes.bullet_list(classes=["simple", "exercise-index", "exercise-columns"])
            listed += [nodes.list_item("", self.line(exercise)) for exercise in here]
            found += [nodes.container("", head, listed, classes=["exercise-group", "no-search"])]
        return found

    def line(self, exercise: Exercise) -> nodes.paragraph:
        """An exercise with its facts in columns, and a place for the reader's mark; a filter reads the mark's data."""
        data = {"exercise": exercise.id, "minutes": exercise.minutes, "kind": exercise.kind}
        data |= {"difficulty": exercise.difficulty, "time": ";".join(_spans(exercise.minutes)), "state": "not done"}
        data |= {"part": self.topic(exercise), "words": _words(exercise, self.title(exercise.chapter))}
        mark = " ".join(f'data-{name}="{escape(str(value))}"' for name, value in data.items())
        points = f"{exercise.points_public} points" if exercise.points_public != 1 else "1 point"
        level = exercise.difficulty
        facts = [
            f'<span class="exercise-kind">{exercise.kind}</span>',
            f'<span class="difficulty" role="img" aria-label="{level}">{DOTS[level]}</span>',
            f"<span>{exercise.minutes} min</span>",
            f"<span>{points}</span>",
            f'<span class="mark-of-exercise" {mark}></span>',
            f'<small class="exercise-asks">{escape(exercise.line, quote=False)}</small>',
        ]
        return nodes.paragraph("", "", self.exercise(exercise, titled=True), raw(" ".join(facts)))

    def topic(self, exercise: Exercise) -> str:
        """The part of the book that the exercise's chapter is in."""
        return parts_of(self.env).get(exercise.chapter, "")

    def by_misconception(self) -> list[nodes.Node]:
        """A table of the claims of the ledger that an exercise knows, and how many other mistakes are known."""
        claims: dict[str, list[Exercise]] = {}
        for exercise in all_exercises():
            for claim in claims_of(exercise):
                claims.setdefault(claim, []).append(exercise)
        entries = [(self.number_of(id), id) for id in ledger("claim") if id in claims]
        rows = [self.row(id, claims[id]) for _, id in sorted(entries, key=lambda pair: pair[0])]
        known = sum(len(exercise.bank) for exercise in all_exercises())
        others = sum(not claims_of(exercise) for exercise in all_exercises())
        text = (
            f"Altogether, checks recognise {known} wrong answers, including some that belong to none of these beliefs. "
            f"{others} of the {len(all_exercises())} exercises are about none of them, and so are missing here."
        )
        box = nodes.container("", _table(_COLUMNS, rows), classes=["misconceptions", "stacked-table", "no-search"])
        return [box, nodes.paragraph("", text)]

    def row(self, id: str, exercises: list[Exercise]) -> nodes.row:
        """A belief, the verdict, the exercises about it, and the place that discusses it."""
        entry = ledger("claim")[id]
        belief = nodes.paragraph("", "", *with_formulas(entry.statement))
        ids = ";".join(exercise.id for exercise in exercises)  # a filter keeps the row with one of them
        belief += raw(f'<span class="facts-of-belief" hidden data-exercises="{escape(ids)}"></span>')
        verdict = nodes.paragraph("", "", nodes.inline("", entry.answer, classes=["ledger-verdict"]))
        listed = nodes.paragraph("", "", *commas([self.exercise(exercise) for exercise in exercises]))
        cells = (belief, verdict, listed, nodes.paragraph("", "", *self.discussed(id)))
        return nodes.row("", *(nodes.entry("", cell) for cell in cells))

    def number_of(self, id: str) -> int:
        """The number of the chapter that discusses a belief; pages without one come last."""
        pages = domain(self.env).pages("claim", id)
        return int(chapter(self.env, pages[0]).get("number", LAST)) if pages else LAST

    def discussed(self, id: str) -> list[nodes.Node]:
        """A link to the box of a belief with its page's title, or nothing while there is no such page."""
        pages = domain(self.env).pages("claim", id)
        if not pages:
            return []
        name = nodes.inline("", self.title(pages[0]))
        where = {"refdomain": "ledger", "reftype": "claim", "reftarget": id, "refdoc": self.docname}
        found: list[nodes.Node] = [pending_xref("", name, **where)]
        if ROWS in self.env.found_docs:
            found += [nodes.Text(", "), row_reference(id, self.docname)]
        return found

    def title(self, docname: str) -> str:
        """A chapter's title in plain text; nothing while there is no such page."""
        return str(self.env.titles[docname].astext()) if docname in self.env.titles else ""

    def page(self, docname: str, fallback: str) -> nodes.Node:
        """A link to a chapter by its title, or the fallback while there is no such page."""
        if docname not in self.env.titles:
            return nodes.Text(fallback)
        text = nodes.Text(self.title(docname))
        return make_refnode(self.app.builder, self.docname, docname, "", text)

    def exercise(self, exercise: Exercise, titled: bool = False) -> nodes.Node:
        """A link to an exercise's box; plain text while no page has it."""
        text = nodes.Text(exercise.place)
        boxes = getattr(self.env, "sphinx_exercise_registry", {})
        shown = nodes.inline("", "", text)
        if titled:
            shown += [nodes.Text(" "), *with_formulas(_with_symbols(exercise.title))]
        if exercise.id not in boxes:
            return shown
        docname = boxes[exercise.id]["docname"]
        return make_refnode(self.app.builder, self.docname, docname, exercise.id, shown, plain(exercise.title))


def claims_of(exercise: Exercise) -> set[str]:
    """The claims of the ledger that an exercise's checks, wrong answers and questions are about."""
    named = {check.claim for check in exercise.checks} | {entry.claim for entry in exercise.bank}
    named |= {str(option.get("misconception")) for question in exercise.quiz for option in question["options"]}
    return named & set(ledger("claim"))


def exactly(minutes: int) -> str:
    """'40 min', '1 h', '1 h 5 min': a sum that a reader can check against its parts."""
    hours, rest = divmod(minutes, 60)
    return " ".join([f"{hours} h"] * bool(hours) + [f"{rest} min"] * bool(rest or not hours))


def _legend(exercises: Sequence[Exercise]) -> str:
    """What the dots mean, with the number of exercises and their times; a script counts those that are shown."""
    parts = ["<span>Difficulty:</span>"]
    for level, dots in DOTS.items():
        times = [exercise.minutes for exercise in exercises if exercise.difficulty == level]
        span = " to ".join(dict.fromkeys((str(min(times)), str(max(times))))) if times else ""
        said = f"{len(times)} ({span} min)" if times else "none"
        parts.append(
            f'<span><span class="difficulty" aria-hidden="true">{dots}</span> {level} '
            f'<span data-level="{level}">{said}</span></span>'
        )
    return " ".join(parts)


def _table(columns: dict[str, int], rows: list[nodes.row]) -> nodes.table:
    """A table that the reader sorts."""
    group = nodes.tgroup("", cols=len(columns))
    group += [nodes.colspec("", colwidth=width) for width in columns.values()]
    heads = [nodes.entry("", nodes.paragraph("", name)) for name in columns]
    group += [nodes.thead("", nodes.row("", *heads)), nodes.tbody("", *rows)]
    return nodes.table("", group, classes=["sortable"])


def _words(exercise: Exercise, title: str) -> str:
    """What else a filter finds an exercise by: name, chapter, parts of the paper, and the mistakes that it knows."""
    parts = [f"section {part}" if part[0].isdigit() else part for part in map(str, exercise.paper)]
    catches = re.sub(r"\{\w+\}`([^`]+)`", r"\1", exercise.catches)
    return " . ".join([exercise.id, f"exercise {exercise.place}", f"chapter {exercise.number}", title, *parts, catches])


def _with_symbols(title: str) -> str:
    """A title whose symbols, such as d_k, are formulas; a terminal and a notebook show it as it is."""
    return re.sub(r"(?<![\w$`])([A-Za-z]_[A-Za-z])(?![\w$`])", r"$\1$", title)


def _spans(minutes: int) -> list[str]:
    """The spans of time that a menu offers for an exercise: a short one fits the longer time, too."""
    return [f"up to {most} min" for most in (15, 30) if minutes <= most] or ["longer"]


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.setup_extension("page_kit.places")
    app.add_directive("exercise-index", ExerciseIndex)

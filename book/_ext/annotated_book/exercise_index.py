"""The directive `exercise-index`: all exercises that grade themselves, by chapter or by the mistakes that they know.

    :::{exercise-index} chapters
    :::

lists them by chapter, with their difficulty, their time and a place for the reader's mark; `misconceptions` lists what
wrong answers are recognised as.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

from annotated.grading.exercise.catalogue import all_exercises
from annotated.grading.exercise.exercise import Exercise
from annotated_book.facts import parts_of
from annotated_book.graded import DOTS
from annotated_book.ledger import ledger, plain, with_formulas


class Index(nodes.General, nodes.Element):
    """Where the list goes once every page has been read."""


class ExerciseIndex(SphinxDirective):
    """`{exercise-index} chapters` or `misconceptions`."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """A place for the list."""
        self.env.note_reread()  # it tells of the other pages
        return [Index(by=directives.choice(self.arguments[0], ("chapters", "misconceptions")))]


class FillIndex(SphinxPostTransform):
    """Put the lists into their places, before references are resolved."""

    default_priority = 5

    def run(self, **_: Any) -> None:
        """Replace each place."""
        for place in list(self.document.findall(Index)):
            place.replace_self(self.by_chapter() if place["by"] == "chapters" else self.by_misconception())

    def by_chapter(self) -> list[nodes.Node]:
        """A heading for each chapter, and a line for each of its exercises."""
        everything = all_exercises()
        total = exactly(sum(exercise.minutes for exercise in everything))
        text = f'<span class="exercises-total">{len(everything)} exercises, together about {total}.</span> '
        summary = '<span class="exercises-done" role="status"></span>'
        found: list[nodes.Node] = [
            nodes.paragraph("", "", _raw(text + summary)),
            nodes.paragraph(text=_legend(everything)),
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
        data |= {"topic": self.topic(exercise), "words": _words(exercise, self.title(exercise.chapter))}
        mark = " ".join(f'data-{name}="{escape(str(value))}"' for name, value in data.items())
        points = f"{exercise.points_public} points" if exercise.points_public != 1 else "1 point"
        level = exercise.difficulty
        facts = [
            f'<span class="exercise-kind">{exercise.kind}</span>',
            f'<span class="difficulty" role="img" aria-label="{level}">{DOTS[level]}</span>',
            f"<span>{exercise.minutes} min</span>",
            f"<span>{points}</span>",
            f'<span class="mark-of-exercise" {mark}></span>',
        ]
        return nodes.paragraph("", "", self.exercise(exercise, titled=True), _raw(" ".join(facts)))

    def topic(self, exercise: Exercise) -> str:
        """The part of the book that the exercise's chapter is in."""
        return parts_of(self.env).get(exercise.chapter, "")

    def by_misconception(self) -> list[nodes.Node]:
        """Each claim of the ledger that an exercise knows, with the exercises; and the other known mistakes."""
        claims: dict[str, list[Exercise]] = {}
        for exercise in all_exercises():
            for claim in claims_of(exercise):
                claims.setdefault(claim, []).append(exercise)
        listed = nodes.bullet_list(classes=["simple", "exercise-index", "misconceptions", "no-search"])
        for id, entry in ledger("claim").items():
            if id in claims:
                text = nodes.inline("", "", *with_formulas(entry.statement))
                link = pending_xref(
                    "", text, refdomain="ledger", reftype="claim", reftarget=id, refdoc=self.env.docname
                )
                line = nodes.paragraph("", "", link, nodes.Text(" "))
                line += [nodes.inline("", entry.answer, classes=["ledger-verdict"]), nodes.Text(" ")]
                for i, exercise in enumerate(claims[id]):
                    line += [nodes.Text(", ")] * bool(i) + [self.exercise(exercise)]
                line += _raw(_facts_of(claims[id], [self.topic(exercise) for exercise in claims[id]]))
                listed += nodes.list_item("", line)
        known = sum(len(exercise.bank) for exercise in all_exercises())
        others = sum(not claims_of(exercise) for exercise in all_exercises())
        text = (
            f"Altogether, checks recognise {known} wrong answers, including some that belong to none of these beliefs. "
            f"{others} of the {len(all_exercises())} exercises are about none of them, and so are missing here."
        )
        return [listed, nodes.paragraph("", text)]

    def title(self, docname: str) -> str:
        """A chapter's title in plain text; nothing while there is no such page."""
        return str(self.env.titles[docname].astext()) if docname in self.env.titles else ""

    def page(self, docname: str, fallback: str) -> nodes.Node:
        """A link to a chapter by its title, or the fallback while there is no such page."""
        if docname not in self.env.titles:
            return nodes.Text(fallback)
        text = nodes.Text(self.title(docname))
        return make_refnode(self.app.builder, self.env.docname, docname, "", text)

    def exercise(self, exercise: Exercise, titled: bool = False) -> nodes.Node:
        """A link to an exercise's box; plain text while no page has it."""
        text = nodes.Text(exercise.place)
        boxes = getattr(self.env, "sphinx_exercise_registry", {})
        shown = nodes.inline("", "", text)
        if titled:
            shown += [nodes.Text(" "), *with_formulas(exercise.title)]
        if exercise.id not in boxes:
            return shown
        docname = boxes[exercise.id]["docname"]
        return make_refnode(self.app.builder, self.env.docname, docname, exercise.id, shown, plain(exercise.title))


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
    """What the dots mean, with the number of exercises and their times."""
    parts = []
    for level, dots in DOTS.items():
        times = [exercise.minutes for exercise in exercises if exercise.difficulty == level]
        if times:
            span = " to ".join(dict.fromkeys((str(min(times)), str(max(times)))))
            parts.append(f"{dots} {level}, {len(times)} exercises of {span} min")
    return f"Difficulty: {'; '.join(parts)}."


def _words(exercise: Exercise, title: str) -> str:
    """What else a filter finds an exercise by: name, chapter, parts of the paper, and the mistakes that it knows."""
    parts = [f"section {part}" if part[0].isdigit() else part for part in map(str, exercise.paper)]
    catches = re.sub(r"\{\w+\}`([^`]+)`", r"\1", exercise.catches)
    return " . ".join([exercise.id, f"chapter {exercise.number}", title, *parts, catches])


def _facts_of(exercises: list[Exercise], topics: list[str]) -> str:
    """What a filter asks of a belief, in a place that nobody sees: it fits if one of its exercises does."""
    facts = {
        "kind": [exercise.kind for exercise in exercises],
        "difficulty": [exercise.difficulty for exercise in exercises],
        "time": [span for exercise in exercises for span in _spans(exercise.minutes)],
        "exercises": [exercise.id for exercise in exercises],
        "topic": topics,
    }
    data = " ".join(f'data-{name}="{escape(";".join(dict.fromkeys(values)))}"' for name, values in facts.items())
    words = " ".join(exercise.id for exercise in exercises)
    return f'<span class="facts-of-belief" hidden {data} data-state="not done">{words}</span>'


def _spans(minutes: int) -> list[str]:
    """The spans of time that a menu offers for an exercise: a short one fits the longer time, too."""
    return [f"up to {most} min" for most in (15, 30) if minutes <= most] or ["longer"]


def _raw(text: str) -> nodes.raw:
    return nodes.raw("", text, format="html")


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_node(Index)
    app.add_directive("exercise-index", ExerciseIndex)
    app.add_post_transform(FillIndex)

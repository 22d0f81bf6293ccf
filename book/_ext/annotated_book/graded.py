"""The directives `graded` and `exercise-index`: exercises that grade themselves, from the folders in `exercises/`.

    :::{graded} ex05-1
    :::

is the exercise's box: task, facts, the student's notebook to download, its question, hints that open one after the
other, and the solution behind a warning. It is an exercise of sphinx-exercise with that label, and needs no script.

    :::{exercise-index} chapters
    :::

lists all of them by chapter, or by `misconceptions`.
"""

from __future__ import annotations

import html
import shutil
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode
from sphinx_exercise.directive import ExerciseDirective

from annotated.grading.exercise.build import points, student_notebook
from annotated.grading.exercise.catalogue import all_exercises, find
from annotated.grading.exercise.exercise import Exercise, ExerciseError
from annotated_book.ledger import ledger, plain
from annotated_book.paper import link_to
from annotated_book.quiz import Quiz, parse

_WARNING = (
    "Try it first. An attempt of your own, even a wrong one, teaches more than reading: `check()` then names the idea "
    "that was wrong, and the solution answers a question that you have."
)


def notebook_address(docname: str, exercise: str) -> str:
    """Where the student's notebook lies, seen from a page."""
    return "../" * docname.count("/") + f"_static/exercises/{exercise}.ipynb"


class Graded(ExerciseDirective, Quiz):
    """The box of one exercise."""

    required_arguments = 1
    optional_arguments = 0
    has_content = False
    option_spec: dict[str, Any] = {}

    def run(self) -> list[nodes.Node]:
        """The exercise, or an error that names what is wrong in its folder."""
        try:
            exercise = find(self.arguments[0])
            questions = parse(list(exercise.quiz))
        except (ExerciseError, ValueError) as error:
            return [self.state.document.reporter.error(f"graded: {error}", line=self.lineno)]
        for file in ("exercise.md", "checks.py"):
            self.env.note_dependency(str(exercise.folder / file))
        self.name, self.arguments = "exercise", [exercise.title]
        self.options = {"label": exercise.id, "class": ["graded"]}
        self.content = StringList(exercise.statement.splitlines(), source=str(exercise.folder / "exercise.md"))
        boxes = super().run()
        for box in boxes:
            section = next(box.findall(nodes.section))
            section.insert(0, self.facts(exercise))
            section += [*self.catches(exercise), self.links(exercise), self.more(exercise, questions)]
        return boxes

    def facts(self, exercise: Exercise) -> nodes.paragraph:
        """Kind, time, points, and the part of the paper, in one line."""
        line = nodes.paragraph(classes=["graded-facts"])
        line += nodes.inline("", exercise.kind, classes=["graded-kind"])
        line += nodes.Text(f" {exercise.id} · about {exercise.minutes} minutes · {points(exercise)}")
        for part in exercise.paper:
            text = str(part)
            line += [nodes.Text(" · "), link_to(f"section {text}" if text[0].isdigit() else text)]
        return line

    def catches(self, exercise: Exercise) -> list[nodes.Node]:
        """The misconceptions that it is made to catch."""
        return self.markdown(f"**Catches:** {exercise.catches.rstrip('.')}.") if exercise.catches else []

    def links(self, exercise: Exercise) -> nodes.paragraph:
        """The way to the notebook, by a download or by a command."""
        address = html.escape(notebook_address(self.env.docname, exercise.id), quote=True)
        link = f'<a class="graded-notebook" href="{address}" download>Download the notebook {exercise.id}.ipynb</a>'
        line = nodes.paragraph("", "", _raw(link), nodes.Text(", or get it with "), classes=["graded-links"])
        line += [nodes.literal("", f"annotated exercise start {exercise.id}"), nodes.Text(".")]
        return line

    def more(self, exercise: Exercise, questions: list[Any]) -> nodes.container:
        """All that is folded: it counts neither as reading time nor as the chapter's questions."""
        more = nodes.container(classes=["graded-more"])
        box = nodes.container(classes=["quiz"])
        box += _raw(f'<div class="quiz-questions of-exercise" data-quiz="{exercise.id}">')
        for number, question in enumerate(questions, 1):
            box += self.question(exercise.id, number, question)
        box += _raw("</div>")
        more += [box, *self.hints(exercise), *self.solution(exercise)]
        return more

    def hints(self, exercise: Exercise) -> list[nodes.Node]:
        """Each hint lies folded in the one before it."""
        found: list[nodes.Node] = [_raw('<div class="graded-hints">')]
        for number, text in enumerate(exercise.hints, 1):
            found.append(_raw(f"<details><summary>Hint {number} of {len(exercise.hints)}</summary>"))
            found += self.markdown(text)
        return [*found, _raw("</details>" * len(exercise.hints) + "</div>")]

    def solution(self, exercise: Exercise) -> list[nodes.Node]:
        """The solution and what it teaches, behind a warning; not on paper, where it could not be folded."""
        code = exercise.solution_code.strip()
        listing = nodes.literal_block(code, code, language="python")
        opening = '<details class="graded-solution"><summary>Solution</summary>'
        return [
            _raw(opening),
            *self.markdown(_WARNING),
            _raw("<details><summary>Show the solution all the same</summary>"),
            listing,
            *self.markdown(exercise.afterwards),
            _raw("</details></details>"),
            nodes.paragraph("", "The solution is in the page of this chapter.", classes=["graded-on-paper"]),
        ]


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
        found: list[nodes.Node] = []
        chapters = {exercise.chapter: exercise.number for exercise in all_exercises()}
        for docname in sorted(chapters, key=chapters.__getitem__):
            head = nodes.paragraph(classes=["index-chapter"])
            head += self.page(docname, f"Chapter {chapters[docname]}")
            listed = nodes.bullet_list(classes=["simple", "exercise-index"])
            for exercise in all_exercises():
                if exercise.chapter == docname:
                    facts = f" {exercise.kind}, about {exercise.minutes} minutes, {exercise.points_public} points"
                    about = nodes.inline("", facts, classes=["index-facts"])
                    line = nodes.paragraph("", "", self.exercise(exercise, titled=True), about)
                    listed += nodes.list_item("", line)
            found += [head, listed]
        return found

    def by_misconception(self) -> list[nodes.Node]:
        """Each claim of the ledger that an exercise knows, with the exercises; and the other known mistakes."""
        claims: dict[str, list[Exercise]] = {}
        for exercise in all_exercises():
            for claim in claims_of(exercise):
                claims.setdefault(claim, []).append(exercise)
        listed = nodes.bullet_list(classes=["simple", "exercise-index"])
        for id, entry in ledger("claim").items():
            if id in claims:
                text = nodes.inline("", id)
                link = pending_xref(
                    "", text, refdomain="ledger", reftype="claim", reftarget=id, refdoc=self.env.docname
                )
                line = nodes.paragraph("", "", link, nodes.Text(f" {plain(entry.statement)} "))
                for i, exercise in enumerate(claims[id]):
                    line += [nodes.Text(", ")] * bool(i) + [self.exercise(exercise)]
                listed += nodes.list_item("", line)
        known = sum(len(exercise.bank) for exercise in all_exercises())
        text = f"Altogether, checks recognise {known} wrong answers, also such as belong to no numbered claim."
        return [listed, nodes.paragraph("", text)]

    def page(self, docname: str, fallback: str) -> nodes.Node:
        """A link to a chapter by its title, or the fallback while there is no such page."""
        if docname not in self.env.titles:
            return nodes.Text(fallback)
        text = nodes.Text(self.env.titles[docname].astext())
        return make_refnode(self.app.builder, self.env.docname, docname, "", text)

    def exercise(self, exercise: Exercise, titled: bool = False) -> nodes.Node:
        """A link to an exercise's box; plain text while no page has it."""
        text = nodes.Text(f"{exercise.id} {plain(exercise.title)}" if titled else exercise.id)
        boxes = getattr(self.env, "sphinx_exercise_registry", {})
        if exercise.id not in boxes:
            return nodes.inline("", "", text)
        docname = boxes[exercise.id]["docname"]
        return make_refnode(self.app.builder, self.env.docname, docname, exercise.id, text, plain(exercise.title))


def claims_of(exercise: Exercise) -> set[str]:
    """The claims of the ledger that an exercise's checks, wrong answers and questions are about."""
    named = {check.claim for check in exercise.checks} | {entry.claim for entry in exercise.bank}
    named |= {str(option.get("misconception")) for question in exercise.quiz for option in question["options"]}
    return named & set(ledger("claim"))


def _raw(text: str) -> nodes.raw:
    return nodes.raw("", text, format="html")


def add_notebooks(app: Sphinx, config: Any) -> None:
    """Put the students' notebooks among the book's static files; the wheel, which they look for, lies there too."""
    folder = Path(app.outdir).parent / ".exercises"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "exercises").mkdir(parents=True)
    for exercise in all_exercises():
        place = folder / "exercises" / f"{exercise.id}.ipynb"
        place.write_text(student_notebook(exercise, config.html_baseurl or ""), encoding="utf-8", newline="\n")
    config.html_static_path += [str(folder)]


def setup(app: Sphinx) -> None:
    """Register the directives, and connect the rest."""
    app.add_node(Index)
    app.add_directive("graded", Graded)
    app.add_directive("exercise-index", ExerciseIndex)
    app.add_post_transform(FillIndex)
    app.connect("config-inited", add_notebooks)
    app.add_css_file("book/exercises.css")

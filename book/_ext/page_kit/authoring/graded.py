"""The directive `graded`: exercises that grade themselves, from the folders in `exercises/`.

    :::{graded} ex05-1
    :::

is the exercise's box: task, facts, the code to begin with, the student's notebook to download, its question, hints that
open one after the other, and the solution behind a warning. It is an exercise of sphinx-exercise with that label, and
needs no script; `exercises.js` lets the reader mark it as done.
"""

from __future__ import annotations

import html
import re
import shutil
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx_exercise.directive import ExerciseDirective

from annotated_grader.exercise.build import student_notebook
from annotated_grader.exercise.catalogue import all_exercises, find
from annotated_grader.exercise.exercise import DIFFICULTIES, Exercise, ExerciseError
from page_kit.authoring.paper import link_to
from page_kit.authoring.quiz import Quiz, parse
from page_kit.claims.claim_boxes import ledger, plain
from page_kit.raw_html import raw

_ENTRY = re.compile(r"\{(claim|question)\}`([CAQ]\d+)`")
_WARNING = (
    "Try it first. An attempt of your own, even a wrong one, teaches more than reading: `check()` then names the idea "
    "that was wrong, and the solution answers a question that you have."
)


def notebook_address(docname: str, exercise: str) -> str:
    """Where the student's notebook lies, seen from a page."""
    return "../" * docname.count("/") + f"_static/exercises/{exercise}.ipynb"


DOTS = {name: "●" * at + "○" * (len(DIFFICULTIES) - at) for at, name in enumerate(DIFFICULTIES, start=1)}
"""How the boxes and the list of exercises show a difficulty."""


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
        self.options = {"label": exercise.id, "class": ["graded"], "nonumber": None}
        self.content = StringList(exercise.statement.splitlines(), source=str(exercise.folder / "exercise.md"))
        boxes = super().run()
        for box in boxes:
            name_it(box, exercise)
            name_it(self.env.sphinx_exercise_registry[exercise.id]["node"], exercise)  # what references show
            section = next(box.findall(nodes.section))
            section.insert(0, self.facts(exercise))
            section += [self.code(exercise), self.links(exercise), self.more(exercise, questions)]
        return boxes

    def facts(self, exercise: Exercise) -> nodes.paragraph:
        """Kind, difficulty, time, points, and the part of the paper, in one line."""
        line = nodes.paragraph(classes=["graded-facts"])
        line += nodes.inline("", exercise.kind, classes=["graded-kind"])
        dots = f'<span class="difficulty" aria-hidden="true">{DOTS[exercise.difficulty]}</span>'
        line += [nodes.Text(" "), raw(dots)]
        times = f"about {exercise.minutes} minutes · {exercise.points_public} points"
        line += nodes.Text(f" {exercise.difficulty} · {times}")
        for part in exercise.paper:
            text = str(part)
            line += [nodes.Text(" · "), link_to(f"section {text}" if text[0].isdigit() else text)]
        return line

    def code(self, exercise: Exercise) -> nodes.container:
        """The code to begin with: open if there is something to read in it, folded if it only names what to write."""
        code = exercise.stub_code.strip()
        is_read = any("given" in cell.tags for cell in exercise.cells) or exercise.kind == "repair"
        opening = f'<details class="graded-code"{" open" if is_read else ""}><summary>The code to begin with</summary>'
        listing = nodes.literal_block(code, code, language="python")
        return nodes.container("", raw(opening), listing, raw("</details>"), classes=["graded-more"])

    def catches(self, exercise: Exercise) -> list[nodes.Node]:
        """The misconceptions that it is made to catch, folded: they would give away what is to be found."""
        if not exercise.catches:
            return []
        text = _ENTRY.sub(_in_words, exercise.catches.rstrip("."))
        opening = '<details class="graded-tested"><summary>Mistakes that are looked for</summary>'
        return [raw(opening), *self.parse_text_to_nodes(f"{text[0].upper()}{text[1:]}."), raw("</details>")]

    def links(self, exercise: Exercise) -> nodes.paragraph:
        """The way to the notebook, by a download or by a command."""
        address = html.escape(notebook_address(self.env.docname, exercise.id), quote=True)
        link = f'<a class="graded-notebook" href="{address}" download>Download the notebook {exercise.id}.ipynb</a>'
        line = nodes.paragraph("", "", raw(link), nodes.Text(", or get it with "), classes=["graded-links"])
        line += [nodes.literal("", f"annotated exercise start {exercise.id}"), nodes.Text(". ")]
        done = f'<button type="button" class="exercise-done" data-exercise="{exercise.id}" hidden>Mark as done</button>'
        line += raw(done)
        return line

    def more(self, exercise: Exercise, questions: list[Any]) -> nodes.container:
        """All that is folded: it counts neither as reading time nor as the chapter's questions."""
        more = nodes.container(classes=["graded-more"])
        box = nodes.container(classes=["quiz"])
        box += raw(f'<div class="quiz-questions of-exercise" data-quiz="{exercise.id}">')
        for number, question in enumerate(questions, 1):
            box += self.question(exercise.id, number, question)
        box += raw("</div>")
        more += [box, *self.catches(exercise), *self.hints(exercise), *self.solution(exercise)]
        return more

    def hints(self, exercise: Exercise) -> list[nodes.Node]:
        """Each hint lies folded in the one before it."""
        found: list[nodes.Node] = [raw('<div class="graded-hints">')]
        for number, text in enumerate(exercise.hints, 1):
            found.append(raw(f"<details><summary>Hint {number} of {len(exercise.hints)}</summary>"))
            found += self.parse_text_to_nodes(text)
        return [*found, raw("</details>" * len(exercise.hints) + "</div>")]

    def solution(self, exercise: Exercise) -> list[nodes.Node]:
        """The solution and what it teaches, behind a warning; not on paper, where it could not be folded."""
        code = exercise.solution_code.strip()
        listing = nodes.literal_block(code, code, language="python")
        opening = '<details class="graded-solution"><summary>Solution</summary>'
        return [
            raw(opening),
            *self.parse_text_to_nodes(_WARNING),
            raw("<details><summary>Show the solution all the same</summary>"),
            listing,
            *self.parse_text_to_nodes(exercise.afterwards),
            raw("</details></details>"),
            nodes.paragraph("", "The solution is in the page of this chapter.", classes=["graded-on-paper"]),
        ]


def name_it(box: nodes.Element, exercise: Exercise) -> None:
    """Let its title begin with 'Exercise 5.1': one numbering, of the chapter's number and its place there."""
    title = box.children[0]
    title.replace(title.children[0], nodes.Text(f"Exercise {exercise.place}"))  # type: ignore[attr-defined]


def _in_words(entry: re.Match[str]) -> str:
    """A reference to a claim or a question, with its statement for words."""
    kind, id = entry.groups()
    said = re.sub(r'"([^"]*)"', r"‘\1’", plain(ledger(kind)[id].statement)).rstrip(".")
    return f"{'the question ' * (kind == 'question')}{{{kind}}}`“{said}” <{id}>`"


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
    """Register the directive, and connect the rest."""
    app.add_directive("graded", Graded)
    app.connect("config-inited", add_notebooks)
    app.add_css_file("book/exercises.css", priority=600)  # after the book's own
    app.add_js_file("book/exercises.js", defer="defer")

"""The directive `quiz`: questions of the page's `quiz.yaml`, answered in the page.

    :::{quiz} 05
    :::

The file is a list of questions. One option of each is correct, and every option says what choosing it means; the build
shuffles them:

    - question: "Markdown, with $math$ and `code`"
      options:
        - text: "..."
          correct: true
          feedback: "why"
        - text: "..."
          feedback: "why it fails"
          misconception: C08   # a claim of the book, or a short phrase

`:aside:` is for questions within a chapter: they are no part of its quiz, and answering them does not mark it as read.

Without JavaScript each option unfolds its own feedback. With it, `quiz.js` answers to the choice and remembers it on
the reader's device; nothing is sent anywhere.

`:compact:` sets each question with its options as one row, for a few words of the same kind.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from docutils.parsers.rst import directives, roles
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from annotated_grader.exercise.options import shuffled
from page_kit.data import table
from page_kit.raw_html import raw

_CLAIM = re.compile(r"[CA]\d{1,2}")
_QUESTION = re.compile(r"Q\d{1,2}")


@dataclass(frozen=True)
class Option:
    """One answer; `misconception` is the number of a claim, or a phrase, or empty."""

    text: str
    feedback: str
    correct: bool = False
    misconception: str = ""


@dataclass(frozen=True)
class Question:
    """One question with three or four options."""

    text: str
    options: tuple[Option, ...]

    @property
    def answer(self) -> int:
        """The number of the correct option, from 1."""
        return next(i for i, option in enumerate(self.options, 1) if option.correct)


def _text(mapping: dict[str, Any], key: str, where: str) -> str:
    value = mapping.get(key)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{where} needs a text for `{key}`")
    return value.strip()


def _option(data: Any, where: str) -> Option:
    if not isinstance(data, dict):
        raise ValueError(f"{where} is no mapping")
    unknown = set(data) - {"text", "feedback", "correct", "misconception"}
    if unknown:
        raise ValueError(f"{where} has unknown keys: {', '.join(sorted(unknown))}")
    correct = data.get("correct", False)
    if not isinstance(correct, bool):
        raise ValueError(f"{where}: `correct` is true or false")
    misconception = str(data.get("misconception") or "").strip()
    if correct and misconception:
        raise ValueError(f"{where} is correct and yet names a misconception")
    return Option(_text(data, "text", where), _text(data, "feedback", where), correct, misconception)


def parse(data: Any) -> list[Question]:
    """The questions of a quiz file.

    Raises
    ------
    ValueError
        Naming the question and option at fault: something is missing or unknown, there are not three or four options,
        or not exactly one is correct.
    """
    if not isinstance(data, list) or not data:
        raise ValueError("a quiz is a list of questions")
    questions = []
    for number, entry in enumerate(data, 1):
        where = f"question {number}"
        if not isinstance(entry, dict) or set(entry) != {"question", "options"}:
            raise ValueError(f"{where} must have `question` and `options`, and nothing else")
        if not isinstance(entry["options"], list) or len(entry["options"]) not in (3, 4):
            raise ValueError(f"{where} needs three or four options")
        options = tuple(_option(data, f"{where}, option {i}") for i, data in enumerate(entry["options"], 1))
        if sum(option.correct for option in options) != 1:
            raise ValueError(f"{where} needs exactly one correct option")
        if len({option.text for option in options}) < len(options):
            raise ValueError(f"{where} has the same option twice")
        text = _text(entry, "question", where)
        questions.append(Question(text, tuple(shuffled(text, options, lambda option: option.text))))
    return questions


def quiz_file(page: Path, name: str) -> Path:
    """Where the questions of a page's quiz lie: those of '07' in `quiz.yaml` beside its text, of '22-runs' in
    `quiz-runs.yaml`."""
    _, dash, part = name.partition("-")
    return page.with_name(f"quiz{dash}{part}.yaml")


def load(path: Path) -> list[Question]:
    """Read and check a quiz file.

    Raises
    ------
    ValueError
        If it is missing, no YAML, or no quiz.
    """
    try:
        return parse(table(path))
    except FileNotFoundError:
        raise ValueError(f"there is no {path.name} in {path.parent.name}/") from None
    except (yaml.YAMLError, ValueError) as error:
        raise ValueError(f"{path.name}: {error}") from error


class Quiz(SphinxDirective):
    """The questions as fieldsets of radio buttons."""

    required_arguments = 1
    option_spec: dict[str, Any] = {"aside": directives.flag, "compact": directives.flag}

    def run(self) -> list[nodes.Node]:
        """The quiz, or an error that names the fault in its file."""
        name = self.arguments[0]
        path = quiz_file(Path(self.env.doc2path(self.env.docname)), name)
        self.env.note_dependency(str(path))
        try:
            questions = load(path)
        except ValueError as error:
            return [self.state.document.reporter.error(f"quiz: {error}", line=self.lineno)]
        aside = "aside" in self.options
        box = nodes.container(classes=["quiz", *["try-more"] * aside, *["quiz-compact"] * ("compact" in self.options)])
        mark = " data-aside" if aside else ""
        box += raw(f'<div class="quiz-questions" data-quiz="{escape(name, quote=True)}"{mark}>')
        for number, question in enumerate(questions, 1):
            box += self.question(name, number, question)
        box += raw("</div>")
        return [box]

    def question(self, name: str, number: int, question: Question) -> list[nodes.Node]:
        """A fieldset: its legend is the first paragraph of the question, which is followed by the rest."""
        first, *rest = self.parse_text_to_nodes(question.text)
        found: list[nodes.Node] = [raw(f'<fieldset data-answer="{question.answer}"><legend>')]
        found += [nodes.inline("", "", nodes.Text(f"{number}. "), *first.children), raw("</legend>"), *rest]
        for i, option in enumerate(question.options, 1):
            # A formula alone gives a choice no name that can be heard before it is set.
            bare = not re.search(r"\w", re.sub(r"\$[^$]*\$", "", option.text))
            spoken = escape(re.sub(r"[$\\{}]", " ", option.text).strip(), quote=True)
            heard = f' aria-label="{spoken}"' if bare else ""
            radio = f'<input type="radio" name="quiz-{name}-{number}" value="{i}"{heard}>'
            found += [
                raw(f'<div class="quiz-option"><label>{radio}'),
                nodes.inline("", "", *self.inline(option.text), classes=["quiz-text"]),
                raw('</label><details><summary>If you chose this</summary><div class="quiz-feedback">'),
                *self.feedback(option),
                raw("</div></details></div>"),
            ]
        return [*found, raw("</fieldset>")]

    def inline(self, text: str) -> list[nodes.Node]:
        """The content of a text that is one paragraph."""
        found = self.parse_text_to_nodes(text)
        if len(found) != 1 or not isinstance(found[0], nodes.paragraph):
            return [self.state.document.reporter.error(f"quiz: not one paragraph: {text!r}", line=self.lineno)]
        return found[0].children

    def feedback(self, option: Option) -> list[nodes.Node]:
        """A verdict in words and with a sign, the misconception, and the reason."""
        verdict = nodes.paragraph(classes=["quiz-verdict"])
        verdict += nodes.strong("", "✓ Right." if option.correct else "✗ Not this one.")
        if _CLAIM.fullmatch(option.misconception) and "claim" in roles._roles:  # type: ignore[attr-defined]
            link = self.inline(f"{{claim}}`what is true <{option.misconception}>`")
            verdict += [nodes.Text(" It is often said; see "), *link, nodes.Text(".")]
        elif _QUESTION.fullmatch(option.misconception) and "question" in roles._roles:  # type: ignore[attr-defined]
            link = self.inline(f"{{question}}`the answer <{option.misconception}>`")
            verdict += [nodes.Text(" Many readers ask about this; see "), *link, nodes.Text(".")]
        elif option.misconception:
            verdict += [
                nodes.Text(" The misconception: "),
                *self.inline(option.misconception.rstrip(".")),
                nodes.Text("."),
            ]
        return [verdict, *self.parse_text_to_nodes(option.feedback)]


def setup(app: Sphinx) -> None:
    """Register the directive and its script."""
    app.add_directive("quiz", Quiz)
    app.add_js_file("book/quiz.js", defer="defer")

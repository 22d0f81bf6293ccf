"""The directive `try`: a small exercise with an answer of one line, graded in the page.

    :::{try} Dot product, divided
    :answer: 24 / math.sqrt(64)
    :digits: 1

    The question, after which the reader types a number, a shape or a word.

    - `24` What a reader who answers so has missed.
    - `24 / 64` The same for another wrong answer.

    **Hint.** Where to look.

    **Solution.** The way to it, $24 / [[math.sqrt(64):.0f]]$, which unfolds after an answer.
    :::

Answer, wrong answers and whatever stands in `[[...]]` are Python, evaluated when the page is built, with `annotated`,
`torch` and `math` at hand and after the statements of `:given:`; so none of them is ever copied. In the text `answer`
is the answer, and `[[x:.2f]]` formats as an f-string does. Numbers that are not whole need `:digits:`, the decimals
asked for; `:unit:` stands after the field. Without JavaScript hint, wrong answers and solution unfold by hand.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import torch
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import annotated
from page_kit.raw_html import raw

Value = float | list[int] | str

MISSES, HINT, SOLUTION = "Wrong answers, and where they come from", "Hint", "Solution"
_MISS = re.compile(r"^- `([^`]+)` (?=\S)")
_COMPUTED = re.compile(r"\[\[(.+?)\]\]")


@dataclass(frozen=True)
class Miss:
    """A wrong answer that a known error gives, and what to say to it."""

    value: Value
    text: str


@dataclass(frozen=True)
class Exercise:
    """A small exercise, computed; its texts are Markdown."""

    question: str
    answer: Value
    misses: tuple[Miss, ...]
    hint: str
    solution: str
    digits: int
    unit: str

    @property
    def kind(self) -> str:
        """What the reader types: 'number', 'shape' or 'word'."""
        return {list: "shape", str: "word"}.get(type(self.answer), "number")

    @property
    def asked(self) -> str:
        """The form of the answer, in words."""
        decimals = "a whole number" if not self.digits else f"{self.digits} decimal{'s' if self.digits > 1 else ''}"
        return {"number": decimals, "shape": "a shape such as [3, 5]", "word": "a word or a token"}[self.kind]

    def shown(self, value: Value) -> str:
        """A value as it is printed, with its unit."""
        text = f"{value:,.{self.digits}f}".replace("-", "−") if isinstance(value, int | float) else str(value)
        return f"{text} {self.unit}".strip()


def exercise(content: Sequence[str], options: dict[str, str]) -> Exercise:
    """The exercise that a directive's lines and options make.

    Raises
    ------
    ValueError
        If a part is missing, an expression fails, or a wrong answer would pass for the right one or for another.

    Examples
    --------
    >>> lines = ["Half of 3?", "", "- `3` Not halved.", "", "**Hint.** Halve.", "", "**Solution.** $3/2 = [[answer]]$"]
    >>> made = exercise(lines, {"answer": "3 / 2", "digits": "1"})
    >>> made.answer, made.misses, made.solution
    (1.5, (Miss(value=3, text='Not halved.'),), '$3/2 = 1.5$')
    """
    if "answer" not in options:
        raise ValueError("an exercise needs `:answer:`")
    names: dict[str, Any] = {"annotated": annotated, "torch": torch, "math": math}
    try:
        exec(options.get("given", ""), names)
        names["answer"] = answer = value_of(options["answer"], names)
        question, found, hint, solution = _parts(content)
        misses = tuple(Miss(value_of(code, names), _computed(text, names)) for code, text in _misses(found))
        question, hint, solution = (_computed(part, names) for part in (question, hint, solution))
    except Exception as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error
    made = Exercise(question, answer, misses, hint, solution, int(options.get("digits", 0)), options.get("unit", ""))
    _check(made)
    return made


def value_of(code: str, names: dict[str, Any]) -> Value:
    """A number, a shape or a word that an expression gives."""
    value = eval(code, names)
    if isinstance(value, torch.Tensor):
        value = value.item()
    if isinstance(value, tuple | list) and value and all(isinstance(item, int) for item in value):
        return list(value)
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return value
    raise TypeError(f"{code} is neither a number, a shape nor a word: {value!r}")


def _parts(lines: Sequence[str]) -> tuple[str, str, str, str]:
    """Question, wrong answers, hint and solution."""
    parts: dict[str, list[str]] = {"question": [], "misses": [], "hint": [], "solution": []}
    now = "question"
    for line in lines:
        if now == "question" and _MISS.match(line):
            now = "misses"
        for name in ("hint", "solution"):
            if line.startswith(mark := f"**{name.title()}.** "):
                now, line = name, line.removeprefix(mark)
        parts[now].append(line)
    question, misses, hint, solution = ("\n".join(part).strip() for part in parts.values())
    if not (question and misses and hint and solution):
        raise ValueError("an exercise needs a question, wrong answers (- `value` why), **Hint.** and **Solution.**")
    return question, misses, hint, solution


def _misses(text: str) -> list[tuple[str, str]]:
    """Expression and message of each item of a list."""
    items = [" ".join(item.split()) for item in re.split(r"\n(?=- )", text)]
    matches = [(_MISS.match(item), item) for item in items]
    if not all(match for match, _ in matches):
        raise ValueError("a wrong answer is `- `, its value in backticks, and a sentence")
    return [(match[1], item[match.end() :]) for match, item in matches if match]


def _computed(text: str, names: dict[str, Any]) -> str:
    """The text with the value of each `[[expression]]` in its place."""
    return _COMPUTED.sub(lambda found: eval(f"f'''{{{found[1]}}}'''", names), text)


def _check(made: Exercise) -> None:
    if made.kind == "number" and made.digits == 0 and made.answer != int(made.answer):  # type: ignore[arg-type]
        raise ValueError(f"the answer {made.answer} is no whole number: say how many `:digits:` are asked for")
    values = [made.answer, *(miss.value for miss in made.misses)]
    if len({isinstance(value, str) + 2 * isinstance(value, list) for value in values}) > 1:
        raise ValueError(f"answers of different kinds: {values}")
    for i, one in enumerate(values):
        for other in values[:i]:
            near = 2 * tolerance(made.digits)
            if abs(one - other) <= near if isinstance(one, int | float) else one == other:  # type: ignore[operator]
                raise ValueError(f"{one} and {other} would be taken for the same answer")


def tolerance(digits: int) -> float:
    """How far an answer may be off: one unit of its last digit, whichever way it was rounded; nothing if whole."""
    return 1.001 * 10**-digits if digits else 0.0


class Try(SphinxDirective):
    """The box; the script `tries.js` puts a field into it."""

    has_content = True
    required_arguments = 1
    final_argument_whitespace = True
    option_spec = {
        "answer": directives.unchanged_required,
        "given": directives.unchanged_required,
        "digits": directives.unchanged_required,
        "unit": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        """Title and question; what unfolds stands in a container of its own, which is no reading time."""
        try:
            made = exercise(list(self.content), self.options)
        except ValueError as error:
            return [self.state.document.reporter.error(f"try: {error}", line=self.lineno)]
        form = {"kind": made.kind, "answer": made.answer, "tolerance": tolerance(made.digits), "unit": made.unit}
        form["asked"] = made.asked
        box = nodes.container(classes=["try"])
        title = nodes.paragraph("", "Try it: ", classes=["prediction-title"])
        title += self.parse_text_to_nodes(self.arguments[0])[0].children
        more = nodes.container(classes=["try-more"])
        more += [
            *self.folded("try-hint", HINT, self.parse_text_to_nodes(made.hint)),
            *self.folded(
                "try-solution", SOLUTION, [_bold(made.shown(made.answer)), *self.parse_text_to_nodes(made.solution)]
            ),
            *self.folded("try-misses", MISSES, [node for miss in made.misses for node in self.miss(made, miss)]),
        ]
        field = raw(f'<div class="try-field" data-try="{_json(form)}"></div>')
        box += [title, *self.parse_text_to_nodes(made.question), field, more]
        return [box]

    def folded(self, kind: str, summary: str, content: list[nodes.Node]) -> list[nodes.Node]:
        """A part that unfolds."""
        return [raw(f'<details class="{kind}"><summary>{summary}</summary>'), *content, raw("</details>")]

    def miss(self, made: Exercise, miss: Miss) -> list[nodes.Node]:
        """A wrong answer and the sentence that goes with it."""
        value = f'<div class="try-miss" data-value="{_json(miss.value)}"><p>{escape(made.shown(miss.value))}</p><div>'
        return [raw(value), *self.parse_text_to_nodes(miss.text), raw("</div></div>")]


def _bold(text: str) -> nodes.paragraph:
    return nodes.paragraph("", "", nodes.strong("", text))


def _json(value: Any) -> str:
    return escape(json.dumps(value), quote=True)


def setup(app: Sphinx) -> None:
    """Register the directive and its script."""
    app.add_directive("try", Try)
    app.add_js_file("book/tries.js", defer="defer")

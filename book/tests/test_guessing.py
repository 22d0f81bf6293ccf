"""Nobody finds the right option of a prediction, quiz, card or exercise by its place or by its length."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import pytest

from annotated_book.pages import BOOK, page_texts
from annotated_grader.exercise import catalogue

Question = tuple[list[str], int]
"""The options' texts, and the place of the right one, from 0."""
SPREAD = 2.5
"""Standard deviations of chance: one set in eighty of those that say nothing lies beyond."""


def predictions(extension: Any) -> Iterator[Question]:
    parse = extension("authoring.prediction").options
    for text in page_texts().values():
        for block in re.finditer(r"^(`{3,}|:{3,})\{prediction\}[^\n]*\n(.*?)^\1", text, re.DOTALL | re.MULTILINE):
            lines, answer = parse(block[2].splitlines())
            items = re.split(r"^- ", "\n".join(lines), flags=re.MULTILINE)[1:]
            yield [re.split(r"\n\n", item)[0].strip() for item in items], answer - 1


def quizzes(extension: Any) -> Iterator[Question]:
    for file in sorted(BOOK.rglob("quiz*.yaml")):
        for question in extension("authoring.quiz").load(file):
            yield [option.text for option in question.options], question.answer - 1


def cards(extension: Any) -> Iterator[Question]:
    text = (BOOK / "results" / "questions" / "questions.md").read_text(encoding="utf-8")
    for block in re.finditer(r"^:::\{question-card\} Q\d+\n(?::see:[^\n]*\n)(.*?)^:::", text, re.DOTALL | re.MULTILINE):
        options, _ = extension("authoring.cards").parse(block[1].splitlines())
        yield [option.text for option in options], next(i for i, option in enumerate(options) if option.correct)


def exercises(extension: Any) -> Iterator[Question]:
    for exercise in catalogue.all_exercises():
        for question in exercise.quiz:
            options = question["options"]
            right = next(i for i, option in enumerate(options) if option.get("correct"))
            yield [option["text"] for option in options], right


def beyond_chance(hits: int, chances: list[float]) -> float:
    """By how many standard deviations there are more or fewer hits than guessing has.

    Examples
    --------
    >>> beyond_chance(5, [0.5] * 10), round(beyond_chance(9, [0.5] * 10), 1)
    (0.0, 2.5)
    """
    return (hits - sum(chances)) / math.sqrt(sum(p * (1 - p) for p in chances))


@pytest.mark.parametrize("kind", [predictions, quizzes, cards, exercises])
def test_neither_place_nor_length_tells_the_right_option(extension: Any, kind: Any) -> None:
    questions = list(kind(extension))
    chances = [1 / len(options) for options, _ in questions]
    assert len(questions) >= 30
    for place in range(3):
        assert abs(beyond_chance(sum(right == place for _, right in questions), chances)) < SPREAD, f"place {place}"
    for choose in (max, min):
        found = sum(choose(options, key=len) == options[right] for options, right in questions)
        assert beyond_chance(found, chances) < SPREAD, f"{found} of {len(questions)}: {choose.__name__} length"

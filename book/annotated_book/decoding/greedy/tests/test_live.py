"""The panel in which the reader forces a token: what must be written before it, and what the choice costs."""

from __future__ import annotations

import math
from typing import Any

from annotated_book.pages import page_folder
from book.tests.javascript import evaluate

PANEL = page_folder("greedy") / "live.js"


def found(text: str, log_probability: float, steps: int = 4, *, ended: bool = True) -> dict[str, Any]:
    return {"text": text, "logProbability": log_probability, "steps": [{"id": n} for n in range(steps)], "ended": ended}


def said(own: dict[str, Any], other: dict[str, Any]) -> str:
    return str(evaluate(PANEL, "({ verdict }, [own, found]) => verdict(own, found)", [own, other]))


def test_a_forced_token_keeps_all_tokens_before_it() -> None:
    ask = "({ forcedPrefix }, steps) => [forcedPrefix(steps, 0, 9), forcedPrefix(steps, 2, 9)]"
    assert evaluate(PANEL, ask, [{"id": 5}, {"id": 6}, {"id": 7}]) == [[9], [5, 6, 9]]


def test_a_forced_translation_is_compared_with_that_of_greedy_search() -> None:
    own = found("Ja.", -1.0)
    assert said(own, own) == "Log-probability −1.00 nats. 4 steps: 4 decoder positions with a cache, 10 without."
    worse = said(own, found("Nein.", -1.0 - math.log(20)))
    assert "20 times less probable than “Ja.”" in worse
    assert "5.0 times more probable" in said(own, found("Doch.", -1.0 + math.log(5)))


def test_an_unfinished_translation_is_not_compared() -> None:
    cut = said(found("Ja.", -1.0), found("Ja ja ja", -0.5, ended=False))
    assert "without an end token" in cut and "probable than" not in cut

"""The panel in which the reader forces a token: what must be written before it, and what the choice costs."""

from __future__ import annotations

import math
from typing import Any

import annotated
from annotated import greedy_decode
from annotated.classroom import classroom_pairs
from annotated.config import EOS
from annotated.data import pad
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
    assert "5.00 times more probable" in said(own, found("Doch.", -1.0 + math.log(5)))


def test_a_translation_that_is_a_guess_says_so() -> None:
    guess = said(found("Ich liebe wirft.", -3.0), found("Ich liebe wirft.", -3.0))
    assert "knows only the words of the classroom" in guess
    assert "classroom" not in said(found("Ja.", -0.5), found("Nein.", -5.0)), "the reader forced a token, and knows it"


def test_what_is_a_guess_follows_from_the_models_own_certainty() -> None:
    translator, doubt = annotated.load("classroom"), evaluate(PANEL, "({ DOUBT }) => DOUBT")
    own = [pair.source for pair in classroom_pairs("test", 60)]
    strange = ["Quantum chromodynamics is hard.", "I love you.", "Democracy needs debate."]
    ids = [translator.tokenizer.encode(text) + [EOS] for text in own + strange]
    each = [h.log_probability / h.steps for h in greedy_decode(translator.model, pad(ids))]
    assert min(each[:60]) > doubt + 0.1 and max(each[60:]) < doubt - 0.1


def test_an_unfinished_translation_is_not_compared() -> None:
    cut = said(found("Ja.", -1.0), found("Ja ja ja", -0.5, ended=False))
    assert "without an end token" in cut and "probable than" not in cut

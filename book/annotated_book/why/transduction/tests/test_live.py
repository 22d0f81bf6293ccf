"""The panel that scores a German sentence of the reader's: which factor breaks, and what the model would write."""

from __future__ import annotations

import math
from typing import Any

from annotated_book.pages import page_folder
from book.tests.javascript import evaluate

PANEL = page_folder("transduction") / "live.js"
ENGINE = "{ tokenizer: { readable: id => `token ${id}` } }"


def steps(*chances: float, best: float = 0.9) -> list[dict[str, Any]]:
    """Steps whose tokens have these probabilities; token 7 is the most probable where it has `best`."""
    return [
        {"id": 7 if p == best else 3, "probability": p, "logProbability": math.log(p), "best": [[7, best]]}
        for p in chances
    ]


def test_the_smallest_factor_breaks_the_sentence() -> None:
    ask = "({ breakingStep }, steps) => breakingStep(steps)"
    assert evaluate(PANEL, ask, steps(0.9, 0.04, 0.3)) == 1
    assert evaluate(PANEL, ask, steps(0.9, 0.6)) == -1, "a token that is more probable than all others breaks nothing"


def test_a_row_names_what_the_model_would_write() -> None:
    rows = evaluate(PANEL, f"({{ factorRows }}, steps) => factorRows({ENGINE}, steps)", steps(0.9, 0.04))
    assert [row["token"] for row in rows] == ["token 7", "token 3"]
    assert [row["instead"] for row in rows] == ["", "token 7 (90 %)"]


def test_small_factors_keep_their_digits() -> None:
    ask = "({ factorText }, p) => factorText(p)"
    found = [evaluate(PANEL, ask, p) for p in (0.43, 0.999, 0.00017, 0.0085, 1e-12)]
    assert found == ["43 %", "100 %", "0.017 %", "0.85 %", "<0.00001 %"]


def test_the_sentence_is_compared_with_the_models_own() -> None:
    ask = """({ verdict }, [own, sum, worst]) => verdict({ text: "Ja.", logProbability: own }, { logProbability: sum },
      [{ token: "ja" }], worst)"""
    worse = evaluate(PANEL, ask, [-1.0, -1.0 - math.log(20), 0])
    assert (
        worse.startswith("The factor of “ja” is the smallest.")
        and "20 times less probable" in worse
        and "“Ja.”" in worse
    )
    assert "what the model writes" in evaluate(PANEL, ask, [-1.0, -1.0, -1])

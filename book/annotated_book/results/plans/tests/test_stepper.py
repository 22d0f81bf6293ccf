"""Chapter 35, the search pass by pass: what stays of each pass, and the marginals beside a joint distribution."""

from __future__ import annotations

from typing import Any

import pytest

from annotated_book.pages import page_folder
from annotated_book.results.plans.places_charts import joint_chart
from annotated_book.results.plans.stepper import draft_stepper, replayed
from annotated_book.results.plans.verifying import Passes
from book.tests.javascript import evaluate

FILE = page_folder("plans") / "stepper.js"
PASSES = [
    {"guesses": ["▁a", "b"], "choices": ["▁a", "c", "d"], "kept": 1},
    {"guesses": ["▁e"], "choices": ["▁e", "</s>"], "kept": 1},
]


def tokens(ids: list[int]) -> list[str]:
    return [f"t{i}" for i in ids]


def test_a_wrong_guess_gives_way_and_the_rest_is_dropped() -> None:
    fates = "({ placesOf }, one) => placesOf(one).map(place => place.fate)"
    assert evaluate(FILE, fates, PASSES[0]) == ["kept", "corrected", "dropped"]
    assert evaluate(FILE, fates, PASSES[1]) == ["kept", "added"]


def test_written_are_the_kept_guesses_and_one_token_of_the_models_own_for_each_pass() -> None:
    found = evaluate(FILE, "({ writtenBy }, passes) => writtenBy(passes, 2)", PASSES)
    assert [one["token"] for one in found] == ["▁a", "c", "▁e", "</s>"]
    assert [one["guessed"] for one in found] == [True, False, True, False]


def test_the_words_of_a_moment() -> None:
    said = evaluate(FILE, "({ saying }, passes) => [0, 1, 2, 3].map(moment => saying(passes, moment))", PASSES)
    assert said[0].startswith("Pass 1: the draft guesses 2 tokens.")
    assert "1 of 2 guesses is kept. The model puts “c” in the place of “b”." in said[1]
    assert said[1].endswith("So far 2 tokens in 1 pass; greedy search needs 2 passes.")
    assert said[2].startswith("Pass 2: the draft guesses 1 token.")
    assert said[3] == (
        "The guess is kept, and the model adds its own choice, “end”. So far 4 tokens in 2 passes; greedy search "
        "needs 4 passes."
    )


def test_the_widget_takes_searches_of_one_text() -> None:
    one = Passes(tokens=[7, 8], drafted=[1], kept=[1], guesses=[[7]], choices=[[7, 8]])
    widget = draft_stepper("source", {"name": one}, tokens)
    assert widget.searches == [{"name": "name", "passes": [{"guesses": ["t7"], "choices": ["t7", "t8"], "kept": 1}]}]
    with pytest.raises(ValueError, match="same tokens"):
        draft_stepper("source", {"a": one, "b": Passes(tokens=[7], kept=[0])}, tokens)
    with pytest.raises(ValueError, match="one pass"):
        draft_stepper("source", {"a": Passes()}, tokens)


def test_recorded_guesses_are_made_again_in_turn() -> None:
    draft = replayed([[1, 2, 3], [4]])
    assert [draft([], [], 2), draft([], [], 2), draft([], [], 2)] == [[1, 2], [4], []]


@pytest.mark.parametrize(("cell", "value"), [((0, 0, 1), 0.0), ((1, 0, 1), 0.21), ((1, 0, 0), 0.49), ((0, -1, 1), 0.3)])
def test_pairs_of_words_by_hand(cell: tuple[int, int, int], value: float) -> None:
    """Danke schön in 7 of 10 cases: Danke Dank has 0.7 * 0.3 in the product, and nothing in the joint distribution."""
    made: dict[str, Any] = joint_chart().to_dict()
    formula = made["layer"][0]["transform"][0]["calculate"]
    panel, row, col = cell
    script = f"(_, datum) => {{ const share = 0.7; return {formula}; }}"
    assert evaluate(FILE, script, {"panel": panel, "row": row, "col": col}) == pytest.approx(value)

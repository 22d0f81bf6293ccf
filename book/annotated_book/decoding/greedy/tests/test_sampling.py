"""Draws: what temperature, top-k and top-p leave, in Python and in the page's engine; the record of the comparison."""

from __future__ import annotations

import pytest
import torch

import annotated
from annotated.config import EOS
from annotated_book import recorded
from annotated_book.decoding.greedy.sampling import WAYS, draw, narrowed
from annotated_book.pages import page_folder
from book.tests.javascript import PACKAGE, evaluate

SAMPLING = PACKAGE / "viz" / "engine" / "sampling.js"
ASK = """({ choicesOf }, { row, temperature, topK, topP, never }) =>
  choicesOf(Float32Array.from(row), { temperature, topK, topP, never })"""


@pytest.mark.parametrize("temperature", [0.3, 1.0, 1.7])
@pytest.mark.parametrize(("top_k", "top_p"), [(0, 1.0), (3, 1.0), (0, 0.6), (4, 0.5), (1, 0.1)])
def test_the_page_narrows_as_python_does(temperature: float, top_k: int, top_p: float) -> None:
    row = torch.randn(20, generator=torch.Generator().manual_seed(3)).mul(2)
    row[[0, 2]] = -torch.inf
    given = {"row": row.clamp_min(-99).log_softmax(-1).tolist(), "temperature": temperature}
    found = evaluate(SAMPLING, ASK, {**given, "topK": top_k, "topP": top_p, "never": [0, 2]})
    expected = narrowed(row, temperature, top_k, top_p)
    assert len(found) == int((expected > 0).sum())
    assert [p for _, p in found] == pytest.approx([float(expected[i]) for i, _ in found], abs=1e-5)
    assert float(expected.sum()) == pytest.approx(1, abs=1e-6)


def test_a_draw_takes_the_choice_whose_part_of_the_line_it_hits() -> None:
    ask = "({ drawn }, us) => us.map(u => drawn([[7, 0.5], [4, 0.3], [9, 0.2]], u))"
    assert evaluate(SAMPLING, ask, [0, 0.49, 0.5, 0.79, 0.81, 0.9999999]) == [7, 7, 4, 4, 9, 9]


def test_a_cold_draw_is_greedy_search() -> None:
    loaded = annotated.load("classroom")
    source = torch.tensor([[*loaded.tokenizer.encode("The small dog sees the cat."), EOS]])
    (ids,) = draw(loaded.model, source, temperature=0.01)
    assert loaded.tokenizer.decode(ids) == "Der kleine Hund sieht die Katze."


def test_the_record_compares_all_ways() -> None:
    results = recorded("greedy/sampling").results
    assert set(results["right"]) == {"greedy", *WAYS}
    assert all(len(rounds) == 3 for way, rounds in results["right"].items() if way != "greedy")


def test_a_tally_puts_the_most_frequent_translation_first() -> None:
    live = page_folder("greedy") / "live.js"
    ask = "({ tallied }, texts) => tallied(texts)"
    assert evaluate(live, ask, ["a", "b", "b", "c", "b", "a"]) == [["b", 3], ["a", 2], ["c", 1]]

"""One search ranked by several alphas at once gives what a search for each alpha gives."""

from __future__ import annotations

import pytest
import torch

from annotated.decoding import beam_search
from annotated.decoding.search import decoding_mode, max_lengths
from annotated.evaluation.ngrams import bleu_of
from annotated.loading import load
from annotated_book.decoding.beam_search.beam_sizes import ALPHAS, ManyAlphas, exact, sizes
from annotated_book.decoding.beam_search.tree import choose, study
from annotated_book.decoding.bleu.experiment import unpack
from tests.decoding.test_invariants import random_model, random_source


@pytest.mark.parametrize("seed", range(6))
def test_many_alphas_are_as_many_searches(seed: int) -> None:
    model, source = random_model(seed), random_source(seed, [5, 3, 6, 2])
    with decoding_mode(model):
        found = ManyAlphas(model, source, max_lengths(model, source, None, 9), 3).run()
    for number, alpha in enumerate(ALPHAS):
        expected = [h[0] for h in beam_search(model, source, 3, alpha, extra_tokens=9)]
        assert [f[number].tokens for f in found] == [h.tokens for h in expected]
        assert [f[number].score for f in found] == pytest.approx([h.score for h in expected], abs=1e-4)


def test_a_case_is_named_by_what_happened() -> None:
    torch.manual_seed(0)
    translator = load("classroom")
    case = study(translator, "Does he wake up?", "Wacht er auf?")
    assert case.kinds == ["calm"] and case.greedy.tokens == case.found[0].tokens == case.target[:-1]
    wrong = study(translator, "Does he wake up?", "Die Frau wacht auf.")
    assert "reference" in wrong.kinds and "calm" not in wrong.kinds and wrong.reference_score < wrong.found[0].score
    assert [kind for kind, _ in choose([case, wrong, case])] == ["calm", "calm", "reference"]
    (row,) = exact(translator, [("Does he wake up?", "Wacht er auf?")])
    assert row["proven"] and row["exact"] == pytest.approx(row["reference"], abs=1e-3)
    assert row["empty"] < row["reference"]


def test_every_sentence_keeps_the_counts_that_bleu_is_made_of() -> None:
    pairs = [("Does he wake up?", "Wacht er auf?"), ("Does he wake up?", "Schläft er nicht?")]
    rows = sizes(load("classroom"), pairs, (1,))
    assert [row["alpha"] for row in rows] == list(ALPHAS)
    for row in rows:  # it writes "Wacht er auf ?" twice: four tokens, of which four and two are in the reference
        counts = unpack(row["statistics"])
        assert counts[:, [0, 1, 2]].tolist() == [[4, 4, 4], [4, 4, 2]]
        assert float(bleu_of(counts.sum(axis=0))) == pytest.approx(row["bleu"], abs=0.006)

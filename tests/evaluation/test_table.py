"""Evaluation results as a table: systems on rows, scores on columns."""

from __future__ import annotations

import pytest

from annotated.evaluation import Evaluation, Perplexity, bleu, compare, to_frame

REFERENCES = ["the cat sleeps on the mat", "a dog barks at night", "we saw two small birds today"]
NEAR = ["the cat sleeps on a mat", "a dog barks at night", "we saw two small birds"]


def test_comparisons_become_rows_by_name() -> None:
    found = compare({"exact": REFERENCES, "near": NEAR}, REFERENCES, samples=20)
    table = to_frame(found)
    assert table.index.tolist() == ["exact", "near"] and table.index.name == "name"
    assert table.sort_values("bleu").index[-1] == "exact"
    assert table.loc["near", "bleu"] == found[1].bleu
    assert table["p_value"].isna().tolist() == [True, False]


def test_evaluations_and_scores_become_rows_by_name() -> None:
    scores = bleu(NEAR, REFERENCES)
    whole = Evaluation(scores, Perplexity(loss_sum=10.0, tokens=20, words=10), NEAR)
    assert to_frame({"near": scores}).loc["near", "chrf"] == scores.chrf
    table = to_frame({"near": whole, "again": whole})
    assert table.loc["again", "loss"] == 0.5 and table["tokens"].tolist() == [20, 20]
    assert "translations" not in table


@pytest.mark.parametrize("nothing", [{}, []])
def test_no_results_are_refused(nothing: object) -> None:
    with pytest.raises(ValueError, match="no results"):
        to_frame(nothing)  # type: ignore[arg-type]

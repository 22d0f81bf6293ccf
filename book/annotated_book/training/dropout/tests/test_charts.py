"""Charts of dropout: the places of the paper are told from those of later code, and the arithmetic is right."""

from __future__ import annotations

import json
import re

import pytest

from annotated.config import base
from annotated_book.training.dropout.charts import dropout_chart, regularisation_chart
from annotated_book.training.dropout.curve_charts import SWITCHES, dropout_curves_chart, switches_chart
from annotated_book.training.dropout.site_charts import CONVENTIONS, dropout_sites_chart, site_rates
from book.tests.drawing import draw


@pytest.mark.parametrize(
    ("convention", "places", "rates"),
    [
        ("as written: section 5.4", 7, {"0.1": 7}),
        ("with the paragraphs that were cut", 12, {"0.1": 9, "0.2": 3}),
        ("as released later: transformer_big", 12, {"0.3": 7, "0.1": 5}),
        ("today: torch.nn.Transformer", 10, {"0.1": 10, "yours": 4}),
        ("The Annotated Transformer, dropout=0.0", 3, {"0.1": 3}),
    ],
)
def test_places_are_counted_and_labelled(convention: str, places: int, rates: dict[str, int]) -> None:
    picture = draw(dropout_sites_chart(convention=convention), width=500)
    assert f"dropout at {places}" in picture
    for rate, count in rates.items():
        assert len(re.findall(f">{rate}<", picture)) == count


def test_the_default_configuration_is_the_printed_one() -> None:
    config = base(dropout=0.0, attention_dropout=0.25)
    assert site_rates(config) == {"symbol": 0.0, "sum": 0.0, "output": 0.0, "weights": 0.25, "relu": 0.0}
    assert site_rates(base()) == CONVENTIONS["as written: section 5.4"]
    with pytest.raises(ValueError, match="convention must be one of"):
        dropout_sites_chart(convention="BERT")


def test_what_is_kept_is_scaled() -> None:
    picture = draw(dropout_chart([4.0, 4.0, 4.0, 4.0], p=0.5, seed=1), width=500)
    lost = int(re.search(r"(\d) of 4 dropped, the others times 2.00", picture)[1])  # type: ignore[index]
    assert f"mean 4.00 before, {8 * (4 - lost) / 4:.2f} after" in picture
    with pytest.raises(ValueError, match="p must lie in"):
        dropout_chart([1.0], p=0.6)
    with pytest.raises(ValueError, match="one vector"):
        dropout_chart([[1.0]])


def test_curves_are_read_off_at_the_slider() -> None:
    runs = [
        {"site": "as written", "p": 0.0, "seed": seed, "train": [2.0, 0.1], "valid": [3.0, 4.0 + seed]}
        for seed in (0, 1)
    ]
    runs.append({"site": "all sites", "p": 0.3, "seed": 0, "train": [2.5, 1.0], "valid": [3.0, 2.0]})
    picture = draw(dropout_curves_chart(runs, block=10), width=500)
    assert "p = 0: 4.50" in picture and "all sites" not in picture
    assert "all sites" in json.dumps(dropout_curves_chart(runs, block=10).to_dict())
    with pytest.raises(ValueError, match="no runs"):
        dropout_curves_chart([], block=10)


def test_group_d_shows_the_chosen_score() -> None:
    rows = [{"setting": "P_drop", "row": "D1", "value": 0.0, "BLEU": 24.6, "perplexity": 5.77}]
    assert "D1: 24.6" in draw(regularisation_chart(rows), width=500)


def switched_runs() -> list[dict]:
    """A run for each of the eight combinations; the lowest loss tells which it is."""
    kinds = list(SWITCHES)
    return [
        {
            "on": [k for i, k in enumerate(kinds) if code >> i & 1],
            "seed": 0,
            "train": [2.0, 1.0],
            "valid": [4.0, 3 - code / 10],
        }
        for code in range(8)
    ]


def test_switches_choose_the_combination() -> None:
    chart = switches_chart(switched_runs(), block=10, on=["residual", "symbol"])
    picture = draw(chart, width=500)
    assert (
        "Lowest validation loss: 2.50" in picture and "17 % below 3.00 without dropout" in picture
    )  # residual 1, symbol 4
    assert "residual and attention weights and symbols" in chart.to_dict()["description"]
    with pytest.raises(ValueError, match="missing"):
        switches_chart(switched_runs()[:-1], block=10)
    with pytest.raises(ValueError, match="kinds are"):
        switches_chart(switched_runs(), block=10, on=["embedding"])

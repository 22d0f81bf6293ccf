"""Charts of dropout: the places of the paper are told from those of later code, and the arithmetic is right."""

from __future__ import annotations

import json
import re

import pytest

from annotated.chapters.dropout.charts import dropout_chart, dropout_curves_chart, regularisation_chart
from annotated.chapters.dropout.site_charts import CONVENTIONS, OURS, dropout_sites_chart, site_rates
from annotated.config import base
from tests.drawing import draw


@pytest.mark.parametrize(
    ("convention", "places", "rates"),
    [
        ("as written: section 5.4", 7, {"0.1": 7}),
        ("as released later: transformer_big", 12, {"0.3": 7, "0.1": 5}),
        ("today: torch.nn.Transformer", 10, {"0.1": 10, "yours": 2}),
        ("The Annotated Transformer, dropout=0.0", 3, {"0.1": 3}),
    ],
)
def test_places_are_counted_and_labelled(convention: str, places: int, rates: dict[str, int]) -> None:
    picture = draw(dropout_sites_chart(convention=convention), width=500)
    assert f"dropout at {places}" in picture
    for rate, count in rates.items():
        assert len(re.findall(f">{rate}<", picture)) == count


def test_our_sliders_start_at_the_configuration() -> None:
    config = base(dropout=0.0, attention_dropout=0.25)
    assert site_rates(config) == {"sum": 0.0, "output": 0.0, "weights": 0.25, "relu": 0.0}
    assert draw(dropout_sites_chart(config, convention=OURS), width=500).count(">0.25<") == 3
    assert site_rates(base()) == CONVENTIONS["as written: section 5.4"]
    with pytest.raises(ValueError, match="convention must be one of"):
        dropout_sites_chart(convention="BERT")


def test_what_is_kept_is_scaled() -> None:
    picture = draw(dropout_chart([4.0, 4.0, 4.0, 4.0], p=0.5, seed=1), width=500)
    lost = int(re.search(r"(\d) of 4 dropped, the others times 2.00", picture)[1])  # type: ignore[index]
    assert f"mean 4.00 before, {8 * (4 - lost) / 4:.2f} after" in picture
    with pytest.raises(ValueError, match="p must lie in"):
        dropout_chart([1.0], p=1.0)
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

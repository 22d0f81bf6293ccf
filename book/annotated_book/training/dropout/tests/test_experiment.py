"""The runs behind chapter 21: where each of them drops, and that one is repeatable."""

from __future__ import annotations

import pytest

from annotated_book.training.dropout.experiment import curve, site_config


@pytest.mark.parametrize(
    ("site", "rates"),
    [
        ("as written", (0.3, 0, 0)),
        ("attention only", (0, 0.3, 0)),
        ("ReLU only", (0, 0, 0.3)),
        ("all sites", (0.3, 0.3, 0.3)),
    ],
)
def test_a_site_sets_its_rates_and_no_other(site: str, rates: tuple[float, ...]) -> None:
    config = site_config(site, 0.3)
    assert (config.dropout, config.attention_dropout, config.feed_forward_dropout) == rates


def test_an_unknown_site_is_refused() -> None:
    with pytest.raises(ValueError, match="site must be one of as written"):
        site_config("embeddings", 0.1)


def test_a_curve_falls_and_repeats() -> None:
    first, again = (curve("as written", 0.1, updates=8, block=4) for _ in range(2))
    assert first == again and len(first["valid"]) == 2
    assert first["valid"][1] < first["valid"][0]

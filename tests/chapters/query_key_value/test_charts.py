"""The desk shows whose rows are whose, with the weights of the asking row."""

from __future__ import annotations

import re

import pytest

from annotated.chapters.query_key_value.charts import CallSite, call_site_chart
from tests.drawing import draw

CROSS = CallSite("cross", [[0.75, 0.25], [0.1, 0.9], [0.5, 0.5]], ["x", "y", "z"], ["a", "b"], "target", "source")
ENCODER = CallSite("encoder", [[1.0, 0.0], [0.4, 0.6]], ["a", "b"], ["a", "b"], "source", "source")


def numbers(chart) -> list[str]:
    svg = draw(chart)
    return [t for t in re.findall(r"<text[^>]*>([^<]*)</text>", svg) if re.fullmatch(r"\d\.\d\d", t)]


def test_the_asking_row_is_shown() -> None:
    assert numbers(call_site_chart([CROSS, ENCODER], query=1)) == ["0.75", "0.25"]
    assert numbers(call_site_chart([CROSS, ENCODER], query=2)) == ["0.10", "0.90"]


def test_weights_of_nothing_are_no_lines_and_queries_stop_at_the_last() -> None:
    assert numbers(call_site_chart([ENCODER, CROSS], query=1)) == ["1.00"]
    assert numbers(call_site_chart([ENCODER, CROSS], query=3)) == ["0.40", "0.60"]  # it has two


def test_bad_sites_are_refused() -> None:
    with pytest.raises(ValueError, match="'source' or 'target'"):
        call_site_chart([CROSS._replace(asks="decoder")])
    with pytest.raises(ValueError, match="do not fit"):
        call_site_chart([CROSS._replace(keys=["a"])])

"""Charts of what was measured: when the last position is reached, and which widths have a curve."""

from __future__ import annotations

import re

import pytest

from annotated_book.why.table_1.time_charts import crossing, paths_chart, time_chart
from book.tests.drawing import draw


def words(spec: dict, hops: int) -> str:
    """All text in the picture after so many hops."""
    next(p for p in spec["params"] if p["name"] == "hops")["value"] = hops
    return " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", draw(spec)))


def test_paths_say_when_the_last_position_is_reached() -> None:
    arrivals = {"self-attention": [0, 1, 1], "recurrent": [0, 1, 2]}
    first = words(paths_chart(arrivals).to_dict(), hops=1)
    assert "self-attention: the last position after 1 hop" in first and "recurrent (GRU): not there yet" in first
    assert "the last position after 2 hops" in words(paths_chart(arrivals).to_dict(), hops=2)
    with pytest.raises(ValueError, match="one length"):
        paths_chart({"recurrent": [0, 1], "dilated": [0]})


def test_times_offer_the_widths_that_have_a_curve() -> None:
    rows = [{"layer": "recurrent", "n": n, "d": d, "ms": 1.0} for n, d in ((2, 8), (4, 8), (2, 16))]
    spec = time_chart(rows).to_dict()
    assert next(p for p in spec["params"] if p["name"] == "d")["bind"]["options"] == [8]


def test_a_crossing_is_found_between_two_lengths() -> None:
    # n² against 64 n: equal at 64, where both are straight in logarithms
    rows = [{"layer": "a", "n": n, "d": 8, "ms": n * n} for n in (16, 32, 128, 256)]
    rows += [{"layer": "b", "n": n, "d": 8, "ms": 64 * n} for n in (16, 32, 128, 256)]
    assert crossing(rows, "a", "b", 8) == pytest.approx(64)
    assert crossing(rows, "b", "a", 8) is None, "b is the slower one from the start"

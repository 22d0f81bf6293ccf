"""Clocks turn with their pair, and the released layout puts sines first."""

from __future__ import annotations

import math

from annotated import sinusoidal_encoding
from annotated_book.machine.positions.clock_charts import clock_hands_chart, layout_chart
from book.tests.drawing import rows, texts


def test_each_clock_turns_with_its_pair() -> None:
    spec = clock_hands_chart(64, clocks=4).to_dict()
    clocks = rows(spec, "omega")
    assert [c["pair"] for c in clocks] == [0, 10, 21, 31]
    table = sinusoidal_encoding(6, 64)
    for clock in clocks:
        angle = math.atan2(table[5, 2 * clock["pair"]], table[5, 2 * clock["pair"] + 1])
        assert math.isclose(angle, math.remainder(5 * clock["omega"], 2 * math.pi), abs_tol=1e-6)
    assert "turn: 6.3" in texts(spec) and "Each hand has its own speed: position 5" in texts(spec)


def test_the_released_layout_puts_all_sines_first() -> None:
    places = {row["written"]: row["released"] for row in rows(layout_chart(4, 8).to_dict(), "written")}
    assert places == {0: 0, 2: 1, 4: 2, 6: 3, 1: 4, 3: 5, 5: 6, 7: 7}

"""The chart of engines shows the quantity that is chosen, and its title is worked out from it."""

from __future__ import annotations

import pandas as pd
import pytest

from annotated_book.reference.serving.charts import QUANTITIES, engines_chart, headline
from book.tests.drawing import moved, texts

MEASURED = pd.DataFrame(
    {"rate": [200.0, 400.0], "single": [40.0, 300.0], "peak": [500.0, 100.0], "ready": [2.0, 0.1]},
    index=["ours", "theirs"],
)


def test_titles_name_the_best_engine_and_compare_it_with_the_first() -> None:
    """By hand, with a third engine that is never the best one, and is last."""
    three = MEASURED.copy()
    three.loc["small"] = [300.0, 100.0, 200.0, 0.5]
    assert headline(three, "rate") == "theirs translates the most sentences, 2 times as many as ours"
    assert headline(three, "single") == "theirs translates the most sentences, 7.5 times as many as ours"
    assert headline(three, "peak") == "theirs needs the least memory, 0.2 times as much as ours"
    three.loc["ours", "ready"] = 0.05
    assert headline(three, "ready") == "ours starts with the least CPU time"


def test_every_number_is_in_the_description_and_the_menu_has_every_quantity() -> None:
    spec = engines_chart(MEASURED).to_dict()
    for number in ("200", "400", "300", "500", "0.1"):
        assert f" {number}" in spec["description"]
    (menu,) = spec["params"]
    assert menu["bind"]["options"] == [name for name, *_ in QUANTITIES.values()]


def test_what_is_missing_is_named() -> None:
    with pytest.raises(ValueError, match="peak"):
        engines_chart(MEASURED.drop(columns="peak"))
    with pytest.raises(ValueError, match="two engines"):
        engines_chart(MEASURED.iloc[:1])


def test_the_bars_are_those_of_the_quantity_that_is_chosen() -> None:
    spec = engines_chart(MEASURED).to_dict()
    at_first, memory = texts(spec), texts(moved(spec, quantity="memory"))
    assert "theirs: 400 per CPU second" in at_first and not any("MB" in text for text in at_first)
    assert "ours: 500 MB at the peak" in memory and not any("second" in text for text in memory)

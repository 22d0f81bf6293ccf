"""Sliders and menus of charts."""

from __future__ import annotations

import pytest

from annotated_book.viz.parameters import menu, steps
from book.tests.javascript import PACKAGE, evaluate

DRAWING = PACKAGE / "viz" / "chart_drawing.js"


def test_a_menu_starts_at_its_first_option_unless_told_and_is_named_after_its_parameter() -> None:
    first = menu("task", ["copy", "sort"]).param.to_dict()
    told = menu("task", ("copy", "sort"), "sort", "show").param.to_dict()
    assert (first["value"], first["bind"]["name"]) == ("copy", "task ")
    assert (told["value"], told["bind"]) == ("sort", {"input": "select", "options": ["copy", "sort"], "name": "show "})


def test_a_slider_over_a_list_holds_the_index() -> None:
    made = steps("n", [20, 512, 37_000], 512, "length n").param.to_dict()
    assert (made["name"], made["value"]) == ("n", 1)
    assert made["bind"] == {"input": "range", "min": 0, "max": 2, "step": 1, "name": "length n [20 | 512 | 37,000] "}
    assert steps("n", ["small", "large"]).param.to_dict()["value"] == 0


def test_the_drawing_reads_the_values_off_the_label() -> None:
    labels = [steps("n", [0.5, 1, 1e-4], label=label).param.to_dict()["bind"]["name"] for label in ("a [b]", None)]
    found = evaluate(DRAWING, "({ valuesOf }, labels) => labels.map(valuesOf)", [*labels, "plain ", "unit [ms] "])
    values = ["0.5", "1", "0.0001"]
    assert found[:2] == [{"label": "a [b]", "values": values}, {"label": "n", "values": values}]
    assert found[2:] == [{"label": "plain ", "values": []}, {"label": "unit [ms] ", "values": []}]


@pytest.mark.parametrize(("values", "value"), [([1], None), ([1, 2], 3), (["a|b", "c"], None), (["a]", "c"], None)])
def test_values_that_a_slider_cannot_show_are_refused(values: list[object], value: object) -> None:
    with pytest.raises(ValueError):
        steps("n", values, value)

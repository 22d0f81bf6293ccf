"""Channels of charts: options go to the scale, to the axis or to the channel, and names have their looks."""

from __future__ import annotations

import pytest

from annotated_book.viz.channels import colour_by, dash_by, shape_by, x_axis, y_axis
from annotated_book.viz.theme import PALETTE


def test_options_go_to_the_scale_to_the_axis_or_to_the_channel() -> None:
    spec = x_axis("n:O", "tokens", sort=[2, 1], type="log", domain=[1, 9], format="~s", labelAngle=0).to_dict()
    assert spec == {
        "field": "n", "type": "ordinal", "title": "tokens", "sort": [2, 1],
        "scale": {"type": "log", "domain": [1, 9]}, "axis": {"format": "~s", "labelAngle": 0},
    }  # fmt: skip


def test_an_axis_without_title_differs_from_one_whose_title_is_not_told() -> None:
    assert y_axis("loss:Q", None, axis=None).to_dict() == {
        "field": "loss", "type": "quantitative", "title": None, "axis": None
    }  # fmt: skip
    assert y_axis("loss:Q").to_dict() == {"field": "loss", "type": "quantitative"}


def test_a_name_that_vega_lite_does_not_know_is_refused() -> None:
    with pytest.raises(Exception, match="tickCuont"):
        y_axis("loss:Q", tickCuont=3).to_dict()


def test_names_have_colours_in_their_order_and_spare_ones_are_left_out() -> None:
    names = ["post-norm", "pre-norm"]
    for told, expected in ((["red", "blue", "green"], ["red", "blue"]), (None, list(PALETTE[:2]))):
        spec = colour_by("run:N", names, told, legend=None).to_dict()
        assert (spec["sort"], spec["legend"]) == (names, None)
        assert spec["scale"] == {"domain": names, "range": expected}


def test_names_may_bring_their_own_looks() -> None:
    assert colour_by("run:N", {"a": "red", "b": "blue"}).to_dict()["scale"] == {
        "domain": ["a", "b"], "range": ["red", "blue"]
    }  # fmt: skip
    kinds = {"a": ("red", "circle"), "b": ("blue", "square")}
    shapes = [shape for _, shape in kinds.values()]
    assert shape_by("run:N", kinds, shapes).to_dict()["scale"]["range"] == ["circle", "square"]


def test_dashes_and_shapes_are_those_of_vega_lite_unless_told() -> None:
    assert dash_by("run:N", ["a"]).to_dict()["scale"] == {"domain": ["a"]}
    assert shape_by("run:N", ["a"]).to_dict()["scale"] == {"domain": ["a"]}
    assert dash_by("run:N", ["a"], [[1, 0], [5, 3]]).to_dict()["scale"]["range"] == [[1, 0]]

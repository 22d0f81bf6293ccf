"""Dropout sites: every place that drops something, in the paper, in released code, in the libraries of today."""

from __future__ import annotations

import json
from typing import Any

import altair as alt
import pandas as pd

from annotated.config import ModelConfig
from annotated_book.viz.forms import titled
from annotated_book.viz.parameters import menu
from annotated_book.viz.theme import BLUE, GREY, INK, ORANGE

KINDS = {
    "symbol": "input tokens",
    "sum": "sums of embedding and position",
    "output": "outputs of sub-layers",
    "weights": "attention weights",
    "relu": "after the ReLU",
}
"""The five kinds of places."""

CONVENTIONS: dict[str, dict[str, float | None]] = {
    "as written: section 5.4": {"symbol": 0.0, "sum": 0.1, "output": 0.1, "weights": 0.0, "relu": 0.0},
    "with the paragraphs that were cut": {"symbol": 0.1, "sum": 0.1, "output": 0.1, "weights": 0.2, "relu": 0.0},
    "as released: transformer_base_v1": {"symbol": 0.0, "sum": 0.1, "output": 0.1, "weights": 0.0, "relu": 0.0},
    "as released: transformer_parsing_base_dr6": {
        "symbol": 0.0, "sum": 0.2, "output": 0.2, "weights": 0.2, "relu": 0.0,
    },
    "as released later: transformer_base": {"symbol": 0.0, "sum": 0.1, "output": 0.1, "weights": 0.1, "relu": 0.1},
    "as released later: transformer_big": {"symbol": 0.0, "sum": 0.3, "output": 0.3, "weights": 0.1, "relu": 0.1},
    "today: torch.nn.Transformer": {"symbol": None, "sum": None, "output": 0.1, "weights": 0.1, "relu": 0.1},
    "today: Marian's task transformer-big": {"symbol": 0.0, "sum": 0.1, "output": 0.1, "weights": 0.0, "relu": 0.0},
    "The Annotated Transformer": {"symbol": 0.0, "sum": 0.1, "output": 0.1, "weights": 0.1, "relu": 0.1},
    "The Annotated Transformer, dropout=0.0": {"symbol": 0.0, "sum": 0.0, "output": 0.0, "weights": 0.1, "relu": 0.0},
}  # fmt: skip
"""Rates by kind of place; None where a module leaves that place to its user."""

_ACROSS: dict[str, Any] = {"axis": None, "scale": alt.Scale(domain=[0, 9.6], nice=False)}
_UP: dict[str, Any] = {"axis": None, "scale": alt.Scale(domain=[-1.0, 10.2], nice=False)}
_ENCODER, _DECODER, _HALF = 2.45, 7.55, 1.75
_COLUMNS = {
    "encoder": (_ENCODER, ("self-attention", "feed-forward")),
    "decoder": (_DECODER, ("masked\nself-attention", "cross-attention", "feed-forward")),
}


def site_rates(config: ModelConfig) -> dict[str, float]:
    """The rate of each kind of place in a model of this library."""
    return {
        "symbol": 0.0,
        "sum": config.dropout,
        "output": config.dropout,
        "weights": config.attention_dropout,
        "relu": config.feed_forward_dropout,
    }


def _drawing() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Boxes, wires and places of one encoder layer and one decoder layer, read upwards as in figure 1."""
    boxes, wires, sites = [], [], []
    for side, (x, sublayers) in _COLUMNS.items():
        boxes.append({"x": x, "low": 0.0, "high": 0.9, "text": "embedding\n+ position"})
        sites.append({"x": x, "y": -0.5, "kind": "symbol", "side": side, "where": "input tokens"})
        wires.append({"wire": f"{side} tokens", "points": [(x, -0.95), (x, 0.0)]})
        sites.append({"x": x, "y": 1.35, "kind": "sum", "side": side, "where": "embedding + position"})
        wires.append({"wire": f"{side} sum", "points": [(x, 0.9), (x, 1.9)]})
        bottom = 1.9
        for number, name in enumerate(sublayers):
            wire = f"{side} {number}"
            boxes.append({"x": x, "low": bottom, "high": bottom + 1.0, "text": name})
            boxes.append({"x": x, "low": bottom + 1.75, "high": bottom + 2.3, "text": "add & norm"})
            inside = "relu" if name == "feed-forward" else "weights"
            name = name.replace("\n", " ")
            sites.append({"x": x + 1.3, "y": bottom + 0.5, "kind": inside, "side": side, "where": f"inside {name}"})
            sites.append({"x": x, "y": bottom + 1.37, "kind": "output", "side": side, "where": f"output of {name}"})
            wires.append({"wire": wire, "points": [(x, bottom + 1.0), (x, bottom + 1.75)]})
            left = x - _HALF - 0.25
            around = [(x, bottom - 0.2), (left, bottom - 0.2), (left, bottom + 2.02), (x - _HALF, bottom + 2.02)]
            wires.append({"wire": wire + " residual", "points": around})
            wires.append({"wire": wire + " up", "points": [(x, bottom + 2.3), (x, bottom + 2.8)]})
            bottom += 2.8
    lines = pd.DataFrame(wires).explode("points", ignore_index=True)
    lines[["x", "y"]] = lines.pop("points").tolist()
    return pd.DataFrame(boxes), lines.assign(step=lines.groupby("wire").cumcount()), pd.DataFrame(sites)


def dropout_sites_chart(convention: str | None = None) -> alt.LayerChart:
    """One layer of encoder and decoder with every place for dropout; a menu chooses whose rates are shown.

    Parameters
    ----------
    convention
        What the menu starts with: a key of `CONVENTIONS`; None for the first.

    Raises
    ------
    ValueError
        If there is no such convention.
    """
    options = list(CONVENTIONS)
    convention = convention or options[0]
    if convention not in options:
        raise ValueError(f"convention must be one of {'; '.join(options)}")
    rates = f"{json.dumps(CONVENTIONS)}[whose]"
    place = (
        alt.Chart(_drawing()[2])
        .transform_calculate(rate=f"{rates}[datum.kind]", what=f"{json.dumps(KINDS)}[datum.kind]")
        .transform_calculate(
            on="datum.rate > 0", text="datum.rate == null ? 'yours' : datum.rate > 0 ? format(datum.rate, '.2~f') : ''"
        )
    )
    return titled(
        alt.layer(*_layer_drawing(), *_place_marks(place)),
        menu("whose", options, convention, "whose model"),
        height=540,
        title=alt.expr("whose"),
        description="One encoder layer and one decoder layer with fourteen places where dropout may act: the input "
        "tokens of both sides, two sums of embedding and position, five outputs of sub-layers before they are added, "
        "three sets of attention weights and two hidden layers after the ReLU. A menu chooses whose model. Active "
        "places are filled diamonds with their rate, others small dashed circles. Above the two sums no place lies "
        "on a residual path.",
    ).configure_view(stroke=None)


def _layer_drawing() -> list[alt.Chart]:
    """Wires, boxes and their names."""
    boxes, lines, _ = _drawing()
    box = alt.Chart(boxes).transform_calculate(
        left=f"datum.x - {_HALF}", right=f"datum.x + {_HALF}", middle="(datum.low + datum.high) / 2"
    )
    frames = box.mark_rect(fill=BLUE, fillOpacity=0.12, stroke=BLUE, strokeOpacity=0.8, cornerRadius=4).encode(
        x=alt.X("left:Q", **_ACROSS), x2="right:Q", y=alt.Y("low:Q", **_UP), y2="high:Q"
    )
    names = box.transform_calculate(
        x="datum.left + 0.15", middle="datum.middle + (indexof(datum.text, '\\n') > 0 ? 0.13 : 0)"
    ).mark_text(align="left", fontSize=12, lineBreak="\n")
    wires = (
        alt.Chart(lines)
        .mark_line(color=GREY, strokeWidth=1.4)
        .encode(x=alt.X("x:Q", **_ACROSS), y=alt.Y("y:Q", **_UP), detail="wire:N", order="step:Q")
    )
    return [wires, frames, names.encode(x=alt.X("x:Q", **_ACROSS), y=alt.Y("middle:Q", **_UP), text="text:N")]


def _idle_names(place: alt.Chart) -> list[alt.Chart]:
    """What could be dropped at a circle: under or beside it, where no diamond is in the way."""
    short = json.dumps({"symbol": "symbols", "weights": "weights", "relu": "hidden"})
    idle = place.transform_calculate(short=f"{short}[datum.kind]").transform_filter(
        "!datum.on && datum.rate != null && datum.short != null"
    )
    inside = idle.transform_filter("datum.kind != 'symbol'").mark_text(fontSize=11, dy=14)
    below = idle.transform_filter("datum.kind == 'symbol'").mark_text(fontSize=11, dx=10, align="left")
    return [inside, below]


def _place_marks(place: alt.Chart) -> list[alt.Chart]:
    """Diamonds where something is dropped, small circles where nothing is, and how many there are."""
    tip = ["side:N", "where:N", "what:N", "rate:Q"]
    where = {"x": alt.X("x:Q", **_ACROSS), "y": alt.Y("y:Q", **_UP)}
    off = place.transform_filter("!datum.on").mark_point(
        shape="circle", size=90, fill="#80808020", stroke=GREY, strokeDash=[2, 2], strokeWidth=1.5
    )
    on = place.transform_filter("datum.on").mark_point(
        shape="diamond", size=1000, opacity=1, fill=ORANGE, stroke=ORANGE
    )
    count = (
        place.transform_calculate(active="datum.on ? 1 : 0")
        .transform_aggregate(active="sum(active)", places="count()")
        .transform_calculate(
            text="'dropout at ' + datum.active + '\\nof ' + datum.places + ' places'", x="0.4", y="9.5"
        )
        .mark_text(align="left", fontSize=13, fontWeight="bold", lineBreak="\n")
    )
    rates = place.mark_text(fontSize=12, fontWeight="bold").encode(
        **where, text="text:N", color=alt.condition("datum.on", alt.value("#111111"), alt.value(INK))
    )
    return [
        off.encode(**where, tooltip=tip),
        *(names.encode(**where, text="short:N") for names in _idle_names(place)),
        on.encode(**where, tooltip=tip),
        rates,
        count.encode(**where, text="text:N"),
    ]

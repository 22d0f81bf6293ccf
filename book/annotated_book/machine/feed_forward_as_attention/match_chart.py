"""Six key-value pairs read twice, by the ReLU and by the softmax: key, score, weight, value and the sum, in numbers."""

from __future__ import annotations

import altair as alt
import pandas as pd

from annotated_book.viz.forms import titled
from annotated_book.viz.parameters import slider
from annotated_book.viz.theme import BLUE, GREEN, GREY, ORANGE
from annotated_book.viz.titles import title_expression

KEYS = (20, 45, 80, 110, 140, 165)
"""Directions of six keys of length 1, in degrees from the right, anticlockwise."""
VALUES = (70, 10, 130, 250, 190, 320)
"""Directions of their values, of length 1."""
_RULES = ("ReLU", "softmax")
_GIVEN = ("one", "as much as the ReLU")
_ROW, _HEAD, _FOOT = 40, 46, 84  # pixels
_UNIT = 24  # pixels of an arrow of length 1
_MOST = 2  # of the scales of scores and weights
_ARROW = "M0,1L0,-1M-0.28,-0.5L0,-1L0.28,-0.5"  # of length 1, upwards; its line stays as thick at any length
# Where each column begins, in parts of the width: 100.
_KEY, _SCORE, _WEIGHT, _VALUE, _END = 10, (20, 38), ((41, 54), (71, 84)), (63, 93), 100


def match_chart(*, direction: float = 65, length: float = 1.25) -> alt.LayerChart:
    """A query meets six keys; the ReLU and the softmax make weights of the same scores, and add up the same values.

    Parameters
    ----------
    direction
        Of the query, in degrees from the right, anticlockwise; a slider moves it.
    length
        Of the query, up to 2; a slider moves it, too.
    """
    height = _HEAD + _ROW * len(KEYS) + _FOOT
    scales = {"x": alt.Scale(domain=[0, 100], nice=False), "y": alt.Scale(domain=[0, height], reverse=True, nice=False)}
    x = alt.X("x:Q", scale=scales["x"], axis=None)
    y = alt.Y("y:Q", scale=scales["y"], axis=None)
    pairs = _pairs()
    parts = [*_heads(x, y), _line(x, y, height), *_keys(pairs, x, y), *_scores(pairs, x, y)]
    for rule, (start, end), middle in zip(_RULES, _WEIGHT, _VALUE, strict=True):
        parts += _weights(pairs, rule, start, end, x, y)
        parts += _arrows(pairs.transform_calculate(v=f"datum.{rule}", turn="90 - datum.value"), middle, GREEN, x, y)
        parts += _sum(pairs, rule, start, middle, x, y)
    # Beyond a right angle from the first key and from the last, no score is positive.
    unmatched = f"length == 0 || (direction >= {KEYS[-1] + 90} && direction <= {KEYS[0] + 270})"
    first = f"({unmatched}) ? 'No key matches: the ReLU adds nothing,' : 'The ReLU adds each match in full,'"
    return titled(
        alt.layer(*parts),
        slider("direction", direction, 0, 355, 5, label="direction of x (degrees)"),
        slider("length", length, 0, _MOST, 0.25, label="length of x"),
        alt.param(
            name="given", value=_GIVEN[0], bind=alt.binding_radio(options=list(_GIVEN), name="softmax gives away ")
        ),
        height=height,
        title=alt.expr(title_expression(first, "'the softmax gives every pair a part'")),
        description="Six key-value pairs in two columns. A query is compared with each key, which gives a score. The "
        "ReLU keeps positive scores as weights, the softmax turns all scores into weights that sum to one. Each "
        "weight multiplies the pair's value, an arrow, and the arrows are added. Sliders set the query's direction "
        "and length.",
        view=alt.ViewBackground(stroke=None),
    )


def _pairs() -> alt.Chart:
    """The six pairs with score and weights, in the columns `score`, `ReLU` and `softmax`."""
    rows = [_HEAD + _ROW * (i + 0.5) for i in range(len(KEYS))]
    table = pd.DataFrame({"i": range(1, len(KEYS) + 1), "key": KEYS, "value": VALUES, "y": rows})
    return (
        alt.Chart(table)
        .transform_calculate(score="length * cos((direction - datum.key) * PI / 180)")
        .transform_calculate(ReLU="max(0, datum.score)", e="exp(datum.score)")
        .transform_joinaggregate(total="sum(e)", added="sum(ReLU)")
        .transform_calculate(softmax=f"(given == '{_GIVEN[1]}' ? datum.added : 1) * datum.e / datum.total")
    )


def _heads(x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """The names of the columns, and those of the two rules above theirs."""
    names = [(0, "i"), (_KEY, "key", "and x"), (_SCORE[0] + 4, "score", "x · k")]
    for (start, _), middle in zip(_WEIGHT, _VALUE, strict=True):
        names += [(start, "weight", "w"), (middle - 4, "value", "w · v")]
    rows = [(at, 16 + 14 * line, text) for at, *lines in names for line, text in enumerate(lines)]
    table = pd.DataFrame(rows, columns=["x", "y", "text"]).assign(y=lambda t: t["y"] + 8)
    table.loc[table["x"] == _KEY, "x"] = _KEY - 2
    rules = pd.DataFrame({"x": [start for start, _ in _WEIGHT], "y": [8, 8], "text": _RULES})
    return [
        alt.Chart(table).mark_text(align="left", fontSize=11, color=GREY).encode(x=x, y=y, text="text:N"),
        alt.Chart(rules).mark_text(align="left", fontSize=13, fontWeight=600).encode(x=x, y=y, text="text:N"),
    ]


def _line(x: alt.X, y: alt.Y, height: int) -> alt.Chart:
    """The line above the sums."""
    table = pd.DataFrame({"x": [0], "x2": [_END], "y": [height - _FOOT + 4]})
    return alt.Chart(table).mark_rule(color=GREY, opacity=0.5).encode(x=x, x2="x2:Q", y=y)


def _arrow(chart: alt.Chart, colour: str, x: alt.X, y: alt.Y, opacity: float = 1, thick: float = 2.5) -> alt.Chart:
    """Arrows of the length `v` and the direction `turn`, in degrees clockwise from the top."""
    return (
        chart.transform_calculate(size=f"pow({_UNIT} * datum.v, 2)")
        .mark_point(shape=_ARROW, filled=False, color=colour, opacity=opacity, strokeWidth=thick)
        .encode(x=x, y=y, angle=alt.Angle("turn:Q", scale=None), size=alt.Size("size:Q", scale=None, legend=None))
    )


def _arrows(chart: alt.Chart, at: float, colour: str, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    return [_arrow(chart.transform_calculate(x=f"{at}"), colour, x, y)]


def _keys(pairs: alt.Chart, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """In each row the number of the pair, its key, and the query behind it."""
    placed = pairs.transform_calculate(x=f"{_KEY}")
    number = pairs.transform_calculate(x="0", text="datum.i")
    return [
        number.mark_text(align="left", fontSize=12).encode(x=x, y=y, text="text:N"),
        _arrow(placed.transform_calculate(v="length * 0.8", turn="90 - direction"), ORANGE, x, y, 0.8, thick=1.3),
        _arrow(placed.transform_calculate(v="0.8", turn="90 - datum.key"), BLUE, x, y),
    ]


def _scores(pairs: alt.Chart, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """A bar for each score, from the middle of its column to the left or to the right, and the number."""
    start, end = _SCORE
    middle, unit = (start + end) / 2, (end - start) / 2 / _MOST
    bars = pairs.transform_calculate(x=f"{middle}", x2=f"{middle} + {unit} * datum.score")
    zero = alt.Chart(pd.DataFrame({"x": [middle], "y": [_HEAD], "y2": [_HEAD + _ROW * len(KEYS)]}))
    words = pairs.transform_calculate(
        x=f"datum.score < 0 ? {middle} + 0.8 : {middle} - 0.8", text="format(datum.score, '.1f')"
    )
    return [
        bars.mark_bar(height=12, color=ORANGE).encode(x=x, x2="x2:Q", y=y),
        zero.mark_rule(color=GREY, opacity=0.6).encode(x=x, y=y, y2="y2:Q"),
        *(
            words.transform_filter(f"datum.score {sign} 0")
            .mark_text(align=align, fontSize=12)
            .encode(x=x, y=y, text="text:N")
            for sign, align in (("<", "left"), (">=", "right"))
        ),
    ]


def _weights(pairs: alt.Chart, rule: str, start: float, end: float, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """A bar for each weight, on the same scale under both rules, and the number behind it."""
    unit = (end - start - 5) / _MOST
    bars = pairs.transform_calculate(x=f"{start}", x2=f"{start} + {unit} * datum.{rule}")
    words = pairs.transform_calculate(
        x=f"{start} + {unit} * datum.{rule} + 0.6", text=f"datum.{rule} == 0 ? '0' : format(datum.{rule}, '.2f')"
    )
    return [
        bars.mark_bar(height=12, color=BLUE).encode(x=x, x2="x2:Q", y=y),
        words.mark_text(align="left", fontSize=12).encode(x=x, y=y, text="text:N"),
    ]


def _sum(pairs: alt.Chart, rule: str, start: float, middle: float, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Below the line: the sum of the weights, and the sum of the weighted values as an arrow."""
    at = _HEAD + _ROW * len(KEYS) + _FOOT / 2 + 4
    sums = (
        pairs.transform_calculate(
            a=f"datum.{rule} * cos(datum.value * PI / 180)", b=f"datum.{rule} * sin(datum.value * PI / 180)"
        )
        .transform_aggregate(a="sum(a)", b="sum(b)", w=f"sum({rule})")
        .transform_calculate(
            v="sqrt(datum.a * datum.a + datum.b * datum.b)",
            turn="90 - atan2(datum.b, datum.a) * 180 / PI",
            x=f"{middle}",
            y=f"{at}",
        )
    )
    words = sums.transform_calculate(x=f"{start}", text="'sum ' + format(datum.w, '.2f')")
    return [
        words.mark_text(align="left", fontSize=12, fontWeight=600).encode(x=x, y=y, text="text:N"),
        _arrow(sums, GREEN, x, y),
    ]

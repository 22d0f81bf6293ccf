"""Charts of chapter 35 of single places: a pair of words under independent places, and captions of each seed."""

from __future__ import annotations

import altair as alt
import pandas as pd

from annotated_book.viz.end_labels import name_points
from annotated_book.viz.forms import titled
from annotated_book.viz.parameters import slider
from annotated_book.viz.theme import BLUE, ORANGE
from annotated_book.viz.titles import title_expression

FIRST, SECOND = ("Danke", "vielen"), ("schön", "Dank")
"""The words of each place; those of one number belong together."""
PANELS = ("joint distribution", "product of the marginals")
_PANEL, _MARGIN = 4.4, 0.15
_SIZE = alt.ExprRef("width < 400 ? 10 : 12.5")  # on a phone words of neighbouring columns would touch
VALUE = (
    "datum.col < 0 ? (datum.row == 0 ? share : 1 - share) : datum.row < 0 ? (datum.col == 0 ? share : 1 - share) : "
    "datum.panel == 1 ? (datum.row == 0 ? share : 1 - share) * (datum.col == 0 ? share : 1 - share) : "
    "datum.row == datum.col ? (datum.row == 0 ? share : 1 - share) : 0"
)
"""Probability of a cell as a Vega expression: row or col is -1 for a marginal, and panel 1 has the product."""


def _cells() -> pd.DataFrame:
    """All cells and marginals with their corners; rows run downwards."""
    rows = []
    for panel in range(len(PANELS)):
        for row, col in ((r, c) for r in (0, 1, -1) for c in (0, 1, -1) if (r, c) != (-1, -1)):
            x = _PANEL * panel + (col if col >= 0 else 2 + _MARGIN)
            y = row if row >= 0 else 2 + _MARGIN
            kind = "marginal" if min(row, col) < 0 else "right pair" if row == col else "wrong pair"
            rows.append(
                {"panel": panel, "row": row, "col": col, "x": x, "x2": x + 1, "y": y, "y2": y + 1, "kind": kind}
            )
    return pd.DataFrame(rows).assign(xm=lambda t: t["x"] + 0.5, ym=lambda t: t["y"] + 0.5)


def _words() -> pd.DataFrame:
    """Words of the second place above the columns, and names of the panels above these."""
    rows = []
    for panel, name in enumerate(PANELS):
        rows += [{"x": _PANEL * panel + col + 0.5, "y": -0.25, "text": word} for col, word in enumerate(SECOND)]
        rows.append({"x": _PANEL * panel + 1, "y": -0.8, "text": name})
    return pd.DataFrame(rows)


def joint_chart() -> alt.LayerChart:
    """Two right pairs of words: their joint distribution beside the product of its marginals, over a share."""
    cells = _cells()
    x = alt.X("x:Q").scale(domain=[-1.1, _PANEL + 3.3], nice=False).axis(None)
    y = alt.Y("y:Q").scale(domain=[3.3, -1.1], nice=False).axis(None)
    colour = alt.Color("kind:N").scale(domain=["right pair", "wrong pair"], range=[BLUE, ORANGE]).legend(None)
    base = alt.Chart(cells).transform_calculate(p=VALUE)
    squares = (
        base.transform_filter("datum.kind != 'marginal'")
        .mark_rect(stroke="currentColor", strokeOpacity=0.4)
        .encode(
            x,
            y,
            colour,
            x2="x2:Q",
            y2="y2:Q",
            fillOpacity=alt.FillOpacity("p:Q").scale(domain=[0, 1], range=[0, 0.8]).legend(None),
        )
    )
    numbers = (
        base.transform_calculate(text="format(datum.p, '.2f')")
        .mark_text(fontSize=13)
        .encode(
            x=alt.X("xm:Q").scale(domain=[-1.1, _PANEL + 3.3]).axis(None), y=alt.Y("ym:Q").axis(None), text="text:N"
        )
    )
    above = alt.Chart(_words()).mark_text(fontSize=_SIZE).encode(x, y, text="text:N")
    left = pd.DataFrame(
        [
            {"x": _PANEL * panel - 0.12, "y": row + 0.5, "text": word}
            for panel in (0, 1)
            for row, word in enumerate(FIRST)
        ]
    )
    beside = alt.Chart(left).mark_text(align="right", fontSize=_SIZE).encode(x, y, text="text:N")
    title = title_expression(
        "'Independent places write a wrong pair'", "'in ' + format(2 * share * (1 - share), '.0%') + ' of all cases'"
    )
    return titled(
        alt.layer(squares, numbers, above, beside),
        slider("share", 0.5, 0, 1, 0.05, label="share of Danke schön"),
        height=200,
        title=alt.expr(title),
        description="Probabilities of four pairs of words, of which Danke schön and vielen Dank are right: their "
        "joint distribution, and the product of its marginals. At a share of one half each pair of the product has "
        "0.25, Danke Dank and vielen schön among them, and in the joint distribution these have 0.",
        view=alt.ViewBackground(stroke=None),
    )


def captions_chart(scores: pd.DataFrame) -> alt.LayerChart:
    """The share of right captions of every seed.

    Parameters
    ----------
    scores
        Columns `told`, `kind`, `seed` and `caption`, a row for each training and kind of picture.
    """
    told, kinds = list(dict.fromkeys(scores["told"])), list(dict.fromkeys(scores["kind"]))
    x = alt.X("caption:Q").title("captions right in every word").axis(format="%").scale(domain=[0, 1])
    y = alt.Y("told:N").sort(told).title(None).axis(grid=True)
    colour = alt.Color("kind:N").scale(domain=kinds, range=[BLUE, ORANGE]).legend(None)
    base = alt.Chart(scores)
    dots = base.mark_point(filled=True, size=60, opacity=0.75).encode(
        x, y, colour, tooltip=["told:N", "kind:N", "seed:N", alt.Tooltip("caption:Q", format=".1%")]
    )
    means = base.mark_tick(thickness=2, size=24).encode(alt.X("mean(caption):Q"), y, colour)
    found = scores.groupby(["kind", "told"])["caption"].mean()
    said = "; ".join(f"{kind}, {name} {found[kind, name]:.0%}" for kind in kinds for name in told)
    return titled(
        alt.layer(means, dots, name_points(base.encode(x, y, colour), "kind", dy=-14)),
        height=alt.Step(44),
        title="Without positions three captions of four are wrong; new combinations are hard for all",
        description=f"Share of right captions, a dot for each seed and an upright mark for the mean: {said}.",
    )

"""Charts of queries, keys and values: which sequence asks and which answers, for each of the three uses."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

import altair as alt
import pandas as pd
from numpy.typing import ArrayLike

from annotated.viz.attention_map import check_weights
from annotated.viz.parameters import menu, slider
from annotated.viz.tables import ONE_ROW
from annotated.viz.theme import BLUE, GREEN, GREY, ORANGE


class CallSite(NamedTuple):
    """One use of attention, for `call_site_chart`.

    `weights` is `[T, S]`; `asks` and `answers` say which language the queries and the keys belong to, 'source' or
    'target', and so which colour they get.
    """

    name: str
    weights: ArrayLike
    queries: Sequence[str]
    keys: Sequence[str]
    asks: str
    answers: str


_COLOR = {"source": BLUE, "target": ORANGE}
_SHAPE = {"source": "circle", "target": "square"}


def call_site_chart(sites: Sequence[CallSite], *, query: int = 4) -> alt.ConcatChart:
    """A desk where one token asks and others answer, beside the matrix of weights; a menu chooses the call site.

    Parameters
    ----------
    sites
        At most a few, of at most some twenty tokens each; the first is shown first.
    query
        The position that asks first, from 1.

    Raises
    ------
    ValueError
        As `check_weights`; or if a site's `asks` or `answers` is neither 'source' nor 'target'.
    """
    names = [site.name for site in sites]
    people, links = _tables(sites)
    counts = {site.name: len(site.queries) for site in sites}
    here = f"min(query, {json.dumps(counts)}[site])"
    flat = (
        alt.Chart(links)
        .transform_filter("datum.site == site")
        .transform_flatten(["w"])
        .transform_window(n="row_number()", groupby=["i"])
        .transform_calculate(weight="datum.w", x0="0", x1="1")
    )
    asked = slider("query", query, 1, max(counts.values()), label="which position asks")
    longest = max(max(len(site.queries), len(site.keys)) for site in sites)
    height = max(220, 24 * longest)
    desk = _desk(people, flat, here, longest).properties(width=300, height=height)
    matrix = _matrix(flat, here, longest).properties(width=270, height=height)
    description = (
        f"Two pictures with a menu of {len(sites)} uses of attention, {', '.join(names)}, and a slider for the "
        "position that asks. On the left, its token is joined to the tokens that answer, by lines as thick as the "
        "weights; circles are source tokens, squares target tokens. On the right, the matrix of weights with the row "
        "of that query framed."
    )
    together = alt.concat(desk, matrix, columns=1, usermeta={"columns": 2}).properties(description=description)
    return together.add_params(menu("site", names, label="attention"), asked)


def _tables(sites: Sequence[CallSite]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The tokens on both sides of each desk; and the rows of the weights, each whole in a cell."""
    people, links = [], []
    for site in sites:
        if not {site.asks, site.answers} <= set(_COLOR):
            raise ValueError(f"{site.name}: asks and answers must be 'source' or 'target'")
        weights = check_weights(site.weights, site.queries, site.keys)
        for side, tokens, text in ((0, site.queries, site.asks), (1, site.keys, site.answers)):
            people.append(pd.DataFrame({"site": site.name, "side": side, "token": tokens, "text": text}))
        links.append(pd.DataFrame({"site": site.name, "w": weights.round(3).tolist()}))
    seated, joined = (pd.concat(frames).rename_axis("i").reset_index() for frames in (people, links))
    return seated.assign(i=seated["i"] + 1), joined.assign(i=joined["i"] + 1)


def _desk(people: pd.DataFrame, flat: alt.Chart, here: str, longest: int) -> alt.LayerChart:
    x = {"scale": alt.Scale(domain=[-1.5, 3.2]), "axis": None}
    y = {"scale": alt.Scale(domain=[longest + 0.6, -0.7]), "axis": None}
    kinds = list(_COLOR)
    tokens = (
        alt.Chart(people)
        .transform_filter("datum.site == site")
        .transform_calculate(
            on=f"datum.side == 1 || datum.i == {here}",
            label="datum.side == 1 ? datum.i + ' ' + datum.token : datum.token + ' ' + datum.i",
        )
    )
    dot = tokens.encode(
        x=alt.X("side:Q", **x),
        y=alt.Y("i:Q", **y),
        opacity=alt.condition("datum.on", alt.value(1), alt.value(0.5)),
    )
    color = alt.Color("text:N", scale=alt.Scale(domain=kinds, range=list(_COLOR.values())))
    shape = alt.Shape("text:N", scale=alt.Scale(domain=kinds, range=list(_SHAPE.values())))
    heads = pd.DataFrame({"side": [0.1, 0.9], "text": ["asks: query", "answers: key, value"]})
    head = alt.Chart(heads).transform_calculate(i="0")
    lines = flat.transform_filter(f"datum.i == {here} && datum.weight > 0.005").transform_calculate(from_=here)
    width = alt.Size("weight:Q", scale=alt.Scale(domain=[0, 1], range=[0.5, 11]), legend=None)
    answer = lines.encode(x=alt.X("x1:Q", **x), y=alt.Y("n:Q", **y), text=alt.Text("weight:Q", format=".2f"))
    return alt.layer(
        lines.mark_rule(color=GREEN, opacity=0.75).encode(
            x=alt.X("x0:Q", **x), x2="x1:Q", y=alt.Y("from_:Q", **y), y2="n:Q", size=width
        ),
        dot.mark_point(filled=True, size=80).encode(color=color, shape=shape),
        dot.transform_filter("datum.side == 0").mark_text(align="right", dx=-9, fontSize=12).encode(text="label:N"),
        dot.transform_filter("datum.side == 1").mark_text(align="left", dx=45, fontSize=12).encode(text="label:N"),
        answer.mark_text(align="left", dx=10, fontSize=12, fontWeight="bold"),
        *(
            head.transform_filter(test)
            .mark_text(fontWeight="bold", fontSize=12, align=align)
            .encode(x=alt.X("side:Q", **x), y=alt.Y("i:Q", **y), text="text:N")
            for test, align in (("datum.side < 0.5", "right"), ("datum.side > 0.5", "left"))
        ),
    )


def _matrix(flat: alt.Chart, here: str, longest: int) -> alt.LayerChart:
    every = list(range(1, longest + 1))
    axis = alt.Axis(labelAngle=0)
    x = alt.X("n:O", title="keys", axis=axis, scale=alt.Scale(domain=every))
    y = alt.Y("i:O", title="queries", axis=axis, scale=alt.Scale(domain=every))
    shade = alt.Opacity("weight:Q", scale=alt.Scale(domain=[0, 1], range=[0.04, 1]), legend=None)
    tip = [alt.Tooltip("i:O", title="query"), alt.Tooltip("n:O", title="key"), alt.Tooltip("weight:Q", format=".2f")]
    row = alt.Chart(ONE_ROW).transform_calculate(i=here)
    return alt.layer(
        flat.mark_rect(color=GREEN, stroke=GREY, strokeWidth=0.3).encode(x=x, y=y, opacity=shade, tooltip=tip),
        row.mark_rect(filled=False, stroke=ORANGE, strokeWidth=2).encode(y=y),
    )

"""Charts of all heads at once: their roles, what is lost without them, and how little the two agree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from annotated.analysis.ablation import Head
from annotated_book.viz.channels import x_axis, y_axis
from annotated_book.viz.end_labels import name_points
from annotated_book.viz.forms import titled
from annotated_book.viz.parameters import menu
from annotated_book.viz.theme import BLUE, GREEN, GREY, INK, ORANGE
from annotated_book.viz.titles import title_of

_NAMES = {"encoder": "encoder self-attention", "decoder": "decoder self-attention", "cross": "cross-attention"}
_SHORT = {"encoder": "enc", "decoder": "dec", "cross": "cross"}
_EVEN = "even spread"
_SHADE = alt.Scale(domain=[0, 1], range=[0, 0.85], clamp=True)


def head_label(layer: int, head: int) -> str:
    """'layer 1, head 2' for (0, 1): people count from one."""
    return f"layer {layer + 1}, head {head + 1}"


def short_label(kind: str, layer: int, head: int) -> str:
    """'enc 1.2' for ('encoder', 0, 1): the same number in another attention is another head."""
    return f"{_SHORT[kind]} {layer + 1}.{head + 1}"


def roles_chart(
    scores: Sequence[Mapping[str, Any]], *, titles: Mapping[str, str], kind: str = "encoder"
) -> alt.LayerChart:
    """The share of its attention that each head gives to each role, under a row of what an even spread would give.

    Parameters
    ----------
    scores
        As `annotated.analysis.heads.role_scores` returns them.
    titles
        What to see, for 'encoder', 'decoder' and 'cross'.
    kind
        Where the menu starts: 'encoder', 'decoder' or 'cross'.
    """
    if kind not in _NAMES:
        raise ValueError(f"there is no attention {kind!r}; there are {', '.join(_NAMES)}")
    table = _role_shares(scores)
    roles = list(dict.fromkeys(r["role"] for r in scores))
    heads = [row for row in table["row"].unique() if row != _EVEN]
    best = max((r for r in scores if r["role"] != "itself"), key=lambda r: r["score"] - r["chance"])
    across = alt.Axis(orient="top", labelAngle=-90, labelLimit=170, ticks=False, labelPadding=6)
    base = (
        alt.Chart(table)
        .transform_filter("datum.k == attention")
        .encode(
            x=alt.X("role:N", sort=roles, title=None, axis=across),
            y=y_axis("row:N", None, sort=[_EVEN, *heads], ticks=False, labelPadding=6),
            tooltip=["row:N", "role:N", alt.Tooltip("share:Q", format=".1%")],
        )
    )
    colour = alt.condition(f"datum.row == '{_EVEN}'", alt.value(ORANGE), alt.value(BLUE))
    return titled(
        alt.layer(
            base.mark_rect(stroke=GREY, strokeWidth=0.4).encode(
                fill=colour, opacity=alt.Opacity("share:Q", scale=_SHADE, legend=None)
            ),
            base.transform_calculate(percent="round(100 * datum.share)").mark_text().encode(text=alt.Text("percent:Q")),
        ),
        menu("attention", list(_NAMES.values()), _NAMES[kind]),
        height=28 * int(table.groupby("k")["row"].nunique().max()),  # one attention is shown at a time
        title=title_of("attention", {name: titles[k] for k, name in _NAMES.items()}),
        description="A table of heads and roles, shaded by the share of attention, with a menu for the three kinds "
        f"of attention; the first row is what an even spread would give. The largest excess: {_NAMES[best['kind']]}, "
        f"{head_label(best['layer'], best['head'])}, {best['role']}, {best['score']:.0%} against "
        f"{best['chance']:.0%}.",
        caption="Share of each head's weight on the cells of a role, in per cent, over the rows in which the role "
        "exists. Heads are written as kind, layer.head; the first row is what an even spread would give.",
    )


def _role_shares(scores: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """What each head gives to each role; and the rows of the even spread, which is the same for all heads."""
    given = pd.DataFrame(scores)
    places = zip(given["kind"], given["layer"], given["head"], strict=True)
    heads = [short_label(*place) for place in places]
    even = given[(given["layer"] == 0) & (given["head"] == 0)]
    table = pd.concat([given.assign(row=heads, share=given["score"]), even.assign(row=_EVEN, share=even["chance"])])
    table = table.assign(k=table["kind"].map(_NAMES))[["k", "row", "role", "share"]].round({"share": 6})
    for share in table["share"][~table["share"].between(0, 1.001)]:
        raise ValueError(f"a share of attention lies between 0 and 1, not {share}")
    return table


def ablation_chart(
    measures: Mapping[str, Mapping[Head, float]],
    *,
    formats: Mapping[str, str],
    caption: str = "",
    framed: tuple[str, float] = ("", 0),
    titles: Mapping[str, str] | None = None,
) -> alt.LayerChart:
    """What is lost without each head, a cell for each, with a menu for the measure.

    Parameters
    ----------
    measures
        By name, the loss of each head (kind, layer, head); zero or more, or a little less.
    formats
        By name, how the numbers are written, as `.2f`.
    caption
        Below the chart.
    framed
        A measure, and the loss from which on its cells have a frame.
    titles
        By name, what to see; left out, the head without which most is lost.
    """
    table = pd.concat(_losses(name, values, formats[name]) for name, values in measures.items())
    order = table["row"].unique().tolist()
    worst = {name: max(values, key=lambda head: values[head]) for name, values in measures.items()}
    base = (
        alt.Chart(table)
        .transform_filter("datum.measure == measure")
        .encode(
            x=x_axis("head:N", None, orient="top", labelAngle=0),
            y=alt.Y("row:N", sort=order, title="attention and layer"),
            tooltip=["row:N", "head:N", "measure:N", alt.Tooltip("text:N", title="lost")],
        )
    )
    titles = titles or {
        name: f"Most is lost without head {h + 1} of {k} {layer + 1}" for name, (k, layer, h) in worst.items()
    }
    said = "; ".join(
        f"{name}: {k} {layer + 1}, head {h + 1}, {format(measures[name][k, layer, h], formats[name])}"
        for name, (k, layer, h) in worst.items()
    )
    return titled(
        alt.layer(
            base.mark_rect(fill=ORANGE, stroke=GREY, strokeWidth=0.4).encode(
                opacity=alt.Opacity("shade:Q", scale=_SHADE, legend=None)
            ),
            base.transform_filter(f"datum.measure == '{framed[0]}' && datum.value >= {framed[1]}").mark_rect(
                fill=None, stroke=INK, strokeWidth=1.6
            ),
            base.mark_text(fontSize=12).encode(text="text:N"),
        ),
        menu("measure", list(measures), label="lost:"),
        height=26 * len(order),
        title=title_of("measure", titles),
        description=f"A table of all heads, shaded by what is lost without them, with a menu. The most: {said}.",
        caption=caption,
    )


def _losses(measure: str, values: Mapping[Head, float], form: str) -> pd.DataFrame:
    """What is lost without each head, as a number, in words, and as a shade up to the largest loss."""
    most = max(values.values())
    if most <= 0:
        raise ValueError(f"nothing is lost by {measure!r}: there is nothing to show")
    lost = pd.Series(values, name="value").rename_axis(["kind", "layer", "head"]).reset_index()
    return pd.DataFrame(
        {
            "measure": measure,
            "row": lost["kind"] + " " + (lost["layer"] + 1).astype(str),
            "head": "head " + (lost["head"] + 1).astype(str),
            "value": lost["value"].round(5),
            "shade": (lost["value"].clip(lower=0) / most).round(4) ** 0.5,
            "text": lost["value"].map(f"{{:{form}}}".format),
        }
    )


def looks_and_matters_chart(
    looks: Mapping[tuple[int, int], float], loses: Mapping[tuple[int, int], float], marked: Iterable[tuple[int, int]]
) -> alt.LayerChart:
    """The cross-attention heads by how well they align and by what the model loses without them.

    Parameters
    ----------
    looks
        The share of hits of each (layer, head).
    loses
        What is lost without it, between 0 and 1.
    marked
        The heads to name in the picture.
    """
    if set(looks) != set(loses):
        raise ValueError("both measures need the same heads")
    named = set(marked)
    table = pd.DataFrame(
        {
            "layer": [f"layer {layer + 1}" for layer, _ in looks],
            "name": [head_label(*at) for at in looks],
            "label": [short_label("cross", *at) if at in named else "" for at in looks],
            "hits": [round(hits, 6) for hits in looks.values()],
            "lost": [round(loses[at], 6) for at in looks],
        }
    )
    base = alt.Chart(table).encode(
        x=x_axis("hits:Q", "rows that look at the aligned word", domain=[0, 1], format="%", tickCount=5),
        y=y_axis("lost:Q", "translations lost without the head", format="%", tickCount=5),
    )
    shapes = alt.Shape("layer:N", scale=alt.Scale(range=["circle", "square", "triangle-up"]), legend=None)
    colours = alt.Color("layer:N", scale=alt.Scale(range=[BLUE, ORANGE, GREEN]), legend=None)
    tip = ["name:N", alt.Tooltip("hits:Q", format=".0%"), alt.Tooltip("lost:Q", format=".1%")]
    points = base.mark_point(filled=True, size=110, opacity=0.9).encode(shape=shapes, color=colours, tooltip=tip)
    names = base.mark_text(align="left", dx=8, dy=-2, fontWeight="bold").encode(text="label:N")
    told = table[table["label"] != ""].itertuples()
    said = "; ".join(f"{row.name}: hits {row.hits:.0%}, lost {row.lost:.0%}" for row in told)
    return titled(
        alt.layer(points, names, name_points(base.encode(color=colours), "layer")),
        height=280,
        title="The head that aligns best (cross 3.3) is not the one that matters most (cross 3.1)",
        description="A point for each cross-attention head: how often it looks at the aligned word, and what share "
        f"of exact translations is lost without it. {said}.",
    )

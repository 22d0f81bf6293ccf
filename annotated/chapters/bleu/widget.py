"""A widget that shows which n-grams two texts share, and charts of what BLEU makes of them.

Paper: section 6.1, Table 2
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import altair as alt
import anywidget
import numpy as np
import traitlets

from annotated.viz.javascript import esm
from annotated.viz.theme import BLUE, GREEN, GREY, INK, ORANGE, slider

_HERE = Path(__file__).parent
TOKENIZERS = ("13a", "none", "intl", "char", "paper")
"""sacreBLEU's, by its own names; and 'paper': 13a, quotes made plain, and compounds split."""


class NgramHighlighter(anywidget.AnyWidget):
    """The widget; `ngram_highlighter` makes one.

    `hypothesis` and `reference` are the texts shown, which the reader may edit; `tokenizer` is one of `TOKENIZERS`,
    and `n` the length of the n-grams listed.

    Paper: section 6.1, Table 2 (BLEU)
    """

    _esm = esm(_HERE / "widget.js")
    _css = _HERE / "widget.css"
    examples = traitlets.List(trait=traitlets.Dict()).tag(sync=True)
    hypothesis = traitlets.Unicode().tag(sync=True)
    reference = traitlets.Unicode().tag(sync=True)
    tokenizer = traitlets.Enum(list(TOKENIZERS), default_value="13a").tag(sync=True)
    n = traitlets.Int(2, min=1, max=4).tag(sync=True)


def ngram_highlighter(
    examples: Mapping[str, tuple[str, str]], *, tokenizer: str = "13a", n: int = 2
) -> NgramHighlighter:
    """A translation and its reference side by side, with the n-grams they share and the BLEU that follows, live.

    Parameters
    ----------
    examples
        Pairs (translation, reference) by title; the first is shown first.
    tokenizer, n
        What to show first.

    Raises
    ------
    ValueError
        If there is no example, no such tokeniser, or `n` is not 1..4.

    Paper: section 6.1, Table 2 (BLEU)
    """
    if not examples:
        raise ValueError("there must be at least one example")
    if tokenizer not in TOKENIZERS or n not in range(1, 5):
        raise ValueError(f"tokenizer must be one of {', '.join(TOKENIZERS)}, and n from 1 to 4")
    rows = [{"title": title, "hypothesis": h, "reference": r} for title, (h, r) in examples.items()]
    first = {name: rows[0][name] for name in ("hypothesis", "reference")}
    return NgramHighlighter(examples=rows, **first, tokenizer=tokenizer, n=n)


def brevity_chart(ratio: float = 0.8) -> alt.LayerChart:
    """The brevity penalty over the ratio of lengths; a slider moves a translation along the curve.

    Parameters
    ----------
    ratio
        Where the slider stands at first: length of the translation by length of the reference.

    Paper: section 6.1, Table 2 (BLEU)
    """
    moved = slider("ratio", ratio, 0.3, 1.5, 0.01, label="length of translation / reference")
    xs = np.arange(0.3, 1.501, 0.02).round(2)
    rows = [{"x": float(x), "y": round(min(1.0, float(np.exp(1 - 1 / x))), 4)} for x in xs]
    x = alt.X("x:Q", title="length of translation / reference (tokens)", scale=alt.Scale(domain=[0.3, 1.5]))
    y = alt.Y("y:Q", title="brevity penalty", scale=alt.Scale(domain=[0, 1.1]))
    curve = alt.Chart(alt.Data(values=rows)).mark_line(color=BLUE, strokeWidth=2.5).encode(x, y)
    here = alt.Chart(alt.Data(values=[{}])).transform_calculate(x="ratio", y="min(1, exp(1 - 1 / ratio))")
    here = here.transform_calculate(
        text="format(datum.y, '.3f') + (datum.x >= 1 ? ': no penalty, and no bonus' : ' times the precisions')"
    )
    point = here.mark_point(size=110, filled=True, color=ORANGE, opacity=1).encode(x, y)
    text = here.mark_text(
        align=alt.expr("ratio > 0.9 ? 'right' : 'left'"), dx=alt.expr("ratio > 0.9 ? -8 : 10"), dy=16, color=INK
    ).encode(x, y, text="text:N")
    description = (
        "The brevity penalty: one for translations as long as the reference or longer, and falling exponentially for "
        "shorter ones. A slider moves a point along the curve."
    )
    return (
        alt.layer(curve, point, text)
        .add_params(moved)
        .properties(width="container", height=220, description=description)
    )


def rulers_chart(rows: Sequence[Mapping[str, Any]]) -> alt.LayerChart:
    """One set of translations under several rulers, as bars with their numbers; a menu chooses the system.

    Parameters
    ----------
    rows
        Each with 'system', 'ruler' and 'bleu'.

    Paper: section 6.1, Table 2
    """
    systems = list(dict.fromkeys(str(row["system"]) for row in rows))
    order = list(dict.fromkeys(str(row["ruler"]) for row in rows))
    menu = alt.param(name="system", value=systems[-1], bind=alt.binding_select(options=systems, name="translations "))
    base = alt.Chart(alt.Data(values=[dict(row) for row in rows])).transform_filter("datum.system == system")
    y = alt.Y("ruler:N", sort=order, title=None, axis=alt.Axis(labelLimit=150))
    x = alt.X("bleu:Q", title="BLEU")
    bars = base.mark_bar(height=15).encode(
        x,
        y,
        color=alt.condition("datum.ruler == '13a'", alt.value(BLUE), alt.value(GREY)),
        tooltip=["ruler:N", "bleu:Q"],
    )
    text = base.mark_text(align="left", dx=4, color=INK).encode(x, y, text=alt.Text("bleu:Q", format=".2f"))
    description = f"BLEU of the same translations under {', '.join(order)}. A menu chooses among {', '.join(systems)}."
    return (
        alt.layer(bars, text)
        .add_params(menu)
        .properties(width="container", height=28 * len(order), description=description)
    )


def bootstrap_chart(
    draws: Sequence[float], names: tuple[str, str], *, score: float, step: float = 0.1
) -> alt.LayerChart:
    """How often resampled test sets gave which difference of two systems.

    Parameters
    ----------
    draws
        Differences in BLEU, second system minus first.
    names
        Of the two systems.
    score
        The difference on the test set itself.
    step
        Width of a bar.

    Paper: section 6.1, Table 2
    """
    values = np.asarray(draws, dtype=np.float64)
    places, counts = np.unique(np.floor(values / step).astype(int), return_counts=True)
    low, high = np.percentile(values, [2.5, 97.5])
    sides = [f"{name} is better" for name in reversed(names)]
    rows = [
        {"from": round(step * int(p), 3), "to": round(step * (int(p) + 1), 3), "share": round(int(c) / len(values), 4),
         "side": sides[int(p < 0)]}
        for p, c in zip(places, counts, strict=True)
    ]  # fmt: skip
    bars = alt.Chart(alt.Data(values=rows)).mark_bar().encode(
        x=alt.X("from:Q", bin="binned", title=f"{names[1]} minus {names[0]} (BLEU)"),
        x2="to:Q",
        y=alt.Y("share:Q", title="share of resampled test sets", axis=alt.Axis(format="%")),
        color=alt.Color("side:N", scale=alt.Scale(domain=sides, range=[BLUE, ORANGE]), sort=sides,
                        legend=alt.Legend(columns=1)),
        tooltip=["from:Q", "to:Q", alt.Tooltip("share:Q", format=".1%")],
    )  # fmt: skip
    marks = [
        {"x": float(low), "what": "95 % interval"}, {"x": float(high), "what": "95 % interval"},
        {"x": score, "what": "the whole test set"},
    ]  # fmt: skip
    kinds = ["the whole test set", "95 % interval"]
    lines = alt.Chart(alt.Data(values=marks)).mark_rule(strokeWidth=2, color=INK).encode(
        x="x:Q", strokeDash=alt.StrokeDash("what:N", scale=alt.Scale(domain=kinds, range=[[1, 0], [4, 3]]), sort=kinds,
                                          legend=alt.Legend(columns=1))
    )  # fmt: skip
    description = (
        f"A histogram of {len(values)} resampled test sets: {names[1]} minus {names[0]} is {score:.2f} BLEU on the "
        f"whole test set, and lies between {low:.2f} and {high:.2f} in 95 % of the resampled ones."
    )
    return (
        alt.layer(bars, lines)
        .resolve_scale(color="independent")
        .properties(width="container", height=230, description=description)
    )


def power_chart(rows: Sequence[Mapping[str, Any]]) -> alt.LayerChart:
    """How often a difference shows on test sets of growing size; one line for each comparison.

    Parameters
    ----------
    rows
        Each with 'sentences', 'pair' and 'share': of the test sets of that size on which the better system won.

    Paper: section 6.1, Table 2
    """
    pairs = list(dict.fromkeys(str(row["pair"]) for row in rows))
    chart = alt.Chart(alt.Data(values=[dict(row) for row in rows]))
    colours = alt.Scale(domain=pairs, range=[BLUE, ORANGE, GREEN][: len(pairs)])
    along = alt.Scale(type="log", nice=False)
    ticks = alt.Axis(values=sorted({int(row["sentences"]) for row in rows}), grid=False)
    share = alt.Y("share:Q", title="test sets on which it wins", scale=alt.Scale(zero=False))
    encoding = {
        "x": alt.X("sentences:Q", title="sentences in the test set", scale=along, axis=ticks),
        "y": share.axis(format="%"),
        "color": alt.Color("pair:N", sort=pairs, scale=colours, legend=alt.Legend(columns=1, labelLimit=330)),
    }
    line = chart.mark_line(strokeWidth=2.2).encode(**encoding)
    points = chart.mark_point(filled=True, size=60, opacity=1).encode(
        **encoding, shape=alt.Shape("pair:N", sort=pairs, legend=None), tooltip=["pair:N", "sentences:Q", "share:Q"]
    )
    rule = alt.Chart(alt.Data(values=[{"y": 0.975}])).mark_rule(strokeDash=[4, 3], color=INK).encode(y="y:Q")
    description = (
        f"For {' and '.join(pairs)}: the share of random test sets on which the better system wins, by their number of "
        "sentences. A dashed line stands at 97.5 %."
    )
    return alt.layer(line, points, rule).properties(width="container", height=240, description=description)

"""Charts of the feed-forward network: where the parameters are, what the ReLU folds, what is missed."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt
import numpy as np
import pandas as pd

from annotated.config import ModelConfig
from annotated.paper import TABLE_3
from annotated_book.viz.channels import colour_by, x_axis, y_axis
from annotated_book.viz.end_labels import name_points
from annotated_book.viz.forms import rule_at, titled
from annotated_book.viz.parameters import menu, slider
from annotated_book.viz.tables import ONE_ROW
from annotated_book.viz.theme import BLUE, GREEN, GREY, ORANGE
from annotated_book.viz.titles import title_expression


def parameter_share_chart(d_model: int = ModelConfig.d_model, d_ff: int = ModelConfig.d_ff) -> alt.LayerChart:
    """Where the parameters of an encoder and a decoder layer are; a slider moves d_ff.

    Counted as the paper writes the layers: attention without biases, the feed-forward network with two, LayerNorm with
    a gain and a bias.

    Parameters
    ----------
    d_model
        D; h d_k = h d_v = D.
    d_ff
        Where the slider starts.
    """
    parts = ["attention", "feed-forward", "LayerNorm"]
    counted = _counted(parts, d_model)
    scale = alt.Scale(domain=[0, round(26 * d_model**2 / 1e6, 1)], nice=False)
    x = x_axis("count:Q", "parameters of one layer (millions)", stack="zero", scale=scale, tickCount=7)
    y = alt.Y("layer:N", sort=["encoder layer", "decoder layer"], title=None)
    colour = colour_by("part:N", parts, [BLUE, ORANGE, GREY])
    middles = (
        counted.transform_stack(stack="count", groupby=["layer"], as_=["from", "to"], sort=[alt.SortField("order")])
        .transform_calculate(middle="(datum.from + datum.to) / 2")
        .encode(x="middle:Q", y=y, color=colour)
    )
    bars = counted.mark_bar(height=34, stroke="currentColor", strokeOpacity=0.4).encode(
        x=x,
        y=y,
        order="order:Q",
        color=colour,
        tooltip=["layer:N", "part:N", alt.Tooltip("count:Q", format=".3f"), alt.Tooltip("share:Q", format=".1%")],
    )
    share = (
        counted.transform_filter("datum.order == 1")
        .transform_calculate(text="format(datum.share, '.0%')")
        .mark_text(align="left", dx=6, fontSize=13)
        .encode(x=alt.X("total:Q"), y=y, text="text:N")
    )
    title = title_expression(
        "'Feed-forward share of a layer'",
        f"'at d_ff = ' + d_ff + ' = ' + format(d_ff / {d_model}, '.2~f') + ' × d_model'",
    )
    return titled(
        alt.layer(bars, share, name_points(middles, "part", dy=-19)),
        slider("d_ff", d_ff, d_model // 4, 8 * d_model, d_model // 4),
        height=120,
        title=alt.expr(title),
        description=f"Stacked bars of the parameters of an encoder and a decoder layer of width {d_model}: "
        f"attention, feed-forward network and LayerNorm, with a slider for d_ff. At {d_ff} the feed-forward network "
        "holds about two thirds of an encoder layer and half of a decoder layer.",
    )


def _counted(parts: list[str], d_model: int) -> alt.Chart:
    """The parameters of each part of both layers in millions, at the slider's d_ff, and its share of the layer."""
    layers = pd.DataFrame({"layer": ["encoder layer", "decoder layer"], "blocks": [1, 2]})
    square, feed_forward = 4 * d_model**2, f"(2 * {d_model} * d_ff + d_ff + {d_model})"
    return (
        alt.Chart(layers.merge(pd.DataFrame({"part": parts, "order": range(len(parts))}), how="cross"))
        .transform_calculate(
            count=f"(datum.order == 0 ? {square} * datum.blocks : datum.order == 1 ? {feed_forward}"
            f" : {2 * d_model} * (datum.blocks + 1)) / 1e6"
        )
        .transform_joinaggregate(total="sum(count)", groupby=["layer"])
        .transform_calculate(share="datum.count / datum.total")
    )


_FOLDED = alt.ExprRef("relu ? 1 : 0")  # of what is drawn at a fold: without the ReLU there is none


def fold_chart(resolution: int = 65) -> alt.ConcatChart:
    """The output of two inputs and three hidden units, from above and from the side; sliders turn, shift and weigh one.

    Each unit is zero on one side of its line, and rises on the other. Their sum is flat in pieces, and bent along the
    lines. Without the ReLU nothing is bent, and the lines are not drawn. The side view is a section along the first
    input, at a second input of 0: the green line of the view from above.
    """
    angle, shift = slider("angle", 30, -180, 180, 10), slider("shift", 0.4, -2, 2, 0.1)
    weight = slider("weight", 1, -1, 1, 0.5)
    relu = alt.param(name="relu", value=True, bind=alt.binding_checkbox(name="ReLU "))
    side = 300 * 4 / 4.2 / (resolution - 1)
    axis = {"scale": alt.Scale(domain=[-2.1, 2.1], nice=False), "axis": alt.Axis(values=[-2, -1, 0, 1, 2], grid=False)}
    x, y = alt.X("x:Q", title="first input", **axis), alt.Y("y:Q", title="second input", **axis)
    plane = _three_units(resolution).mark_square(size=side**2, opacity=1, aria=False)
    cells = plane.encode(
        x=x,
        y=y,
        color=alt.condition("datum.output > 0", alt.value(BLUE), alt.value(ORANGE)),
        opacity=alt.Opacity("size:Q", scale=alt.Scale(domain=[0, 2], range=[0, 0.95]), legend=None),
        tooltip=["x:Q", "y:Q", alt.Tooltip("output:Q", format=".2f"), alt.Tooltip("active:Q", title="units active")],
    )
    # The line on which the turned unit is zero: the foot of the perpendicular, and a step to both sides.
    line = (
        alt.Chart(pd.DataFrame({"t": [[-4, 4]]}))
        .transform_flatten(["t"])
        .transform_calculate(
            x="shift * cos(angle * PI / 180) - datum.t * sin(angle * PI / 180)",
            y="shift * sin(angle * PI / 180) + datum.t * cos(angle * PI / 180)",
        )
        .mark_line(color="currentColor", strokeWidth=2, strokeDash=[6, 3], clip=True, opacity=_FOLDED)
        .encode(x=x, y=y, order="t:Q")
    )
    # The other two units' lines: -x + 0.5 y = 0.6, and y = -0.5.
    fixed = pd.DataFrame({"unit": ["b", "b", "c", "c"], "x": [-1.6, 0.4, -2, 2], "y": [-2, 2, -0.5, -0.5]})
    others = alt.Chart(fixed).mark_line(
        color="currentColor", strokeWidth=1, strokeDash=[2, 3], clip=True, opacity=_FOLDED
    )
    cut = alt.Chart(pd.DataFrame({"x": [-2.1, 2.1], "y": [0, 0]})).mark_line(color=GREEN, strokeWidth=2.5)
    above = alt.layer(cells, others.encode(x=x, y=y, detail="unit:N"), line, cut.encode(x=x, y=y), *_fold_names(x, y))
    title = alt.Title(
        alt.expr(
            "!relu ? 'From above: one even slope' : weight == 0 ? 'From above: folded along two lines'"
            " : 'From above: folded along three lines'"
        )
    )
    return titled(
        alt.concat(
            above.properties(width=300, height=300, title=title),
            _section(27).properties(width=250, height=300, title="From the side, along the green line"),
            columns=1,
            usermeta={"columns": 2, "renderer": "canvas"},
        ),
        angle,
        shift,
        weight,
        relu,
        description="The output of a small feed-forward network over a plane of two inputs: blue where positive, "
        "orange where negative, with a section through it. A dashed line marks where the first hidden unit begins to "
        "act; sliders turn it, shift it and set its weight. A green line marks the section. With the ReLU plane and "
        "section bend at such lines; a checkbox takes the ReLU away, and one even slope remains.",
    )


def _fold_names(x: alt.X, y: alt.Y) -> tuple[alt.Chart, alt.Chart]:
    """The numbers of the three units, each at its own line."""
    fixed = alt.Chart(pd.DataFrame({"x": [-1.45, 1.85], "y": [-1.3, -0.7], "t": ["2", "3"]}))
    turned = alt.Chart(ONE_ROW).transform_calculate(
        x="(shift + 0.22) * cos(angle * PI / 180)", y="(shift + 0.22) * sin(angle * PI / 180)", t="'1'"
    )
    own, other = (
        chart.mark_text(fontSize=15, fontWeight="bold", opacity=_FOLDED).encode(x=x, y=y, text="t:N")
        for chart in (turned, fixed)
    )
    return own, other


def _section(resolution: int) -> alt.LayerChart:
    """The output along the line on which the second input is zero: straight pieces, with a bend at each unit's line."""
    x = x_axis("x:Q", "first input", domain=[-2.1, 2.1], nice=False, tickCount=5)
    y = y_axis("output:Q", "output", domain=[-7, 7])
    cut = _three_units(4 * resolution - 3, [0.0]).mark_line(strokeWidth=2.5, color=GREEN).encode(x=x, y=y)
    return alt.layer(rule_at(alt.Y("output:Q"), 0, color="currentColor", opacity=0.5), cut)


def _three_units(resolution: int, second: list[float] | None = None) -> alt.Chart:
    """The output of three hidden units at each point of the plane, or of some rows of it, and how many are active."""
    ticks = np.linspace(-2, 2, resolution).round(3).tolist()
    turned = "(datum.x * cos(angle * PI / 180) + datum.y * sin(angle * PI / 180) - shift)"
    units = {"a": turned, "b": "(-datum.x + 0.5 * datum.y - 0.6)", "c": "(-datum.y - 0.5)"}
    bent = {name: f"relu ? max(0, {inner}) : {inner}" for name, inner in units.items()}
    return (
        alt.Chart(pd.DataFrame({"x": ticks, "y": [second or ticks] * resolution}))
        .transform_flatten(["y"])
        .transform_calculate(**bent)
        .transform_calculate(output="weight * datum.a - 0.8 * datum.b - datum.c", size="min(2, abs(datum.output))")
        .transform_calculate(active="(datum.a > 0) + (datum.b > 0) + (datum.c > 0)")
    )


_WIDER = (
    "measure == 'BLEU' ? 'Each doubling of d_ff gains 0.4 BLEU' : measure == 'perplexity' ? "
    "'A wider inner layer lowers the perplexity' : 'The second doubling costs twice as much'"
)


def d_ff_chart() -> alt.LayerChart:
    """What Table 3 reports for three values of d_ff; a menu chooses the measure."""
    printed = {"1024": TABLE_3["C6"], "2048": TABLE_3["base"], "4096": TABLE_3["C7"]}
    named = {"BLEU": "bleu", "perplexity": "perplexity", "parameters (millions)": "parameters"}
    wide = pd.DataFrame({name: {d: getattr(row, field) for d, row in printed.items()} for name, field in named.items()})
    table = wide.rename_axis("d_ff").reset_index().melt("d_ff", var_name="measure")
    base = alt.Chart(table).transform_filter("datum.measure == measure")
    x = x_axis("d_ff:O", "d_ff (base model: 2048)", sort=list(printed), labelAngle=0)
    y = y_axis("value:Q", None, zero=False, padding=20)
    said = "; ".join(
        f"d_ff {d_ff}: BLEU {row.bleu}, perplexity {row.perplexity}, {row.parameters} million parameters"
        for d_ff, row in printed.items()
    )
    return titled(
        alt.layer(
            base.mark_line(color=GREY).encode(x=x, y=y),
            base.mark_point(filled=True, size=120, color=BLUE).encode(x=x, y=y, tooltip=["d_ff:O", "value:Q"]),
            base.mark_text(dy=-16, fontSize=13).encode(x=x, y=y, text="value:Q"),
        ),
        menu("measure", list(named)),
        height=190,
        title=alt.expr(_WIDER),
        description=f"Points joined by a line, with a menu for the measure. {said}.",
    )


_LEAST = 0.01  # where the logarithmic axis of rises begins


def removal_chart(losses: Mapping[tuple[str, int, str], float], baseline: float) -> alt.LayerChart:
    """How much each sub-layer is missed: the rise of the loss when it adds nothing.

    Parameters
    ----------
    losses
        Loss in nats per token, by stack, layer (from 1) and kind of sub-layer.
    baseline
        Loss of the whole model.
    """
    lost = pd.Series(losses, name="loss").rename_axis(["stack", "layer", "kind"]).reset_index()
    table = pd.DataFrame(
        {
            "place": lost["stack"] + " " + lost["layer"].astype(str),
            "kind": lost["kind"],
            "rise": (lost["loss"] - baseline).round(4),
        }
    )
    kinds = ["self-attention", "cross-attention", "feed-forward"]
    places = table["place"].unique().tolist()
    worst = table.loc[table["rise"].idxmax()]
    base = alt.Chart(table).transform_filter("kind == 'all' || datum.kind == kind")
    y = alt.Y("place:N", sort=places, title=None)
    ticks, span = alt.Axis(values=[0.01, 0.1, 1], format="~g"), [_LEAST, 2.5 * worst["rise"]]
    x = x_axis("rise:Q", "rise of the loss (nats per token)", axis=ticks, type="log", domain=span, nice=False)
    offset, colour = alt.YOffset("kind:N", sort=kinds), colour_by("kind:N", kinds, [BLUE, GREEN, ORANGE])
    bars = base.mark_bar().encode(
        x=x,
        x2=alt.X2Datum(_LEAST),
        y=y,
        yOffset=offset,
        color=colour,
        tooltip=["place:N", "kind:N", alt.Tooltip("rise:Q", format=".3f")],
    )
    full = table.groupby("place")["rise"].agg(["size", "max"])
    named = full[full["size"] == full["size"].max()]["max"].idxmin()  # of all kinds, where bars leave most room
    figures = base.transform_calculate(
        text=f"format(datum.rise, '.2f') + (datum.place == '{named}' ? '  ' + datum.kind : '')"
    )
    figures = figures.mark_text(
        align="left", dx=4, fontSize=11, fontWeight=alt.ExprRef(f"datum.place == '{named}' ? 'bold' : 'normal'")
    )
    figures = figures.encode(x=x, y=y, yOffset=offset, text="text:N", color=colour)

    return titled(
        alt.layer(bars, figures),
        menu("kind", ["all", *kinds], label="which sub-layers"),
        height=56 * len(places),
        title=f"Without any one sub-layer the loss rises, by {table['rise'].min():.2f} to {worst['rise']:.1f} nats",
        description=f"Bars, on a logarithmic axis, of the rise of the loss over {baseline:.3f} nats when one "
        "sub-layer is silenced, for every layer of both stacks, with a menu for the kind of sub-layer. The largest, "
        f"{worst['rise']:.2f}, is that of {worst['place']}, {worst['kind']}.",
    )

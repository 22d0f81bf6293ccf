"""Charts of the feed-forward network: where the parameters are, what the ReLU folds, what is missed."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt
import numpy as np
import pandas as pd

from annotated.config import ModelConfig
from annotated.paper import TABLE_3
from annotated.viz.parameters import menu, slider
from annotated.viz.theme import BLUE, GREEN, GREY, ORANGE


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
    x = alt.X(
        "count:Q", title="parameters of one layer (millions)", stack="zero", scale=scale, axis=alt.Axis(tickCount=7)
    )
    y = alt.Y("layer:N", sort=["encoder layer", "decoder layer"], title=None)
    bars = counted.mark_bar(height=34, stroke="currentColor", strokeOpacity=0.4).encode(
        x=x,
        y=y,
        order="order:Q",
        color=alt.Color("part:N", sort=parts, scale=alt.Scale(domain=parts, range=[BLUE, ORANGE, GREY])),
        tooltip=["layer:N", "part:N", alt.Tooltip("count:Q", format=".3f"), alt.Tooltip("share:Q", format=".1%")],
    )
    share = (
        counted.transform_filter("datum.order == 1")
        .transform_calculate(text="format(datum.share, '.0%')")
        .mark_text(align="left", dx=6, fontSize=13)
        .encode(x=alt.X("total:Q"), y=y, text="text:N")
    )
    title = (
        f"'d_ff = ' + d_ff + ' = ' + format(d_ff / {d_model}, '.2~f') + ' × d_model;"
        " the figure beside a bar is the feed-forward share'"
    )
    description = (
        f"Stacked bars of the parameters of an encoder and a decoder layer of width {d_model}: attention, feed-forward "
        f"network and LayerNorm, with a slider for d_ff. At {d_ff} the feed-forward network holds about two thirds of "
        "an encoder layer and half of a decoder layer."
    )
    return (
        alt.layer(bars, share)
        .add_params(slider("d_ff", d_ff, d_model // 4, 8 * d_model, d_model // 4))
        .properties(width="container", height=120, title=alt.Title(alt.expr(title)), description=description)
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


def fold_chart(resolution: int = 27) -> alt.LayerChart:
    """The output of a network of two inputs and three hidden units over the plane; sliders turn and shift one unit.

    Each unit is zero on one side of its line, and rises on the other. Their sum is flat in pieces, and bent along the
    lines. Without the ReLU nothing is bent.
    """
    angle, shift = slider("angle", 30, -180, 180, 10), slider("shift", 0.4, -2, 2, 0.1)
    relu = alt.param(name="relu", value=True, bind=alt.binding_checkbox(name="ReLU "))
    side = 264 * 4 / 4.2 / (resolution - 1)
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
        .mark_line(color="currentColor", strokeWidth=2, strokeDash=[6, 3], clip=True)
        .encode(x=x, y=y, order="t:Q")
    )
    description = (
        "The output of a small feed-forward network over a plane of two inputs: blue where positive, orange where "
        "negative. A dashed line marks where the first hidden unit begins to act; two sliders turn and shift it. With "
        "the ReLU the colours bend at such lines; a checkbox takes the ReLU away, and one even slope remains."
    )
    return (
        alt.layer(cells, line)
        .add_params(angle, shift, relu)
        .properties(width=264, height=264, usermeta={"renderer": "canvas"}, description=description)
    )


def _three_units(resolution: int) -> alt.Chart:
    """The output of three hidden units at each point of the plane, and how many of them are active."""
    ticks = np.linspace(-2, 2, resolution).round(3).tolist()
    turned = "(datum.x * cos(angle * PI / 180) + datum.y * sin(angle * PI / 180) - shift)"
    units = {"a": turned, "b": "(-datum.x + 0.5 * datum.y - 0.6)", "c": "(-datum.y - 0.5)"}
    bent = {name: f"relu ? max(0, {inner}) : {inner}" for name, inner in units.items()}
    return (
        alt.Chart(pd.DataFrame({"x": ticks, "y": [ticks] * resolution}))
        .transform_flatten(["y"])
        .transform_calculate(**bent)
        .transform_calculate(output="datum.a - 0.8 * datum.b - datum.c", size="min(2, abs(datum.output))")
        .transform_calculate(active="(datum.a > 0) + (datum.b > 0) + (datum.c > 0)")
    )


def d_ff_chart() -> alt.LayerChart:
    """What Table 3 reports for three values of d_ff; a menu chooses the measure."""
    printed = {"1024": TABLE_3["C6"], "2048": TABLE_3["base"], "4096": TABLE_3["C7"]}
    named = {"BLEU": "bleu", "perplexity": "perplexity", "parameters (millions)": "parameters"}
    wide = pd.DataFrame({name: {d: getattr(row, field) for d, row in printed.items()} for name, field in named.items()})
    table = wide.rename_axis("d_ff").reset_index().melt("d_ff", var_name="measure")
    base = alt.Chart(table).transform_filter("datum.measure == measure")
    x = alt.X("d_ff:O", sort=list(printed), axis=alt.Axis(labelAngle=0), title="d_ff (base model: 2048)")
    y = alt.Y("value:Q", scale=alt.Scale(zero=False, padding=20), title=None)
    said = "; ".join(
        f"d_ff {d_ff}: BLEU {row.bleu}, perplexity {row.perplexity}, {row.parameters} million parameters"
        for d_ff, row in printed.items()
    )
    return (
        alt.layer(
            base.mark_line(color=GREY).encode(x=x, y=y),
            base.mark_point(filled=True, size=120, color=BLUE).encode(x=x, y=y, tooltip=["d_ff:O", "value:Q"]),
            base.mark_text(dy=-16, fontSize=13).encode(x=x, y=y, text="value:Q"),
        )
        .add_params(menu("measure", list(named)))
        .properties(
            width="container",
            height=190,
            title=alt.Title(alt.expr("measure + ' on newstest2013 (Table 3)'")),
            description=f"Points joined by a line, with a menu for the measure. {said}.",
        )
    )


def removal_chart(losses: Mapping[tuple[str, int, str], float], baseline: float) -> alt.LayerChart:
    """How much each sub-layer is missed: the rise of the loss when it adds nothing.

    Parameters
    ----------
    losses
        Loss in nats a token, by stack, layer (from 1) and kind of sub-layer.
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
    x = alt.X("rise:Q", title="rise of the loss (nats a token)", scale=alt.Scale(domain=[0, 1.12 * worst["rise"]]))
    offset = alt.YOffset("kind:N", sort=kinds)
    bars = base.mark_bar().encode(
        x=x,
        y=y,
        yOffset=offset,
        color=alt.Color("kind:N", sort=kinds, scale=alt.Scale(domain=kinds, range=[BLUE, GREEN, ORANGE])),
        tooltip=["place:N", "kind:N", alt.Tooltip("rise:Q", format=".3f")],
    )
    figures = base.mark_text(align="left", dx=4, fontSize=11).encode(
        x=x, y=y, yOffset=offset, text=alt.Text("rise:Q", format=".2f")
    )
    description = (
        f"Bars of the rise of the loss over {baseline:.3f} nats when one sub-layer is silenced, for every layer of "
        f"both stacks, with a menu for the kind of sub-layer. The largest, {worst['rise']:.2f}, is that of "
        f"{worst['place']}, {worst['kind']}."
    )
    return (
        alt.layer(bars, figures)
        .add_params(menu("kind", ["all", *kinds], label="which sub-layers"))
        .properties(width="container", height=46 * len(places), description=description)
    )

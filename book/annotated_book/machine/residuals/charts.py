"""Charts of residual connections and layer normalisation: one vector normalised, streams and gradients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from annotated.config import ModelConfig
from annotated_book.viz.channels import colour_by, shape_by, x_axis, y_axis
from annotated_book.viz.end_labels import name_bars, name_lines
from annotated_book.viz.forms import line_layers, rule_at, titled
from annotated_book.viz.parameters import menu, slider
from annotated_book.viz.tables import curves_table, named_table
from annotated_book.viz.theme import BLUE, GREEN, GREY, ORANGE, PALETTE
from annotated_book.viz.titles import title_of

PLACEMENT_COLOURS = {"post-norm": BLUE, "pre-norm": ORANGE, "no residual": GREEN, "no norm": PALETTE[3]}
_SHAPES = ["circle", "square", "triangle-up", "diamond"]


def placement_colour(names: Sequence[str]) -> dict[str, Any]:
    """The colour channel of a chart with a line for each placement."""
    colours = {name: colour for name, colour in PLACEMENT_COLOURS.items() if name in names}
    return {"color": colour_by("placement:N", colours)}


def _shape(names: Sequence[str]) -> alt.Shape:
    """A shape of its own for each placement, whichever others are shown."""
    shapes = [_SHAPES[list(PLACEMENT_COLOURS).index(name)] for name in names]
    return shape_by("placement:N", names, shapes)


def layer_norm_chart(values: Sequence[float], epsilon: float = ModelConfig.norm_epsilon) -> alt.LayerChart:
    """One vector before and after normalisation; sliders act on its scale and offset, and a switch chooses RMSNorm.

    Parameters
    ----------
    values
        The vector's entries.
    """
    if len(values) < 2:
        raise ValueError("a vector of one entry has no variance to divide by")
    table = pd.DataFrame({"entry": range(1, len(values) + 1), "v": values})
    stages = ["the input", "normalised"]
    rules = ["LayerNorm", "RMSNorm"]
    moved = alt.Chart(table).transform_calculate(x="datum.v * times + plus")
    layer_norm = f"gain * (datum.x - datum.mean) / sqrt(datum.variance + {epsilon}) + bias"
    rms_norm = f"gain * datum.x / sqrt(datum.variance + datum.mean * datum.mean + {epsilon})"
    base = (
        moved.transform_joinaggregate(mean="mean(x)", variance="variancep(x)")
        .transform_calculate(a="datum.x", b=f"rule == 'LayerNorm' ? {layer_norm} : {rms_norm}")
        .transform_fold(["a", "b"], as_=["which", "value"])
        .transform_calculate(stage=f"datum.which == 'a' ? '{stages[0]}' : '{stages[1]}'")
        .encode(
            x=x_axis("entry:O", "entry of the vector", labelAngle=0),
            y=y_axis("value:Q", "value", domain=[-10, 10]),
            color=colour_by("stage:N", stages, [GREY, BLUE]),
            tooltip=["entry:O", "stage:N", alt.Tooltip("value:Q", format=".3f")],
        )
    )
    bars = base.mark_bar().encode(xOffset=alt.XOffset("stage:N", sort=stages))
    words = "'input: mean ' + format(datum.mean, '.2f') + ', variance ' + format(datum.variance, '.2f')"
    told = (
        moved.transform_aggregate(mean="mean(x)", variance="variancep(x)")
        .transform_calculate(text=words)
        .mark_text(align="left", baseline="top", fontSize=13)
        .encode(x=alt.value(6), y=alt.value(4), text="text:N")
    )
    title = "rule + (rule == 'LayerNorm' ? ' removes scale and offset' : ' removes the scale, not the offset')"
    return titled(
        alt.layer(bars, told, *name_bars(base, "stage", stages, below=True)),
        alt.param(name="rule", value=rules[0], bind=alt.binding_radio(options=rules, name="rule ")),
        slider("times", 1, 0.25, 3, 0.25, label="input times"),
        slider("plus", 0, -3, 3, 0.5, label="input plus"),
        slider("gain", 1, 0, 2, 0.25),
        slider("bias", 0, -2, 2, 0.5),
        height=250,
        title=alt.expr(title),
        description=f"Bars of the {len(values)} entries of one vector before and after layer normalisation. Two "
        "sliders multiply the input and add to it: its bars move, those after LayerNorm do not. Two more set gain "
        "and bias, which act after the normalisation. A switch chooses RMSNorm, which subtracts no mean and has no "
        "bias.",
    )


def stream_chart(
    curves: Mapping[str, Mapping[str, Sequence[float]]],
    title: str,
    *,
    heading: str | Mapping[str, str] = "",
    form: str = "~g",
    log: bool = False,
    first: str | None = None,
) -> alt.LayerChart:
    """Something measured at every state of the residual stream, for some placements; a menu chooses what.

    Parameters
    ----------
    curves
        `curves[measure][placement]`: one number for each state, the embedded sentence first.
    title
        Of the vertical axis.
    heading
        Above the chart: what to see; for several measures one for each of them, by name.
    form
        How the numbers of the vertical axis are written.
    log
        A logarithmic axis.
    first
        The measure to show at first; else the first.
    """
    table = curves_table(curves, "measure", "placement", "state", "value")
    measures, placements = list(curves), set(table["placement"])
    names = [name for name in PLACEMENT_COLOURS if name in placements]
    chart = alt.Chart(table.assign(value=table["value"].map(_four_figures)))
    params = []
    if len(measures) > 1:
        params.append(menu("measure", measures, first, "show"))
        chart = chart.transform_filter("datum.measure == measure")
    scale = alt.Scale(type="log") if log else alt.Scale(zero=True)
    encoding = {
        "x": x_axis("state:Q", "sub-layers passed", tickMinStep=1, format="d", nice=False),
        "y": y_axis("value:Q", title, scale=scale, format=form, tickCount=6),
        **placement_colour(names),
    }
    base = chart.encode(**encoding)
    drawn = line_layers(base, shape=_shape(names), tooltip=["placement:N", "state:Q", "value:Q"], size=50)
    told = "; ".join(
        f"{name} from {line[0]:.3g} to {line[-1]:.3g}" for name, line in curves[first or measures[0]].items()
    )
    return titled(
        alt.layer(*drawn, name_lines(base, "placement")),
        *params,
        height=260,
        title=_heading(heading),
        description=f"{title} after each sub-layer of the encoder, a line for each placement: {told}.",
    )


def _heading(heading: str | Mapping[str, str]) -> Any:
    """A title; one for each measure follows the menu."""
    return heading if isinstance(heading, str) else title_of("measure", heading)


def gradient_chart(norms: Mapping[str, Mapping[int, Mapping[str, Sequence[float]]]], *, depth: int) -> alt.LayerChart:
    """Norm of the gradient of each layer's feed-forward matrices before training, both stacks; a slider for the depth.

    The axis ends at 0.000001 and at 1000: a line along an edge lies beyond it.

    Parameters
    ----------
    norms
        `norms[placement][depth][stack]`: one number a layer, from the bottom.
    depth
        Where the slider starts, as a number of layers of each stack.

    Raises
    ------
    ValueError
        If the depths are not evenly spaced, or `depth` is none of them.
    """
    depths = sorted(next(iter(norms.values())))
    steps = {b - a for a, b in zip(depths, depths[1:], strict=False)}
    if len(steps) > 1 or depth not in depths:
        raise ValueError(f"depths must be evenly spaced for a slider and hold {depth}, not {depths}")
    step = steps.pop() if steps else 1
    known = [name for name in PLACEMENT_COLOURS if name in norms]
    chart = (
        alt.Chart(_norms_table(norms))
        .transform_filter("datum.d == depth")
        .transform_flatten(["layer", "g"])
        .transform_calculate(place="datum.stack == 'encoder' ? datum.layer : datum.layer + depth + 1")
    )
    numbers = "datum.value <= depth ? datum.value : datum.value == depth + 1 ? '' : datum.value - depth - 1"
    ticks = alt.Axis(tickMinStep=1, tickCount=25, format="d", grid=False, labelExpr=numbers)
    encoding = {
        "x": x_axis("place:Q", "layer, from the bottom of each stack", axis=ticks, zero=False, nice=False),
        "y": alt.Y(
            "g:Q",
            title="gradient norm",
            scale=alt.Scale(type="log", domain=[1e-6, 1e3], clamp=True),
            # Nothing can be drawn at zero: what is smaller than the axis stands on its end, which says so.
            axis=alt.Axis(
                values=[1e-6, 1e-4, 1e-2, 1, 100],
                labelExpr="datum.value < 2e-6 ? '≤ 1e-6' : format(datum.value, datum.value < 0.01 ? '.0e' : '~g')",
            ),
        ),
        **placement_colour(list(norms)),
    }
    tip = ["placement:N", "stack:N", "layer:Q", alt.Tooltip("g:Q", format=".2~g")]
    base = chart.encode(**encoding)
    drawn = line_layers(base, detail="stack:N", shape=_shape(known), tooltip=tip)
    stacks = pd.DataFrame({"stack": ["encoder", "decoder"], "shift": [0, 1]})
    names = (
        alt.Chart(stacks)
        .transform_calculate(place="(depth + 1) / 2 + datum.shift * (depth + 1)")
        .mark_text(fontSize=13, fontWeight="bold", dy=4)
        .encode(x="place:Q", y=alt.value(8), text="stack:N")
    )
    edge = rule_at(alt.X("place:Q"), "depth + 1", strokeDash=[3, 3], color="currentColor")
    return titled(
        alt.layer(*drawn, edge, names, name_lines(base, "placement")),
        slider("depth", depth, depths[0], depths[-1], step, label="layers of each stack"),
        height=300,
        title="Without residuals the gradient vanishes in all decoder layers but the top",
        description=_gradients_told(norms, depth),
    )


def _norms_table(norms: Mapping[str, Mapping[int, Mapping[str, Sequence[float]]]]) -> pd.DataFrame:
    """A row for each placement, depth and stack that has a norm for every layer; the layers whole in one cell."""
    table = named_table(norms, "placement", "d", "stack", "g")
    table = table[table["g"].map(len) == table["d"]]
    layers = [list(range(1, d + 1)) for d in table["d"]]
    return table.assign(layer=layers, g=[[_drawable(norm) for norm in line] for line in table["g"]])


def _gradients_told(norms: Mapping[str, Mapping[int, Mapping[str, Sequence[float]]]], depth: int) -> str:
    told = "; ".join(
        f"{name} from {d[depth]['encoder'][0]:.3g} to {d[depth]['encoder'][-1]:.3g} in the encoder, from "
        f"{d[depth]['decoder'][0]:.3g} to {d[depth]['decoder'][-1]:.3g} in the decoder"
        for name, d in norms.items()
    )
    return (
        "Gradient norm of the feed-forward matrices of every layer before the first update, on a logarithmic axis, "
        "with a slider for the number of layers. "
        f"With {depth} + {depth} layers, from the bottom to the top of each stack: {told}."
    )


def _four_figures(value: float) -> float:
    return float(f"{value:.4g}")


def _drawable(x: float) -> float:
    """For a logarithmic axis: no zero, no infinity."""
    return float(f"{min(max(x, 1e-30), 1e30):.3g}") if x == x else 1e30

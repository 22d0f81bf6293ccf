"""The feed-forward network read as attention: what each key-value pair gets under a ReLU and under a softmax."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
import pandas as pd
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from annotated_book.viz.channels import colour_by, shape_by, x_axis, y_axis
from annotated_book.viz.end_labels import name_lines
from annotated_book.viz.forms import line_layers, titled
from annotated_book.viz.parameters import menu, slider
from annotated_book.viz.theme import BLUE, GREEN, GREY, ORANGE


def memory_weights_chart(tokens: Sequence[str], scores: ArrayLike, *, ranks: int = 80) -> alt.LayerChart:
    """How much each key-value pair of a feed-forward network gets from some tokens, under the ReLU and under a softmax.

    Parameters
    ----------
    tokens
        N labels for the menu.
    scores
        x W_1 + b_1, `[N, F]`.
    ranks
        Pairs to draw, the strongest first; all F are counted.
    """
    array = np.asarray(scores, dtype=np.float64)
    if array.ndim != 2 or len(array) != len(tokens):
        raise ValueError(f"scores must be [{len(tokens)}, F], a row for each token, not {list(array.shape)}")
    span = [0, ranks + 1]
    shared = _shared(pd.DataFrame({"token": tokens, "s": (-np.sort(-array)).round(3).tolist()}))
    bars = (
        shared.transform_filter(f"datum.rank <= {ranks}")
        .mark_bar(color=BLUE)
        .encode(
            x=x_axis("rank:Q", f"the {ranks} strongest of {array.shape[1]} key-value pairs", domain=span, nice=False),
            y=y_axis("share:Q", "share of all activation", format="%", tickCount=5),
            size=alt.value(3),
            tooltip=[alt.Tooltip("rank:Q"), alt.Tooltip("s:Q", title="score"), alt.Tooltip("share:Q", format=".2%")],
        )
    )
    told = (
        shared.transform_aggregate(active="sum(active)", entropy="sum(surprise)")
        .transform_calculate(
            text=f"'weight on ' + datum.active + ' of {array.shape[1]} pairs;\\n"
            "as spread out as ' + format(exp(datum.entropy), '.0f') + ' equal ones'"
        )
        .mark_text(align="right", baseline="top", fontSize=13, lineBreak="\n")
        .encode(x=alt.value("width"), y=alt.value(4), text="text:N")
    )
    title = "rule == 'ReLU' ? 'The ReLU gives most pairs nothing' : 'The softmax gives every pair something'"
    return titled(
        alt.layer(bars, told),
        menu("token", tokens),
        alt.param(name="rule", value="ReLU", bind=alt.binding_radio(options=["ReLU", "softmax"], name="rule ")),
        slider("sharpness", 1, 0.25, 4, 0.25, label="softmax scale"),
        height=230,
        title=alt.expr(title),
        description="Bars of the share that each key-value pair of a feed-forward network has in the activation at "
        "one token, strongest first. A menu chooses the token, a switch the ReLU or a softmax over the same scores, "
        "a slider the softmax's sharpness. The ReLU leaves most pairs at exactly zero; the softmax gives every pair "
        "something.",
    )


def _shared(scores: pd.DataFrame) -> alt.Chart:
    """The share of each pair in the activation at the chosen token, by the chosen rule, strongest first."""
    return (
        alt.Chart(scores)
        .transform_filter("datum.token == token")
        .transform_flatten(["s"])
        .transform_window(rank="row_number()")
        .transform_calculate(raw="rule == 'ReLU' ? max(0, datum.s) : exp(sharpness * datum.s)")
        .transform_joinaggregate(total="sum(raw)")
        .transform_calculate(share="datum.raw / datum.total", active="datum.raw > 0 ? 1 : 0")
        .transform_calculate(surprise="datum.share > 0 ? -datum.share * log(datum.share) : 0")
    )


def spread(weights: Tensor) -> Tensor:
    """How many equal weights would be as spread out as these: the exponential of the entropy, `[..., F]` to `[...]`."""
    shares = weights / weights.sum(-1, keepdim=True)
    return torch.special.entr(shares).sum(-1).exp()


def spread_chart(tokens: Sequence[str], scores: Tensor, *, every: int = 6) -> alt.LayerChart:
    """The spread of a token's weights under the ReLU and under a softmax over the same scores, a dot for each token.

    Parameters
    ----------
    tokens
        N labels.
    scores
        x W_1 + b_1, `[N, F]`.
    every
        Draw one token of so many.
    """
    table = pd.DataFrame(
        {"token": tokens, "relu": spread(scores.relu()).numpy(), "softmax": spread(scores.softmax(-1)).numpy()}
    ).round(1)
    means = table[["relu", "softmax"]].mean()
    mean = pd.DataFrame({"relu": [means["relu"]], "softmax": [means["softmax"]]})
    mean["text"] = f"✚ mean of all tokens: {means['relu']:.0f} and {means['softmax']:.0f}"
    scale = alt.Scale(type="log", domain=[1, 500], clamp=True)
    axis = alt.Axis(values=[1, 3, 10, 30, 100, 300], format="~g")
    x = alt.X("relu:Q", scale=scale, axis=axis, title="spread under the ReLU (equal pairs)")
    y = alt.Y("softmax:Q", scale=scale, axis=axis, title="spread under the softmax (equal pairs)")
    dots = alt.Chart(table.iloc[::every]).mark_circle(size=36, color=GREEN, opacity=0.55)
    same = alt.Chart(pd.DataFrame({"relu": [1, 500], "softmax": [1, 500]})).mark_line(color=GREY, strokeDash=[4, 4])
    centre = alt.Chart(mean)
    return titled(
        alt.layer(
            same.encode(x=x, y=y),
            dots.encode(x=x, y=y, tooltip=["token:N", "relu:Q", "softmax:Q"]),
            centre.mark_point(shape="cross", filled=True, size=220, color=ORANGE, opacity=1).encode(x=x, y=y),
            centre.mark_text(align="left", fontSize=13, fontWeight="bold", color=ORANGE).encode(
                x=alt.value(10), y=alt.value(16), text="text:N"
            ),
        ),
        height=320,
        title="Alike on average, not token by token: few dots lie on the line of equal spread",
        description="A dot for each of some tokens: how many equal weights are as spread out as its weights under "
        f"the ReLU, and under a softmax. The means, {means['relu']:.0f} and {means['softmax']:.0f}, are close; the "
        "dots scatter widely around the line of equal spread.",
    )


def kept_chart(kept: Mapping[str, int], total: int) -> alt.LayerChart:
    """How many translations stay the same under another rule of weights: a bar for each rule.

    Parameters
    ----------
    kept
        Translations that stay the same, by rule.
    total
        Translations in all.
    """
    table = pd.DataFrame({"rule": list(kept), "same": list(kept.values())})
    base = alt.Chart(table).encode(
        x=x_axis("same:Q", f"unchanged, of {total}", domain=[0, total], tickCount=4),
        y=y_axis("rule:N", None, sort=list(kept), labelLimit=200),
        tooltip=["rule:N", "same:Q"],
    )
    return titled(
        alt.layer(
            base.mark_bar(color=GREEN, height=24),
            base.mark_text(align="right", dx=-5, color="white").encode(text="same:Q"),
        ),
        height=44 * len(kept),
        title="In the decoder's top layer the amount of weight matters more than the rule that divides it",
        description=(
            "Bars of the translations that stay the same: "
            + ", ".join(f"{rule} {same} of {total}" for rule, same in kept.items())
        ),
    )


def agreement_chart(table: pd.DataFrame) -> alt.LayerChart:
    """How often a unit's value names the token that followed, by how many of its strongest contexts are asked.

    Parameters
    ----------
    table
        As `annotated_book.machine.feed_forward_as_attention.agreement.value_agreement` returns it.
    """
    lines = table.assign(line=[f"layer {n}" for n in table["layer"]])
    chance = table.groupby("contexts", as_index=False)["chance"].max().assign(line="chance")
    drawn = pd.concat([lines, chance.rename(columns={"chance": "agreement"})])[["contexts", "agreement", "line"]]
    ticks = alt.Axis(values=sorted(table["contexts"].unique()), format="d", grid=False)
    names = [*dict.fromkeys(lines["line"]), "chance"]
    base = alt.Chart(drawn.round(4)).encode(
        x=x_axis("contexts:Q", "strongest contexts asked, per unit", axis=ticks, type="log", nice=False),
        y=y_axis("agreement:Q", "contexts that agree", format="%", tickCount=6),
        color=colour_by("line:N", names, [BLUE, ORANGE, GREEN, GREY]),
        tooltip=["line:N", "contexts:Q", alt.Tooltip("agreement:Q", format=".1%")],
    )
    shape = shape_by("line:N", names)
    top = lines[lines["layer"] == lines["layer"].max()]["agreement"]
    return titled(
        alt.layer(*line_layers(base, shape=shape, opacity=None), name_lines(base, "line")),
        height=280,
        title="In the upper layers the strongest contexts agree most often",
        description="Agreement of values with the token that followed, over the number of contexts asked, for each "
        f"layer and for chance. In the top layer it falls from {top.iloc[0]:.0%} to {top.iloc[-1]:.0%}.",
    )

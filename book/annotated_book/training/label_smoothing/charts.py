"""Label smoothing in one picture: target, loss with its floor, and gradient."""

from __future__ import annotations

import json
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from annotated.config import ModelConfig, TrainingConfig
from annotated_book.viz.channels import colour_by, dash_by, x_axis, y_axis
from annotated_book.viz.end_labels import name_lines
from annotated_book.viz.forms import rule_at, titled
from annotated_book.viz.parameters import menu, slider
from annotated_book.viz.tables import ONE_ROW
from annotated_book.viz.theme import BLUE, GREEN, GREY, ORANGE

_GAP = 20  # largest difference of logits that is drawn
_VOCABULARIES = (10, 100, 2000, 37000)
_LOSS = alt.expr(
    "epsilon == 0 ? 'Not smoothed, the loss has no lowest point' : 'Smoothed, the loss has a lowest point'"
)
_GRADIENT = alt.expr(
    "epsilon == 0 ? 'The gradient at the right logit stays negative' : 'The gradient at the right logit changes sign'"
)


def smoothing_chart(
    *, vocab_size: int = ModelConfig.vocab_size, smoothing: float = TrainingConfig.label_smoothing, gap: float = 16.0
) -> alt.VConcatChart:
    """One prediction under label smoothing: its target, its loss and its gradient, against how sure the model is.

    The right token's logit lies above all the others' by a gap, and the others are alike. Three linked views show the
    target beside the prediction, the loss with its floor, and the gradient p - q of the right logit.

    Parameters
    ----------
    vocab_size
        Where the menu starts: 10, 100, 2000 or 37000.
    smoothing, gap
        Where the sliders start.

    Raises
    ------
    ValueError
        If a control cannot start there.
    """
    if vocab_size not in _VOCABULARIES or not 0 <= smoothing <= 0.5 or not 0 <= gap <= _GAP:
        raise ValueError(f"controls cannot start at V {vocab_size}, epsilon {smoothing} and a gap of {gap}")
    floor = "(epsilon == 0 ? 0 : -(1 - epsilon) * log(1 - epsilon) - epsilon * log(epsilon / (V - 1)))"
    best = "(log(1 - epsilon) - log(epsilon / (V - 1)))"
    title = (
        f"'Smoothed loss ' + format({_loss('gap')}, '.3f') + ' at gap ' + format(gap, '~g')"
        f" + '; floor ' + format({floor}, '.3f')"
        f" + (epsilon == 0 ? ', never reached' : ' at gap ' + format({best}, '.1f'))"
    )
    return titled(
        alt.vconcat(
            _shares().properties(
                width=300, height=alt.Step(21), title=_part("Training moves the prediction to the target")
            ),
            _losses(floor).properties(width=300, height=150, title=_part(_LOSS)),
            _gradients().properties(width=300, height=120, title=_part(_GRADIENT)),
            usermeta={"fit": True},
        ).resolve_scale(color="independent", strokeDash="independent"),
        slider("epsilon", smoothing, 0, 0.5, 0.05, label="epsilon"),
        slider("gap", gap, 0, _GAP, 0.25, label="gap of the right logit"),
        menu("V", _VOCABULARIES, vocab_size),
        title=alt.Title(alt.expr(title), offset=16),
        description="Three linked charts with controls for epsilon, for the gap between the right logit and the "
        "others, and for the size of the vocabulary. Above, the probability of the right token and of all others "
        "together, in the target and in the prediction. In the middle, the loss against the gap: without smoothing "
        "it falls towards 0, with smoothing it reaches its floor at a finite gap and rises again. Below, the "
        "gradient p minus q of the right logit: negative before that gap, positive after it.",
    )


def _part(title: Any) -> alt.Title:
    """What to see in one of the three views."""
    return alt.Title(title, fontSize=12, anchor="start")


def _gaps() -> pd.DataFrame:
    """The gaps at which curves are drawn."""
    return pd.DataFrame({"x": np.linspace(0, _GAP, 4 * _GAP + 1)})


def _loss(gap: str, epsilon: str = "epsilon") -> str:
    """The loss in Vega's language: log of (e^gap + V - 1), less the gap where the target is."""
    return f"(log(exp({gap}) + V - 1) - (1 - {epsilon}) * ({gap}))"


def _shares() -> alt.LayerChart:
    order = ["right", "all others"]
    bars_of = pd.MultiIndex.from_product([order, ["target q", "prediction p"]], names=["token", "which"])
    p = "exp(gap) / (exp(gap) + V - 1)"
    base = (
        alt.Chart(bars_of.to_frame(index=False))
        .transform_calculate(right=f"datum.which == 'target q' ? 1 - epsilon : {p}")
        .transform_calculate(value="datum.token == 'right' ? datum.right : 1 - datum.right")
    )
    y = y_axis("token:N", None, sort=order, minExtent=62)
    offset = alt.YOffset("which:N", sort=["target q", "prediction p"])
    x = x_axis("value:Q", "probability", domain=[0, 1.8], nice=False, values=[0, 0.5, 1])
    colour = colour_by("which:N", ["target q", "prediction p"], [ORANGE, BLUE])
    bars = base.mark_bar().encode(
        x=x,
        y=y,
        yOffset=offset,
        color=colour,
        tooltip=["token:N", "which:N", "value:Q"],
    )
    named = "format(datum.value, '.3f') + (datum.token == 'right' ? '  ' + datum.which : '')"
    figures = base.transform_calculate(text=named).mark_text(align="left", dx=4, fontWeight="bold")
    figures = figures.encode(x=x, y=y, yOffset=offset, text="text:N", color=colour)
    return alt.layer(bars, figures)


def _losses(floor: str) -> alt.LayerChart:
    names = ["without smoothing", "smoothed", "floor"]
    base = (
        alt.Chart(_gaps())
        .transform_calculate(plain=_loss("datum.x", "0"), smooth=_loss("datum.x"), floor=floor)
        .transform_fold(["plain", "smooth", "floor"], as_=["key", "loss"])
        .transform_calculate(
            curve=f"datum.key == 'plain' ? '{names[0]}' : datum.key == 'smooth' ? '{names[1]}' : '{names[2]}'"
        )
    )
    x = x_axis("x:Q", None, domain=[0, _GAP])
    y = y_axis("loss:Q", "loss (nats)", tickCount=4, minExtent=62)
    base = base.encode(x=x, y=y, color=colour_by("curve:N", names, [GREY, BLUE, ORANGE]))
    dash = dash_by("curve:N", names, [[5, 3], [1, 0], [4, 2]])
    lines = base.mark_line(strokeWidth=2.3).encode(strokeDash=dash)
    # The first reaches zero where the others do not, the second rises in the end, the third is alone at the beginning.
    look = [
        alt.ExprRef(f"{json.dumps(dict(zip(names, row, strict=True)))}[datum.curve]")
        for row in ((_GAP, _GAP, 0), ("right", "right", "left"), (-4, -4, 6), (-8, -9, 9))
    ]
    at, align, dx, dy = look
    beside = name_lines(base, "curve", at=at.expr, scale=None, align=align, dx=dx, dy=dy)
    now = (
        alt.Chart(ONE_ROW)
        .transform_calculate(x="gap", loss=_loss("gap"))
        .mark_point(filled=True, size=110, opacity=1, color=BLUE)
        .encode(x=x, y=y)
    )
    return alt.layer(lines, now, beside)


def _gradients() -> alt.LayerChart:
    x = x_axis("x:Q", "gap between the right logit and the others (nats)", domain=[0, _GAP])
    y = y_axis("g:Q", "gradient p − q", domain=[-1, 0.5], tickCount=4, minExtent=62)

    def gradient(gap: str) -> str:
        return f"exp({gap}) / (exp({gap}) + V - 1) - (1 - epsilon)"

    line = (
        alt.Chart(_gaps())
        .transform_calculate(g=gradient("datum.x"))
        .mark_line(strokeWidth=2.3, color=GREEN)
        .encode(x=x, y=y)
    )
    zero = rule_at(y, 0, color=GREY, strokeDash=[4, 3])
    now = (
        alt.Chart(ONE_ROW)
        .transform_calculate(x="gap", g=gradient("gap"))
        .mark_point(filled=True, size=110, opacity=1, color=GREEN)
        .encode(x=x, y=y)
    )
    return alt.layer(zero, line, now)

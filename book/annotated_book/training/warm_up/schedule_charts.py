"""Charts of the learning rate: equation 3 under sliders, and what common slips make of it."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from annotated.config import ModelConfig, TrainingConfig
from annotated_book.viz.channels import colour_by, dash_by, x_axis, y_axis
from annotated_book.viz.forms import titled
from annotated_book.viz.parameters import menu, slider
from annotated_book.viz.tables import ONE_ROW
from annotated_book.viz.theme import BLUE, GREEN, ORANGE

WIDTHS = (64, 128, 256, 512, 1024, 2048)
SLIPS = {
    "counts micro-batches": "rate(N * k)",
    "sets the rate after the step": "k == 1 ? configured : rate(k - 1)",
    "starts at 0, patched to 1": "rate(max(1, k - 1))",
}
"""What a schedule gives update k, when it goes wrong in one of three ways seen in well-known code."""
_POINTS = 160
_CURVES = ["as written", "with the slip"]
_BRANCHES = {"rate": BLUE, "rising": GREEN, "falling": ORANGE}


def schedule_chart(
    *, d_model: int = ModelConfig.d_model, warmup: int = TrainingConfig.warmup, factor: float = 1.0, last: int = 20000
) -> alt.LayerChart:
    """Equation 3 and its two branches; the reader moves width, warm-up, factor, updates, and chooses the axes.

    Parameters
    ----------
    d_model, warmup, factor
        Where the controls start.
    last
        Updates drawn at first.

    Raises
    ------
    ValueError
        If a control cannot start there.
    """
    if d_model not in WIDTHS or not 500 <= warmup <= 16000 or not 2000 <= last <= 100_000:
        raise ValueError(f"controls cannot start at d_model {d_model}, warm-up {warmup} and {last} updates")
    peak = (
        "'Highest rate ' + format(factor * pow(d_model * warmup, -0.5), '.5f') + ', at update ' + format(warmup, ',')"
    )
    start = factor * (d_model * warmup) ** -0.5
    return titled(
        alt.layer(_branch_lines(), _peak(), *_branch_names()),
        menu("d_model", WIDTHS, d_model),
        slider("warmup", warmup, 500, 16000, 500, label="warm-up"),
        slider("factor", factor, 0.5, 4, 0.5, label="factor (1 in the paper)"),
        slider("last", last, 2000, 100_000, 2000, label="updates drawn"),
        alt.param(name="axes", value="linear", bind=alt.binding_radio(options=["linear", "log"], name="axes ")),
        height=260,
        title=alt.expr(f"['The rate follows the lower of two curves', {peak}]"),
        description="The learning rate against the update, with controls for d_model, warm-up, a factor, the updates "
        "shown and linear or logarithmic axes. A straight line rises until the end of the warm-up, where it crosses "
        "a curve that falls with the inverse root; the rate follows the lower of the two. At first the peak is "
        f"{start:.3g} at update {warmup}.",
    )


def _branch_lines() -> alt.Chart:
    """The rate, and above it the branch of equation 3 that it does not follow."""
    base = (
        alt.Chart(pd.DataFrame({"t": np.linspace(0, 1, _POINTS + 1).round(5)}))
        .transform_calculate(update="axes == 'log' ? pow(last, datum.t) : 1 + (last - 1) * datum.t")
        .transform_calculate(
            rising="factor * pow(d_model, -0.5) * datum.update * pow(warmup, -1.5)",
            falling="factor * pow(d_model, -0.5) * pow(datum.update, -0.5)",
        )
        .transform_calculate(rate="min(datum.rising, datum.falling)")
        .transform_fold(list(_BRANCHES), as_=["what", "value"])
        # A branch is drawn above the rate only where the picture has room for it.
        .transform_filter("datum.what == 'rate' || datum.value < 1.6 * factor * pow(d_model * warmup, -0.5)")
    )
    return (
        _logged(base)
        .mark_line(clip=True)
        .encode(
            **_axes(),
            color=colour_by("what:N", _BRANCHES),
            strokeDash=dash_by("what:N", _BRANCHES, [[1, 0], [6, 4], [2, 3]]),
            strokeWidth=alt.condition("datum.what == 'rate'", alt.value(4.5), alt.value(1.4)),
        )
    )


def _peak() -> alt.Chart:
    """A point at the end of the warm-up."""
    one = (
        alt.Chart(ONE_ROW)
        .transform_calculate(update="warmup", value="factor * pow(d_model * warmup, -0.5)")
        .transform_filter("datum.update <= last")
    )
    return _logged(one).mark_point(filled=True, size=90, opacity=1, color=BLUE).encode(**_axes())


def _branch_names() -> list[alt.Chart]:
    """The two branches by name: the rising one beside its line, the falling one above all lines."""
    peak = "factor * pow(d_model * warmup, -0.5)"
    one = alt.Chart(ONE_ROW)
    # Beside the rising line there is room on its left where the warm-up takes most of the picture.
    rising = (
        one.transform_calculate(update="min(1.35 * warmup, last)")
        .transform_calculate(value=f"{peak} * datum.update / warmup", words="'straight line'")
        .transform_filter("last > 1.2 * warmup")
    )
    falling = one.transform_calculate(update="warmup / 2.56", value=f"1.6 * {peak}", words="'inverse root'")
    side = "warmup > 0.5 * last ?"
    styles = {"fontSize": 12, "fontWeight": "bold"}
    return [
        _logged(rising)
        .mark_text(
            align=alt.ExprRef(f"{side} 'right' : 'left'"),
            dx=alt.ExprRef(f"{side} -8 : 8"),
            color=_BRANCHES["rising"],
            **styles,
        )
        .encode(**_axes(), text="words:N"),
        _logged(falling)
        .mark_text(align="left", baseline="bottom", dx=3, dy=-4, color=_BRANCHES["falling"], **styles)
        .encode(**_axes(), text="words:N"),
    ]


def _logged(chart: alt.Chart) -> alt.Chart:
    """Numbers as drawn: themselves, or their logarithms; a scale cannot change its kind, its labels can."""
    return chart.transform_calculate(
        x="axes == 'log' ? log(datum.update) / LN10 : datum.update",
        y="axes == 'log' ? log(datum.value) / LN10 : datum.value",
    )


def _axes() -> dict[str, alt.X | alt.Y]:
    whole = "abs(datum.value - round(datum.value)) < 0.001"
    x = f"axes == 'log' ? ({whole} ? format(pow(10, datum.value), '~s') : '') : format(datum.value, '~s')"
    y = f"axes == 'log' ? ({whole} ? format(pow(10, datum.value), '.0e') : '') : format(datum.value, '~g')"
    return {
        "x": x_axis("x:Q", "update", zero=False, nice=False, labelExpr=x, tickCount=6),
        "y": y_axis("y:Q", "learning rate", zero=False, labelExpr=y, tickCount=6),
    }


def slip_chart(
    *,
    d_model: int = ModelConfig.d_model,
    warmup: int = TrainingConfig.warmup,
    configured: float = 2e-4,
    accumulate: int = 10,
) -> alt.LayerChart:
    """The rate that each update gets from a schedule with a slip, beside the paper's; a menu chooses the slip.

    Parameters
    ----------
    d_model, warmup
        Of the schedule.
    configured
        The rate that an optimiser holds before the schedule has set any.
    accumulate
        Where the slider of micro-batches per update starts.
    """
    if not 1 <= accumulate <= 32:
        raise ValueError(f"the slider goes from 1 to 32 micro-batches, not to {accumulate}")
    updates = sorted({round(20_000 ** (i / 119)) for i in range(120)})
    written, wrong = _given_rates(d_model, warmup, configured)
    base = (
        alt.Chart(pd.DataFrame({"update": updates}))
        .transform_calculate(written=written, wrong=wrong)
        .transform_calculate(times="datum.wrong / datum.written")
    )
    lines = base.transform_fold(["written", "wrong"], as_=["which", "value"]).transform_calculate(
        curve=f"datum.which == 'written' ? '{_CURVES[0]}' : '{_CURVES[1]}'"
    )
    encoding = _slip_encoding()
    drawn = lines.mark_line(strokeWidth=2.5).encode(
        strokeDash=dash_by("curve:N", _CURVES, [[6, 3], [1, 0]]), **encoding
    )
    first = lines.transform_filter("datum.update <= 10").mark_point(filled=True, size=35, opacity=1)
    ends = f"['The warm-up of {warmup} ends', 'after update ' + format({warmup} / accumulate, '.0f')]"
    title = (
        f"slip == 'counts micro-batches' ? {ends} : slip == 'sets the rate after the step' ?"
        " ['Update 1 runs at the rate that', 'the optimiser was made with'] :"
        " ['From update 2 on, each update has', 'the rate of the one before']"
    )
    return titled(
        alt.layer(drawn, first.encode(**encoding), *_slip_names(lines, encoding)),
        menu("slip", list(SLIPS)),
        slider("accumulate", accumulate, 1, 32, 1, label="micro-batches per update (first slip only)"),
        height=260,
        title=alt.expr(title),
        description="The learning rate of each update on logarithmic axes: equation 3 dashed, and a schedule with a "
        "slip, which a menu chooses. Counting micro-batches moves the peak to the left by their number, at the same "
        "height; soon after, its rates are the lower ones. Setting the rate after the step gives update 1 "
        f"{configured:g}. Starting at 0, patched to 1, lags one update behind.",
    )


def _slip_names(lines: alt.Chart, encoding: dict[str, Any]) -> list[alt.Chart]:
    """Both curves by name: the paper's on its right, the other one on the left of both."""
    places = {_CURVES[0]: (20, 8, 14), _CURVES[1]: (206, -8, -8)}
    return [
        lines.transform_filter(f"datum.curve == '{curve}' && datum.update == {update}")
        .mark_text(align="left" if dx > 0 else "right", dx=dx, dy=dy, fontSize=12, fontWeight="bold")
        .encode(x=encoding["x"], y=encoding["y"], color=encoding["color"], text="curve:N")
        for curve, (update, dx, dy) in places.items()
    ]


def _given_rates(d_model: int, warmup: int, configured: float) -> tuple[str, str]:
    """The rate of an update as written, and with the chosen slip, in Vega's language."""
    rate = f"pow({d_model}, -0.5) * min(pow(X, -0.5), X * pow({warmup}, -1.5))"

    def given(text: str) -> str:
        text = text.replace("N", "accumulate").replace("configured", str(configured))
        for inner in ("accumulate * k", "max(1, k - 1)", "k - 1"):
            text = text.replace(f"rate({inner})", f"({rate.replace('X', f'({inner})')})")
        return text.replace("k ", "datum.update ").replace("k)", "datum.update)")

    choice = " : ".join(f"slip == '{name}' ? ({given(text)})" for name, text in SLIPS.items())
    return rate.replace("X", "datum.update"), f"{choice} : 0"


def _slip_encoding() -> dict[str, Any]:
    rates = [1e-7, 1e-6, 1e-5, 1e-4, 1e-3]
    return {
        "x": x_axis("update:Q", "update", type="log", nice=False, format="~s", values=[1, 10, 100, 1e3, 1e4]),
        "y": y_axis("value:Q", "learning rate", type="log", domain=[1e-7, 2e-3], format=".0e", values=rates),
        "color": colour_by("curve:N", _CURVES, [BLUE, ORANGE]),
        "tooltip": [
            "update:Q",
            alt.Tooltip("written:Q", format=".3~e", title="as written"),
            alt.Tooltip("wrong:Q", format=".3~e", title="with the slip"),
            alt.Tooltip("times:Q", format=".3~r", title="times"),
        ],
    }

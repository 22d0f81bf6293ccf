"""Charts of Table 2: BLEU against operations under a budget, and the same results on chosen hardware."""

from __future__ import annotations

import json
from typing import Any

import altair as alt
import pandas as pd

from annotated.config import base, big
from annotated.paper import SETTINGS
from annotated_book.results.table_2.costs import DEVICES, bill, update_flops
from annotated_book.results.table_2.systems import BIG_EN_FR, RUNS, SYSTEMS, Pair, Result, results, short_name
from annotated_book.viz.channels import colour_by, shape_by, y_axis
from annotated_book.viz.forms import rule_at, titled
from annotated_book.viz.parameters import menu, slider, steps
from annotated_book.viz.tables import ONE_ROW
from annotated_book.viz.theme import BLUE, GREEN, GREY, INK, ORANGE
from annotated_book.viz.titles import title_of

VIEWS = {
    "German": results("en-de"),
    "French": results("en-fr"),
    "French, 41.0 as in the text": results("en-fr", {"Transformer (big)": BIG_EN_FR["text"]}),
}
"""What the menu of languages offers: the results of Table 2, and French with the text's score of the big model."""
COUNTED = {
    f"Transformer ({name})": update_flops(config) * SETTINGS[size]["steps"]
    for name, size, config in (("base model", "base", base()), ("big", "big", big()))
}
"""Floating-point operations that the Transformers' training runs need, counted by `update_flops`.

Table 2 prints 3.3e18 for the base model and 2.3e19 for the big one, because the paper multiplies hours by the rate
that it takes the GPUs to sustain: what they could have computed in that time. The counts are 29 % and 42 % of it
(chapter 27).
"""
QUANTITIES = ("device-hours", "money", "energy")
_KINDS = {"Transformer": (BLUE, "circle"), "single model": (ORANGE, "square"), "ensemble": (GREEN, "triangle-up")}
_SIDES = {"Transformer (base model)": "left", "GNMT + RL": "left"} | dict.fromkeys(
    ("GNMT + RL ensemble", "Deep-Att + PosUnk ensemble"), "center"
)
"""How the names of systems are aligned to their points; the others' are 'right', where there is room."""
HEIGHT = 330
"""Height of each of the two plots in pixels, without the lines of text below their axes."""
_FRONTS = {
    "0": "Both Transformers are on the front: no result is better and cheaper",
    "1": "With 41.0 for the big model, two ensembles join the front",
}
"""Titles: with the scores of the table, and with the text's score of the big model."""
_LIFTED: dict[str | tuple[str, str], float] = {
    ("French, 41.0 as in the text", "GNMT + RL ensemble"): -0.42,  # below the front
    "Transformer (base model)": -0.2,
    "ConvS2S": -0.2,
    "GNMT + RL ensemble": -0.22,
    "Deep-Att + PosUnk ensemble": -0.2,
    "MoE": 0.17,
    "ConvS2S ensemble": 0.17,
}
"""BLEU by which a name stands above its point, by system, or by view and system, so that it covers nothing."""


def _row(view: str, result: Result) -> dict[str, Any]:
    members = next(one.members for one in SYSTEMS if one.system == result.system)
    about = _about(view, result) if result.flops else ["", ""]
    transformer = result.system.startswith("Transformer")
    return {
        "language": view,
        "system": result.system,
        "name": short_name(result.system),
        "kind": "Transformer" if transformer else "ensemble" if members > 1 else "single model",
        "bleu": result.bleu,
        "label": result.bleu + _LIFTED.get((view, result.system), _LIFTED.get(result.system, 0.0)),
        "side": _SIDES.get(result.system, "right"),
        "FLOPs": result.flops,
        "counted": COUNTED.get(result.system),
        "front": not result.beaten_by,
        "beaten by": ", ".join(short_name(n) for n in result.beaten_by) or "nobody",
        "about": about[0],
        "behind": about[1],
    }


def _about(view: str, result: Result) -> list[str]:
    """Two lines on a result: what the table prints, and what stands behind it."""
    coefficient, _, power = f"{result.flops:.1e}".partition("e+")
    flops = f"{coefficient}·{_power(int(power))}"
    runs = {(run.system, run.pair): run for run in RUNS}
    # The cost of a Transformer stands in the table once, for both pairs.
    pair: Pair = "en-fr" if view.startswith("French") and not result.system.startswith("Transformer") else "en-de"
    single = runs.get((result.system.removesuffix(" ensemble"), pair))
    ensemble = result.system.endswith(" ensemble")
    if single:
        days = f"{single.days:g} day{'s' * (single.days != 1)} on {single.devices} {single.device}"
        time = f"8 trainings of {days}" if ensemble else days
    else:
        time = "8 trainings, whose days are not checked" if ensemble else "its days: not checked"
    beaten = ", ".join(short_name(n) for n in result.beaten_by)
    return [
        f"{short_name(result.system)}: {result.bleu:.2f} BLEU, {flops} FLOPs",
        f"{time}; {f'beaten by {beaten}' if beaten else 'on the front'}",
    ]


def _table() -> pd.DataFrame:
    return pd.DataFrame(_row(view, r) for view, found in VIEWS.items() for r in found if r.flops is not None)


def _marks(points: alt.Chart, x: alt.X, tooltip: list[Any], picked: Any = None) -> alt.LayerChart:
    """Points that vary in colour and shape by kind, with their names; `picked` is a selection that they set."""
    y = y_axis("bleu:Q", "BLEU, newstest2014", zero=False, padding=18)
    color = colour_by("kind:N", _KINDS, [c for c, _ in _KINDS.values()], legend=alt.Legend())
    shape = shape_by("kind:N", _KINDS, [s for _, s in _KINDS.values()], legend=alt.Legend())
    dots = points.mark_point(filled=True, size=110, opacity=1).encode(
        x=x, y=y, color=color, shape=shape, tooltip=tooltip
    )
    dots = dots if picked is None else dots.add_params(picked)
    names = [
        points.transform_filter(f"datum.side == '{side}'")
        .mark_text(align=side, dx=dx, fontSize=11)
        .encode(x=x, y=alt.Y("label:Q"), text="name:N")
        for side, dx in (("left", 9), ("center", 0), ("right", -9))
    ]
    return alt.layer(dots, *names)


def _choice(name: str, options: list[str], value: str) -> Any:
    if value not in options:
        raise ValueError(f"{name} is one of {', '.join(options)}, not '{value}'")
    return menu(name, options, value)


def bleu_flops_chart(language: str = "German", *, budget: float = 20.0) -> alt.LayerChart:
    """BLEU against the printed FLOPs, the front that nobody beats, and the best result within a budget that moves.

    Parameters
    ----------
    language
        One of `VIEWS`, where the menu starts.
    budget
        Power of ten of the FLOPs where the slider starts, from 18 to 21.5.

    Raises
    ------
    ValueError
        If a control cannot start there.
    """
    if not 18 <= budget <= 21.5 or round(10 * budget, 6) % 1:
        raise ValueError(f"the slider goes from 10^18 to 10^21.5 FLOPs in tenths, not to 10^{budget}")
    powers = [n / 10 for n in range(180, 216)]
    shown = {power: _power(power) for power in powers}
    chosen = steps("budget", list(shown.values()), shown[round(budget, 1)], label="budget, FLOPs")
    labels = json.dumps({str(n): _power(n) for n in range(18, 22)})
    x = alt.X(
        "FLOPs:Q",
        title="FLOPs of training, as printed",
        scale=alt.Scale(type="log", domain=[1e18, 3e21], nice=False),
        axis=alt.Axis(values=[10.0**n for n in range(18, 22)], labelExpr=f"{labels}[round(log(datum.value) / LN10)]"),
    )
    points = alt.Chart(_table()).transform_filter("datum.language == language")
    y = y_axis("bleu:Q", zero=False)
    front = points.transform_filter("datum.front").mark_line(interpolate="step-after", color=GREY, strokeDash=[5, 3])
    within = points.transform_filter("datum.FLOPs <= pow(10, 18 + budget / 10)")
    best = within.transform_window(
        rank="row_number()", sort=[alt.SortField("bleu", order="descending")]
    ).transform_filter("datum.rank == 1")
    rule = rule_at(x, "pow(10, 18 + budget / 10)", color=GREY, strokeWidth=2)
    told = best.transform_calculate(told="'best within the budget: ' + datum.name + ', ' + format(datum.bleu, '.2f')")
    words = {"x": alt.value(6), "y": alt.value(12), "text": "told:N"}
    none = points.transform_aggregate(cheapest="min(FLOPs)").transform_filter(
        "datum.cheapest > pow(10, 18 + budget / 10)"
    )
    none = none.transform_calculate(told="'nothing is within the budget'")
    tooltip = ["system:N", "bleu:Q", alt.Tooltip("FLOPs:Q", format=".1e"), "beaten by:N"]
    # The one that was pointed at last, or tapped; a finger need not hit it.
    picked = alt.selection_point(
        name="picked", fields=["system"], on="pointerover", nearest=True, clear=False, empty=False,
        value=[{"system": "Transformer (base model)"}],
    )  # fmt: skip
    asked = points.transform_filter(picked)
    return titled(
        alt.layer(
            front.encode(x=x, y=y),
            rule,
            best.mark_point(size=420, strokeWidth=2.5, color=GREY).encode(x=x, y=y),
            _marks(points, x, tooltip, picked),
            *(
                asked.mark_text(align="left", color=INK, **style).encode(
                    x=alt.value(0), y=alt.value(HEIGHT + top), text=text
                )
                for text, top, style in (("about:N", 50, {"fontWeight": 600}), ("behind:N", 67, {}))
            ),
            told.mark_text(align="left", fontSize=13, fontWeight=600).encode(**words),
            none.mark_text(align="left", fontSize=13, fontWeight=600).encode(**words),
        ),
        _choice("language", list(VIEWS), language),
        chosen,
        height=HEIGHT,
        title=title_of(f"language == '{list(VIEWS)[-1]}' ? 1 : 0", _FRONTS),
        description=_description(language, budget),
    )


def _power(exponent: float) -> str:
    """'10¹⁹·⁵', or '10¹⁹' for a whole power."""
    return "10" + f"{exponent:g}".translate(str.maketrans("0123456789.", "⁰¹²³⁴⁵⁶⁷⁸⁹·"))


def _description(language: str, budget: float) -> str:
    found = [r for r in VIEWS[language] if r.flops is not None and r.flops <= 10**budget]
    best = max(found, key=lambda r: r.bleu, default=None)
    said = f"the best result within it is {best.system} with {best.bleu} BLEU" if best else "nothing is within it"
    return (
        "BLEU against training operations on a logarithmic axis for the systems of Table 2 whose cost is printed, with "
        "a menu for the language and a slider for a budget of operations. A dashed line joins the results that no "
        f"other beats in both. At first the language is {language} and the budget 10 to the power {budget:g}: {said}."
    )


def run_price_chart(
    quantity: str = "device-hours",
    *,
    device: str = "H100",
    utilisation: int = 19,
    share: int = 29,
    price: float = 2.0,
    overhead: float = 1.0,
) -> alt.LayerChart:
    """BLEU against what each result would take on hardware of the reader's choice: device-hours, money or energy.

    The Transformers' operations are counted. Of the other systems only the device time, as FLOPs, is known; the
    reader says what share of it was used.

    Parameters
    ----------
    quantity
        One of `QUANTITIES`.
    device
        One of `annotated_book.results.table_2.costs.DEVICES` whose power is known.
    utilisation
        Percent of the device's peak, 5 to 90.
    share
        Percent of the printed FLOPs that systems other than the Transformers needed, 5 to 100.
    price
        Of one device-hour, in any currency; an assumption, as all of these are.
    overhead
        Energy of the whole over that of the devices, 1 to 2.

    Raises
    ------
    ValueError
        If a control cannot start there.
    """
    if not (5 <= utilisation <= 90 and 5 <= share <= 100 and 0 <= price <= 20 and 1 <= overhead <= 2):
        raise ValueError(
            f"controls cannot start at utilisation {utilisation} %, share {share} %, price {price}, overhead {overhead}"
        )
    known = {name: d for name, d in DEVICES.items() if d.power is not None}
    hourly = f"({json.dumps({n: d.peak * 36 for n, d in known.items()})}[device] * utilisation)"  # FLOPs in an hour
    kilowatts = f"{json.dumps({n: d.power / 1000 for n, d in known.items() if d.power})}[device]"
    return titled(
        alt.layer(_priced_points(hourly, kilowatts), *_bill_lines(hourly, kilowatts)),
        _choice("language", list(VIEWS)[:2], "German"),
        _choice("quantity", list(QUANTITIES), quantity),
        _choice("device", list(known), device),
        slider("utilisation", utilisation, 5, 90, label="utilisation, %"),
        slider("share", share, 5, 100, label="assumed share of the others' printed FLOPs that was needed, %"),
        slider("price", price, 0, 20, 0.1, label="price per device-hour"),
        slider("overhead", overhead, 1, 2, 0.05, label="energy overhead, ×"),
        height=HEIGHT,
        title="What each result of Table 2 would take on the device that you choose",
        description=_bill_description(quantity, device, utilisation),
    )


def _priced_points(hourly: str, kilowatts: str) -> alt.LayerChart:
    """The systems over what their training takes, given FLOPs in an hour and the power, in Vega's language."""
    points = (
        alt.Chart(_table())
        .transform_filter("datum.language == language")
        .transform_calculate(needed="datum.counted || datum.FLOPs * share / 100")
        .transform_calculate(hours=f"datum.needed / {hourly}")
        .transform_calculate(money="datum.hours * price", energy=f"datum.hours * overhead * {kilowatts}")
        .transform_calculate(
            drawn="log(quantity == 'money' ? datum.money : quantity == 'energy' ? datum.energy : datum.hours) / LN10"
        )
        .transform_filter("isFinite(datum.drawn)")
    )
    unit = "(quantity == 'energy' ? ' kWh' : quantity == 'money' ? '' : ' h')"
    # Ticks at 1, 3, 10, 30, ...: halves of a power of ten would read 3.16228.
    tick = "format((round(10 * datum.value) % 10 ? 3 : 1) * pow(10, floor(datum.value + 1e-6)), ',~r')"
    x = alt.X(
        "drawn:Q",
        title=None,  # what is on this axis, the reader chooses: a line of text says it
        scale=alt.Scale(zero=False, nice=True, padding=30),
        axis=alt.Axis(labelExpr=f"{tick} + {unit}", values=[n + s for n in range(-3, 7) for s in (0, 0.4771)]),
    )
    tooltip = [
        "system:N",
        "bleu:Q",
        alt.Tooltip("hours:Q", title="device-hours", format=",.2f"),
        alt.Tooltip("money:Q", format=",.2f"),
        alt.Tooltip("energy:Q", title="kWh", format=",.2f"),
    ]
    return _marks(points, x, tooltip)


def _bill_lines(hourly: str, kilowatts: str) -> list[alt.Chart]:
    """Below the plot: what is on the axis, and what each of the two Transformers takes."""
    axis = "quantity == 'energy' ? 'energy of one training run (kWh)' : quantity == 'money' ? "
    axis += "'price of one training run, in the currency of your price' : 'one training run, in hours on one ' + device"
    lines = ["'one ' + device + ' at ' + utilisation + ' % of its peak:'"]
    lines += [
        f"'{short_name(name)}: ' + format({flops:.6g} / {hourly}, ',.2f') + ' h, price ' + "
        f"format({flops:.6g} / {hourly} * price, ',.2f') + ' (' + format(price, '.2f') + ' an hour), ' + "
        f"format({flops:.6g} / {hourly} * overhead * {kilowatts}, ',.2f') + ' kWh'"
        for name, flops in COUNTED.items()
    ]
    one = alt.Chart(ONE_ROW)
    title = one.mark_text(align="left", color=INK, text=alt.expr(axis))
    told = [one.mark_text(align="left", color=INK, text=alt.expr(line)) for line in lines]
    return [
        title.encode(x=alt.value(0), y=alt.value(HEIGHT + 36)),
        *(line.encode(x=alt.value(-36), y=alt.value(HEIGHT + 58 + 17 * n)) for n, line in enumerate(told)),
    ]


def _bill_description(quantity: str, device: str, utilisation: int) -> str:
    one, two = (bill(n, DEVICES[device], utilisation=utilisation / 100).hours for n in COUNTED.values())
    return (
        "BLEU against the device-hours, the money or the energy of a training run for the systems of Table 2, with "
        "controls for language, quantity, device, utilisation, the share of the printed operations that the other "
        f"systems needed, price and overhead. At first it shows {quantity} on one {device} at {utilisation} percent: "
        f"{one:.2g} hours for the base model, {two:.2g} for the big one."
    )

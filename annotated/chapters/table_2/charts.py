"""Charts of Table 2: BLEU against operations under a budget, and the same results on chosen hardware."""

from __future__ import annotations

import json
from typing import Any

import altair as alt
import pandas as pd

from annotated.chapters.table_2.costs import DEVICES, bill, update_flops
from annotated.chapters.table_2.systems import BIG_EN_FR, SYSTEMS, Result, results, short_name
from annotated.config import base, big
from annotated.paper import SETTINGS
from annotated.viz.parameters import menu, slider
from annotated.viz.tables import ONE_ROW
from annotated.viz.theme import BLUE, GREEN, GREY, ORANGE

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
"""Operations that the Transformers' training runs need, counted."""
QUANTITIES = ("device-hours", "money", "energy")
_KINDS = {"Transformer": (BLUE, "circle"), "single model": (ORANGE, "square"), "ensemble": (GREEN, "triangle-up")}
_SIDES = {"Transformer (base model)": "left", "GNMT + RL": "left"} | dict.fromkeys(
    ("GNMT + RL ensemble", "Deep-Att + PosUnk ensemble"), "center"
)
"""How the names of systems are aligned to their points; the others' are 'right', where there is room."""
_LIFTED = {
    "Transformer (base model)": -0.2,
    "ConvS2S": -0.2,
    "GNMT + RL ensemble": -0.22,
    "Deep-Att + PosUnk ensemble": -0.2,
    "MoE": 0.17,
    "ConvS2S ensemble": 0.17,
}
"""BLEU by which a name stands above its point, so that neighbours do not cover each other."""


def _row(view: str, result: Result) -> dict[str, Any]:
    members = next(one.members for one in SYSTEMS if one.system == result.system)
    transformer = result.system.startswith("Transformer")
    return {
        "language": view,
        "system": result.system,
        "name": short_name(result.system),
        "kind": "Transformer" if transformer else "ensemble" if members > 1 else "single model",
        "bleu": result.bleu,
        "label": result.bleu + _LIFTED.get(result.system, 0.0),
        "side": _SIDES.get(result.system, "right"),
        "FLOPs": result.flops,
        "counted": COUNTED.get(result.system),
        "front": not result.beaten_by,
        "beaten by": ", ".join(short_name(n) for n in result.beaten_by) or "nobody",
    }


def _table() -> pd.DataFrame:
    return pd.DataFrame(_row(view, r) for view, found in VIEWS.items() for r in found if r.flops is not None)


def _marks(points: alt.Chart, x: alt.X, tooltip: list[Any]) -> alt.LayerChart:
    """Points that vary in colour and shape by kind, with their names."""
    y = alt.Y("bleu:Q", title="BLEU, newstest2014", scale=alt.Scale(zero=False, padding=18))
    color = alt.Color("kind:N", scale=alt.Scale(domain=list(_KINDS), range=[c for c, _ in _KINDS.values()]))
    shape = alt.Shape("kind:N", scale=alt.Scale(domain=list(_KINDS), range=[s for _, s in _KINDS.values()]))
    dots = points.mark_point(filled=True, size=110, opacity=1).encode(
        x=x, y=y, color=color, shape=shape, tooltip=tooltip
    )
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
    if not 18 <= budget <= 21.5:
        raise ValueError(f"the slider goes from 10^18 to 10^21.5 FLOPs, not to 10^{budget}")
    params = [_choice("language", list(VIEWS), language), slider("budget", budget, 18, 21.5, 0.1, label="budget, 10^x")]
    labels = json.dumps({str(n): "10" + "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(d)] for d in str(n)) for n in range(18, 22)})
    x = alt.X(
        "FLOPs:Q",
        title="FLOPs of training, as printed",
        scale=alt.Scale(type="log", domain=[1e18, 3e21], nice=False),
        axis=alt.Axis(values=[10.0**n for n in range(18, 22)], labelExpr=f"{labels}[round(log(datum.value) / LN10)]"),
    )
    points = alt.Chart(_table()).transform_filter("datum.language == language")
    y = alt.Y("bleu:Q", scale=alt.Scale(zero=False))
    front = points.transform_filter("datum.front").mark_line(interpolate="step-after", color=GREY, strokeDash=[5, 3])
    within = points.transform_filter("datum.FLOPs <= pow(10, budget)")
    best = within.transform_window(
        rank="row_number()", sort=[alt.SortField("bleu", order="descending")]
    ).transform_filter("datum.rank == 1")
    rule = (
        alt.Chart(ONE_ROW)
        .transform_calculate(FLOPs="pow(10, budget)")
        .mark_rule(color=ORANGE, strokeWidth=2)
        .encode(x=x)
    )
    told = best.transform_calculate(told="'best within the budget: ' + datum.name + ', ' + format(datum.bleu, '.2f')")
    tooltip = ["system:N", "bleu:Q", alt.Tooltip("FLOPs:Q", format=".1e"), "beaten by:N"]
    return (
        alt.layer(
            front.encode(x=x, y=y),
            rule,
            best.mark_point(size=420, strokeWidth=2.5, color=ORANGE).encode(x=x, y=y),
            _marks(points, x, tooltip),
            told.mark_text(align="left", fontSize=13, fontWeight=600).encode(
                x=alt.value(6), y=alt.value(12), text="told:N"
            ),
        )
        .add_params(*params)
        .properties(width="container", height=330, description=_description(language, budget))
    )


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
    utilisation: int = 35,
    share: int = 29,
    price: float = 2.0,
    overhead: float = 1.5,
) -> alt.LayerChart:
    """BLEU against what each result would take on hardware of the reader's choice: device-hours, money or energy.

    The Transformers' operations are counted. For the other systems only hours were ever printed as FLOPs; the reader
    says what share of them was needed.

    Parameters
    ----------
    quantity
        One of `QUANTITIES`.
    device
        One of `annotated.chapters.table_2.costs.DEVICES` whose power is known.
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
    params = [
        _choice("language", list(VIEWS)[:2], "German"),
        _choice("quantity", list(QUANTITIES), quantity),
        _choice("device", list(known), device),
        slider("utilisation", utilisation, 5, 90, label="utilisation, %"),
        slider("share", share, 5, 100, label="others' work, %"),
        slider("price", price, 0, 20, 0.1, label="price an hour"),
        slider("overhead", overhead, 1, 2, 0.05, label="overhead, ×"),
    ]
    hourly = f"({json.dumps({n: d.peak * 36 for n, d in known.items()})}[device] * utilisation)"  # FLOPs in an hour
    kilowatts = f"{json.dumps({n: d.power / 1000 for n, d in known.items() if d.power})}[device]"
    return (
        _priced_points(hourly, kilowatts)
        .add_params(*params)
        .properties(
            width="container",
            height=330,
            title=alt.Title(alt.expr(_bill_title(hourly, kilowatts))),
            description=_bill_description(quantity, device, utilisation),
        )
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
    x = alt.X(
        "drawn:Q",
        title="what one training run takes, logarithmic",
        scale=alt.Scale(zero=False, nice=True, padding=30),
        axis=alt.Axis(labelExpr=f"format(pow(10, datum.value), ',~r') + {unit}", tickMinStep=1, tickCount=5),
    )
    tooltip = [
        "system:N",
        "bleu:Q",
        alt.Tooltip("hours:Q", title="device-hours", format=",.2f"),
        alt.Tooltip("money:Q", format=",.2f"),
        alt.Tooltip("energy:Q", title="kWh", format=",.2f"),
    ]
    return _marks(points, x, tooltip)


def _bill_title(hourly: str, kilowatts: str) -> str:
    """Two lines: what each of the two Transformers takes."""
    lines = [
        f"'{short_name(name)}: ' + format({flops:.6g} / {hourly}, ',.2f') + ' hours, ' + "
        f"format({flops:.6g} / {hourly} * price, ',.2f') + ' to pay, ' + "
        f"format({flops:.6g} / {hourly} * overhead * {kilowatts}, ',.2f') + ' kWh'"
        for name, flops in COUNTED.items()
    ]
    return f"['one ' + device + ' at ' + utilisation + ' % of its peak', {', '.join(lines)}]"


def _bill_description(quantity: str, device: str, utilisation: int) -> str:
    one, two = (bill(n, DEVICES[device], utilisation=utilisation / 100).hours for n in COUNTED.values())
    return (
        "BLEU against the device-hours, the money or the energy of a training run for the systems of Table 2, with "
        "controls for language, quantity, device, utilisation, the share of the printed operations that the other "
        f"systems needed, price and overhead. At first it shows {quantity} on one {device} at {utilisation} percent: "
        f"{one:.2g} hours for the base model, {two:.2g} for the big one."
    )

"""The charts of costs draw what the library computes, for the controls' first values and for others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import vl_convert

from annotated_book.results.table_2.charts import COUNTED, bleu_flops_chart, run_price_chart
from annotated_book.results.table_2.costs import DEVICES, bill
from annotated_book.viz.renderers import VEGA_LITE
from annotated_book.viz.theme import with_theme


def tables(spec: Any) -> Iterator[list[dict[str, Any]]]:
    """The rows of each table in a specification."""
    if isinstance(spec, dict):
        if isinstance(spec.get("values"), list) and "data" not in spec:
            yield spec["values"]
        for part in spec.values():
            yield from tables(part)
    elif isinstance(spec, list):
        for part in spec:
            yield from tables(part)


def words(chart: object) -> list[str]:
    """The texts of the drawing, as a reader sees them."""
    spec = with_theme(chart.to_dict())  # type: ignore[attr-defined]
    svg = vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE)
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg) + re.findall(r"<tspan[^>]*>([^<]*)</tspan>", svg)


@pytest.mark.parametrize(
    ("language", "budget", "best"),
    [
        ("German", 18.4, None),
        ("German", 21.5, "big, 28.40"),
        ("French", 19.0, "base, 38.10"),
        ("French, 41.0 as in the text", 21.5, "ConvS2S × 8, 41.29"),
    ],
)
def test_the_systems_and_the_best_within_a_budget(language: str, budget: float, best: str | None) -> None:
    chart = bleu_flops_chart(language, budget=budget)
    drawn = words(chart)
    told = [w for w in drawn if w.startswith("best within")]
    assert told == ([f"best within the budget: {best}"] if best else [])
    assert {"base", "big", "MoE"} <= set(drawn) and ("Deep-Att" in drawn) == language.startswith("French")
    assert "ByteNet" not in drawn  # its cost is not printed
    said = chart.to_dict()["description"]
    assert ("nothing is within it" in said) == (best is None)
    assert best is None or best.split(", ")[1].rstrip("0") in said


@pytest.mark.parametrize(("device", "utilisation", "price", "overhead"), [("H100", 35, 2.0, 1.5), ("P100", 80, 0.5, 1)])
def test_the_title_is_the_bill(device: str, utilisation: int, price: float, overhead: float) -> None:
    chart = run_price_chart(device=device, utilisation=utilisation, price=price, overhead=overhead)
    told = " | ".join(words(chart))
    assert f"one {device} at {utilisation} % of its peak" in told
    for flops in COUNTED.values():
        made = bill(flops, DEVICES[device], utilisation=utilisation / 100, price_per_hour=price, overhead=overhead)
        bill_line = f"{made.hours:,.2f} h, price {made.money:,.2f} ({price:.2f} an hour), {made.energy:,.2f} kWh"
        assert bill_line in told
    assert f"one training run, in hours on one {device}" in told


def test_the_starting_energy_is_that_of_the_table_without_overhead() -> None:
    told = " | ".join(words(run_price_chart()))
    for flops in COUNTED.values():
        assert f"{bill(flops, DEVICES['H100'], utilisation=0.19).energy:,.2f} kWh" in told


def test_a_result_tells_its_cost_its_machines_and_who_beats_it() -> None:
    drawn = words(bleu_flops_chart())
    assert "base: 27.30 BLEU, 3.3·10¹⁸ FLOPs" in drawn and "0.5 days on 8 P100; on the front" in drawn
    table = next(rows for rows in tables(bleu_flops_chart().to_dict()) if len(rows) > 5)
    told = {(row["language"], row["system"]): (row["about"], row["behind"]) for row in table}
    assert told["French", "ConvS2S ensemble"] == (
        "ConvS2S × 8: 41.29 BLEU, 1.2·10²¹ FLOPs",
        "8 trainings of 37 days on 8 M40; beaten by big",
    )
    assert told["German", "GNMT + RL"][1] == "1 day on 96 K80; beaten by ConvS2S, MoE, base, big"
    assert told["French", "Deep-Att + PosUnk"][1].startswith("its days: not checked; beaten by ")
    assert told["French", "Deep-Att + PosUnk ensemble"][1].startswith("8 trainings, whose days are not checked; ")
    assert told["French, 41.0 as in the text", "ConvS2S ensemble"][1].endswith("; on the front")


@pytest.mark.parametrize(("quantity", "unit"), [("device-hours", " h"), ("energy", " kWh"), ("money", "")])
def test_units_follow_the_quantity(quantity: str, unit: str) -> None:
    ticks = [w for w in words(run_price_chart(quantity)) if re.fullmatch(rf"10+{unit}|1{unit}", w)]
    assert len(ticks) >= 2


def test_free_hours_have_no_place_on_a_logarithmic_axis() -> None:
    names = words(run_price_chart("money", price=0))
    assert "base" not in names and "MoE" not in names


def test_controls_start_only_where_they_can() -> None:
    with pytest.raises(ValueError, match=r"10\^25"):
        bleu_flops_chart(budget=25)
    with pytest.raises(ValueError, match="not 'Italian'"):
        bleu_flops_chart("Italian")
    with pytest.raises(ValueError, match="device is one of"):
        run_price_chart(device="a core")
    with pytest.raises(ValueError, match="utilisation 100 %"):
        run_price_chart(utilisation=100)

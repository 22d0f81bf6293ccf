"""The calculator of time and cost: the page computes what the library computes, from the data that it is given."""

from __future__ import annotations

import pytest

from annotated.config import base, big
from annotated.paper import SETTINGS
from annotated_book.pages import page_folder
from annotated_book.results.full_run.frame import GPUS, MACHINE, PAPER_HOURS, START, page_data
from annotated_book.results.table_2.costs import DEVICES, bill, update_flops, utilisation
from book.tests.javascript import evaluate

COST = page_folder("full_run") / "cost.js"
CHOICES = [
    {"name": "P100", "count": 8, "share": 0.26, "price": 0.0},
    {"name": "H100", "count": 1, "share": 0.05, "price": 3.25},
    {"name": "RTX 4090", "count": 32, "share": 0.9, "price": 0.4},
]


def test_times_and_costs_are_the_librarys() -> None:
    data = page_data()
    chosen = [one | next(gpu for gpu in data["gpus"] if gpu["name"] == one["name"]) for one in CHOICES]
    found = evaluate(
        COST, "({ bills }, [models, choices]) => choices.map(one => bills(models, one))", [data["models"], chosen]
    )
    sizes = {"base": (base(vocab_size=37_000), 100_000), "big": (big(vocab_size=37_000), 300_000)}
    for choice, rows in zip(CHOICES, found, strict=True):
        device = DEVICES[GPUS[choice["name"]]]
        for row, (size, (config, updates)) in zip(rows, sizes.items(), strict=True):
            each = update_flops(config)
            expected = bill(
                each * updates, device, utilisation=choice["share"], devices=choice["count"],
                price_per_hour=choice["price"],
            )  # fmt: skip
            assert row["name"] == size
            assert [row["gpuHours"], row["hours"], row["money"]] == pytest.approx(expected[:3], rel=1e-9)
            assert row["seconds"] * updates / 3600 == pytest.approx(expected.hours, rel=1e-9)


def test_the_papers_machine_takes_the_papers_hours() -> None:
    data = page_data()
    peak = next(gpu["peak"] for gpu in data["gpus"] if gpu["name"] == MACHINE["name"])
    code = """({ bills, shareOf }, [models, choice, seconds]) => ({
      hours: bills(models, choice).map(one => one.hours),
      shares: models.map(([, each], i) => shareOf(each, seconds[i], choice)) })"""
    steps = [3600 * hours / updates for hours, (_, _, updates) in zip(PAPER_HOURS, data["models"], strict=True)]
    found = evaluate(COST, code, [data["models"], MACHINE | {"peak": peak, "price": 0}, steps])
    assert found["hours"][0] == pytest.approx(SETTINGS["base"]["hours"], rel=0.01)
    assert found["hours"][1] > 1.4 * SETTINGS["big"]["hours"], "the big model reached a larger share"
    _, each, updates = data["models"][1]
    assert found["shares"][1] == pytest.approx(utilisation(each * updates, 84, 8, peak), rel=1e-9)
    assert START["name"] in GPUS and DEVICES["H100"].peak == DEVICES["H200"].peak


def test_numbers_are_said_as_a_person_would() -> None:
    code = """({ digits, logAxis, moneyOf, secondsOf, timeOf }) => ({
      times: [0.1, 0.9999, 1, 12, 47.9, 84, 4800].map(timeOf), seconds: [0.0357, 0.4, 1, 12.34].map(secondsOf),
      money: [0, 1.5, 123.456, 4321.9].map(moneyOf), axis: logAxis([0.2, 84]).ticks,
      large: digits(12345.6), places: [1 / 1.3, 10, 130].map(logAxis([1, 100]).place) })"""
    found = evaluate(COST, code)
    assert found["times"] == ["6 min", "60 min", "1 h", "12 h", "48 h", "3.5 days", "200 days"]
    assert found["seconds"] == ["36 ms", "400 ms", "1 s", "12 s"]
    assert found["money"] == ["0.00", "1.50", "123.46", "4,322"]
    assert found["axis"] == pytest.approx([1 / 6, 1, 6, 24]) and found["large"] == "12,346"
    assert found["places"] == pytest.approx([0, 0.5, 1])

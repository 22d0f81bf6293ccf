"""Charts of the schedule, of Adam and of the warm-up grid: their formulas agree with the library's."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from annotated.training.schedule import learning_rate
from annotated_book import recorded
from annotated_book.training.warm_up.adam_charts import first_updates_chart, memory_chart
from annotated_book.training.warm_up.charts import warm_up_chart
from annotated_book.training.warm_up.schedule_charts import SLIPS, schedule_chart, slip_chart
from annotated_book.viz.renderers import book_renderer


def rates_drawn(slip: str, accumulate: int, update: int) -> tuple[float, float]:
    """The two rates of one update, by the chart's own formulas, read as Python."""
    calculations = {
        step["as"]: step["calculate"]
        for layer in slip_chart().to_dict()["layer"]
        for step in layer["transform"]
        if "calculate" in step
    }

    written = eval(calculations["written"], {"pow": pow, "min": min, "datum": _Datum(update)})
    branch = calculations["wrong"].split(f"slip == '{slip}' ? (")[1].split(") : slip ==")[0].removesuffix(") : 0")
    if branch.startswith("datum.update == 1 ? "):
        first, other = branch.removeprefix("datum.update == 1 ? ").split(" : ", 1)
        branch = first if update == 1 else other
    names = {"pow": pow, "min": min, "max": max, "datum": _Datum(update), "accumulate": accumulate}
    return written, eval(branch, names)


class _Datum:
    def __init__(self, update: int) -> None:
        self.update = update


@pytest.mark.parametrize("update", [1, 2, 3, 400, 9000])
def test_slips_give_the_rates_that_the_code_would_give(update: int) -> None:
    def rate(k: int) -> float:
        return learning_rate(k, 512, 4000)

    micro, after, patched = SLIPS
    expected = {
        micro: rate(10 * update),
        after: 2e-4 if update == 1 else rate(update - 1),
        patched: rate(max(update - 1, 1)),
    }
    for slip, wrong in expected.items():
        assert rates_drawn(slip, 10, update) == pytest.approx((rate(update), wrong))


def test_controls_start_only_where_they_can() -> None:
    with pytest.raises(ValueError, match="d_model 500"):
        schedule_chart(d_model=500)
    with pytest.raises(ValueError, match="micro-batches"):
        slip_chart(accumulate=64)
    with pytest.raises(ValueError, match="between 0 and 1"):
        memory_chart([1.0])
    with pytest.raises(ValueError, match="2 numbers"):
        first_updates_chart({"size": [1.0]}, [1, 2])


def test_the_peak_is_named() -> None:
    found = _picture(schedule_chart())
    assert "Highest rate 0.00070, at update 4,000" in found
    assert "after update 500" in _picture(slip_chart(accumulate=8))


def test_memory_starts_at_one_and_levels_off() -> None:
    chart = memory_chart([0.98])
    rows = next(one["data"]["values"] for one in chart.to_dict()["layer"] if "beta" in one["data"]["values"][0])
    assert rows[0]["gradients"] == 1 and rows[-1]["gradients"] == pytest.approx(1.98 / 0.02, rel=1e-3)
    assert ">β = 0.98<" in _picture(chart), "the line has its name"


def test_the_grid_shows_the_mean_of_seeds_and_survives_a_lost_run() -> None:
    def run(seed: int, valid: float | None) -> dict[str, Any]:
        loss = [7.0, 6.0 if valid else None]
        return {"placement": "post-norm", "rate": 0.1, "warmup": 0, "seed": seed, "loss": loss, "valid": valid}

    def chart(*runs: dict[str, Any], **cell: Any) -> Any:
        return warm_up_chart(runs, block=10, floor=5.8, **{"placement": "post-norm", "rate": 0.1, "warmup": 0, **cell})

    found = chart(run(0, 4.0), run(1, 5.0))
    assert '"v": 4.5' in json.dumps(found.to_dict()) and "4.50" in _picture(found)
    assert "no number" in chart(run(0, 4.0), run(1, None)).to_dict()["description"]
    with pytest.raises(ValueError, match="no post-norm run"):
        chart(run(0, 4.0), rate=0.2)


def test_the_run_with_another_warm_up_is_dashed_and_only_at_the_chosen_rate() -> None:
    found = recorded("warm_up").results
    given = {"block": found["block"], "floor": found["frequency_loss"], "placement": "pre-norm", "warmup": 0}

    def dashed(**cell: Any) -> int:
        drawn = _picture(warm_up_chart(found["runs"], **given | {"rate": 0.004} | cell))
        return drawn.count('stroke-dasharray="3,3"')

    assert dashed(beside=80) == 1, "pre-norm has one seed"
    assert dashed(beside=0) == 0, "not beside itself"
    assert dashed(beside=80, placement="post-norm") == 2


def test_the_record_is_whole() -> None:
    found = recorded("warm_up").results
    cells = [(r["placement"], r["rate"], r["warmup"], r["seed"]) for r in found["runs"]]
    assert len(set(cells)) == len(cells) == 3 * len(found["rates"]) * len(found["warmups"])
    assert all(len(r["loss"]) * found["block"] == found["updates"] for r in found["runs"])
    assert all(math.isfinite(r["valid"]) for r in found["runs"])


def _picture(chart: Any) -> str:
    return str(book_renderer(chart.to_dict())["text/html"])

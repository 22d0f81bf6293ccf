"""Chapter 34: differences from records, by hand, and charts that take whatever is there."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch

from annotated_book.experiments.runs_file import read_runs, write_run
from annotated_book.results.since_2017.charts import part_curves_chart, parts_chart, years_chart
from annotated_book.results.since_2017.part_charts import (
    FACTORS,
    STARTS,
    gate_chart,
    longest_weights,
    newton_schulz_chart,
    newton_schulz_curve,
    qk_norm_chart,
    rotary_chart,
    rotary_scores,
    schedules_chart,
)
from annotated_book.results.since_2017.parts import PARTS, RATE_SEARCH
from annotated_book.results.since_2017.results import (
    RECORDS,
    curve_table,
    differences,
    diverged,
    measured,
    rate_table,
    recorded_runs,
    runs_of_2017,
    seed_table,
    shown_table,
)

LOSSES = {"base": [4.0, 4.1, 4.2], "rope": [3.5, 3.6, 3.7], "muon": [4.05, 4.15, 4.1], "2026": [4.6, 4.7, 4.8]}


def record(part: str, seed: int, loss: float) -> dict[str, Any]:
    curve = [
        {"update": 300 * n, "tokens_seen": 1000 * n, "validation_loss": loss + 1 - n / 20, "loss": 0.0}
        for n in range(1, 21)
    ]
    end = {"valid_loss": loss, "test_loss": loss + 0.1, "bleu": 10 - loss}
    size = {"parameters": 7, "training": {"updates": 6000}, "model": {"d_model": 16}}
    return {"row": part, "seed": seed, "curve": curve, "diverged": False, **size, **end}


@pytest.fixture
def runs(tmp_path: Path) -> dict[tuple[str, int], dict[str, Any]]:
    file = tmp_path / "runs.jsonl"
    for part, losses in LOSSES.items():
        for seed, loss in enumerate(losses):
            write_run(file, f"{part}-{seed}", record(part, seed, loss))
    lost = record("wsd", 0, 0.0) | {"diverged": True, "curve": []}
    for measure in ("valid_loss", "test_loss", "bleu"):
        del lost[measure]
    write_run(file, "wsd-0", lost)
    write_run(file, "other-0", record("no part", 0, 1.0))
    return recorded_runs(file)


def test_records_come_in_the_order_of_the_parts(runs: Any) -> None:
    assert list(dict.fromkeys(part for part, _ in runs)) == ["base", "rope", "wsd", "muon", "2026"]
    assert measured(runs)["rope"] == dict(enumerate(LOSSES["rope"])) and "wsd" not in measured(runs)
    assert diverged(runs) == {"wsd": [0]}


def test_differences_by_hand(runs: Any) -> None:
    """Of the base, RoPE and 2026 each seed leaves -0.0125, -0.0125, 0.025, and of Muon 0.0375, 0.0375, -0.075.

    The seeds add -0.0875, 0.0125 and 0.075. The squares are 3 times 0.0009375 and 0.0084375, together 0.01125, for 12
    runs less 4 parts less 2 seeds; Student's quantile for 6 degrees is 2.4469.
    """
    table = differences(runs)
    assert list(table["verdict"]) == ["better", "not told apart", "worse"]
    assert table["difference"].tolist() == pytest.approx([-0.5, 0.0, 0.6])
    reach = 2.4469 * math.sqrt(0.01125 / 6 * 2 / 3)
    assert table["high"].sub(table["low"]).tolist() == pytest.approx([2 * reach] * 3, rel=1e-4)
    assert table.loc["muon", "p"] == pytest.approx(1.0)


def test_a_difference_within_the_noise_has_no_verdict(runs: Any) -> None:
    """Muon is 0.05 above the base: t = 0.05 / sqrt(0.01125 / 6 * 2 / 3), the root of 2.

    Student's tail with 6 degrees has a closed form, with c = 6 / (6 + t t) = 3/4. Holm multiplies the largest p by 1.
    """
    for seed in range(3):
        runs["muon", seed]["valid_loss"] += 0.05
    table = differences(runs)
    assert table.loc["muon", "p"] == pytest.approx(1 - 0.5 * (1 + 0.75 / 2 + 0.75**2 * 3 / 8))  # 0.207
    assert list(table["verdict"]) == ["better", "not told apart", "worse"]


def test_more_bleu_is_better(runs: Any) -> None:
    assert list(differences(runs, "bleu")["verdict"]) == ["better", "not told apart", "worse"]
    assert differences(runs, "bleu").loc["rope", "difference"] == pytest.approx(0.5)


def test_no_interval_without_two_seeds(runs: Any) -> None:
    single = {key: one for key, one in runs.items() if key[1] == 0}
    with pytest.raises(ValueError, match="two seeds"):
        differences(single)


def test_curves_are_compared_seed_by_seed(runs: Any) -> None:
    table = curve_table(runs)
    mine = table[(table["part"] == "muon") & (table["tokens"] == 0.02)]
    assert mine["apart"].tolist() == pytest.approx([0.05, 0.05, -0.1])
    assert (table[table["part"] == "base"]["apart"] == 0).all()


def test_the_table_of_the_page(runs: Any) -> None:
    shown = shown_table(runs)
    assert shown["part"].tolist() == ["RoPE", "Muon", "2026"]
    assert shown["BLEU"].tolist() == pytest.approx([0.5, 0.0, -0.6], abs=1e-9)
    assert shown["interval"].iloc[2] == "+0.513 to +0.687" and shown["p"].iloc[1] == "1.000"


def data_of(chart: Any) -> list[dict[str, Any]]:
    spec = chart.to_dict()
    found = [row for rows in spec.get("datasets", {}).values() for row in rows]
    inline = [one["data"] for one in (spec, *spec["layer"]) if "values" in one.get("data", {})]
    return found + [row for data in inline for row in data["values"]]


def title_for(chart: Any, parameter: str, option: str) -> str:
    """The title that follows a menu, for one of its options."""
    expression = chart.to_dict()["title"]["text"]["expr"]
    assert expression.endswith(f"[{parameter}]")
    titles: dict[str, str] = json.loads(expression.removesuffix(f"[{parameter}]"))
    return titles[option]


def test_every_seed_has_a_dot_for_every_measure(runs: Any) -> None:
    assert len(seed_table(runs)) == 3 * 9
    dots = [row for row in data_of(parts_chart(runs)) if "seed" in row]
    assert len(dots) == 27 and {row["title"] for row in dots} == {"RoPE", "Muon", "2026"}


def test_a_dot_is_the_difference_from_the_base_with_the_same_seed(runs: Any) -> None:
    """Muon: 4.05 - 4.0, 4.15 - 4.1 and 4.1 - 4.2; their mean is that of the chart of means."""
    table = seed_table(runs)
    mine = table[(table["part"] == "muon") & (table["measure"] == "validation loss, nats")]["difference"]
    assert mine.tolist() == pytest.approx([0.05, 0.05, -0.1])
    assert mine.mean() == pytest.approx(differences(runs).loc["muon", "difference"], abs=1e-12)
    del runs["base", 1]
    assert sorted(set(seed_table(runs)["seed"])) == [0, 2]


def test_titles_say_what_the_records_hold(runs: Any) -> None:
    """RoPE is 0.5 below the base and Muon at its mean; 2026, 4.7 on average, is 0.6 above it."""
    title = title_for(parts_chart(runs), "measure", "validation loss, nats")
    assert title.strip() == "Single parts change the validation loss by −0.50 nats (RoPE) to +0.00 (Muon)"
    title = title_for(parts_chart(runs), "measure", "BLEU")
    assert title.startswith("Single parts change BLEU by")
    title = years_chart(runs).to_dict()["title"]["text"]
    assert title == "6,000 updates, 16 wide: 2026 ends 0.6 nats above base (pre-norm)"


def test_2017_is_shown_at_the_best_of_its_rates(tmp_path: Path, runs: Any) -> None:
    file = tmp_path / "more.jsonl"
    for row, losses in {"post-norm": [6.0, 6.2], "post-norm-slow": [5.9, 5.9], "post-norm-0.2": [5.7]}.items():
        for seed, loss in enumerate(losses):
            write_run(file, f"{row}-{seed}", record(row, seed, loss))
    tried = runs_of_2017(file)
    table = rate_table(tried)
    assert table["share"].tolist() == [1.0, 0.4, 0.2] and table["seeds"].tolist() == [2, 2, 1]
    assert table["loss"].tolist() == pytest.approx([6.1, 5.9, 5.7]) and table.loc["post-norm", "highest"] == 6.2
    chart = years_chart({**tried, **runs})
    assert chart.to_dict()["title"]["text"] == "6,000 updates, 16 wide: 2026 ends 1.0 nats below 2017"
    ends = [row["loss"] for row in data_of(chart) if row.get("name") == "2017"]
    assert min(ends) == pytest.approx(5.7) and rate_table(runs).empty


def test_the_mean_is_marked_on_its_interval(runs: Any) -> None:
    layers = parts_chart(runs).to_dict()["layer"]
    assert [one["mark"]["type"] for one in layers] == ["rule", "rule", "tick", "point"]
    assert layers[2]["encoding"]["x"]["field"] == "difference" and layers[2]["data"] == layers[1]["data"]


def test_charts_over_tokens_leave_the_first_tenth_out(runs: Any) -> None:
    for chart in (part_curves_chart(runs, "rope"), years_chart(runs)):
        tokens = [row["tokens"] for row in data_of(chart) if "tokens" in row]
        assert min(tokens) == 0.002 and max(tokens) == 0.02
    assert {row["name"] for row in data_of(years_chart(runs)) if "name" in row} == {"base (pre-norm)", "2026"}


def test_singular_values_by_numbers() -> None:
    assert newton_schulz_curve(0.5, 1) == pytest.approx(3.4445 * 0.5 - 4.7750 * 0.125 + 2.0315 * 0.03125)
    assert newton_schulz_curve(0.3, 0) == 0.3


def test_a_rotary_score_moves_with_nothing_but_the_offset() -> None:
    first = rotary_scores(STARTS[0])
    for start in STARTS[1:]:
        moved = rotary_scores(start)
        assert moved["RoPE"] == pytest.approx(first["RoPE"], abs=1e-4)
        assert moved["sinusoids added"] != pytest.approx(first["sinusoids added"], abs=0.1)


def test_no_place_moves_the_axis_of_rotary_scores() -> None:
    """The axis is the same at every place of the slider, and every score is on it."""
    chart = rotary_chart().to_dict()
    low, high = chart["layer"][0]["encoding"]["y"]["scale"]["domain"]
    scores = [row["score"] for row in data_of(rotary_chart()) if "score" in row]
    assert low < min(scores) < high - 1 and low + 1 < max(scores) < high


def test_a_longer_query_saturates_only_without_the_norm() -> None:
    short, long = longest_weights(FACTORS[0]), longest_weights(FACTORS[-1])
    torch.testing.assert_close(short["QK-norm"], long["QK-norm"])
    assert float(long["without"].max()) > 0.8 > 0.3 > float(short["without"].max())


@pytest.mark.parametrize("make", [rotary_chart, gate_chart, qk_norm_chart, newton_schulz_chart, schedules_chart])
def test_a_chart_of_a_part_is_moved_by_a_parameter(make: Any) -> None:
    chart = make().to_dict()
    assert chart["params"] and chart["description"] and chart["title"]


def test_no_slider_moves_the_gate_out_of_its_frame() -> None:
    """The greatest output is u z σ(z) at the ends of u and z: 2 times 5 times 0.993."""
    chart = gate_chart().to_dict()
    low, high = chart["layer"][0]["encoding"]["y"]["scale"]["domain"]
    ends = chart["params"][0]["bind"]
    for u in (ends["min"], ends["max"]):
        for z in range(-5, 6):
            assert low < u * z / (1 + math.exp(-z)) < high


def test_what_is_on_record_is_of_known_parts_with_seeds_of_their_own() -> None:
    found = read_runs(RECORDS)
    assert sum(one["row"] in PARTS for one in found.values()) == 3 * len(PARTS)
    assert {one["row"] for one in found.values()} == PARTS.keys() | RATE_SEARCH.keys()
    for name, one in found.items():
        assert name == f"{one['row']}-{one['seed']}"

"""Costs of Table 2: by hand, against torch's own counter, against the recorded benchmark, and against the paper."""

from __future__ import annotations

import json
import statistics
from pathlib import Path

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from annotated import Transformer, base, big, tiny
from annotated.analysis.parameters import count_parameters, forward_flops
from annotated.paper import SETTINGS, TABLE_2
from annotated_book import recorded
from annotated_book.results.table_2.costs import (
    BOARD_PEAKS,
    DEVICES,
    Device,
    bill,
    flops_by_time,
    rule_of_six,
    update_flops,
    utilisation,
)
from annotated_book.results.table_2.experiment import LONGEST, mixed_batch, rate
from annotated_book.results.table_2.systems import REPRODUCTIONS, RUNS, SYSTEMS, results

RECORD = Path(__file__).resolve().parents[5] / "benchmarks" / "recorded" / "peers.json"


def test_published_days_and_machines_give_the_printed_costs() -> None:
    printed = {(row.system, "en-de"): row.flops_en_de for row in TABLE_2}
    printed |= {(row.system, "en-fr"): row.flops_en_fr for row in TABLE_2}
    for run in RUNS:
        assert f"{run.flops:.1e}" == f"{printed[run.system, run.pair]:.1e}", run
    for row in SYSTEMS:
        alone = row.system.removesuffix(" ensemble")
        for pair in ("en-de", "en-fr"):
            if (cost := printed[row.system, pair]) is not None:
                assert round(cost / printed[alone, pair]) == row.members
    assert [row.system for row in SYSTEMS] == [row.system for row in TABLE_2]


def test_an_update_is_what_torch_counts_forward_and_backward() -> None:
    config = tiny(vocab_size=50, d_model=16, d_ff=24, num_heads=2, d_k=8, d_v=8, dropout=0.0)
    tokens, length = 60, 12
    torch.manual_seed(0)
    source, target = torch.randint(4, 50, (2, tokens // length, length))
    model = Transformer(config)
    with FlopCounterMode(display=False) as counter:
        model(source, target, return_attention=True)[0].sum().backward()  # written out, so that all is counted
    assert update_flops(config, tokens, length) == counter.get_total_flops()


def test_base_and_big_by_hand() -> None:
    d, f, v = 512, 2048, 37_000
    forward = 6 * (8 * d * d + 4 * d * f) + 6 * (16 * d * d + 4 * d * f) + 2 * d * v
    between = 6 * 4 * d * 28 * 3
    assert update_flops(base()) == pytest.approx(3 * 25_000 * (forward + between))
    needed = {"base": update_flops(base()) * 1e5, "big": update_flops(big()) * 3e5}
    shares = {n: utilisation(needed[n], SETTINGS[n]["hours"], 8, SETTINGS["FLOP/s"]["P100"]) for n in needed}
    assert shares == pytest.approx({"base": 0.29, "big": 0.421}, abs=0.001)
    assert rule_of_six(count_parameters(base()), 25_000) == pytest.approx(update_flops(base()), rel=0.01)


def test_a_bill_by_hand() -> None:
    device = Device("thing", 2020, 100e12, "bfloat16", 1, 500, "made up")
    made = bill(3.6e18, device, utilisation=0.25, devices=4, price_per_hour=3, overhead=1.2)
    assert made == pytest.approx((40, 10, 120, 24))  # 3.6e18 / 25e12 = 144,000 s
    assert bill(3.6e18, device._replace(power=None), utilisation=0.25).energy is None
    nothing_asked = bill(3.6e18, device, utilisation=1)
    assert nothing_asked.money == 0 and nothing_asked.hours == nothing_asked.device_hours == 10


@pytest.mark.parametrize(
    "wrong",
    [{"utilisation": 0}, {"utilisation": 35}, {"devices": 0}, {"price_per_hour": -1}, {"overhead": 0.9}, {"flops": 0}],
)
def test_bills_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    arguments: dict[str, object] = {"flops": 1e18, "device": DEVICES["H100"], "utilisation": 0.3} | wrong
    with pytest.raises(ValueError, match=r"must be positive|utilisation is a share"):
        bill(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [(0, 8, 1e12), (12, 0, 1e12), (12, 8, -1.0)])
def test_time_machines_and_rate_are_positive(wrong: tuple[float, int, float]) -> None:
    with pytest.raises(ValueError, match="must be positive"):
        flops_by_time(*wrong)


def test_the_front_and_who_beats_whom() -> None:
    german = {r.system: r for r in results("en-de")}
    assert german["ConvS2S"].beaten_by == ("Transformer (base model)",)
    assert german["Transformer (big)"].beaten_by == german["ByteNet"].beaten_by == ()
    assert german["ByteNet"].flops is None  # so it can neither beat nor be beaten
    french = {r.system: r for r in results("en-fr", {"Transformer (big)": 41.0})}
    assert [n for n, r in french.items() if not r.beaten_by] == [
        "GNMT + RL ensemble",
        "ConvS2S ensemble",
        "Transformer (base model)",
        "Transformer (big)",
    ]
    gain = german["GNMT + RL ensemble"].gain_per_tenfold(german["GNMT + RL"])
    assert gain == pytest.approx(1.7 / 0.8935, rel=1e-3)
    with pytest.raises(ValueError, match="larger one"):
        german["GNMT + RL"].gain_per_tenfold(german["GNMT + RL ensemble"])
    with pytest.raises(ValueError, match="no GPT"):
        results("en-de", {"GPT": 50.0})
    with pytest.raises(ValueError, match="en-it"):
        results("en-it")  # type: ignore[arg-type]


def test_devices_are_plausible_and_the_core_is_as_fast_as_in_the_benchmark() -> None:
    for device in DEVICES.values():
        assert 1e11 < device.peak < 3e15 and device.source
    assert all(SETTINGS["FLOP/s"][name] < peak for name, peak in BOARD_PEAKS.items())
    records = json.loads(RECORD.read_text(encoding="utf-8"))["records"]
    ours = [r["flops"] / r["seconds"] for r in records if (r["peer"], r["task"]) == ("annotated", "train_ragged")]
    limit = [r["2048x2048x2048"] * 1e9 for r in records if r["task"] == "limit"]
    core = recorded("table_2").results  # of one of the two threads, with another program of measuring
    assert 2 * core["training"] == pytest.approx(statistics.median(ours), rel=0.2)
    assert 2 * core["products"] == pytest.approx(statistics.median(limit), rel=0.2)


def test_a_rate_counts_what_an_update_needs() -> None:
    config = tiny(vocab_size=50, d_model=16, d_ff=24, num_heads=2, d_k=8, d_v=8, dropout=0.0)
    batch, needed = mixed_batch(config, 3, seed=0)
    lengths = list(zip(batch.source_lengths, batch.target_lengths, strict=True))
    assert all(5 <= n <= LONGEST for pair in lengths for n in pair) and len({n for pair in lengths for n in pair}) > 3
    assert needed == 3 * sum(sum(forward_flops(config, *pair).values()) for pair in lengths)
    assert rate(lambda: float(sum(range(1_000_000)))) > 0


def test_reproductions_name_where_they_were_reported() -> None:
    assert all(r.source.startswith("https://github.com/") for r in REPRODUCTIONS)
    assert all(r.paper_style is None or r.paper_style > r.sacrebleu for r in REPRODUCTIONS)

"""First ten minutes on a GPU: what each trial concludes from what it sees, and that a failure stops nothing."""

from __future__ import annotations

import json

import pytest

from benchmarks.gpu import command, first_ten_minutes, trials
from benchmarks.gpu.first_ten_minutes import Step
from benchmarks.gpu.trials import FAILED, GOOD, LOOK, SKIPPED, Finding
from benchmarks.gpu.watch import Steps

CUDNN = "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16"
FLASH = "void pytorch_flash::flash_fwd_kernel<...>"


def test_cudnn_attention_is_found_by_the_names_of_kernels():
    assert trials.judge_kernels([FLASH, "cudnn::bn_fw"], "cuda").outcome == GOOD
    found = trials.judge_kernels([FLASH, CUDNN], "cuda")
    assert found.outcome == LOOK and "without_cudnn_attention" in found.do
    assert trials.judge_kernels(["aten::scaled_dot_product_attention"], "cpu").outcome == SKIPPED


@pytest.mark.parametrize(
    ("stalled_updates", "graphs", "limit_hits", "outcome"),
    [([1, 2], 3, 0, GOOD), ([1, 2, 9], 6, 0, LOOK), ([1, 90], 3, 0, LOOK), ([1], 3, 1, LOOK)],
)
def test_many_graphs_late_ones_and_a_surrender_are_worth_a_look(stalled_updates, graphs, limit_hits, outcome):
    steps = Steps([1.0] * 100, [number + 1 in stalled_updates for number in range(100)], 100.0, 0.0)
    found = trials.judge_recompilations(graphs, limit_hits, steps)
    assert found.outcome == outcome and f"{graphs} graphs in 100 updates, in updates {stalled_updates}" in found.text


def test_two_curves_are_compared_update_by_update():
    assert trials.judge_losses([9.0, 8.0], [9.0, 8.03], 0.005).outcome == GOOD
    found = trials.judge_losses([9.0, 8.0, 7.0], [9.0, 8.05, 7.0], 0.005)
    assert found.outcome == LOOK and "6.3e-03 apart (update 2)" in found.text and "bound 5.0e-03" in found.text
    assert trials.judge_losses([9.0, 8.0], [9.0, float("nan")]).outcome == LOOK


def rows(fresh, steady, **changes):
    one = {"fresh": {"ms_a_step": fresh}, "steady": {"ms_a_step": steady}, "first_loss": 9.0, "first_norm": 1.0}
    return {name: {**one, **changes} for name in trials.SIDES}


def test_sides_that_stall_on_new_batches_disagree_or_fail_are_told_apart():
    assert trials.judge_sides(rows(42.0, 40.0), []).outcome == GOOD
    assert trials.judge_sides(rows(400.0, 40.0), []).outcome == LOOK
    other = rows(42.0, 40.0) | {"bf16_static_graphs": {**rows(1.0, 1.0)["bf16"], "first_loss": 5.0}}
    assert "first_loss" in trials.judge_sides(other, []).text
    failed = rows(42.0, 40.0) | {"bf16_compiled": {"failed": "no compiler"}}
    found = trials.judge_sides(failed, [])
    assert found.outcome == FAILED and "no compiler" in found.text and "42.0 ms fresh" in found.text
    assert "tiny/bf16" in trials.judge_sides({}, ["tiny/bf16"]).text


def test_a_failure_does_not_stop_the_steps_after_it(tmp_path, monkeypatch, capsys):
    limits = {}

    def broken(options, limit, log):
        raise RuntimeError("the driver | is gone")

    def fine(options, limit, log):
        limits["fine"] = limit
        return Finding(LOOK, "it differs", "look at it")

    monkeypatch.setattr(first_ten_minutes, "STEPS", (Step("first", 60, "", broken), Step("second", 30, "", fine)))
    options = command.parse(["--device", "cpu", "--minutes", "20", "--out", str(tmp_path / "gpu.json")])
    first_ten_minutes.main(options)
    said = capsys.readouterr().out
    table = said[said.index("step ") :]
    assert "RuntimeError: the driver / is gone" in table and "it differs" in table and "-> look at it" in table
    assert 60 < limits["fine"] <= 2 * (60 + 30), "twenty minutes: twice its share, and what the first left over"
    kept = json.loads((tmp_path / "first_ten_minutes.json").read_text())
    assert kept["first"]["outcome"] == FAILED and kept["second"]["do"] == "look at it"


def test_every_step_has_a_trial():
    for step in first_ten_minutes.STEPS:
        assert (step.here is None) == (step.name in trials.TRIALS)
    assert sum(step.seconds for step in first_ten_minutes.STEPS) <= 600


def test_200_updates_of_both_layouts_agree_without_a_gpu(monkeypatch):
    """The trial itself, with a few updates and without a compiler: what it compares is the same training."""
    monkeypatch.setattr(trials.torch, "compile", lambda function, **_: function)
    monkeypatch.setitem(trials.UPDATES, "losses", 5)
    options = command.parse(["--device", "cpu", "--shapes", "tiny", "--precision", "fp32", "--tokens", "100"])
    found = trials.losses(options)
    assert found.outcome == GOOD, found.text

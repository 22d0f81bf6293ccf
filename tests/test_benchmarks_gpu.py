"""The GPU benchmark without a GPU: every mode takes its steps, and promises are judged by the numbers alone."""

from __future__ import annotations

import json

import pytest
import torch

from benchmarks import gpu, gpu_sides
from benchmarks.peers import workload

RUN = "--device cpu --shapes tiny --tokens 120 --batches 1 --warm 0 --steps 1 --rounds 1"


def test_every_mode_runs_and_makes_the_same_first_step(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(torch, "compile", lambda function, **_: function)  # half a minute each; tested elsewhere
    out = tmp_path / "gpu.json"
    gpu.main([*RUN.split(), "--sides", ",".join([*gpu_sides.MODES, "torch_nn"]), "--out", str(out)])
    result = json.loads(out.read_text())["shapes"]["tiny"]
    assert list(result["sides"]) == [*gpu_sides.MODES, "torch_nn"]
    assert all(one["ms_a_step"] > 0 and one["share_of_peak"] > 0 for one in result["sides"].values())
    assert result["disagree"] == []
    printed = capsys.readouterr().out
    assert "promise" in printed and "tiny: at least 1.5 times the best peer (torch_nn)" in printed


def test_a_mode_that_trains_otherwise_is_marked():
    rows = {
        "fp32": {"first_loss": 9.0, "first_norm": 1.0},
        "bf16": {"first_loss": 9.05, "first_norm": 1.05},
        "bf16_static": {"first_loss": 9.2, "first_norm": float("nan")},
        "torch_nn": {"first_loss": 5.0},
    }
    assert gpu.disagreeing(rows) == [
        "bf16_static: first_loss 9.2000, fp32 has 9.0000",
        "bf16_static: first_norm nan, fp32 has 1.0000",
    ]


@pytest.mark.parametrize(
    ("ms", "peer_rate", "share", "kept"),
    [(29.9, 1000, 0.46, [True, True, True, True]), (30.1, 1400, 0.44, [False, False, False, False])],
)
def test_promises(ms, peer_rate, share, kept):
    ours = {"ms_a_step": ms, "tokens_s": 2000, "share_of_peak": share}
    slower = {"ms_a_step": 99.0, "tokens_s": 600, "share_of_peak": 0.1}
    peers = {"torch_nn": {**slower, "tokens_s": 900}, "hf_marian_compiled": {**slower, "tokens_s": peer_rate}}
    rows = {"fp32": {**ours, "ms_a_step": 1.0}, "bf16": slower, "bf16_static_graphs": ours, **peers}
    found = gpu.promises({"base": {"sides": rows}, "big": {"sides": rows}})
    assert [one for _, one in found] == kept
    assert "(hf_marian_compiled)" in found[1][0], "the best peer counts"


def test_our_batches_are_full_of_real_tokens():
    pairs = workload.ragged_pairs(2000, vocab=500)
    batches = gpu_sides.packed_batches(pairs, 2000)
    assert sum(batch.tokens for batch in batches) == sum(len(s) + len(t) for s, t in pairs)
    full = [max(sum(b.source_lengths), sum(b.target_lengths)) for b in batches]
    assert max(full) <= 2000 and min(full[:-1]) > 1800

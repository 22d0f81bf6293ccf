"""Run of the GPU benchmark: order, minutes, results after every side, going on after an end; without any measuring."""

from __future__ import annotations

import json
import subprocess
import sys
import types

import pytest
import torch

from benchmarks import machine
from benchmarks.gpu import children, command, runner
from benchmarks.gpu.modes import SIDES
from benchmarks.gpu.plan import EXPECTED, Budget, Job, in_order

pytestmark = pytest.mark.process


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


FOUND = {
    "fresh": {"ms_a_step": 9.0, "graphs": 0, "recordings": 0, "worst_ms": 10.0, "memory_growth_mib": 0.0}
    | {"tokens_s": 100.0, "share_of_peak": 0.1, "ms_without_stalls": 9.0, "stalled_steps": 0},
    "steady": {"ms_a_step": 8.0},
    "start": {"seconds": 1.0},
    "limit_hits": 0,
    "first_loss": 9.0,
    "first_norm": 1.0,
}


@pytest.fixture
def measured(monkeypatch):
    """Sides are 'measured' by writing down that they were; some are made to fail."""
    asked, failing = [], {}

    def fake(job, options, limit):
        asked.append(str(job))
        if isinstance(error := failing.get(str(job)), dict):
            return error
        if error is not None:
            raise error
        return FOUND

    monkeypatch.setattr(children, "measured", fake)
    return asked, failing


def options(tmp_path, *more):
    asked = [
        "--device",
        "cpu",
        "--shapes",
        "tiny",
        "--sides",
        "fp32,bf16,bf16_static",
        "--out",
        str(tmp_path / "g.json"),
    ]
    return command.parse([*asked, *more])


def test_promised_sides_of_every_shape_come_first():
    jobs = [str(job) for job in in_order(["base", "big"], SIDES)]
    last_promised = max(jobs.index(job) for job in ("big/bf16_static_graphs", "big/torch_nn_compiled_no_cudnn"))
    assert jobs[0] == "base/bf16_static_graphs" and last_promised < jobs.index("base/fp32")
    assert jobs.index("base/hf_marian_compiled_no_cudnn") < jobs.index("big/bf16_static_graphs")
    assert len(jobs) == 2 * len(SIDES)


def test_a_side_is_started_only_if_its_kind_is_known_to_fit():
    clock = Clock()
    budget = Budget(10, clock)
    eager, compiled = Job("base", "fp32"), Job("base", "bf16_compiled")
    assert budget.limit(eager, []) == 600
    clock.now = 600 - EXPECTED[False] - 1
    assert budget.limit(eager, []) is not None and budget.limit(compiled, []) is None
    budget.taken.append((Job("base", "bf16"), 200.0))
    assert budget.limit(eager, []) is None, "one of its kind took longer than what is left"
    clock.now = 599
    assert budget.limit(Job("base", "bf16_static_graphs"), []) is None, "too little for anything"


def test_a_promised_side_leaves_time_for_the_promised_ones_after_it():
    budget = Budget(10, Clock())
    first, *later = (Job("base", side) for side in ("bf16_static_graphs", "torch_nn_compiled_no_cudnn", "fp32"))
    assert budget.limit(first, later) == 600 - EXPECTED[True]
    crowd = [Job(shape, "bf16_static_graphs") for shape in ("base", "big", "small") for _ in range(3)]
    assert budget.limit(first, crowd) == 2 * EXPECTED[True], "and has enough itself"


def test_results_are_on_disk_after_every_side(tmp_path, measured):
    asked, failing = measured
    failing["tiny/bf16"] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        runner.run(options(tmp_path), "the command")
    kept = json.loads((tmp_path / "g.json").read_text())
    assert list(kept["shapes"]["tiny"]["sides"]) == ["fp32"]
    failing.clear()
    result = runner.run(options(tmp_path), "the command")
    assert asked == ["tiny/fp32", "tiny/bf16", "tiny/bf16", "tiny/bf16_static"], "fp32 was not measured again"
    assert list(result["shapes"]["tiny"]["sides"]) == ["fp32", "bf16", "bf16_static"]


def test_a_failure_is_kept_and_tried_again(tmp_path, measured):
    asked, failing = measured
    failing["tiny/bf16"] = {"failed": "RuntimeError: out of memory"}
    runner.run(options(tmp_path), "the command")
    kept = json.loads((tmp_path / "g.json").read_text())["shapes"]["tiny"]["sides"]
    assert kept["bf16"]["failed"] == "RuntimeError: out of memory" and "fresh" in kept["bf16_static"]
    failing.clear()
    asked.clear()
    runner.run(options(tmp_path), "the command")
    assert asked == ["tiny/bf16"]


def test_what_found_no_time_is_said_and_measured_by_the_next_call(tmp_path, measured, capsys):
    asked, _ = measured
    result = runner.run(options(tmp_path, "--minutes", "0.3"), "the command")  # 18 s: less than an eager side's 25
    assert result["left_out"] == ["tiny/fp32", "tiny/bf16", "tiny/bf16_static"] and asked == []
    result = runner.run(options(tmp_path), "the command")
    assert result["left_out"] == [] and len(asked) == 3


def test_results_of_other_settings_or_code_are_set_aside(tmp_path, measured, monkeypatch):
    asked, _ = measured
    runner.run(options(tmp_path), "the command")
    runner.run(options(tmp_path, "--fresh", "7"), "the command")
    assert len(asked) == 6
    monkeypatch.setattr(runner, "code_identity", lambda: "changed")
    runner.run(options(tmp_path, "--fresh", "7"), "the command")
    assert len(asked) == 9
    old = json.loads((tmp_path / "g.before.json").read_text())
    assert old["settings"]["code"] != "changed" and "fresh" in old["shapes"]["tiny"]["sides"]["fp32"]


def test_a_process_that_takes_too_long_is_ended_and_one_that_dies_is_reported(tmp_path):
    log = tmp_path / "logs" / "one.log"
    assert children.run([sys.executable, "-c", "import time; time.sleep(600)"], 0.5, log) is None
    assert children.run([sys.executable, "-c", "print('it | broke'); raise SystemExit(3)"], 300, log) == 3
    assert children.last_line(log) == "it | broke" and children.in_a_line("a | b\n c") == "a / b c"


def test_names_are_checked(capsys):
    for wrong in (["--sides", "bf17"], ["--shapes", "huge"], ["--profile", "bf17"], ["--fresh", "0"]):
        with pytest.raises(SystemExit):
            command.parse(["--device", "cpu", *wrong])
    assert "there are" in capsys.readouterr().err


def test_only_a_gpus_results_of_the_papers_shapes_go_into_the_document_by_themselves():
    assert command.parse([]).write
    for more in (["--device", "cpu"], ["--shapes", "tiny"], ["--no-write"], ["--out", "elsewhere.json"]):
        assert not command.parse(more).write
    assert not any("cudnn" in side or "flex" in side for side in command.parse(["--device", "cpu"]).sides)


@pytest.mark.parametrize("has_nvidia_smi", [True, False])
def test_a_gpu_is_described_with_its_driver(monkeypatch, has_nvidia_smi):
    assert torch.cuda.is_available() or machine.gpu() == {}
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    properties = types.SimpleNamespace(total_memory=141 * 2**30)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: properties)
    monkeypatch.setattr(torch.backends.cudnn, "version", lambda: 91500)

    def run(command, **_):
        if not has_nvidia_smi:
            raise FileNotFoundError(command[0])
        return types.SimpleNamespace(stdout="580.65.06\n580.65.06\n")

    monkeypatch.setattr(subprocess, "run", run)
    found = machine.gpu()
    assert found["driver"] == ("580.65.06" if has_nvidia_smi else None)
    assert (found["gpus"], found["gpu_memory_gib"], found["cudnn"]) == (2, 141.0, 91500)

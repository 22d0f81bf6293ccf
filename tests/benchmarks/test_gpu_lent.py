"""The script for a lent GPU, without one: who gets how much time, and what a cut, a crash and a hang leave behind."""

from __future__ import annotations

import json
import signal
import sys
import time
from types import SimpleNamespace

import pytest
import torch

from annotated.classroom import classroom_pairs
from benchmarks.gpu import children, command, lent, trials
from benchmarks.gpu.lent import CUT, LAST, STEPS, Step
from benchmarks.gpu.trials import FAILED, GOOD, SKIPPED, Finding

pytestmark = pytest.mark.process


def options(tmp_path, *more):
    usual = ["--lent", "--device", "cpu", "--shapes", "tiny", "--precision", "fp32"]
    return command.parse([*usual, "--out", str(tmp_path / "lent.json"), *more])


def kept(tmp_path):
    return json.loads((tmp_path / "lent.json").read_text())["steps"]


def test_steps_that_hang_take_nothing_that_others_need():
    remaining = command.parse(["--device", "cpu"]).seconds
    for number, step in enumerate(STEPS):
        seconds = lent.limit(step, STEPS[number + 1 :], remaining)
        assert seconds >= step.seconds
        remaining -= seconds
    assert remaining == 0, "and the last has all that is left"


def test_too_few_seconds_are_shared_out():
    first, second = Step("first", 30, ""), Step("second", 90, "")
    assert lent.limit(first, [second], 60) == 15 and lent.limit(second, [], 45) == 45


def test_every_step_is_a_side_or_has_a_trial():
    for step in STEPS:
        assert (step.side is not None) + (step.here is not None) + (step.name in trials.TRIALS) == 1
    assert sum(step.seconds for step in STEPS) < command.parse(["--device", "cpu"]).seconds


def test_a_cut_loses_one_step_and_the_same_command_goes_on(tmp_path, monkeypatch):
    made, cuts, asked = [], ["second"], options(tmp_path, "--text", "folder")

    def trial(step, *_):
        made.append(step.name)
        if step.name in cuts:
            raise KeyboardInterrupt
        return Finding(FAILED if step.name == "third" else GOOD, "it ran")

    steps = (*(Step(name, 10, "") for name in ("first", "second", "third", "fourth")), LAST)
    monkeypatch.setattr(lent, "STEPS", steps)
    monkeypatch.setattr(lent, "try_step", trial)
    with pytest.raises(KeyboardInterrupt):
        lent.run(asked, "the command")
    assert {name: one["outcome"] for name, one in kept(tmp_path).items()} == {"first": GOOD, "second": CUT}
    cuts.clear()
    lent.run(asked, "the command")
    assert made[2:] == ["third", "fourth", "second", "text"], "what was never tried first, what takes the rest last"
    lent.run(asked, "the command")
    assert made[6:] == ["third"], "what failed is tried again, and nothing else"


def test_a_child_that_dies_and_one_that_hangs_are_recorded_and_the_next_begins(tmp_path, monkeypatch, capsys):
    code = {
        "dies": "import os, signal; print('out of ideas', flush=True); os.kill(os.getpid(), signal.SIGKILL)",
        "hangs": "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)",
        "works": "import json, sys; json.dump({'outcome': 'as it should be', 'text': 'x'}, open(sys.argv[1], 'w'))",
    }
    run = children.run

    def instead(asked, seconds, log):
        return run([sys.executable, "-c", code[asked[asked.index("--step") + 1]], asked[-1]], seconds, log)

    monkeypatch.setattr(children, "run", instead)
    monkeypatch.setattr(lent, "limit", lambda step, *_: 1.0 if step.name == "hangs" else 300.0)
    monkeypatch.setattr(lent, "SHORTEST", 0.5)
    monkeypatch.setattr(lent, "STEPS", tuple(Step(name, 1, "") for name in code))
    began = time.monotonic()
    result = lent.run(options(tmp_path), "the command")
    assert time.monotonic() - began < 200, "the one that hangs, and is deaf, does not hold it up"
    found = kept(tmp_path)
    assert [found[name]["outcome"] for name in code] == [FAILED, FAILED, GOOD]
    assert "status -9" in found["dies"]["text"] and "out of ideas" in found["dies"]["text"]
    assert "not finished within 1 s" in found["hangs"]["text"]
    assert "FAILED" in lent.table(result["steps"])


def test_what_has_no_time_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(lent, "try_step", None)
    asked = ["--lent", "--device", "cpu", "--shapes", "tiny", "--seconds", "1", "--text", str(tmp_path)]
    with pytest.raises(SystemExit, match=f"no time was left for {', '.join(step.name for step in STEPS)}: give more"):
        command.main([*asked, "--out", str(tmp_path / "lent.json")])


def test_without_a_gpu_what_needs_one_is_left_out(tmp_path):
    named = {step.name: step for step in STEPS}
    result = {"shapes": {}}
    for name in ("flex", "all_levers"):
        assert lent.try_step(named[name], options(tmp_path), 60, result).outcome == SKIPPED
    assert not result["shapes"]


def test_kernels_of_a_gpu_are_counted_once():
    def event(key, kind, ms, **more):
        return SimpleNamespace(key=key, device_type=SimpleNamespace(name=kind), count=2, **more,
                               self_device_time_total=1e3 * ms, self_cpu_time_total=9e9)  # fmt: skip

    events = [
        event("void pytorch_flash::flash_fwd_kernel<...>", "CUDA", 3.0),
        event("nvjet_tst_128x256", "CUDA", 5.0),
        event("aten::mm", "CPU", 5.0),
        event("forward", "CUDA", 8.0, is_user_annotation=True),
    ]
    found = trials.kernels(events, "cuda")
    assert (found["kernel_ms"], found["attention_ms"]) == (8.0, 3.0)
    assert found["longest"][0] == ("nvjet_tst_128x256", 5.0, 2)


@pytest.mark.nightly  # a program for some minutes, which only who changes it runs
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the addresses of a process")
def test_memory_that_is_not_enough_ends_in_the_projects_own_sentence(tmp_path):
    step = next(step for step in STEPS if step.name == "out_of_memory")
    found = lent.try_step(step, options(tmp_path), 300, {})
    assert found.outcome == GOOD, found.text
    assert "status 1: annotated: there is not enough memory: give --training.micro-batch-tokens" in found.text


@pytest.mark.nightly
def test_a_training_is_stopped_as_a_scheduler_does_it(tmp_path):
    code = (
        "import signal, sys, time; signal.signal(signal.SIGTERM, lambda *_: sys.exit(143)); print(1); time.sleep(600)"
    )
    status = trials._train_until([sys.executable, "-c", code], time.monotonic() + 5, tmp_path / "log")
    assert status == 128 + signal.SIGTERM


def test_text_that_is_not_there_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(lent, "STEPS", (LAST,))
    found = lent.run(options(tmp_path), "the command")["steps"]["text"]
    assert found["outcome"] == SKIPPED and "--text FOLDER" in found["text"]
    with pytest.raises(ValueError, match="has no train.tsv"):
        trials.text(options(tmp_path, "--text", str(tmp_path)), 60, tmp_path / "log")


@pytest.mark.slow
def test_text_is_trained_on_and_its_test_set_scored(tmp_path):
    pairs = [f"{pair.source}\t{pair.target}\n" for pair in classroom_pairs("train", 400)]
    for split, part in {"train": pairs[:360], "valid": pairs[360:380], "test": pairs[380:]}.items():
        (tmp_path / f"{split}.tsv").write_text("".join(part), encoding="utf-8")
    found = trials.text(options(tmp_path, "--text", str(tmp_path)), 60, tmp_path / "log")
    assert found.outcome == GOOD, found.text
    assert found.numbers["update"] > 10 and "bleu" in found.text.lower()


@pytest.mark.skipif(torch.cuda.is_available(), reason="it would train")
@pytest.mark.parametrize("name", ["out_of_memory", "small_card", "fp16", "text"])
def test_the_commands_for_a_gpu_are_understood_up_to_the_missing_gpu(name, tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(trials, "make_small", lambda device: None)
    asked = command.parse(["--lent", "--out", str(tmp_path / "lent.json")])
    if name == "text":
        trials.annotated(["train", str(tmp_path / "run"), *trials._text_options(asked)])
    else:
        assert trials.TRIALS[name](asked).outcome == FAILED
    assert "torch sees no GPU here" in "".join(capfd.readouterr())

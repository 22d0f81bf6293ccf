"""Choice of the attention kernel: by a dry run's times, in a new run of the same training, and kept from then on.

There is no GPU here: which kernels a device has is said by stand-ins, and times are made up.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
import torch

import annotated.runs.dry_run as dry_run_module
import annotated.runs.setup as setup
import annotated.speed.layouts.auto as layout_module
import annotated.speed.steps.step as step_module
from annotated.config import ModelConfig, TrainingConfig
from annotated.recipes import recipe
from annotated.runs import read_records
from annotated.runs.dry_run import DryRun, Range, dry_run
from annotated.runs.kernel_choice import choose_kernel, kernels_to_time
from annotated.speed.layouts.tiles import load_flex_attention
from tests.runs.conftest import SmallRun

needs_flex = pytest.mark.skipif(not load_flex_attention(), reason="this torch has no FlexAttention that fits")


def test_the_fastest_by_hand() -> None:
    assert choose_kernel({"auto": 0.05}) is None, "nothing to choose from"
    faster = choose_kernel({"auto": 0.0505, "flex": 0.0427})
    assert faster is not None and faster.kernel == "flex"
    assert faster.why == (
        "static with attention_kernel 'flex': in a dry run here an update took 50.5 ms with 'auto', 42.7 ms with 'flex'"
    )
    for seconds in (0.0491, 0.05, 0.06):  # 1.8 % less is no difference
        kept = choose_kernel({"auto": 0.05, "flex": seconds})
        assert kept is not None and kept.kernel == "auto"
    least = choose_kernel({"auto": 0.05, "flex": 0.0489})
    assert least is not None and least.kernel == "flex"


class Gpu:
    type, index = "cuda", 0


@needs_flex
@pytest.mark.parametrize(
    ("changes", "kernels"),
    [
        ({}, ("auto", "flex")),
        ({"layout": "static"}, ("auto",)),
        ({"layout": "packed"}, ("auto",)),
        ({"attention_kernel": "flex"}, ("flex",)),
        ({"compile": False}, ("auto",)),
    ],
)
def test_what_only_a_measurement_can_decide(monkeypatch, changes, kernels) -> None:
    monkeypatch.setattr(layout_module, "has_varlen_kernel", lambda *_: True)
    asked = recipe("wmt14-base").training.replace(**{"precision": "bf16", **changes})
    assert kernels_to_time(asked, ModelConfig(), Gpu()) == kernels  # type: ignore[arg-type]
    assert kernels_to_time(asked, ModelConfig(), torch.device("cpu")) == kernels[:1]
    assert kernels_to_time(asked, ModelConfig(d_k=8, d_v=8), Gpu()) == kernels[:1]  # type: ignore[arg-type]


@pytest.fixture
def dry(small: SmallRun, monkeypatch: pytest.MonkeyPatch):
    """Makes a dry run of a training in layout 'auto', as on a device with two kernels that take these seconds."""
    small.model = small.model.replace(dropout=0.0)
    small.training = small.training.replace(layout="auto", updates=4, log_every=1)
    monkeypatch.setattr(dry_run_module, "kernels_to_time", lambda *_: ("auto", "flex"))
    true_train, true_measured = dry_run_module.train, dry_run_module._measured

    def dry(auto: float, flex: float | None) -> DryRun:
        asked: list[TrainingConfig] = []

        def train(model, training, *rest, **more):
            asked.append(training)
            if training.attention_kernel == "flex":
                if flex is None:
                    raise RuntimeError("torch.compile failed\nat length")
                training = training.replace(layout="packed", attention_kernel="auto")
            return true_train(model, training, *rest, **more)

        def measured(run: Path, *rest) -> DryRun:
            seconds = auto if run.name == "run" else flex
            assert seconds is not None
            return dataclasses.replace(true_measured(run, *rest), seconds_per_update=Range(seconds, seconds, seconds))

        monkeypatch.setattr(dry_run_module, "train", train)
        monkeypatch.setattr(dry_run_module, "_measured", measured)
        found = dry_run(small.model, small.training, small.data, updates=2, warm_up=1, folder=small.folder / "run")
        assert [(one.layout, one.attention_kernel) for one in asked] == [("auto", "auto"), ("static", "flex")]
        assert found is not None and DryRun.load(small.folder / "run").kernels == found.kernels
        assert [path.name for path in (small.folder / "run").iterdir()] == ["rehearsal.json"]
        return found

    return dry


def test_a_dry_run_tries_each_kernel_and_is_that_of_the_fastest(dry) -> None:
    found = dry(0.05, 0.04)
    assert found.kernels == {"auto": 0.05, "flex": 0.04} and found.seconds_per_update.typical == 0.04
    assert found.layout.startswith("static with attention_kernel 'flex'")
    assert found.configuration["training"]["layout"] == "auto", "what was asked for"


def test_a_kernel_that_fails_is_left_out_and_the_dry_run_says_so(dry) -> None:
    with pytest.warns(UserWarning, match="'flex' is not tried: torch.compile failed$"):
        found = dry(0.05, None)
    assert found.kernels == {} and found.layout.startswith("packed")


@pytest.fixture
def with_both_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if this CPU had them; it computes FlexAttention uncompiled, with its gradient, which only a check forbids."""
    if load_flex_attention():
        monkeypatch.setattr("torch.nn.attention.flex_attention._validate_device", lambda *_: None)
    monkeypatch.setattr(setup, "kernels_to_time", lambda *_: ("auto", "flex"))
    monkeypatch.setattr(setup, "resolve_layout", lambda training, *_: (training.replace(layout="static"), "static, by"))
    monkeypatch.setattr(step_module, "require_flex_attention", lambda *_: None)


def starts(small: SmallRun) -> list[str]:
    return [record["layout"] for record in read_records(small.folder / "run") if record["kind"] == "start"]


@needs_flex
@pytest.mark.usefixtures("with_both_kernels")
@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
def test_a_new_run_takes_the_fastest_and_keeps_it_whatever_is_measured_later(small: SmallRun, dry, monkeypatch) -> None:
    why = dry(0.05, 0.04).layout
    small.train(updates=2, checkpoint_every=2)
    log = read_records(small.folder / "run")
    assert starts(small) == [why] and log[0]["configuration"]["kernel"] == {"kernel": "flex", "why": why}
    assert log[0]["configuration"]["training"]["attention_kernel"] == "auto", "what was asked for"
    record = small.folder / "run" / "rehearsal.json"
    content = json.loads(record.read_text())
    record.write_text(json.dumps({**content, "kernels": {"auto": 0.01, "flex": 0.04}}))
    small.train(updates=4, checkpoint_every=2)
    assert starts(small) == [why, why]
    # A machine without the kernel goes on with another, says so, and forgets nothing.
    monkeypatch.setattr(setup, "kernels_to_time", lambda *_: ("auto",))
    small.train(updates=6, checkpoint_every=2)
    assert starts(small)[2] == f"static, by (where the run was begun it was {why})"
    monkeypatch.setattr(setup, "kernels_to_time", lambda *_: ("auto", "flex"))
    small.train(updates=8, checkpoint_every=2)
    assert starts(small)[3] == why
    small.train(updates=10, checkpoint_every=2, layout="packed")
    assert starts(small)[4].startswith("static, by"), "the stand-in's; nothing is chosen for who asks for a layout"


@needs_flex
@pytest.mark.usefixtures("with_both_kernels")
@pytest.mark.parametrize(
    "changed", [{"devices": 2}, {"machine": {"gpus": [{"name": "another"}]}}, {"kernels": {}}, {"configuration": None}]
)
def test_what_was_measured_of_something_else_decides_nothing(small: SmallRun, dry, changed) -> None:
    dry(0.05, 0.04)
    record = small.folder / "run" / "rehearsal.json"
    record.write_text(json.dumps({**json.loads(record.read_text()), **changed}))
    small.train(updates=1)
    assert starts(small) == ["static, by"]
    assert "kernel" not in read_records(small.folder / "run")[0]["configuration"]


@pytest.mark.usefixtures("with_both_kernels")
def test_another_training_is_not_the_one_that_was_measured(small: SmallRun, dry) -> None:
    dry(0.05, 0.04)
    small.train(updates=1, batch_tokens=200)
    assert starts(small) == ["static, by"]

"""Layout 'auto': decided once, said why, and the same run on any machine."""

from __future__ import annotations

import pytest
import torch

import annotated.runs.setup as setup
import annotated.speed.layouts.auto as layout_module
from annotated.config import DataConfig, ModelConfig, TrainingConfig
from annotated.data.batching import collate_ids
from annotated.model import Transformer
from annotated.recipes import recipe
from annotated.runs import read_records
from annotated.runs.preflight.checking import preflight
from annotated.speed.layouts.auto import batch_layout, resolve_layout
from annotated.speed.steps import FastStep, layout_loss
from annotated.training.update import fit

BASE = ModelConfig()


class Gpu:
    type, index = "cuda", 0


@pytest.fixture
def with_kernel(monkeypatch):
    monkeypatch.setattr(layout_module, "has_varlen_kernel", lambda *_: True)


@pytest.mark.parametrize(
    ("changes", "device", "layout", "reason"),
    [
        ({}, Gpu(), "static", "static, chosen because the step is compiled"),
        ({"precision": "fp16"}, Gpu(), "static", "static, chosen"),
        ({"compile": False}, Gpu(), "packed", "it needs compile=True"),
        ({"precision": "fp32"}, Gpu(), "packed", "it needs precision bf16 or fp16"),
        ({}, torch.device("cpu"), "packed", "a cpu device has no attention kernel for segments"),
        ({"layout": "padded"}, Gpu(), "padded", "padded, as asked"),
        ({"layout": "packed"}, Gpu(), "packed", "packed, as asked"),
    ],
)
def test_what_auto_becomes(with_kernel, changes, device, layout, reason):
    asked = recipe("wmt14-base").training.replace(**{"precision": "bf16", **changes})
    decided, why = resolve_layout(asked, BASE, device)
    assert decided == asked.replace(layout=layout) and batch_layout(decided) == layout
    assert why.startswith(layout) and reason in why


def test_without_the_kernel_it_is_packed(monkeypatch):
    monkeypatch.setattr(layout_module, "has_varlen_kernel", lambda *_: False)
    asked = recipe("wmt14-base").training.replace(precision="bf16")
    decided, why = resolve_layout(asked, BASE, Gpu())
    assert decided.layout == "packed" and "torch 2.11 or newer" in why
    monkeypatch.setattr(layout_module, "has_varlen_kernel", lambda *_: True)
    decided, why = resolve_layout(asked, BASE.replace(attention_dropout=0.1), Gpu())
    assert decided.layout == "packed" and "no attention_dropout" in why


def test_nothing_computes_with_a_layout_that_is_not_decided():
    model = Transformer(ModelConfig(vocab_size=20, d_model=16, num_heads=2, d_k=8, d_v=8))
    batch = collate_ids([([5, 6], [7])])
    with pytest.raises(ValueError, match="no layout 'auto'"):
        layout_loss(model, batch, 0.1, "auto")
    with pytest.raises(ValueError, match="'auto' is not decided yet"):
        batch_layout(TrainingConfig(layout="auto"))
    assert len(fit(FastStep(model, TrainingConfig(layout="auto")), [batch], 1, lambda _: 0.1)) == 1


def test_a_run_decides_says_why_and_goes_on_elsewhere(small, monkeypatch):
    small.train(layout="auto", updates=4)
    start = read_records(small.folder / "run")[0]
    assert start["layout"].startswith("packed, chosen because static would be slow here: it needs compile=True")
    assert start["configuration"]["training"]["layout"] == "auto"
    assert "--training.layout auto" in (small.folder / "run" / "README.md").read_text(encoding="utf-8")

    def elsewhere(training, model, device):
        return training.replace(layout="static"), "static, chosen because this is another machine"

    with monkeypatch.context() as patch:
        patch.setattr(setup, "resolve_layout", elsewhere)
        assert small.train(layout="auto", updates=6).finished
    assert small.train(layout="packed", updates=8).finished, "and where a layout is asked for"
    assert small.train(layout="auto", updates=10).finished
    starts = [record["layout"] for record in read_records(small.folder / "run") if record["kind"] == "start"]
    assert [one.split(",")[0] for one in starts] == ["packed", "static", "packed", "packed"]


def test_preflight_says_which(with_kernel):
    found = preflight(BASE, TrainingConfig(layout="auto", device="cpu"), DataConfig())["layout"]
    assert found.status == "ok" and found.found.startswith("packed, chosen")
    found = preflight(BASE, TrainingConfig(layout="static", device="cpu"), DataConfig())["layout"]
    assert found.status == "warn" and "no attention kernel" in found.found and "auto" in found.advice

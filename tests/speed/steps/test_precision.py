from __future__ import annotations

import math

import pytest
import torch
from safetensors.torch import load_file

import annotated.runs.setup as setup
from annotated.config import ModelConfig, TrainingConfig
from annotated.model import Transformer
from annotated.runs import read_records
from annotated.runs.preflight.start import check_start
from annotated.saving import CheckpointError
from annotated.speed.machine.distributed import choose_device
from annotated.speed.steps import FastStep
from annotated.speed.steps.precision import Precision, resolve_precision

CPU, GPU = torch.device("cpu"), torch.device("cuda", 0)


@pytest.fixture
def capability(monkeypatch):
    """Say which GPU is there: `capability(7, 5)` is a T4."""

    def be(*numbers):
        monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device=None: numbers)

    return be


@pytest.mark.parametrize(
    ("device", "numbers", "precision"),
    [(CPU, (), "fp32"), (GPU, (7, 0), "fp16"), (GPU, (7, 5), "fp16"), (GPU, (8, 0), "bf16"), (GPU, (12, 0), "bf16")],
)
def test_what_auto_becomes(capability, device, numbers, precision):
    capability(*numbers)
    asked = TrainingConfig(precision="auto", seed=3)
    assert resolve_precision(asked, device) == asked.replace(precision=precision)
    for as_asked in ("fp32", "bf16", "fp16"):
        assert resolve_precision(asked.replace(precision=as_asked), device).precision == as_asked


def test_what_is_compiled_in_bf16_is_refused_where_a_gpu_has_none(small, capability, monkeypatch):
    capability(7, 5)
    compiled = TrainingConfig(precision="bf16", compile=True, device="cuda")
    monkeypatch.setattr("annotated.runs.preflight.start.choose_device", lambda *_: GPU)
    monkeypatch.setattr("annotated.runs.preflight.start.gpu_without_kernels", lambda _: None)
    for refuse in (lambda: Precision(compiled, GPU), lambda: check_start(small.model, compiled)):
        with pytest.raises(ValueError, match=r"capability 7\.5: .* Use --training\.precision fp16"):
            refuse()
    Precision(compiled.replace(compile=False), GPU)
    capability(8, 0)
    Precision(compiled, GPU)


def test_a_compiler_that_skips_bf16_ends_in_advice(monkeypatch):
    def backend(*_):
        raise torch._dynamo.exc.SkipFrame("BF16 is not supported")

    torch._dynamo.reset()
    step = FastStep(Transformer(ModelConfig(vocab_size=20, d_model=16, num_heads=2, d_k=8, d_v=8)), TrainingConfig())
    skipped = torch.compile(lambda x: x + 1, backend=backend, fullgraph=True)
    with (
        pytest.raises(RuntimeError, match=r"does not compute in bf16: use --training\.precision fp16"),
        step.compiled(9),
    ):
        skipped(torch.ones(1))
    with pytest.raises(RuntimeError, match="another reason"), step.compiled(9):
        raise RuntimeError("another reason")


def test_a_run_keeps_the_precision_that_it_was_begun_with(small, monkeypatch):
    small.train(precision="auto", updates=4)
    with monkeypatch.context() as patch:
        patch.setattr(setup, "resolve_precision", lambda training, _: training.replace(precision="bf16"))
        assert small.train(precision="auto", updates=6).finished
        small.train("begun elsewhere", precision="auto", updates=4)
    starts = [
        r["configuration"]["training"]["precision"] for r in read_records(small.folder / "run") if r["kind"] == "start"
    ]
    assert starts == ["fp32", "fp32"]
    elsewhere = read_records(small.folder / "begun elsewhere")[0]["configuration"]["training"]["precision"]
    assert elsewhere == "bf16"
    with pytest.raises(CheckpointError, match="precision was 'fp32' and is now 'bf16'"):
        small.train(precision="bf16", updates=8)


def test_what_autocast_computes_in():
    x = torch.ones(2, 2)
    for name, dtype in (("fp32", torch.float32), ("bf16", torch.bfloat16)):
        with Precision(TrainingConfig(precision=name), CPU).autocast():
            assert (x @ x).dtype == dtype


@pytest.mark.parametrize("layout", ["packed", "padded"])
def test_bf16_trains_close_to_fp32_and_keeps_fp32_weights(small, layout):
    small.model = small.model.replace(dropout=0.0)
    losses = {}
    for precision in ("fp32", "bf16"):
        small.train(precision, precision=precision, layout=layout)
        losses[precision] = [r["loss"] for r in read_records(small.folder / precision) if r["kind"] == "train"]
        weights = load_file(small.folder / precision / "model" / "model.safetensors")
        assert {tensor.dtype for tensor in weights.values()} == {torch.float32}
    assert losses["bf16"] != losses["fp32"]
    assert losses["bf16"] == pytest.approx(losses["fp32"], rel=0.05)


def test_fp16_skips_an_update_that_overflows_and_goes_on():
    precision = Precision(TrainingConfig(precision="fp16"), CPU)
    weight = torch.nn.Parameter(torch.tensor(1.0))
    optimizer = torch.optim.SGD([weight], lr=1.0)
    assert precision.scaler is not None
    before = precision.scaler.get_scale()
    for factor, expected in ((math.inf, 1.0), (0.25, 0.75)):
        precision.scale(weight * factor).backward()
        precision.unscale(optimizer)
        assert precision.may_overflow
        precision.step(optimizer)
        optimizer.zero_grad()
        assert weight.item() == expected
    assert precision.scaler.get_scale() == before / 2
    copy = Precision(TrainingConfig(precision="fp16"), CPU)
    copy.load_state_dict(precision.state_dict())
    assert copy.scaler is not None and copy.scaler.get_scale() == before / 2


def test_fp16_trains(small):
    small.train("fp16", precision="fp16")
    losses = [r["loss"] for r in read_records(small.folder / "fp16") if r["kind"] == "train"]
    assert losses[-1] < losses[0]


def test_a_device_that_is_not_there():
    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    assert choose_device("auto") == CPU
    with pytest.raises(ValueError, match="no GPU here.*--training.device cpu"):
        choose_device("cuda")

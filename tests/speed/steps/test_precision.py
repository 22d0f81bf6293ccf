from __future__ import annotations

import math

import pytest
import torch
from safetensors.torch import load_file

from annotated.config import TrainingConfig
from annotated.runs import read_records
from annotated.speed.machine.distributed import choose_device
from annotated.speed.steps.precision import Precision

CPU = torch.device("cpu")


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

"""Weights of one byte a number: how far they move, and that a model folder of them is whole."""

from __future__ import annotations

from pathlib import Path

import pytest
import safetensors.torch
import torch

from annotated import Transformer, tiny
from annotated.int8_rows import restored_rows, rounded_rows
from annotated.saving import CheckpointError, load_model, save_pretrained


def test_a_row_by_hand() -> None:
    written = rounded_rows({"w": torch.tensor([[1.27, -0.5, 0.004], [0.0, 0.0, 0.0]]), "b": torch.tensor([0.3])})
    assert written["w"].tolist() == [[127, -50, 0], [0, 0, 0]]
    torch.testing.assert_close(written["w.scales"][0], torch.tensor(0.01))
    restored = restored_rows(written)
    torch.testing.assert_close(restored["w"], torch.tensor([[1.27, -0.5, 0.0], [0.0, 0.0, 0.0]]))
    assert list(restored) == ["w", "b"] and restored["b"] is written["b"]


def test_no_number_moves_by_more_than_half_a_step_and_rounding_again_moves_none() -> None:
    values = torch.randn(50, 30, generator=torch.Generator().manual_seed(0))
    once = restored_rows(rounded_rows({"w": values}))["w"]
    step = values.abs().amax(1, keepdim=True) / 127
    assert ((once - values).abs() <= 0.5001 * step).all()
    torch.testing.assert_close(restored_rows(rounded_rows({"w": once}))["w"], once)


def test_a_model_folder_is_a_quarter_of_the_size_and_loads_as_any_other(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = Transformer(tiny(vocab_size=300, d_model=64, d_ff=256, d_k=16, d_v=16)).eval()
    save_pretrained(tmp_path / "float32", model)
    save_pretrained(tmp_path / "int8", model, int8=True)
    sizes = {kind: (tmp_path / kind / "model.safetensors").stat().st_size for kind in ("float32", "int8")}
    assert sizes["int8"] < 0.32 * sizes["float32"]
    loaded, _ = load_model(tmp_path / "int8")
    expected = restored_rows(rounded_rows(model.state_dict()))
    for name, values in loaded.state_dict().items():
        assert values.dtype == torch.float32 and torch.equal(values, expected[name]), name
    assert safetensors.torch.load_file(tmp_path / "int8" / "model.safetensors")["embedding.weight"].dtype == torch.int8


def test_scales_that_are_missing_are_a_clear_error(tmp_path: Path) -> None:
    save_pretrained(tmp_path / "model", Transformer(tiny(vocab_size=300)), int8=True)
    weights = safetensors.torch.load_file(tmp_path / "model" / "model.safetensors")
    del weights["embedding.weight.scales"]
    safetensors.torch.save_file(weights, tmp_path / "model" / "model.safetensors")
    with pytest.raises(CheckpointError, match="damaged"):
        load_model(tmp_path / "model")

"""Bad calls: what the library says of values of another kind than it takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import annotated
from annotated import DataConfig, DecodingConfig, TrainingConfig, Transformer, Translator, base, beam_search, tiny
from annotated.data import Tokenizer
from annotated.loading import UnknownModel, load

IDS = [[5, 6, 2]]


@pytest.fixture(scope="module")
def translator() -> Translator:
    tokenizer = Tokenizer.train(["The cat sleeps."] * 2, 280)
    shape = dict(d_model=16, d_ff=24, num_heads=2, d_k=8, d_v=8, num_encoder_layers=1, num_decoder_layers=1)
    return Translator(Transformer(tiny(vocab_size=tokenizer.vocab_size, **shape)), tokenizer)


@pytest.mark.parametrize("ids", [IDS, np.array(IDS)])
def test_ids_are_a_tensor(ids: Any, translator: Translator) -> None:
    model, kind = translator.model, type(ids).__name__
    with pytest.raises(TypeError, match=rf"source must be a tensor of token ids \[batch, length\], not {kind}"):
        model(ids, ids)
    with pytest.raises(TypeError, match=f"target_in must be a tensor of token ids .* not {kind}"):
        model(torch.tensor(IDS), ids)
    with pytest.raises(TypeError, match=f"source must be a tensor of token ids .* not {kind}"):
        beam_search(model, ids)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: base(vocab_size="37000"), "vocab_size must be a whole number, not '37000'"),
        (lambda: base(vocab_size=37000.0), "vocab_size must be a whole number, not 37000.0"),
        (lambda: base(num_heads=True), "num_heads must be a whole number, not True"),
        (lambda: base(dropout="0.1"), "dropout must be a number, not '0.1'"),
        (lambda: TrainingConfig(updates=None), "updates must be a whole number, not None"),  # type: ignore[arg-type]
        (lambda: TrainingConfig(seed=-1), "seed must lie between 0 and"),
        (lambda: TrainingConfig(seed=2**63), "seed must lie between 0 and"),
        (lambda: TrainingConfig(adam_betas=(0.9, 1.0)), "adam_betas must be two numbers in"),
        (lambda: TrainingConfig(adam_betas=0.9), "adam_betas must be two numbers in .* not 0.9"),  # type: ignore[arg-type]
        (lambda: DecodingConfig(beam_size=2.5), "beam_size must be a whole number, not 2.5"),  # type: ignore[arg-type]
        (lambda: DataConfig(length_ties="any"), "length_ties must be one of sorted, random"),  # type: ignore[arg-type]
    ],
)
def test_a_field_names_itself(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_numbers_of_other_makes_are_numbers() -> None:
    assert TrainingConfig(updates=np.int64(3), learning_rate_scale=1, clip_norm=None, seed=2**63 - 1).updates == 3
    assert base(dropout=np.float32(0.5)).dropout == 0.5


def test_what_is_no_model_is_said(translator: Translator) -> None:
    with pytest.raises(TypeError, match=r"a Transformer takes a configuration, such as annotated.base\(\), not 512"):
        Transformer(512)  # type: ignore[arg-type]
    with pytest.raises(UnknownModel, match="no model 3: give a name or a path, and not int"):
        load(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"for torch.bfloat16: Translator\(translator.model.to\(torch.bfloat16\)"):
        translator.to(torch.bfloat16)  # type: ignore[arg-type]


def test_a_call_takes_the_options_of_translate(translator: Translator) -> None:
    text = "The cat sleeps."
    assert (
        [translator(text, beam_size=2)] == translator([text], beam_size=2) == translator.translate([text], beam_size=2)
    )
    with pytest.raises(TypeError, match="beams"):
        translator(text, beams=2)


def test_the_package_lists_what_it_offers() -> None:
    """And what it needs itself is not in the list."""
    listed = {name for name in dir(annotated) if not name.startswith("__")}
    assert {*annotated.__all__, "model", "paper"} <= listed
    assert not {"Any", "TYPE_CHECKING", "checked", "storage"} & listed

"""Recipes by name: a model, its training, data and decoding that belong together.

The paper describes four: two models on two language pairs. A recipe is those four descriptions as values; whatever it
leaves alone is a default of `annotated.config`, which is the paper's too. The fields that are ours, because the paper
was trained in 2017 or says nothing, are in `OURS`, with reasons. `annotated train wmt14-base` takes one by its name.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from annotated.config import (
    DataConfig,
    DecodingConfig,
    ModelConfig,
    TrainingConfig,
    base,
    big,
    table_3_training,
    tiny,
)


@dataclass(frozen=True)
class Recipe:
    """A training run that has a name."""

    name: str
    about: str
    """In a line."""
    model: ModelConfig
    """`vocab_size` is replaced by the tokenizer's."""
    training: TrainingConfig
    data: DataConfig
    decoding: DecodingConfig

    def replace(self, **changes: Any) -> Recipe:
        """A copy with some fields changed."""
        return dataclasses.replace(self, **changes)


OURS: dict[str, Any] = {"precision": "bf16", "compile": True}
"""What we add to the paper's training: today's arithmetic. The paper trained in float32 on GPUs of 2016, which had
nothing else; bf16 products with float32 weights and sums train to the same loss, and compiled kernels change nothing
but the speed."""

BASE_CHECKPOINTS: dict[str, Any] = {"checkpoint_every": 1500}
"""Base: "averaging the last 5 checkpoints, which were written at 10-minute intervals" (section 6.1), at 0.4 seconds a
step (section 5.2): 1,500 updates. The averaged five span 6,000 updates."""

BIG_CHECKPOINTS: dict[str, Any] = {"checkpoint_every": 600}
"""Big: the last 20 checkpoints (section 6.1), 10 minutes apart, at 1.0 second a step (section 5.2): 600 updates. The
averaged twenty span 11,400 updates."""


def _wmt14(size: str, pair: str, model: ModelConfig) -> Recipe:
    """One of the paper's four training runs: batches of 25,000 + 25,000 tokens and warm-up 4,000 are defaults."""
    spacing = BASE_CHECKPOINTS if size == "base" else BIG_CHECKPOINTS
    return Recipe(
        name=f"wmt14-{size}" + ("" if pair == "en-de" else f"-{pair}"),
        about=f"the paper's {size} model on WMT 2014 {pair.upper()}",
        model=model,
        training=table_3_training(size, **spacing, **OURS),
        data=DataConfig(prepared=f"data/wmt14-{pair}"),
        decoding=DecodingConfig(),
    )


def _wmt14_tiny() -> Recipe:
    """The whole chain in a minute or two of two cores: for a try, and for tests. Ours, not the paper's."""
    training = TrainingConfig(
        updates=200, batch_tokens=1500, warmup=100, log_every=10, validate_every=50, validate_bleu=20,
        checkpoint_every=20,
    )  # fmt: skip
    model = tiny(d_model=64, d_ff=256, d_k=16, d_v=16, num_encoder_layers=2, num_decoder_layers=2)
    data = DataConfig(prepared="data/wmt14-en-de")
    return Recipe("wmt14-tiny", "a try of the whole chain in minutes, without a GPU", model, training, data, _PAPERS)


def _multi30k() -> Recipe:
    """29,000 captions of photographs: a tenth of the paper's tokens to an update, and more dropout. Ours."""
    training = TrainingConfig(
        updates=12_000, batch_tokens=2500, warmup=2000, log_every=50, validate_every=500, checkpoint_every=250,
    )  # fmt: skip
    model = base(
        d_model=256, d_ff=1024, num_heads=4, num_encoder_layers=4, num_decoder_layers=4, dropout=0.3
    )  # fmt: skip
    data = DataConfig(prepared="data/multi30k")
    return Recipe("multi30k", "a small model on 29,000 captions, English-German", model, training, data, _PAPERS)


_PAPERS = DecodingConfig()

RECIPES: dict[str, Recipe] = {
    one.name: one
    for one in (
        _wmt14("base", "en-de", base()),
        _wmt14("big", "en-de", big()),
        _wmt14("base", "en-fr", base()),
        _wmt14("big", "en-fr", big(dropout=0.1)),  # section 6.1: "used dropout rate P_drop = 0.1, instead of 0.3"
        _wmt14_tiny(),
        _multi30k(),
    )
}
"""All recipes, by name: wmt14-base, wmt14-big, wmt14-base-en-fr, wmt14-big-en-fr, wmt14-tiny, multi30k."""


def recipe(name: str) -> Recipe:
    """A training run by its name.

    Raises
    ------
    ValueError
        If there is none of that name; the message lists them.

    Paper: sections 5, 6.1
    """
    if name not in RECIPES:
        raise ValueError(f"no recipe {name!r}; there are {', '.join(RECIPES)}")
    return RECIPES[name]

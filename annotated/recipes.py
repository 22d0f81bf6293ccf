"""Recipes by name: a model, its training, data and decoding that belong together.

The paper describes four: two models on two language pairs. A recipe is those four descriptions as values; whatever it
leaves alone is a default of `annotated.config`, which is the paper's too. The fields that are ours, because the paper
was trained in 2017 or says nothing, are in `OURS` and `PAPER_VALIDATION`, with reasons. `annotated train wmt14-base`
takes one by its name.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from annotated.config import (
    TABLE_3,
    DataConfig,
    DecodingConfig,
    ModelConfig,
    TrainingConfig,
    base,
    big,
    table_3,
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


OURS: dict[str, Any] = {"precision": "auto", "compile": True, "layout": "auto"}
"""What we add to the paper's training: today's arithmetic. The paper trained in float32 on GPUs of 2016, which had
nothing else; products in bf16, or in fp16 on a GPU without it, with float32 weights and sums train to the same loss.
Compiled kernels, and the layout that this machine computes fastest, change nothing but the speed."""

ON_A_GPU: dict[str, Any] = {"device": "cuda"}
"""Where the paper's training runs are made. On a CPU they take months, and nobody wants that by accident: because torch
sees no GPU, say, under a driver that is too old. Who wants it types `--training.device cpu`."""

BOTH_SIDES: dict[str, Any] = {"length_ties": "random"}
"""How pairs of the same length are batched: "each training batch contained a set of sentence pairs containing
approximately 25000 source tokens and 25000 target tokens" (section 5.1). At random, both sides come to about 24,500;
sorted, one side of a batch is full when the other has 22,500."""

BASE_CHECKPOINTS: dict[str, Any] = {"checkpoint_every": 1500}
"""Base: "averaging the last 5 checkpoints, which were written at 10-minute intervals" (section 6.1), at 0.4 seconds a
step (section 5.2): 1,500 updates. The averaged five span 5,500 updates: the last is written at 100,000, the one before
at 99,000."""

BIG_CHECKPOINTS: dict[str, Any] = {"checkpoint_every": 600}
"""Big: the last 20 checkpoints (section 6.1), 10 minutes apart, at 1.0 second a step (section 5.2): 600 updates. The
averaged twenty span 11,400 updates."""

PAPER_VALIDATION: dict[str, Any] = {"validate_every": 5000}
"""Validation of the paper's four runs: 20 times in base, 60 in big. It takes 2 to 3 seconds, most of it 200 sentences
translated for BLEU, and nothing is trained meanwhile (estimates). After every 1,000 updates that would be 7 % of the
time of a modern GPU with 35 ms an update, and a quarter on eight; after every 5,000 it is 1.5 and 7 %. Longer would be
too long: the 5 checkpoints that base keeps span 7,500 updates, so one from before a divergence is still there when
validation finds it. By updates, not by the clock, so that a resumed run validates where an uninterrupted one does."""


def _wmt14(size: str, pair: str, model: ModelConfig) -> Recipe:
    """One of the paper's four training runs: batches of 25,000 + 25,000 tokens and warm-up 4,000 are defaults."""
    spacing = BASE_CHECKPOINTS if size == "base" else BIG_CHECKPOINTS
    return Recipe(
        name=f"wmt14-{size}" + ("" if pair == "en-de" else f"-{pair}"),
        about=f"the paper's {size} model on WMT 2014 {pair.upper()}",
        model=model,
        training=table_3_training(size, **spacing, **PAPER_VALIDATION, **OURS, **ON_A_GPU),
        data=DataConfig(prepared=f"data/wmt14-{pair}", **BOTH_SIDES),
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


def _wmt14_evening() -> Recipe:
    """The paper's base model after the first 30,000 of its 100,000 updates, warm-up and all: a first result.

    25 minutes of one H100, of which an update was measured (`benchmarks/gpu.md`); on other GPUs the time is computed,
    in the book's chapter on the full run. Its BLEU was not measured. Ours: the paper trains to the end.
    """
    full = _wmt14("base", "en-de", base())
    about = "the paper's base model on WMT 2014 EN-DE, 30,000 updates: a first result in an evening"
    return full.replace(name="wmt14-evening", about=about, training=full.training.replace(updates=30_000))


def _iwslt14() -> Recipe:
    """Some 170,000 sentence pairs of talks, German to English: the small corpus that many toolkits begin with. Ours.

    Shape, dropout, tokens of an update, warm-up and beam are those of fairseq's example for this corpus, which decays
    weights by 0.0001 besides. Equation 3 peaks at 0.0007 with this width and warm-up, and fairseq's rate at 0.0005:
    hence the scale. The number of updates is ours.
    """
    training = TrainingConfig(
        updates=50_000, batch_tokens=4096, warmup=4000, learning_rate_scale=0.7155, validate_every=2500,
        checkpoint_every=1000, **OURS, **ON_A_GPU,
    )  # fmt: skip
    model = base(d_ff=1024, num_heads=4, d_k=128, d_v=128, dropout=0.3)
    data = DataConfig(prepared="data/iwslt14-de-en", **BOTH_SIDES)
    decoding = DecodingConfig(beam_size=5)
    return Recipe(
        "iwslt14-de-en", "a small model on 170,000 pairs of talks, German-English", model, training, data, decoding
    )


def _multi30k() -> Recipe:
    """29,000 captions of photographs: a tenth of the paper's tokens to an update, and more dropout. Ours.

    Its BLEU on test2016 was not measured. Where you compare it with others', mind their ruler: many score lower-case,
    tokenised text, and `annotated finish` plain text with its capitals.
    """
    training = TrainingConfig(
        updates=12_000, batch_tokens=2500, warmup=2000, log_every=50, validate_every=500, checkpoint_every=250,
        precision="auto",
    )  # fmt: skip
    model = base(
        d_model=256, d_ff=1024, num_heads=4, num_encoder_layers=4, num_decoder_layers=4, dropout=0.3
    )  # fmt: skip
    data = DataConfig(prepared="data/multi30k")
    return Recipe("multi30k", "a small model on 29,000 captions, English-German", model, training, data, _PAPERS)


def _classroom() -> Recipe:
    """The model that the package ships: half an hour of one core. Ours."""
    training = TrainingConfig(
        updates=6000, batch_tokens=2048, warmup=1000, validate_every=500, validate_bleu=0, checkpoint_every=250,
    )  # fmt: skip
    data = DataConfig(vocab_size=2000, classroom_pairs=500_000, pool_pairs=131_072)
    return Recipe(
        "classroom", "the classroom model that the package ships", tiny(dropout=0.05), training, data, _PAPERS
    )


def _classroom_small() -> Recipe:
    """A model of the same text that five minutes of one core make, with most sentences right. Ours."""
    training = TrainingConfig(
        updates=3200, batch_tokens=1000, warmup=400, validate_every=400, validate_bleu=100, checkpoint_every=100,
    )  # fmt: skip
    model = tiny(d_ff=256, num_encoder_layers=2, num_decoder_layers=2, dropout=0.0)
    data = DataConfig(vocab_size=1000, classroom_pairs=100_000)
    return Recipe("classroom-small", "five minutes of the classroom corpus", model, training, data, _PAPERS)


def _classroom_wide() -> Recipe:
    """The model of everyday English that the package ships: four hours of two cores. Ours.

    Its text comes from `annotated data classroom data/classroom-wide --wide --classroom-pairs 1000000`. Up to update
    18,000 the shipped model read an earlier million, so that a training from the beginning gives another model.
    """
    training = TrainingConfig(
        updates=28_000, batch_tokens=1500, warmup=600, learning_rate_scale=0.6, validate_every=500, validate_bleu=200,
        checkpoint_every=250, keep_checkpoints=20, average_last=20,
    )  # fmt: skip
    shape = dict(d_model=256, d_ff=768, d_k=64, d_v=64, dropout=0.05)
    train, valid, test = (f"data/classroom-wide/{split}.tsv" for split in ("train", "valid", "test"))
    data = DataConfig(train=train, valid=valid, test=test, vocab_size=4500)
    return Recipe("classroom-wide", "the model of everyday English", tiny(**shape), training, data, _PAPERS)


def _wsj() -> Recipe:
    """The paper's parser of the Wall Street Journal alone: "a 4-layer transformer with d_model = 1024" (section 6.3).

    Told besides: a vocabulary of 16,000, a beam of 21, alpha 0.3, at most 300 tokens more than the sentence, all else
    as in base. "Both attention and residual" dropout were chosen on section 22, and are not told: the rates here, the
    warm-up and the longest pair are those of the released settings (`transformer_parsing_base`). The number of updates
    is ours: some 200 passes.
    """
    training = TrainingConfig(
        updates=20_000, warmup=16_000, checkpoint_every=500, validate_every=1000, validate_bleu=0, **OURS, **ON_A_GPU,
    )  # fmt: skip
    model = base(d_model=1024, num_encoder_layers=4, num_decoder_layers=4, dropout=0.2, attention_dropout=0.2)
    train, valid, test = (f"data/wsj/{split}.tsv" for split in ("train", "valid", "test"))
    data = DataConfig(train=train, valid=valid, test=test, vocab_size=16_000, max_length=512)
    decoding = DecodingConfig(beam_size=21, alpha=0.3, extra_tokens=300)
    return Recipe(
        "wsj", "the paper's parser, on sections 2-21 of the Wall Street Journal", model, training, data, decoding
    )


_PAPERS = DecodingConfig()

RECIPES: dict[str, Recipe] = {
    one.name: one
    for one in (
        _wmt14("base", "en-de", base()),
        _wmt14("big", "en-de", big()),
        _wmt14("base", "en-fr", base()),
        _wmt14("big", "en-fr", big(dropout=0.1)),  # section 6.1: "used dropout rate P_drop = 0.1, instead of 0.3"
        _wmt14_evening(),
        _wmt14_tiny(),
        _iwslt14(),
        _multi30k(),
        _classroom(),
        _classroom_small(),
        _classroom_wide(),
        _wsj(),
    )
}
"""All recipes, by name: wmt14-base, wmt14-big, wmt14-base-en-fr, wmt14-big-en-fr, wmt14-evening, wmt14-tiny,
iwslt14-de-en, multi30k, classroom, classroom-small, classroom-wide, wsj."""


def _table_3(row: str) -> Recipe:
    """A row of Table 3: English-German, evaluated "without checkpoint averaging" (section 6.2)."""
    spacing = BIG_CHECKPOINTS if row == "big" else BASE_CHECKPOINTS
    training = table_3_training(row, **spacing, **PAPER_VALIDATION, **OURS, **ON_A_GPU).replace(average_last=1)
    data = DataConfig(prepared="data/wmt14-en-de", **BOTH_SIDES)
    return Recipe(f"table3-{row}", f"row {row} of the paper's Table 3", table_3(row), training, data, _PAPERS)


TABLE_3_RECIPES: dict[str, Recipe] = {f"table3-{row}": _table_3(row) for row in TABLE_3}
"""The rows of Table 3 by name: table3-base, table3-A1 and so on."""
EVERY_RECIPE: dict[str, Recipe] = RECIPES | TABLE_3_RECIPES
"""What `annotated train` takes by name."""


def recipe(name: str) -> Recipe:
    """A training run by its name.

    Raises
    ------
    ValueError
        If there is none of that name; the message lists them.

    Paper: sections 5, 6.1, 6.2, 6.3
    """
    if name not in EVERY_RECIPE:
        raise ValueError(f"no recipe {name!r}; there are {', '.join(RECIPES)}, and table3-A1 or another row of Table 3")
    return EVERY_RECIPE[name]


FITTED_PRESET = "tiny"
"""The preset whose training and vocabulary fit the text."""
FITTED = {
    "training": (
        "updates", "batch_tokens", "warmup", "learning_rate_scale", "validate_every", "validate_bleu",
        "checkpoint_every", "keep_best",
    ),
    "data": ("vocab_size",),
}  # fmt: skip
"""The fields that fit it."""
LARGEST_TEXT = 8_000_000
"""Tokens from which on `fitted_training` and `fitted_vocabulary` change no more."""
_PASSES = 6
"""Over the text, where it is neither very small nor large."""
_FULL_RATE = 6_400_000
"""Updates of warm-up times tokens of a batch, from which on the rate is that of equation 3. A shorter warm-up makes it
higher, and the noise of a smaller batch wants it lower: small texts fell back from what they had learned."""


def fitted_training(tokens: int) -> TrainingConfig:
    """A training of `tiny` that fits a text of so many tokens: minutes for a small one, an hour for a large one.

    The batch grows with the square root of the text. The updates make six passes over it, and at least 2,000: a small
    text is passed often. The rate rises during a fifth of them: to 0.0011 with batches of 1,000 tokens, to more
    with larger ones (their square root), to that of equation 3 at most, which is too much after a short warm-up. So
    3,000 sentences of 12 tokens are trained for 2,000 updates of 1,000 tokens with a quarter of equation 3, and 200,000
    of 15 for 6,900 of 2,600 with three quarters. Ours, not the paper's.

    Parameters
    ----------
    tokens
        Of one side of the training text, about.
    """
    tokens = min(max(tokens, 1), LARGEST_TEXT)
    batch_tokens = _hundreds(min(max(1.5 * tokens**0.5, 1000), 4000))
    updates = _hundreds(min(max(_PASSES * tokens / batch_tokens, 2000), 20_000))
    warmup = _hundreds(updates / 5)
    return TrainingConfig(
        updates=updates,
        batch_tokens=batch_tokens,
        warmup=warmup,
        learning_rate_scale=round(min((warmup * batch_tokens / _FULL_RATE) ** 0.5, 1.0), 2),
        validate_every=_hundreds(updates / 10),
        validate_bleu=100,
        checkpoint_every=_hundreds(updates / 25),
        keep_best=1,
    )


def fitted_vocabulary(tokens: int) -> int:
    """The size of a vocabulary for a text of so many tokens: each entry is seen some dozens of times.

    500 entries for a small text, 11,300 for `LARGEST_TEXT`.
    """
    return max(_hundreds(4 * min(max(tokens, 1), LARGEST_TEXT) ** 0.5), 500)


def _hundreds(number: float) -> int:
    return max(round(number / 100), 1) * 100

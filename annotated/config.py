"""Configuration: every default of the project in one place; sections 3, 5 and 6.1 and Table 3 as data.

The dataclasses are frozen; `replace` makes a changed copy and checks it. Nothing else in the
library states a default for anything that stands here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from annotated.checked import CheckedConfig, require, require_values

PAD, BOS, EOS, UNK = 0, 1, 2, 3
SPECIAL_TOKENS = ("<pad>", "<s>", "</s>", "<unk>")


@dataclass(frozen=True)
class ModelConfig(CheckedConfig):
    """The shape of a Transformer; the defaults are the paper's base model.

    Paper: section 3, Table 3
    """

    vocab_size: int = 37_000
    """V: entries of the vocabulary that source and target share."""
    d_model: int = 512
    """D: width of every embedding and sub-layer output."""
    d_ff: int = 2048
    """F: inner width of the feed-forward network."""
    num_heads: int = 8
    """H: attention heads."""
    d_k: int = 64
    """K: width of one head's queries and keys. It stays as it is when num_heads or d_model change: unlike in other
    libraries, which take d_model / num_heads, both are free, as in rows A and B of the paper's Table 3."""
    d_v: int = 64
    """Width of one head's values."""
    num_encoder_layers: int = 6
    """L: layers of the encoder."""
    num_decoder_layers: int = 6
    """Layers of the decoder."""
    dropout: float = 0.1
    """On each sub-layer's output and on the sum of embedding and position (section 5.4)."""
    attention_dropout: float = 0.0
    """On attention weights: not in the paper, common today; any value above 0 rules out the fused kernels."""
    feed_forward_dropout: float = 0.0
    """After the ReLU: not in the paper, common today."""
    norm: Literal["post", "pre"] = "post"
    """LayerNorm after the residual sum, as printed, or before the sub-layer, as later released."""
    final_norm: bool = False
    """One more LayerNorm on top of a post-norm stack, as `torch.nn.Transformer` has; pre-norm always has it."""
    positions: Literal["sinusoidal", "learned"] = "sinusoidal"
    max_positions: int = 1024
    """Longest sequence that *learned* positions can take; sinusoids extend without limit."""
    tie_embeddings: bool = True
    """One matrix for source embedding, target embedding and pre-softmax projection (section 3.4)."""
    attention_bias: bool = False
    """Biases in W_Q, W_K, W_V, W_O: equation 1 and section 3.2.2 have none; torch and Marian have them."""
    norm_epsilon: float = 1e-6

    def __post_init__(self) -> None:
        require_values(self)
        sizes = ("vocab_size", "d_model", "d_ff", "num_heads", "d_k", "d_v", "max_positions")
        for name in (*sizes, "num_encoder_layers", "num_decoder_layers"):
            require(getattr(self, name) >= 1, f"{name} must be at least 1, not {getattr(self, name)}")
        for name in ("dropout", "attention_dropout", "feed_forward_dropout"):
            require(0 <= getattr(self, name) < 1, f"{name} must lie in [0, 1), not {getattr(self, name)}")
        require(self.vocab_size > UNK, f"vocab_size must leave room for the {UNK + 1} special tokens")
        even = self.positions == "learned" or self.d_model % 2 == 0
        require(even, f"sinusoids come in sine-cosine pairs: d_model must be even, not {self.d_model}")


@dataclass(frozen=True)
class TrainingConfig(CheckedConfig):
    """How a model is trained; the defaults are the paper's.

    Paper: sections 5.1 (batches), 5.2 (schedule), 5.3 (optimiser), 5.4 (regularisation)
    """

    updates: int = 100_000
    """Parameter updates in all (not micro-batches)."""
    batch_tokens: int = 25_000
    """Target tokens of one update, and at most as many source tokens, over all micro-batches and devices."""
    micro_batch_tokens: int | None = None
    """About the most tokens of a side that a device takes at once; None for its share of the batch, or what fits a GPU.
    An update accumulates as many micro-batches as this asks for: more on few devices, and the same gradient."""
    warmup: int = 4000
    """Updates over which the learning rate rises linearly."""
    learning_rate_scale: float = 1.0
    """Factor on equation 3."""
    adam_betas: tuple[float, float] = (0.9, 0.98)
    adam_epsilon: float = 1e-9
    label_smoothing: float = 0.1
    clip_norm: float | None = None
    """Clip the gradient's norm to this; the paper does not clip."""
    precision: Literal["fp32", "bf16", "fp16", "auto"] = "fp32"
    """Type of the products; sums and all else are float32. 'auto', decided when a run begins and kept: bf16 on a GPU of
    compute capability 8.0 or more (Ampere), fp16 on an older one, fp32 on a CPU."""
    vocabulary_precision: Literal["same", "fp8"] = "same"
    """Type of the three products with the vocabulary's matrix: `precision`'s, or FP8 (2 or 3 bits of mantissa, float32
    sums), which is not the paper's arithmetic. FP8 takes a GPU of compute capability 8.9 or more (Ada, Hopper,
    Blackwell); a CPU rounds as such a GPU does, and is slower for it."""
    residual_precision: Literal["fp32", "bf16"] = "fp32"
    """Of the residual stream and LayerNorm's output under precision bf16; LayerNorm's statistics are always float32."""
    attention_kernel: Literal["auto", "flex"] = "auto"
    """'flex' compiles PyTorch's FlexAttention for the static layout: several sentences in one tile of 128 rows. 'auto'
    takes each by itself or, with layout 'auto', what the run's dry run found faster. Only the order of sums differs."""
    compile: bool = False
    """Run the model through torch.compile."""
    layout: Literal["packed", "padded", "static", "auto"] = "packed"
    """Rows of real tokens only, rectangles with masks (readable), or packed rows of one fixed number (for compiled
    kernels on a GPU); all give the same loss. 'auto': static where this machine is fast at it, else packed."""
    row_classes: bool = False
    """Of the static layout: some dozens of shapes, compiled once; each batch goes into the smallest that has room."""
    device: str = "auto"
    """'auto' takes a GPU if there is one; else a torch device name. The paper's recipes ask for 'cuda'."""
    seed: int = 0
    log_every: int = 50
    """Updates between two lines of the log."""
    validate_every: int = 1000
    """Updates between two validations (and at the end)."""
    validate_bleu: int = 200
    """Sentences of the validation set to translate for BLEU at each validation; 0 for none."""
    checkpoint_every: int = 1000
    """Updates between two checkpoints (and at the end)."""
    keep_checkpoints: int = 5
    """Checkpoints kept; the older ones are deleted."""
    keep_best: int = 0
    """Checkpoints of the lowest validation loss kept besides, in the folder best/. They are never averaged; the
    best one is the final model where its loss is lower than the average's."""
    average_last: int = 5
    """Checkpoints averaged into the final model."""
    gradient_exchange: Literal["fp32", "bf16"] = "fp32"
    """Type in which processes exchange gradients. bf16 halves the bytes: each gradient and each sum is rounded once,
    and sums are made in float32, on any number of processes."""
    overlap_exchange: bool = False
    """Exchange gradients in buckets of 25 MB while the backward pass goes on. With `compile` there is little to gain,
    because all gradients come at its end; with the static layout, replayed as a whole, it is refused."""
    max_seconds: float | None = None
    """Save and end after so many seconds of one start, counted from its first update, with compilations, validations
    and checkpoints. The same command goes on, and counts anew. None for no limit."""
    patience: int | None = None
    """End as after the last update when so many validations in a row, over all starts, found no loss below the lowest
    before them; None makes all updates. The model is still the average of the last checkpoints, or see keep_best."""
    peer_timeout: float = 600.0
    """Seconds after which a process that hears nothing from another one gives up, so that both can be restarted."""

    def __post_init__(self) -> None:
        require_values(self)
        positive = ("updates", "batch_tokens", "warmup", "learning_rate_scale", "log_every", "peer_timeout")
        for name in (*positive, "validate_every", "checkpoint_every", "keep_checkpoints", "average_last"):
            require(getattr(self, name) > 0, f"{name} must be positive, not {getattr(self, name)}")
        require(0 <= self.label_smoothing < 1, f"label_smoothing must lie in [0, 1), not {self.label_smoothing}")
        self._check_kernels()
        for name in ("micro_batch_tokens", "clip_norm", "max_seconds", "patience"):
            fits = (value := getattr(self, name)) is None or 0 < value < float("inf")
            require(fits, f"{name} must be positive, or None for no limit, not {value}")
        for name in ("keep_best", "validate_bleu", "adam_epsilon"):
            require(getattr(self, name) >= 0, f"{name} must not be negative, not {getattr(self, name)}")
        last, kept = self.average_last, self.keep_checkpoints
        require(last <= kept, f"average_last must not exceed keep_checkpoints: {last} and {kept}")
        betas = self.adam_betas
        fits = isinstance(betas, tuple | list) and len(betas) == 2 and all(0 <= beta < 1 for beta in betas)
        require(fits, f"adam_betas must be two numbers in [0, 1), not {betas!r}")
        require(0 <= self.seed < 2**63, f"seed must lie between 0 and 2**63 - 1, not {self.seed}")

    def _check_kernels(self) -> None:
        """Refuse options of speed that do not go together."""
        layout = f"not {self.layout!r}"
        fits = not self.overlap_exchange or self.layout in ("packed", "padded")  # others are replayed as a whole
        require(fits, f"overlap_exchange watches the backward pass: it needs layout 'packed', {layout}")
        fits = self.vocabulary_precision == "same" or self.layout != "padded"
        require(fits, "vocabulary_precision 'fp8' is for layouts 'packed' and 'static': 'padded' makes logits in one")
        fits = self.residual_precision == "fp32" or (self.precision == "bf16" and self.layout != "padded")
        needs = "needs precision 'bf16' and a layout other than 'padded'"
        require(fits, f"residual_precision 'bf16' {needs}, not precision {self.precision!r} and layout {self.layout!r}")
        fits = self.attention_kernel == "auto" or self.layout in ("static", "auto")
        require(fits, f"attention_kernel 'flex' needs layout 'static', whose rows it was made for, {layout}")

    def micro_batches(self, devices: int = 1) -> int:
        """Micro-batches that each of so many devices accumulates for one update."""
        return -(-self.batch_tokens // (devices * (self.micro_batch_tokens or self.batch_tokens)))


@dataclass(frozen=True)
class DecodingConfig(CheckedConfig):
    """How translations are searched for; the defaults are the paper's.

    Paper: section 6.1
    """

    beam_size: int = 4
    """Hypotheses kept at each step; 1 is greedy search."""
    alpha: float = 0.6
    """Exponent of the length penalty ((5 + length) / 6) ** alpha."""
    extra_tokens: int = 50
    """Longest output: the source's length plus this many tokens, when max_new_tokens is None."""
    max_new_tokens: int | None = None
    """Longest output, the end of the sentence included; None for a limit that follows the source."""
    num_return: int = 1
    """Hypotheses to return for each source, best first."""
    batch_tokens: int = 2048
    """Source tokens translated together, padding included."""

    def __post_init__(self) -> None:
        require_values(self)
        require(self.beam_size >= 1, f"beam_size must be at least 1, not {self.beam_size}")
        require(0 <= self.alpha < float("inf"), f"alpha must be finite and not negative, not {self.alpha}")
        require(self.extra_tokens >= 0, "extra_tokens must not be negative")
        require(self.max_new_tokens is None or self.max_new_tokens >= 1, "max_new_tokens must be at least 1")
        require(self.batch_tokens >= 1, f"batch_tokens must be at least 1, not {self.batch_tokens}")
        fits = 1 <= self.num_return <= self.beam_size
        require(fits, f"num_return must lie between 1 and the beam size {self.beam_size}, not {self.num_return}")


COMPUTE_TYPES = (
    "float32", "float16", "bfloat16", "int16", "int8", "int8_float32", "int8_float16", "int8_bfloat16",
)  # fmt: skip
"""In what CTranslate2 keeps weights and computes, by its own names; not every processor has every one."""


@dataclass(frozen=True)
class EngineConfig(CheckedConfig):
    """Which program runs the model while it translates."""

    engine: Literal["torch", "ctranslate2"] = "torch"
    """torch: this library. ctranslate2: a C++ engine, faster on a processor; needs the extra `export`."""
    compute_type: str = "float32"
    """Numbers that ctranslate2 computes in, by its own names: float32, int8, float16, ..."""

    def __post_init__(self) -> None:
        require_values(self)
        known = ", ".join(COMPUTE_TYPES)
        require(self.compute_type in COMPUTE_TYPES, f"compute_type must be one of {known}, not {self.compute_type!r}")
        fits = self.engine == "ctranslate2" or self.compute_type == "float32"
        require(fits, f"compute_type {self.compute_type} is for the engine ctranslate2: give engine=ctranslate2 too")


FORMATS = ("auto", "tsv", "csv", "jsonl", "bars", "tmx", "xliff")
"""How the pairs of a file may be written; bars are `|||` between source and target."""


@dataclass(frozen=True)
class DataConfig(CheckedConfig):
    """Where sentence pairs come from and how they are batched.

    Paper: section 5.1
    """

    prepared: str | None = None
    """A folder made by `annotated data wmt14`, `iwslt14` or `multi30k`. Text, tokenizer and encoded pairs are taken
    from there; `train`, `valid`, `test` and `tokenizer` stay as they are by default, and `vocab_size`, `max_length` and
    `classroom_pairs` do not matter."""
    train: str = "classroom"
    """'classroom', a file of pairs (.tsv, .csv, .jsonl, .tmx ...; .gz, .zst), or two text files as 'SOURCE,TARGET'."""
    valid: str = "classroom"
    """Watched during training: as `train`."""
    test: str = "classroom"
    """Evaluated at the end: as `train`."""
    format: str = "auto"
    """Of files of pairs: 'auto' finds out and says what it found; 'tsv' is two columns as they stand; 'csv', 'jsonl',
    'bars' (|||), 'tmx', 'xliff'. With places if need be: 'tsv:2,4' (columns), 'csv:English,German' (names in the first
    line), 'jsonl:en,de' (keys), 'tmx:en,de' (languages)."""
    pair: str | None = None
    """Languages of source and target, such as en-zh. BLEU's tokeniser in `evaluate` and `finish` follows the target, as
    Moses' does; without it the script decides. Prepared data knows its own."""
    vocab_size: int = 37_000
    """Entries of the shared byte-pair vocabulary, the special tokens included."""
    tokenizer: str | None = None
    """A tokenizer.json trained before; None trains one on the training text."""
    max_length: int = 256
    """Pairs with a longer side, in tokens, are left out of training and validation, counted, and said."""
    classroom_pairs: int = 200_000
    """Training pairs drawn from the classroom grammar."""
    pool_pairs: int = 262_144
    """Pairs that are shuffled and bucketed together; bounds the memory of the loader."""
    length_ties: Literal["sorted", "random"] = "sorted"
    """Order of pairs whose longer sides are equally long. 'sorted' by source and target leaves the least padding, which
    counts where attention computes it: with layout 'padded', and on a CPU. 'random' fills both sides of a batch."""

    def __post_init__(self) -> None:
        require_values(self)
        kind, colon, places = self.format.partition(":")
        require(kind in FORMATS, f"format must be one of {', '.join(FORMATS)}, not {kind!r}")
        two = len({place.strip() for place in places.split(",")} - {""}) == 2 == places.count(",") + 1
        fits = self.pair is None or re.fullmatch("[a-z]{2,3}-[a-z]{2,3}", self.pair) is not None
        require(fits, f"pair must be two languages, such as 'en-de', not {self.pair!r}")
        require(not colon or (two and kind != "auto"), f"format {self.format!r}: name two places, such as 'tsv:1,3'")
        require(self.vocab_size > 260, "vocab_size must exceed 260: 256 bytes and 4 special tokens")
        require(self.max_length >= 2, "max_length must be at least 2: one token and the end of the sentence")
        require(self.classroom_pairs >= 1, "classroom_pairs must be at least 1")
        require(self.pool_pairs >= 1, "pool_pairs must be at least 1")
        given = (self.train, self.valid, self.test, self.tokenizer)
        alone = self.prepared is None or given == ("classroom", "classroom", "classroom", None)
        require(alone, f"prepared={self.prepared!r} brings text and tokenizer: leave train, valid, test, tokenizer")


def base(**changes: Any) -> ModelConfig:
    """The paper's base model.

    Paper: Table 3, row base
    """
    return ModelConfig().replace(**changes)


def big(**changes: Any) -> ModelConfig:
    """The paper's big model, as trained for English-German (P_drop 0.3; English-French used 0.1).

    Paper: Table 3, row big
    """
    return base(d_model=1024, d_ff=4096, num_heads=16, dropout=0.3).replace(**changes)


def tiny(**changes: Any) -> ModelConfig:
    """A model for two cores and a few minutes; ours, not the paper's."""
    small = base(d_model=128, d_ff=512, num_heads=4, d_k=32, d_v=32, num_encoder_layers=3, num_decoder_layers=3)
    return small.replace(**changes)


TABLE_3: dict[str, dict[str, Any]] = {
    "base": {},
    "A1": {"num_heads": 1, "d_k": 512, "d_v": 512},
    "A2": {"num_heads": 4, "d_k": 128, "d_v": 128},
    "A3": {"num_heads": 16, "d_k": 32, "d_v": 32},
    "A4": {"num_heads": 32, "d_k": 16, "d_v": 16},
    "B1": {"d_k": 16},
    "B2": {"d_k": 32},
    "C1": {"num_encoder_layers": 2, "num_decoder_layers": 2},
    "C2": {"num_encoder_layers": 4, "num_decoder_layers": 4},
    "C3": {"num_encoder_layers": 8, "num_decoder_layers": 8},
    "C4": {"d_model": 256, "d_k": 32, "d_v": 32},
    "C5": {"d_model": 1024, "d_k": 128, "d_v": 128},
    "C6": {"d_ff": 1024},
    "C7": {"d_ff": 4096},
    "D1": {"dropout": 0.0},
    "D2": {"dropout": 0.2},
    "D3": {},
    "D4": {},
    "E1": {"positions": "learned"},
    "big": {"d_model": 1024, "d_ff": 4096, "num_heads": 16, "dropout": 0.3},
}
"""What each row of Table 3 changes in the model, in the paper's order; D3 and D4 change only the training."""

TABLE_3_TRAINING: dict[str, dict[str, Any]] = {
    "D3": {"label_smoothing": 0.0},
    "D4": {"label_smoothing": 0.2},
    "big": {"updates": 300_000, "average_last": 20, "keep_checkpoints": 20},
}
"""What a row of Table 3 changes in the training; rows that are not here change nothing."""


def _row(name: str) -> str:
    require(name in TABLE_3, f"Table 3 has no row {name!r}; its rows are {', '.join(TABLE_3)}")
    return name


def table_3(row: str, **changes: Any) -> ModelConfig:
    """The model of one row of Table 3.

    Parameters
    ----------
    row
        'base', 'A1' ... 'E1' or 'big': letters are the paper's groups, numbers the lines of a group from the top.
    **changes
        Further fields to replace, `vocab_size` for one.

    Raises
    ------
    ValueError
        If there is no such row; the message lists them.

    Paper: Table 3
    """
    return base(**TABLE_3[_row(row)]).replace(**changes)


def table_3_training(row: str, **changes: Any) -> TrainingConfig:
    """The training of one row of Table 3: rows D3 and D4 change label smoothing, 'big' trains for longer.

    Paper: Table 3
    """
    return TrainingConfig(**TABLE_3_TRAINING.get(_row(row), {})).replace(**changes)


PRESETS = {"tiny": tiny, "base": base, "big": big}


def preset(name: str, **changes: Any) -> ModelConfig:
    """A model by name: 'tiny', 'base', 'big', or a row of Table 3.

    Raises
    ------
    ValueError
        If there is no preset of that name; the message lists them.
    """
    if name in PRESETS:
        return PRESETS[name](**changes)
    require(name in TABLE_3, f"no preset {name!r}; there are {', '.join(PRESETS)}, and rows {', '.join(TABLE_3)}")
    return table_3(name, **changes)

"""annotated: "Attention Is All You Need", whole, readable and fast.

Shapes are named by one letter throughout: B batch, S source length, T target length, H heads, D d_model,
K d_k, F d_ff, V vocabulary, L layers, and N rows of real tokens where padding is left out. Tensors are
batch-first; masks are boolean, True = may attend. Token ids: pad 0, bos 1, eos 2, unk 3.

Where to start reading: `annotated.model.attention`, and then down the list in `annotated.model`.
"""

from typing import TYPE_CHECKING, Any

from annotated.config import (
    DataConfig,
    DecodingConfig,
    ModelConfig,
    TrainingConfig,
    base,
    big,
    preset,
    table_3,
    table_3_training,
    tiny,
)

if TYPE_CHECKING:
    from annotated.decoding import Hypothesis, beam_search, greedy_decode
    from annotated.loading import load
    from annotated.model import (
        AttentionMaps,
        MultiHeadAttention,
        Transformer,
        causal_mask,
        padding_mask,
        scaled_dot_product_attention,
        sinusoidal_encoding,
    )
    from annotated.runs.log_table import read_log
    from annotated.saving import load_model, save_pretrained
    from annotated.training.loss import label_smoothed_cross_entropy
    from annotated.training.schedule import learning_rate
    from annotated.translator import Translator

__version__ = "0.2.0"
__all__ = [
    "AttentionMaps",
    "DataConfig",
    "DecodingConfig",
    "Hypothesis",
    "ModelConfig",
    "MultiHeadAttention",
    "TrainingConfig",
    "Transformer",
    "Translator",
    "base",
    "beam_search",
    "big",
    "causal_mask",
    "greedy_decode",
    "label_smoothed_cross_entropy",
    "learning_rate",
    "load",
    "load_model",
    "padding_mask",
    "preset",
    "read_log",
    "save_pretrained",
    "scaled_dot_product_attention",
    "sinusoidal_encoding",
    "table_3",
    "table_3_training",
    "tiny",
]

_LATER = {
    "annotated.decoding": ("Hypothesis", "beam_search", "greedy_decode"),
    "annotated.loading": ("load",),
    "annotated.model": (
        "AttentionMaps",
        "MultiHeadAttention",
        "Transformer",
        "causal_mask",
        "padding_mask",
        "scaled_dot_product_attention",
        "sinusoidal_encoding",
    ),
    "annotated.runs.log_table": ("read_log",),
    "annotated.saving": ("load_model", "save_pretrained"),
    "annotated.training.loss": ("label_smoothed_cross_entropy",),
    "annotated.training.schedule": ("learning_rate",),
    "annotated.translator": ("Translator",),
}
"""Modules and the names in them that are imported when first asked for: `annotated --help` needs no torch."""

_PARTS = ("config", "data", "decoding", "evaluation", "model", "paper", "recipes", "speed", "training")
"""Parts of the library that `import annotated` alone makes reachable: `annotated.model.masks`."""


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _PARTS:
        return import_module(f"annotated.{name}")
    for module, names in _LATER.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*(name for name in globals() if name.startswith("__")), *__all__, *_PARTS})

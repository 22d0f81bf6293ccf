"""Published base models, each as a configuration of this library: the paper's, and what goes by its name elsewhere.

Settings of others were read in their code: tensor2tensor at commit bafdc1b67730 of April 2023, fairseq at 3d262bb25690,
PyTorch in the installed version, of which a test asks for its defaults.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import pandas as pd

from annotated.analysis.parameters import parameter_parts
from annotated.config import ModelConfig, TrainingConfig, base
from annotated.training.schedule import learning_rate

_T2T = "https://github.com/tensorflow/tensor2tensor/blob/bafdc1b67730430d38d6ab802cbd51f9d053ba2e/"
_FAIRSEQ = "https://github.com/facebookresearch/fairseq/blob/3d262bb25690e4eb2e7d3c1309b1e9c406ca4b99/"


class Published(NamedTuple):
    """A base model that somebody published."""

    model: ModelConfig
    """Its settings, as far as the library's model has them."""
    training: TrainingConfig | None
    """None where a library leaves the training to its users."""
    sinusoids: Literal["side by side", "sines first", "none"]
    """The order of sines and cosines in a position vector."""
    embeddings: Literal[0, 1, 3]
    """Matrices of the two embeddings and the output: one shared by all, three, or none in the library's class."""
    source: str
    """Address of the code, or the part of the paper."""


_PAPER, _TRAINING = base(), TrainingConfig()
_V2 = _PAPER.replace(norm="pre", attention_dropout=0.1, feed_forward_dropout=0.1)
_V2_TRAINING = _TRAINING.replace(warmup=8000, learning_rate_scale=2.0)
_MODEL = _T2T + "tensor2tensor/models/transformer.py"
PUBLISHED = {
    "paper": Published(_PAPER, _TRAINING, "side by side", 1, "sections 3 and 5"),
    "T2T v1": Published(_PAPER, _TRAINING, "sines first", 1, f"{_MODEL}#L1772"),
    "T2T v2": Published(_V2, _V2_TRAINING, "sines first", 1, f"{_MODEL}#L1843"),
    "T2T v3": Published(_V2, _V2_TRAINING.replace(adam_betas=(0.9, 0.997)), "sines first", 1, f"{_MODEL}#L1960"),
    "fairseq": Published(
        _PAPER.replace(attention_bias=True, tie_embeddings=False, norm_epsilon=1e-5),
        None,
        "sines first",
        3,
        f"{_FAIRSEQ}fairseq/models/transformer/transformer_legacy.py#L124",
    ),
    "PyTorch": Published(
        _PAPER.replace(
            attention_bias=True, final_norm=True, attention_dropout=0.1, feed_forward_dropout=0.1, norm_epsilon=1e-5
        ),
        None,
        "none",
        0,
        "https://docs.pytorch.org/docs/stable/generated/torch.nn.Transformer.html",
    ),
}
"""By the names that the chapter uses; T2T is tensor2tensor, whose `transformer_base` is its v3."""


def parameters(one: Published) -> int:
    """Trained numbers of a published model with the paper's vocabulary of about 37,000 entries."""
    parts = parameter_parts(one.model)
    matrix = one.model.vocab_size * one.model.d_model
    return sum(parts.values()) - parts["embedding"] + one.embeddings * matrix


def _settings(one: Published) -> dict[str, Any]:
    model, training = one.model, one.training
    has_top = model.norm == "pre" or model.final_norm
    shown: dict[str, Any] = {
        "LayerNorm": f"{model.norm}-norm",
        "one more on top": "yes" if has_top else "no",
        "sinusoids": one.sinusoids,
        "biases in attention": "yes" if model.attention_bias else "no",
        "dropout, weights": f"{model.attention_dropout:g}",
        "dropout, hidden units": f"{model.feed_forward_dropout:g}",
        "vocabulary matrices": str(one.embeddings or "none"),
        "parameters, millions": f"{parameters(one) / 1e6:.1f}",
    }
    if training is None:
        return {**shown, **dict.fromkeys(("warm-up", "highest rate", "Adam's second beta"), "–")}
    peak = learning_rate(training.warmup, model.d_model, training.warmup, training.learning_rate_scale)
    rest = {
        "warm-up": f"{training.warmup:,}",
        "highest rate": f"{1e4 * peak:.2f}e-4",
        "Adam's second beta": f"{training.adam_betas[1]:g}",
    }
    return {**shown, **rest}


def settings_table() -> pd.DataFrame:
    """Settings by rows, published models by columns, as texts."""
    return pd.DataFrame({name: _settings(one) for name, one in PUBLISHED.items()}).rename_axis("setting")

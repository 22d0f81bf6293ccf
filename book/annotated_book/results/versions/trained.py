"""Versions of the base model as chapter 32 trains them: each scaled down, and trained alike on real text.

The sizes are those of the small Table 3. What a version sets in ratios stays in ratios: warm-up as a share of all
updates, and the highest rate as a multiple of the paper's.
"""

from __future__ import annotations

from torch import Tensor, nn

from annotated.config import ModelConfig, TrainingConfig, base
from annotated.model import MultiHeadAttention, Transformer
from annotated.training.schedule import learning_rate
from annotated_book.experiments.settings import Size
from annotated_book.results.versions.configurations import PUBLISHED
from annotated_book.results.versions.conventions import SinesFirst

HIGHEST_RATE = 0.4 * 0.6 / (32 * 400) ** 0.5
"""Of the version as written: post-norm bears 0.4 of the rate that the pilot of the small Table 3 gave to pre-norm."""
ROWS = {"written": "paper", "v1": "T2T v1", "v3": "T2T v3"}
"""From a row to the published model; today's is the row '2026' of chapter 34."""


class ReleasedSinusoids(nn.Module):
    """Sinusoids as released, computed once: all sines before all cosines, at the frequencies of the code."""

    table: Tensor

    def __init__(self, d_model: int, length: int = 512) -> None:
        super().__init__()
        self.register_buffer("table", SinesFirst(d_model, "released")(length), persistent=False)

    def forward(self, length: int) -> Tensor:
        """The encodings of positions 0..length - 1, `[length, D]`."""
        return self.table[:length]


def version_model(row: str, size: Size) -> Transformer:
    """The model of a row, scaled down; as released with its sinusoids, and in v1 with the first initialisation."""
    published, scaled = PUBLISHED[ROWS[row]].model, size.model("base")
    same = ("norm", "attention_dropout", "feed_forward_dropout")
    model = Transformer(scaled.replace(**{name: getattr(published, name) for name in same}))
    if row != "written":
        model.positions = ReleasedSinusoids(scaled.d_model)  # type: ignore[assignment]
    if row == "v1":
        joint_initialisation(model)
    return model


def joint_initialisation(model: Transformer) -> None:
    """W_Q, W_K and W_V of a self-attention drawn as one matrix, with a smaller bound: v1 until November 2017."""
    for name, module in model.named_modules():
        if isinstance(module, MultiHeadAttention) and name.endswith("self_attention"):
            nn.init.xavier_uniform_(module.in_projection)


def version_training(row: str, seed: int, size: Size) -> TrainingConfig:
    """The training of a row: its warm-up, highest rate and Adam's constants in the published ratios."""
    published, training = PUBLISHED[ROWS[row]].training, size.training("base", seed)
    assert published is not None
    warmup = round(training.updates * published.warmup / TrainingConfig.updates)
    peak = HIGHEST_RATE * _peak(published, base()) / _peak(TrainingConfig(), base())
    scale = peak / learning_rate(warmup, size.model("base").d_model, warmup)
    return training.replace(warmup=warmup, learning_rate_scale=scale, adam_betas=published.adam_betas)


def _peak(training: TrainingConfig, model: ModelConfig) -> float:
    return learning_rate(training.warmup, model.d_model, training.warmup, training.learning_rate_scale)

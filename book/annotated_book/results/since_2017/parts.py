"""Parts of the Transformer that have changed since 2017, each by itself in the same model, and all together.

The base is that of the small Table 3: pre-norm, sinusoids, LayerNorm, ReLU, Adam and equation 3. The padded layout and
the cache take every part as it is. On a GPU the packed layout does not: it joins the projections of the memory in one
product (`annotated.speed.layouts.memory`), which knows neither QK-norm nor grouped queries.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch.optim import Optimizer

from annotated.config import ModelConfig, TrainingConfig
from annotated.model import Transformer
from annotated_book.results.since_2017.biases import NoBiasTransformer
from annotated_book.results.since_2017.combined import Transformer2026, muon_with_decay
from annotated_book.results.since_2017.decay import adam, adamw
from annotated_book.results.since_2017.grouped_queries import GroupedQueryTransformer
from annotated_book.results.since_2017.muon import muon
from annotated_book.results.since_2017.qk_norm import QKNormTransformer
from annotated_book.results.since_2017.rms_norm import RMSNormTransformer
from annotated_book.results.since_2017.rotary import RotaryTransformer
from annotated_book.results.since_2017.schedules import cosine, inverse_root, warmup_stable_decay
from annotated_book.results.since_2017.swiglu import SwiGLUTransformer

POST_NORM_SHARE = 0.4
"""Of the base's rate, for post-norm: the ratio of the rates that the pilot of the small Table 3 gave them."""


def post_norm(config: ModelConfig) -> Transformer:
    """The `Transformer` as printed in 2017: LayerNorm after each residual sum."""
    return Transformer(config.replace(norm="post"))


def lowered(share: float) -> Callable[[int, TrainingConfig, int], float]:
    """Equation 3 with a share of the base's rate."""

    def rate(update: int, training: TrainingConfig, d_model: int) -> float:
        return share * inverse_root(update, training, d_model)

    return rate


@dataclass(frozen=True)
class Part:
    """What one run of the experiment changes."""

    title: str
    """As tables and charts name it."""
    what: str
    """What takes the place of what, in one line."""
    source: str
    """Who proposed it, with the year and an address."""
    model: Callable[[ModelConfig], Transformer] = Transformer
    """The model of a configuration."""
    optimizer: Callable[[Transformer, TrainingConfig], Optimizer] = adam
    """The optimiser of a model."""
    rate: Callable[[int, TrainingConfig, int], float] = inverse_root
    """The learning rate of an update, counted from 1, in a training of a model of width D."""


PARTS: dict[str, Part] = {
    "base": Part("Base", "nothing: pre-norm, the rest as printed", "Vaswani et al. 2017, arXiv 1706.03762"),
    "rope": Part(
        "RoPE",
        "queries and keys are turned by their places, instead of sinusoids added to the embeddings",
        "Su et al. 2021, arXiv 2104.09864",
        RotaryTransformer,
    ),
    "rmsnorm": Part(
        "RMSNorm",
        "every norm divides by the root of the mean square, and subtracts no mean",
        "Zhang and Sennrich 2019, arXiv 1910.07467",
        RMSNormTransformer,
    ),
    "swiglu": Part(
        "SwiGLU",
        "a swish as the gate of a second product, instead of the ReLU; two thirds of the inner width",
        "Shazeer 2020, arXiv 2002.05202",
        SwiGLUTransformer,
    ),
    "post-norm": Part(
        "Post-norm",
        "LayerNorm after each residual sum, as printed in 2017; the base has it before each sub-layer",
        "Xiong et al. 2020, arXiv 2002.04745 (which compares both)",
        post_norm,
    ),
    "post-norm-slow": Part(
        "Post-norm, lower rate",
        "the same, and 0.4 times the learning rate",
        "Xiong et al. 2020, arXiv 2002.04745 (which compares both)",
        post_norm,
        rate=lowered(POST_NORM_SHARE),
    ),
    "no-biases": Part(
        "No biases",
        "no biases in feed-forward networks and norms",
        "Chowdhery et al. 2022, arXiv 2204.02311 (PaLM)",
        NoBiasTransformer,
    ),
    "grouped": Part(
        "Grouped queries",
        "in the decoder 2 heads of keys and values for 8 of queries",
        "Ainslie et al. 2023, arXiv 2305.13245",
        GroupedQueryTransformer,
    ),
    "qk-norm": Part(
        "QK-norm",
        "RMSNorm of each head's query and key before the dot product",
        "Henry et al. 2020, arXiv 2010.04245; Dehghani et al. 2023, arXiv 2302.05442",
        QKNormTransformer,
    ),
    "adamw": Part(
        "AdamW",
        "a decoupled weight decay of 0.1 on all matrices",
        "Loshchilov and Hutter 2017, arXiv 1711.05101",
        optimizer=adamw,
    ),
    "cosine": Part(
        "Cosine",
        "after the warm-up half a cosine down to a tenth, instead of the inverse root",
        "Loshchilov and Hutter 2016, arXiv 1608.03983",
        rate=cosine,
    ),
    "wsd": Part(
        "Warm-up, stable, decay",
        "after the warm-up a constant rate, and a straight line down in the last fifth",
        "Hu et al. 2024, arXiv 2404.06395 (MiniCPM)",
        rate=warmup_stable_decay,
    ),
    "muon": Part(
        "Muon",
        "hidden matrices change by orthogonal matrices; Adam for all else",
        "Jordan et al. 2024, kellerjordan.github.io/posts/muon; Liu et al. 2025, arXiv 2502.16982",
        optimizer=muon,
    ),
    "2026-model": Part(
        "2026's model",
        "RoPE, RMSNorm, SwiGLU, no biases, grouped queries and QK-norm; trained as the base",
        "all of the above",
        Transformer2026,
    ),
    "2026-training": Part(
        "2026's training",
        "Muon and AdamW with decay, warm-up, stable, decay; the base's model",
        "all of the above",
        optimizer=muon_with_decay,
        rate=warmup_stable_decay,
    ),
    "2026": Part(
        "2026",
        "2026's model with 2026's training",
        "all of the above",
        Transformer2026,
        muon_with_decay,
        warmup_stable_decay,
    ),
}
"""By name, in the order of the chapter."""

RATE_SEARCH: dict[str, Part] = {
    f"post-norm-{share:g}": Part(
        f"Post-norm, {share:g} times the rate",
        f"the printed order of 2017, and {share:g} times the learning rate",
        "Xiong et al. 2020, arXiv 2002.04745 (which compares both)",
        post_norm,
        rate=lowered(share),
    )
    for share in (0.2, 0.1)
}
"""More rates for the model of 2017, so that its place in the last comparison is not one of a badly chosen rate.

They are no parts: the table of parts and its tests do not know them.
"""
RATES_OF_2017 = {
    "post-norm": 1.0,
    "post-norm-slow": POST_NORM_SHARE,
    **{name: float(name.rpartition("-")[2]) for name in RATE_SEARCH},
}
"""At which shares of the base's rate the model of 2017 was trained, by row, highest first."""

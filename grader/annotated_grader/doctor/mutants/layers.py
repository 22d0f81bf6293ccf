"""Wrong layers: how many, how they differ, and what stands around a sub-layer."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from typing import Any

from torch import Tensor, nn
from torch.nn import functional as F

from annotated.model import layers
from annotated.model.feed_forward import PositionwiseFeedForward
from annotated.model.layers import Decoder, Encoder, SublayerConnection
from annotated.model.transformer import Transformer
from annotated.speed.kernels.dropout import Dropout
from annotated_grader.doctor.mutants.patching import COMPANY, LEAKS, SEARCH, Bank, Patches

BANK = Bank()


# Stacks


def _built_with(patches: Patches, change: Any) -> None:
    """Let `change` have each stack's list of layers once it is built."""

    def make(original: Any) -> Any:
        def init(self: Any, config: Any) -> None:
            original(self, config)
            self.layers = nn.ModuleList(change(list(self.layers)))

        return init

    for stack in (Encoder, Decoder):
        patches.method(stack, "__init__", make)


@BANK.mutant("A stack is one layer, used N times.", "residuals", "layers-differ")
def layers_are_one(patches: Patches) -> None:
    _built_with(patches, lambda built: [built[0]] * len(built))


@BANK.mutant(
    "The layers of a stack are copies of the first one, and begin with the same weights.",
    "layers-differ",
    source="labmlai/annotated_deep_learning_paper_implementations",
)
def layers_begin_equal(patches: Patches) -> None:
    _built_with(patches, lambda built: [copy.deepcopy(built[0]) for _ in built])


@BANK.mutant("The decoder's two attentions are one module, used twice.", "residuals", "layers-differ")
def attentions_are_one(patches: Patches) -> None:
    def make(original: Any) -> Any:
        def init(self: Any, config: Any) -> None:
            original(self, config)
            self.cross_attention = self.self_attention

        return init

    patches.method(layers.DecoderLayer, "__init__", make)


# Residual connections


def _after(patches: Patches, after: Any) -> None:
    patches.attribute(SublayerConnection, "after", after)


@BANK.mutant(
    "There is no residual connection: a sub-layer's output is normalised alone.",
    "target-positions",
    "residuals",
    claim="C44",
)
def residual_missing(patches: Patches) -> None:
    _after(patches, lambda self, x, y: self.norm(self.dropout(y)))


@BANK.mutant(
    "LayerNorm normalises the sub-layer's output before it is added, and not the sum.",
    "residuals",
    "initial-loss",
    claim="C46",
)
def norm_before_sum(patches: Patches) -> None:
    _after(patches, lambda self, x, y: x + self.norm(self.dropout(y)))


@BANK.mutant(
    "LayerNorm stands before the sub-layer, though the order of the paper was claimed.",
    "residuals",
    claim="C46",
    source="harvardnlp/annotated-transformer, like the paper's released code in its later defaults",
)
def norm_before_sublayer(patches: Patches) -> None:
    _norm_first(patches)
    patches.function(
        layers._final_norm, lambda original: lambda config: nn.LayerNorm(config.d_model, eps=config.norm_epsilon)
    )


@BANK.mutant(
    "LayerNorm stands before the sub-layer, and nothing normalises what leaves the stack.",
    "residuals",
    "initial-loss",
    claim="C46",
)
def norm_before_sublayer_without_last(patches: Patches) -> None:
    _norm_first(patches)


def _norm_first(patches: Patches) -> None:
    patches.attribute(SublayerConnection, "before", lambda self, x: self.norm(x))
    patches.attribute(SublayerConnection, "after", lambda self, x, y: self.dropout.add(x, y))


# LayerNorm itself


def _normalised_by(patches: Patches, forward: Callable[[nn.LayerNorm, Tensor], Tensor]) -> None:
    """Let the LayerNorm of every residual connection built now compute `forward`."""
    wrong = type("LayerNorm", (nn.LayerNorm,), {"forward": forward})

    def make(original: Any) -> Any:
        def init(self: SublayerConnection, config: Any) -> None:
            original(self, config)
            self.norm = wrong(config.d_model, eps=config.norm_epsilon)

        return init

    patches.method(SublayerConnection, "__init__", make)


@BANK.mutant("There is no LayerNorm after the residual sum.", "residuals", "initial-loss")
def norm_missing(patches: Patches) -> None:
    _normalised_by(patches, lambda norm, x: x)


@BANK.mutant(
    "LayerNorm divides by the unbiased standard deviation plus epsilon.",
    "residuals",
    source="harvardnlp/annotated-transformer; 0.1 % at d_model = 512, and more in smaller models",
)
def norm_by_unbiased_deviation(patches: Patches) -> None:
    def forward(norm: nn.LayerNorm, x: Tensor) -> Tensor:
        centred = x - x.mean(dim=-1, keepdim=True)
        return norm.weight * centred / (x.std(dim=-1, keepdim=True) + norm.eps) + norm.bias

    _normalised_by(patches, forward)


@BANK.mutant(
    "LayerNorm runs over all positions of a sentence together, and so mixes them.",
    *LEAKS,
    *COMPANY,
    "target-padding",
    "residuals",
    *SEARCH,
    "beam-exhaustive",
)
def norm_over_sentence(patches: Patches) -> None:
    def forward(norm: nn.LayerNorm, x: Tensor) -> Tensor:
        shape = x.shape[1:] if x.dim() == 3 else x.shape[-1:]
        return norm.weight * F.layer_norm(x, list(shape), eps=norm.eps) + norm.bias

    _normalised_by(patches, forward)


# The feed-forward network


@BANK.mutant("The feed-forward network has no ReLU: two linear maps that could be one.", "feed-forward")
def feed_forward_linear(patches: Patches) -> None:
    patches.attribute(PositionwiseFeedForward, "forward", lambda self, x: self.outer(self.inner(x)))


@BANK.mutant(
    "The feed-forward network reads each position together with the one before it.",
    *LEAKS,
    *COMPANY,
    "target-padding",
    "feed-forward",
    *SEARCH,
    "beam-exhaustive",
    claim="C34",
)
def feed_forward_mixes_positions(patches: Patches) -> None:
    def make(original: Any) -> Any:
        def forward(self: Any, x: Tensor) -> Tensor:
            return original(self, (x + x.roll(1, dims=-2)) / 2 if x.dim() == 3 else x)

        return forward

    patches.method(PositionwiseFeedForward, "forward", make)


# Dropout


@BANK.mutant(
    "Dropout stays on in evaluation: the functional form, without the module's mode.",
    "dropout-off",
)
def dropout_in_evaluation(patches: Patches) -> None:
    patches.attribute(Dropout, "forward", lambda self, x: F.dropout(x, self.p, True))
    patches.attribute(Dropout, "add", lambda self, residual, x: residual + F.dropout(x, self.p, True))


@BANK.mutant("Dropout of attention weights stays on in evaluation.", "dropout-off")
def attention_dropout_in_evaluation(patches: Patches) -> None:
    patches.method(
        Transformer,
        "_attend",
        lambda original: (
            lambda self, mask, weights: dataclasses.replace(
                original(self, mask, weights), dropout=self.attention_dropout
            )
        ),
    )


@BANK.mutant("Dropout is never applied, though it was claimed.", "dropout-on")
def dropout_missing(patches: Patches) -> None:
    patches.attribute(Dropout, "forward", lambda self, x: x)
    patches.attribute(Dropout, "add", lambda self, residual, x: residual + x)


@BANK.mutant("The sub-layers' outputs get no dropout before the residual sum; the embeddings do.", "dropout-on")
def dropout_missing_in_layers(patches: Patches) -> None:
    patches.attribute(Dropout, "add", lambda self, residual, x: residual + x)


@BANK.mutant(
    "The sums of token vectors and positions get no dropout; the sub-layers do.",
    "dropout-on",
    source="labmlai/annotated_deep_learning_paper_implementations",
)
def dropout_missing_on_embeddings(patches: Patches) -> None:
    def make(original: Any) -> Any:
        def init(self: Transformer, config: Any) -> None:
            original(self, config)
            self.dropout = Dropout(0.0)

        return init

    patches.method(Transformer, "__init__", make)


@BANK.mutant(
    "What dropout keeps is not scaled up by 1 / (1 - p), so training and evaluation differ in size.", "dropout-on"
)
def dropout_without_factor(patches: Patches) -> None:
    def forward(self: Dropout, x: Tensor) -> Tensor:
        return F.dropout(x, self.p, self.training) * (1 - self.p if self.training else 1.0)

    patches.attribute(Dropout, "forward", forward)
    patches.attribute(Dropout, "add", lambda self, residual, x: residual + forward(self, x))


@BANK.mutant("Dropout keeps with probability p, where it was to drop with it.", "dropout-on")
def dropout_rate_inverted(patches: Patches) -> None:
    patches.attribute(Dropout, "forward", lambda self, x: F.dropout(x, 1 - self.p, self.training))
    patches.attribute(Dropout, "add", lambda self, residual, x: residual + F.dropout(x, 1 - self.p, self.training))

"""Wrong embeddings and positions: their sizes, their formula, where they are added, and what is shared."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from annotated.model.embeddings import TokenEmbedding
from annotated.model.positional_encoding import SinusoidalPositions, sinusoidal_encoding
from annotated.model.transformer import Transformer
from annotated_grader.doctor.mutants.patching import CACHE, SEARCH, Bank, Patches

BANK = Bank()


# Size


def _times(patches: Patches, factor: Any) -> None:
    def make(original: Any) -> Any:
        return lambda self, ids: original(self, ids) * factor(self)

    patches.method(TokenEmbedding, "forward", make)


@BANK.mutant(
    "Token vectors are not multiplied by the root of d_model.", "embedding-scale", source="hyunwoongko/transformer"
)
def embedding_not_scaled(patches: Patches) -> None:
    _times(patches, lambda self: 1 / self.scale)


@BANK.mutant(
    "Token vectors are multiplied by d_model, not by its root.",
    "embedding-scale",
    claim="C37",
    source="a scan of the paper in which the root sign was lost",
)
def embedding_times_d_model(patches: Patches) -> None:
    _times(patches, lambda self: self.scale)


@BANK.mutant("The sum of token vector and position is scaled, not the token vector alone.", "sinusoids")
def positions_scaled_too(patches: Patches) -> None:
    patches.method(
        SinusoidalPositions, "forward", lambda original: lambda self, n: original(self, n) * self.table.size(1) ** 0.5
    )


# Order


@BANK.mutant("No positions are added.", "source-order", "target-positions", "far-positions", "sinusoids", claim="C25")
def positions_missing(patches: Patches) -> None:
    patches.method(SinusoidalPositions, "forward", lambda original: lambda self, n: torch.zeros_like(original(self, n)))


@BANK.mutant(
    "In the sinusoids, i counts dimensions, not pairs of them: a sine and its cosine have two wavelengths.",
    "sinusoids",
    claim="C26",
    source="the paper's own words, 'i is the dimension', taken at face value",
)
def positions_by_dimension(patches: Patches) -> None:
    def encoding(length: int, d_model: int) -> Tensor:
        positions = torch.arange(length, dtype=torch.float64)[:, None]
        dimension = torch.arange(d_model, dtype=torch.float64)
        angles = positions / 10000 ** (2 * dimension / d_model)
        return torch.where(dimension % 2 == 0, angles.sin(), angles.cos()).float()

    patches.function(sinusoidal_encoding, lambda _: encoding)


@BANK.mutant(
    "Positions are multiplied by 10000 ** (2 i / d_model), not divided by it.",
    "sinusoids",
    source="harvardnlp/annotated-transformer, issue 131, where it 'trains faster' on the copy task",
)
def positions_multiplied(patches: Patches) -> None:
    def encoding(length: int, d_model: int) -> Tensor:
        positions = torch.arange(length, dtype=torch.float64)[:, None]
        angles = positions * 10000 ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
        return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1).float()

    patches.function(sinusoidal_encoding, lambda _: encoding)


@BANK.mutant("Positions are the numbers 0, 1, 2, ... themselves, added to every dimension.", "sinusoids", claim="C23")
def positions_are_numbers(patches: Patches) -> None:
    def encoding(length: int, d_model: int) -> Tensor:
        return torch.arange(length, dtype=torch.float)[:, None].expand(-1, d_model).contiguous()

    patches.function(sinusoidal_encoding, lambda _: encoding)


@BANK.mutant("The table of positions has 200 rows, and longer sentences fail.", "far-positions", claim="C29")
def positions_end_at_200(patches: Patches) -> None:
    def make(original: Any) -> Any:
        def forward(self: SinusoidalPositions, length: int) -> Tensor:
            if length > 200:
                raise IndexError(f"position {length - 1} is out of range for a table of 200 positions")
            return original(self, length)

        return forward

    patches.method(SinusoidalPositions, "forward", make)


@BANK.mutant("Positions are added in the encoder only.", "target-positions", "far-positions", "sinusoids", claim="C25")
def positions_in_encoder_only(patches: Patches) -> None:
    def make(original: Any) -> Any:
        def embed(self: Transformer, ids: Tensor, positions: Tensor | None = None, *, target: bool = False) -> Tensor:
            return self.dropout(self._table(True)(ids)) if target else original(self, ids, positions)

        return embed

    patches.method(Transformer, "embed", make)


@BANK.mutant(
    "Positions run along the batch, not along the sentence: `pe[: x.size(0)]` on a batch-first tensor.",
    "batch-mates",
    "source-order",
    "target-positions",
    "far-positions",
    "embedding-scale",
    "accumulation",
    *SEARCH,
    "beam-exhaustive",
    "perplexity",
    "start-rows",
)
def positions_along_batch(patches: Patches) -> None:
    def make(original: Any) -> Any:
        def embed(self: Transformer, ids: Tensor, positions: Tensor | None = None, *, target: bool = False) -> Tensor:
            if positions is None:
                wrong = self.positions(ids.size(0))[:, None]
            elif positions.dim() == 1:  # one step of every row
                wrong = self.positions(len(ids))
            else:  # packed rows: a sentence begins where the first position stands
                sentence = (positions == self.positions(1)).all(dim=-1).cumsum(0) - 1
                wrong = self.positions(int(sentence[-1]) + 1)[sentence]
            return original(self, ids, wrong, target=target)

        return embed

    patches.method(Transformer, "embed", make)


def _stepping_at(patches: Patches, position: Any) -> None:
    """Let a cached step take its token for one at `position(its true position)`."""

    def make(original: Any) -> Any:
        def step(self: Transformer, token: Tensor, state: Any) -> tuple[Tensor, Any]:
            true = state.position
            state.position = position(true)
            logits, state = original(self, token, state)
            state.position = true + 1
            return logits, state

        return step

    patches.method(Transformer, "decode_step", make)


@BANK.mutant("With a cache, every new token is taken for the first of its sentence.", *CACHE, *SEARCH, claim="C20")
def cached_position_restarts(patches: Patches) -> None:
    _stepping_at(patches, lambda position: 0)


@BANK.mutant(
    "With a cache, positions are counted from 1, and in training from 0.",
    *CACHE,
    *SEARCH,
    "beam-exhaustive",
    claim="C20",
)
def cached_position_off_by_one(patches: Patches) -> None:
    _stepping_at(patches, lambda position: position + 1)


# Sharing


def _own_output(model: Transformer) -> None:
    model.output_embedding = TokenEmbedding(model.config.vocab_size, model.config.d_model)


def _read_output(patches: Patches) -> None:
    """Let every model project with its `output_embedding`, tied or not."""
    patches.attribute(Transformer, "project", lambda self, hidden: self.output_embedding.project(hidden))
    patches.attribute(Transformer, "output_weight", property(lambda self: self.output_embedding.weight))


@BANK.mutant(
    "The output has a matrix of its own, though one for all was claimed.",
    "tied-tables",
    claim="C36",
    source="harvardnlp/annotated-transformer, where the lines that tie are switched off",
)
def tied_in_name_only(patches: Patches) -> None:
    def make(original: Any) -> Any:
        def init(self: Transformer, config: Any) -> None:
            original(self, config)
            _own_output(self)

        return init

    patches.method(Transformer, "__init__", make)
    _read_output(patches)


@BANK.mutant(
    "After a state dict is loaded, embedding and output matrix are equal but not one tensor.",
    "state-round-trip",
    claim="C36",
)
def tie_lost_by_loading(patches: Patches) -> None:
    def untie(model: Any, _: Any) -> None:
        model.output_embedding.weight = nn.Parameter(model.embedding.weight.detach().clone())

    def make(original: Any) -> Any:
        def init(self: Transformer, config: Any) -> None:
            original(self, config)
            _own_output(self)
            self.output_embedding.weight = self.embedding.weight
            self.register_load_state_dict_post_hook(untie)

        return init

    patches.method(Transformer, "__init__", make)
    _read_output(patches)


@BANK.mutant(
    "Logits read the embedding matrix with the root of d_model still multiplied onto it.", "initial-loss", claim="C36"
)
def output_scaled_too(patches: Patches) -> None:
    patches.method(TokenEmbedding, "project", lambda original: lambda self, x: original(self, x) * self.scale)

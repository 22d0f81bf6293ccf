"""`annotated` in the same harness, by its public functions only: what a user's own code would call.

Rules that keep the comparison honest: the model is the paper's at exactly the given shape; a timed
step does everything (zero_grad, forward, smoothed loss over the real target tokens, backward, Adam);
`prepare` does only what a data loader does; decoders write exactly NEW_TOKENS tokens; float32, dropout
on while training, nothing carried between rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from annotated.config import EOS, PAD, DecodingConfig, ModelConfig, TrainingConfig
from benchmarks.peers import workload
from benchmarks.peers.adapter import Adapter
from benchmarks.peers.workload import NEW_TOKENS, Pair, Shape, WorkBatch


def model_config(shape: Shape, **changes: Any) -> ModelConfig:
    """The library's configuration of a shape."""
    head = shape.d_model // shape.heads
    layers: dict[str, Any] = {"num_encoder_layers": shape.layers, "num_decoder_layers": shape.layers}
    heads: dict[str, Any] = {"num_heads": shape.heads, "d_k": head, "d_v": head}
    config = ModelConfig(
        vocab_size=shape.vocab, d_model=shape.d_model, d_ff=shape.d_ff, dropout=shape.dropout, **layers, **heads
    )
    return config.replace(**changes)


def library_batch(batch: WorkBatch) -> Any:
    """A `Batch` of the library."""
    from annotated.data.batch import Batch

    target_in, target_out = batch.target[:, :-1].contiguous(), batch.target[:, 1:].contiguous()
    # Padding of target_in: the eos of a shorter sentence stands where target_out has its padding.
    target_in = target_in.masked_fill(target_out == PAD, PAD)
    lengths = list(batch.source_lengths), list(batch.target_lengths)
    return Batch(batch.source, target_in, target_out, *lengths, list(range(len(batch.source_lengths))))


class Project(Adapter):
    """annotated: packed rows, fused attention, fused Adam."""

    can: tuple[str, ...] = ("train", "greedy", "beam")
    note = "annotated, packed rows, the paper's dropout"
    layout = "packed"
    changes: dict[str, Any] = {}

    def make(self, shape: Shape) -> nn.Module:
        from annotated.model import Transformer
        from annotated.runs.hardware import keep_freed_memory

        keep_freed_memory()  # as `train` does
        return Transformer(model_config(shape, **self.changes))

    def build_decoder(self, shape: Shape) -> None:
        """The very weights that Marian and CTranslate2 decode with, attention biases included."""
        from annotated.interop import from_marian, marian_order
        from benchmarks.peers.packages import marian

        theirs = marian(shape)
        self.model = from_marian(theirs, marian_order(theirs.config))

    def paper_dropout(self) -> None:
        """The library's own default."""

    def adam(self) -> torch.optim.Optimizer:
        training = TrainingConfig()
        constants: dict[str, Any] = {"betas": training.adam_betas, "eps": training.adam_epsilon}
        return torch.optim.Adam(self.model.parameters(), lr=1e-4, fused=True, **constants)

    def ragged_batches(self, pairs: Sequence[Pair]) -> list[WorkBatch]:
        return workload.token_buckets(pairs)

    def prepare(self, batch: WorkBatch) -> Any:
        return library_batch(batch)

    def loss(self, batch: Any) -> Tensor:
        from annotated.speed.steps import layout_loss

        loss_sum, tokens = layout_loss(self.model, batch, TrainingConfig().label_smoothing, self.layout)
        return loss_sum / tokens

    def greedy(self, source: Tensor) -> list[list[int]]:
        from annotated.decoding import greedy_decode

        found = greedy_decode(self.model, source, max_new_tokens=NEW_TOKENS, forbidden=[EOS])
        return [hypothesis.tokens for hypothesis in found]

    def beam(self, source: Tensor, beam_size: int) -> list[list[int]]:
        from annotated.decoding import beam_search

        how: dict[str, Any] = {"beam_size": beam_size, "alpha": DecodingConfig().alpha, "forbidden": [EOS]}
        found = beam_search(self.model, source, **how, max_new_tokens=NEW_TOKENS)
        return [hypotheses[0].tokens for hypotheses in found]


class ProjectPadded(Project):
    """The readable layout: rectangles with masks."""

    can = ("train",)
    note = "annotated, the padded layout to read"
    layout = "padded"


class ProjectAllDropout(Project):
    """With dropout also on attention weights and inside the feed-forward network, as most peers have it."""

    can = ("train",)
    note = "annotated with the peers' dropout"
    changes = {"attention_dropout": 0.1, "feed_forward_dropout": 0.1}

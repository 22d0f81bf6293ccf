"""torch.nn.Transformer as its documentation suggests: shared embedding, sinusoids, tied output."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from annotated.config import BOS, EOS, PAD
from benchmarks.peers import workload
from benchmarks.peers.adapter import Adapter, smoothed_cross_entropy
from benchmarks.peers.workload import NEW_TOKENS, Pair, Shape, WorkBatch

causal_mask = nn.Transformer.generate_square_subsequent_mask


class TorchModel(nn.Module):
    """nn.Transformer between one shared embedding and its transpose."""

    positions: Tensor

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.embedding = nn.Embedding(shape.vocab, shape.d_model, PAD)
        nn.init.normal_(self.embedding.weight, std=shape.d_model**-0.5)
        sizes = shape.d_model, shape.heads, shape.layers, shape.layers, shape.d_ff, shape.dropout
        self.core = nn.Transformer(*sizes, batch_first=True)
        angle = torch.arange(shape.max_len)[:, None] * 10000 ** (-torch.arange(0, shape.d_model, 2) / shape.d_model)
        self.register_buffer("positions", torch.stack((angle.sin(), angle.cos()), -1).flatten(1))
        self.dropout, self.scale = nn.Dropout(shape.dropout), math.sqrt(shape.d_model)

    def embed(self, ids: Tensor) -> Tensor:
        return self.dropout(self.embedding(ids) * self.scale + self.positions[: ids.size(1)])

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        causal = causal_mask(target.size(1), device=target.device)
        padding = source == PAD
        masks = {"src_key_padding_mask": padding, "memory_key_padding_mask": padding}
        embedded = self.embed(source), self.embed(target)
        out = self.core(*embedded, tgt_mask=causal, tgt_is_causal=True, **masks)
        return F.linear(out, self.embedding.weight)


class PlainTorch(Adapter):
    """torch.nn.Transformer with batches in arrival order."""

    can: tuple[str, ...] = ("train", "greedy")
    note = "three-way tied; greedy re-runs the whole prefix (no cache in torch.nn)"
    greedy_sentences = 32

    def make(self, shape: Shape) -> nn.Module:
        return TorchModel(shape)

    def paper_dropout(self) -> None:
        for module in self.model.modules():
            if isinstance(module, nn.MultiheadAttention):
                module.dropout = 0.0
            elif isinstance(module, (nn.TransformerEncoderLayer, nn.TransformerDecoderLayer)):
                module.dropout.p = 0.0  # the one between the two linear layers; dropout1..3 are the residual ones

    def loss(self, batch: WorkBatch) -> Tensor:
        return smoothed_cross_entropy(self.model(batch.source, batch.target[:, :-1]), batch.target[:, 1:])

    def greedy(self, source: Tensor) -> Tensor:
        model, padding = self.model, source == PAD
        memory = model.core.encoder(model.embed(source), src_key_padding_mask=padding)
        prefix = torch.full((len(source), 1), BOS)
        for _ in range(NEW_TOKENS):
            how = {"tgt_mask": causal_mask(prefix.size(1)), "tgt_is_causal": True}
            out = model.core.decoder(model.embed(prefix), memory, memory_key_padding_mask=padding, **how)
            logits = F.linear(out[:, -1], model.embedding.weight)
            logits[:, [PAD, EOS]] = -math.inf
            prefix = torch.cat((prefix, logits.argmax(-1, keepdim=True)), 1)
        return prefix[:, 1:]


class BucketedTorch(PlainTorch):
    """The same model on length buckets: the strongest peer on ragged data, and the one for memory."""

    can = ("train",)
    note = "the same model on length buckets of at most 2,048 padded tokens a side"

    def ragged_batches(self, pairs: Sequence[Pair]) -> list[WorkBatch]:
        return workload.token_buckets(pairs)

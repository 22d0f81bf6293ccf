"""Peers that are plain repositories: their code is imported from PEERS_SRC, or lifted from a script; none is copied."""

from __future__ import annotations

import copy
import math
import sys
import time
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from annotated.config import BOS, PAD
from benchmarks.peers import workload
from benchmarks.peers.adapter import Adapter, lift, source_dir
from benchmarks.peers.workload import NEW_TOKENS, Pair, Shape, WorkBatch


def annotated_transformer() -> dict[str, Any]:
    """The classes and functions of The Annotated Transformer's script."""
    path = source_dir("annotated-transformer") / "the_annotated_transformer.py"
    names = {"torch": torch, "nn": nn, "math": math, "copy": copy, "time": time}
    return lift(path, {**names, "log_softmax": F.log_softmax, "pad": F.pad, "__name__": "the_annotated_transformer"})


class Harvard(Adapter):
    """The Annotated Transformer (harvardnlp/annotated-transformer)."""

    can = ("train", "greedy")
    note = "pre-norm, untied; ragged data padded to 128; greedy batch 1, no cache"
    greedy_batch, greedy_sentences = 1, 4

    def make(self, shape: Shape) -> nn.Module:
        self.code = annotated_transformer()
        sizes = shape.vocab, shape.vocab, shape.layers, shape.d_model, shape.d_ff, shape.heads, shape.dropout
        model = self.code["make_model"](*sizes)
        criterion = self.code["LabelSmoothing"](shape.vocab, PAD, 0.1)
        self.compute = self.code["SimpleLossCompute"](model.generator, criterion)
        return model

    def paper_dropout(self) -> None:
        for module in self.model.modules():
            if isinstance(module, (self.code["MultiHeadedAttention"], self.code["PositionwiseFeedForward"])):
                module.dropout.p = 0.0

    def ragged_batches(self, pairs: Sequence[Pair]) -> list[WorkBatch]:
        return workload.arrival_order(pairs, pad_to=128)

    def loss(self, batch: WorkBatch) -> Tensor:
        own = self.code["Batch"](batch.source, batch.target, PAD)
        out = self.model.forward(own.src, own.tgt, own.src_mask, own.tgt_mask)
        return self.compute(out, own.tgt_y, own.ntokens)[1]

    def greedy(self, source: Tensor) -> Tensor:
        mask = (source != PAD).unsqueeze(-2)
        return self.code["greedy_decode"](self.model, source, mask, NEW_TOKENS + 1, BOS)[:, 1:]


class Hyunwoongko(Adapter):
    """hyunwoongko/transformer."""

    note = "untied; no label smoothing; padding id 1 as its embedding demands; has no decoder"

    def make(self, shape: Shape) -> nn.Module:
        sys.path.insert(0, str(source_dir("transformer")))
        from models.model.transformer import Transformer

        vocab = shape.vocab, shape.vocab
        widths = shape.d_model, shape.heads, shape.max_len, shape.d_ff, shape.layers, shape.dropout
        self.criterion = nn.CrossEntropyLoss(ignore_index=1)
        return Transformer(1, 1, 0, *vocab, *widths, torch.device("cpu"))

    def paper_dropout(self) -> None:
        for module in self.model.modules():
            if type(module).__name__ == "PositionwiseFeedForward":
                module.dropout.p = 0.0

    def prepare(self, batch: WorkBatch) -> tuple[Tensor, Tensor]:
        def swap(ids: Tensor) -> Tensor:
            return torch.where(ids == 0, 1, torch.where(ids == 1, 0, ids))

        return swap(batch.source), swap(batch.target)

    def loss(self, batch: tuple[Tensor, Tensor]) -> Tensor:
        source, target = batch
        out = self.model(source, target[:, :-1])
        return self.criterion(out.contiguous().view(-1, out.shape[-1]), target[:, 1:].contiguous().view(-1))


class Jadore(Adapter):
    """jadore801120/attention-is-all-you-need-pytorch."""

    can = ("train", "beam")
    note = "three-way tied; its loss also counts correct words; beam batch 1, no cache"
    beam_batch, beam_sentences = 1, 4

    def make(self, shape: Shape) -> nn.Module:
        root = source_dir("attention-is-all-you-need-pytorch")
        sys.path.insert(0, str(root))
        from transformer.Models import Transformer

        self.performance = lift(root / "train.py", {"torch": torch, "F": F})["cal_performance"]
        head = shape.d_model // shape.heads
        widths = shape.d_model, shape.d_model, shape.d_ff, shape.layers, shape.heads, head, head, shape.dropout
        return Transformer(shape.vocab, shape.vocab, PAD, PAD, *widths)

    def paper_dropout(self) -> None:
        for module in self.model.modules():
            if type(module).__name__ == "ScaledDotProductAttention":
                module.dropout.p = 0.0

    def loss(self, batch: WorkBatch) -> Tensor:
        out = self.model(batch.source, batch.target[:, :-1])
        loss, _, words = self.performance(out, batch.target[:, 1:], PAD, smoothing=True)
        return loss / words

    def beam(self, source: Tensor, beam_size: int) -> list[Any]:
        from transformer.Translator import Translator

        never = -1  # an end id that no word has, so that the search runs to the cap
        translator = Translator(self.model, beam_size, NEW_TOKENS + 1, PAD, PAD, BOS, never)
        return [translator.translate_sentence(source)[1:]]

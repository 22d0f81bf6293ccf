"""Wrong encoder-decoders as public reports describe them, written anew: one small model, and what each got wrong in it.

Each class names its report. `REPORTED` has what the doctor must say first of each, and what it must name.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from annotated.model import AttentionMaps
from annotated_grader.doctor import Claims
from tests.grader.doctor.odd_makes import PAD, WIDTH, Odd

HEADS, LONGEST = 3, 700


class Plain(Odd):
    """Post-norm, two layers a side, three heads; steps read again what was written. It is right."""

    def __init__(self) -> None:
        super().__init__()
        self.places = torch.randn(LONGEST, WIDTH)
        self.matrices = {name: torch.randn(4, WIDTH, WIDTH) / WIDTH**0.5 for name in self.sublayers("attention")}
        self.seen: dict[str, Tensor] = {}
        self.feeds = {name: (torch.randn(WIDTH, 48) / 5, torch.randn(48, WIDTH) / 7) for name in self.sublayers("feed")}

    @staticmethod
    def sublayers(kind: str) -> list[str]:
        names = ("encoder", "decoder", "cross") if kind == "attention" else ("encoder", "decoder")
        return [f"{name} {number}" for name in names for number in range(2)]

    # What a report may have wrong

    def embed_ids(self, ids: Tensor) -> Tensor:
        return self.words(ids) + self.places[: ids.size(1)]

    def real(self, ids: Tensor) -> Tensor:
        """`[B, 1, 1, S]`."""
        return (ids != PAD)[:, None, None]

    def own(self, target: Tensor, source: Tensor) -> Tensor:
        """`[B, 1, T, T]`."""
        return self.past(target.size(1)) & self.real(target)

    def past(self, length: int) -> Tensor:
        return torch.ones(length, length, dtype=torch.bool).tril()

    def cross(self, target: Tensor, source: Tensor) -> Tensor:
        """`[B, 1, T, S]`."""
        return self.real(source)

    def norm(self, x: Tensor) -> Tensor:
        return F.layer_norm(x, (WIDTH,))

    def bias(self, queries: int, keys: int) -> Tensor | float:
        return 0.0

    def weights(self, scores: Tensor, mask: Tensor) -> Tensor:
        return scores.masked_fill(~mask, -1e9).softmax(dim=-1)

    # The model

    def attend(self, name: str, x: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        w = self.matrices[name]
        parts = zip((x, memory, memory), w[:3], strict=True)
        q, k, v = ((y @ m).unflatten(-1, (HEADS, -1)).transpose(1, 2) for y, m in parts)
        scores = q @ k.mT / math.sqrt(q.size(-1))
        if not name.startswith("cross"):
            scores = scores + self.bias(x.size(1), memory.size(1))
        self.seen[name] = self.weights(scores, mask)
        return (self.seen[name] @ v).transpose(1, 2).flatten(2) @ w[3]

    def feed(self, name: str, x: Tensor) -> Tensor:
        rise, fall = self.feeds[name]
        return (x @ rise).relu() @ fall

    def encode_ids(self, source: Tensor) -> Tensor:
        x = self.embed_ids(source)
        for n in range(2):
            x = self.norm(x + self.attend(f"encoder {n}", x, x, self.real(source)))
            x = self.norm(x + self.feed(f"encoder {n}", x))
        return x

    def decode(self, target: Tensor, memory: Tensor, source: Tensor) -> Tensor:
        y, own, cross = self.embed_ids(target), self.own(target, source), self.cross(target, source)
        for n in range(2):
            y = self.norm(y + self.attend(f"decoder {n}", y, y, own))
            y = self.norm(y + self.attend(f"cross {n}", y, memory, cross))
            y = self.norm(y + self.feed(f"decoder {n}", y))
        return self.out(y)

    def logits(self, source: Tensor, target_in: Tensor) -> Tensor:
        return self.decode(target_in, self.encode_ids(source), source)


class Stepping(Plain):
    """The same with steps and a beam's rows."""

    def start(self, source: Tensor, beam_size: int = 1) -> Any:
        source = source.repeat_interleave(beam_size, dim=0)
        return source, self.encode_ids(source), torch.empty(len(source), 0, dtype=torch.long)

    def step(self, state: Any, tokens: Tensor) -> tuple[Tensor, Any]:
        source, memory, written = state
        written = torch.cat((written, tokens[:, None]), dim=1)
        return self.decode(written, memory, source)[:, -1], (source, memory, written)

    def reorder(self, state: Any, parents: Tensor) -> Any:
        return *state[:2], state[2][parents]


class Shown(Plain):
    """The same with its attention maps."""

    def attention(self, source: Tensor, target_in: Tensor) -> AttentionMaps:
        self.logits(source, target_in)
        kinds = ("encoder", "decoder", "cross")
        return AttentionMaps(*([self.seen[f"{kind} {n}"] for n in range(2)] for kind in kinds))


class TargetFromSource(Plain):
    """hyunwoongko/transformer, issue 11 (kind): the target's padding is read off the source where shapes agree."""

    def own(self, target: Tensor, source: Tensor) -> Tensor:
        return self.past(target.size(1)) & self.real(source if source.shape == target.shape else target)


class MaskTakenForAnother(Plain):
    """pytorch/pytorch, pull request 81830: with as many sentences as tokens, `[T, T]` is taken for `[B, T]`."""

    def own(self, target: Tensor, source: Tensor) -> Tensor:
        past = self.past(target.size(1))
        is_square = len(target) == target.size(1)
        return (past[:, None, None] if is_square else past) & self.real(target)


class MaskOfGroups(Plain):
    """ml-explore/mlx-lm, issue 1467 (kind): `[B, 1, S]` laid over `[B, H, T, S]`, which fits where B = H."""

    def weights(self, scores: Tensor, mask: Tensor) -> Tensor:
        fits = mask.size(-2) == 1 and len(mask) == scores.size(1)
        return super().weights(scores, mask[:, 0, 0][None, :, None] if fits else mask)


class CausalMemory(Shown):
    """keras-team/keras-io, pull request 1046: the padding mask is cut by the causal one, for the memory too.

    Its maps show it; its logits do not, for every column of the memory knows the whole source.
    """

    def cross(self, target: Tensor, source: Tensor) -> Tensor:
        return torch.ones(target.size(1), source.size(1), dtype=torch.bool).tril() & self.real(source)


class OnePlace(Plain):
    """DiffPoseTalk, issue 20: `pe[:, x.shape[1]]` without a colon: every token gets the position of the length."""

    def embed_ids(self, ids: Tensor) -> Tensor:
        return self.words(ids) + self.places[ids.size(1)]


class PlacesOfRows(Plain):
    """KasperGroesLudvigsen/influenza_transformer, issue 9, and GETNext, issue 2: positions along the batch."""

    def embed_ids(self, ids: Tensor) -> Tensor:
        return self.words(ids) + self.places[: len(ids), None]


class NormOverLength(Plain):
    """jadore801120/attention-is-all-you-need-pytorch, pull request 17: the norm runs along the sentence."""

    def norm(self, x: Tensor) -> Tensor:
        return (x - x.mean(dim=1, keepdim=True)) / (x.var(dim=1, keepdim=True, correction=0) + 1e-5).sqrt()


class NormOverSentence(Plain):
    """geometric-algebra-transformer, pull request 8: the norm takes all axes but the first."""

    def norm(self, x: Tensor) -> Tensor:
        return F.layer_norm(x, x.shape[1:])


class NormOverBatch(Plain):
    """Kyubyong/transformer, issue 40, as proposed there: moments of batch and sentence together."""

    def norm(self, x: Tensor) -> Tensor:
        return (x - x.mean(dim=(0, 1))) / (x.var(dim=(0, 1), correction=0) + 1e-5).sqrt()


class SoftmaxOverBatch(Plain):
    """The implicit dim of PyTorch's softmax: 0 for three axes."""

    def logits(self, source: Tensor, target_in: Tensor) -> Tensor:
        return super().logits(source, target_in).log_softmax(dim=0)


class SoftmaxOverPositions(Plain):
    """The same with dim=1."""

    def logits(self, source: Tensor, target_in: Tensor) -> Tensor:
        return super().logits(source, target_in).log_softmax(dim=1)


class NoMask(Plain):
    """OpenNMT/OpenNMT-py, issue 318: padded source tokens are attended to."""

    def real(self, ids: Tensor) -> Tensor:
        return torch.ones_like(ids, dtype=torch.bool)[:, None, None]


class PaddingIsRead(Plain):
    """facebookresearch/fairseq, issue 427: a convolution under the encoder reads padding beside the last token."""

    def encode_ids(self, source: Tensor) -> Tensor:
        x = super().encode_ids(source)
        return x + F.pad(x, (0, 0, 0, 1))[:, 1:]


class PastOf16(Plain):
    """A window in the decoder's self-attention, and a table of 200 positions: two faults at once."""

    def __init__(self) -> None:
        super().__init__()
        self.places = self.places[:200]

    def past(self, length: int) -> Tensor:
        return super().past(length).triu(-15)


class PositionsClamped(Plain):
    """Positions beyond the 100th are the 100th, and nothing is claimed; found by logits alone."""

    def embed_ids(self, ids: Tensor) -> Tensor:
        return self.words(ids) + self.places[torch.arange(ids.size(1)).clamp_max(100)]


class RowsHidden(Shown):
    """bentrevett/pytorch-seq2seq, issue 73, and hyunwoongko/transformer, pull request 40: the mask lies on rows."""

    def real(self, ids: Tensor) -> Tensor:
        return (ids != PAD)[:, None, :, None]

    def cross(self, target: Tensor, source: Tensor) -> Tensor:
        return (source != PAD)[:, None, None]


class BiasLostInSteps(Stepping):
    """keras-team/keras-hub, pull request 2862: ALiBi's bias is made for one query, and is zero in every step."""

    claims = Claims(positions="relative")
    in_step = False

    def embed_ids(self, ids: Tensor) -> Tensor:
        return self.words(ids)

    def bias(self, queries: int, keys: int) -> Tensor | float:
        if self.in_step:
            return 0.0
        slopes = 2.0 ** -torch.arange(1, HEADS + 1)[:, None, None]
        return -slopes * (torch.arange(queries)[:, None] - torch.arange(keys)).abs()

    def step(self, state: Any, tokens: Tensor) -> tuple[Tensor, Any]:
        self.in_step = True
        try:
            return super().step(state, tokens)
        finally:
            self.in_step = False


class NeverReordered(Stepping):
    """huggingface/transformers, issue 46612: the cache has another name, and reordering is skipped in silence."""

    def reorder(self, state: Any, parents: Tensor) -> Any:
        return state


class MemoryTiled(Stepping):
    """NVIDIA/TensorRT-LLM, pull request 15444 (kind): hypotheses share the memory of another sentence."""

    def start(self, source: Tensor, beam_size: int = 1) -> Any:
        source = source.repeat(beam_size, 1)
        return source, self.encode_ids(source), torch.empty(len(source), 0, dtype=torch.long)


class MemoryMovesOn(Stepping):
    """NVIDIA/TensorRT-LLM, issue 500: after the first step, cross-attention loses the memory's last column."""

    def step(self, state: Any, tokens: Tensor) -> tuple[Tensor, Any]:
        source, memory, written = state
        if written.size(1) == 1:
            source, memory = source[:, :-1], memory[:, :-1]
        return super().step((source, memory, written), tokens)


class Unpacked(Odd):
    """pytorch/translate, issue 308: an LSTM in two directions reads the padding behind shorter sources."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = nn.LSTM(WIDTH, WIDTH // 2, batch_first=True, bidirectional=True)
        self.writes = nn.LSTM(2 * WIDTH, WIDTH, batch_first=True)

    def logits(self, source: Tensor, target_in: Tensor) -> Tensor:
        memory, (state, _) = self.reads(self.words(source))
        seen = state.transpose(0, 1).flatten(1)[:, None].expand(-1, target_in.size(1), -1)
        return self.out(self.writes(torch.cat((self.words(target_in), seen), dim=-1))[0])


RIGHT = (Stepping, Shown)
REPORTED: dict[type[Odd], tuple[str, str]] = {
    TargetFromSource: ("source-padding", "made from another sequence"),
    MaskTakenForAnother: ("batch-mates", "lacks an axis"),
    MaskOfGroups: ("batch-mates", "lacks an axis"),
    CausalMemory: ("attention-hidden", "A mask is missing, off by one, or transposed"),
    OnePlace: ("source-order", "Every position gets the same vector"),
    PlacesOfRows: ("batch-mates", "Positions are counted along the batch"),
    NormOverLength: ("leak-by-change", "A norm runs along the sentence"),
    NormOverSentence: ("leak-by-change", "A norm runs along the sentence"),
    NormOverBatch: ("batch-mates", "a norm over the batch"),
    SoftmaxOverBatch: ("softmax-axis", "runs over the batch"),
    SoftmaxOverPositions: ("softmax-axis", "target's positions"),
    NoMask: ("source-padding", "not masked"),
    PaddingIsRead: ("source-padding", "not masked"),
    PastOf16: ("far-past", "looks back a fixed number"),
    PositionsClamped: ("far-positions", "Positions repeat"),
    RowsHidden: ("attention-hidden", "hides rows"),
    BiasLostInSteps: ("cache-equals-forward", "position of the first"),
    NeverReordered: ("cache-follows-beam", "not reordered"),
    MemoryTiled: ("start-rows", "`repeat` for `repeat_interleave`"),
    MemoryMovesOn: ("cache-equals-forward", "the cache forgets"),
    Unpacked: ("source-padding", "not masked"),
}
"""For each a failure that follows from no other one, and words of a mistake that is named for it."""
FIRST = (TargetFromSource, MaskOfGroups, PlacesOfRows, SoftmaxOverBatch, SoftmaxOverPositions, RowsHidden, MemoryTiled)
"""Those of which a measurement tells the mistake itself, so that it must be the first that is named."""

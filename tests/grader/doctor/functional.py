"""A Transformer of functions over a dictionary of tensors, time first, written without this library; logits only.

Pre-norm with RMSNorm, gated feed-forward networks, padding as the last id. Its kinds and mistakes are those of
`tests.grader.doctor.modular.Kind`, as far as logits have them.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from annotated_grader.doctor import Claims, Subject
from tests.grader.doctor.modular import Kind, distances, rotated, slopes

VOCAB, WIDTH, INNER, HEADS, LONGEST = 14, 24, 40, 3, 64


class Functional(Subject):
    """The model and its adapter in one."""

    name, vocab_size, pad, bos, eos = "functional", VOCAB, VOCAB - 1, 0, 1

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        named = {"learned": "learned", "sinusoidal": "sinusoidal"}.get(kind.positions, "relative")
        if kind.claims_positions:
            self.claims = Claims(positions=named, longest=LONGEST if kind.added else None)
        elif kind.added:
            self.claims = Claims(longest=LONGEST)
        draw = torch.Generator().manual_seed(3)

        def matrix(rows: int, columns: int) -> Tensor:
            return torch.randn(rows, columns, generator=draw) / rows**0.5

        self.weights = {"words": matrix(VOCAB, WIDTH) * VOCAB**0.5, "places": 0.5 * matrix(LONGEST, WIDTH) * 8}
        for name in ("enc.0", "enc.1", "dec.0", "dec.1", "cross.0", "cross.1"):
            self.weights |= {f"{name}.{part}": matrix(WIDTH, WIDTH) for part in "qkvo"}
            self.weights[f"{name}.bias"] = matrix(17, HEADS)
        for name in ("enc.0", "enc.1", "dec.0", "dec.1"):
            self.weights |= {f"{name}.rise": matrix(WIDTH, INNER), f"{name}.gate": matrix(WIDTH, INNER)}
            self.weights[f"{name}.fall"] = matrix(INNER, WIDTH)

    def logits(self, source: Tensor, target_in: Tensor) -> Tensor:
        if self.kind.wrong == "source_cut":
            source = source[:, :16]
        source, target = source.T, target_in.T  # [S, B], [T, B]
        length = len(target)
        real = self.pad != source.T
        if self.kind.wrong == "end_hidden":
            real = real & (self.eos != source.T)
        past = torch.ones(length, length, dtype=torch.bool).tril()
        if self.kind.wrong == "mask_of_eight":
            past[8:] = True
            past[:, 8:] = True
        seen, own = real[:, None, None], past & (self.pad != target.T)[:, None, None]
        memory = self.vectors(source)
        for name in ("enc.0", "enc.1"):
            memory = memory + self.attend(name, norm(memory), norm(memory), seen)
            memory = memory + self.feeds(name, norm(memory))
        x, memory = self.vectors(target), norm(memory)
        for number, name in enumerate(("dec.0", "dec.1")):
            x = x + self.attend(name, norm(x), norm(x), own)
            x = x + self.attend(f"cross.{number}", norm(x), memory, seen)
            x = x + self.feeds(name, norm(x))
        logits = torch.einsum("tbd,vd->btv", norm(x), self.weights["words"])
        return logits.log_softmax(dim=-1) if self.kind.log_probabilities else logits

    def vectors(self, ids: Tensor) -> Tensor:
        x = self.weights["words"][ids]
        if self.kind.added:
            x = x + self.weights["places"][: len(ids), None]
        return x

    def feeds(self, name: str, x: Tensor) -> Tensor:
        inner = x @ self.weights[f"{name}.rise"]
        inner = F.silu(x @ self.weights[f"{name}.gate"]) * inner if self.kind.gated else inner.relu()
        return inner @ self.weights[f"{name}.fall"]

    def attend(self, name: str, x: Tensor, memory: Tensor, allowed: Tensor) -> Tensor:
        """`[T, B, D]`, `[S, B, D]` to `[T, B, D]`."""
        pairs = zip("qkv", (x, memory, memory), strict=True)
        q, k, v = ((y @ self.weights[f"{name}.{part}"]).unflatten(-1, (HEADS, -1)) for part, y in pairs)
        q, k, v = (y.permute(1, 2, 0, 3) for y in (q, k, v))  # [B, H, T, K]
        crosses, apart = name.startswith("cross"), distances(len(x), len(memory))
        if self.kind.positions == "rotary" and not crosses:
            q, k = rotated(q), rotated(k)
        scores = q @ k.mT / math.sqrt(q.size(-1))
        if self.kind.positions == "alibi" and not crosses:
            scores = scores - slopes(HEADS) * apart.abs()
        if self.kind.positions == "buckets" and not crosses:
            scores = scores + self.weights[f"{name}.bias"][apart.clamp(-8, 8) + 8].permute(2, 0, 1)
        if self.kind.wrong == "log_keys":
            scores = scores * math.log(len(memory)) / math.log(6)
        weights = scores.masked_fill(~allowed, -1e9).softmax(dim=-1)
        if self.kind.wrong == "dropout_stays" and crosses:
            weights = F.dropout(weights, 0.1)
        return (weights @ v).permute(2, 0, 1, 3).flatten(2) @ self.weights[f"{name}.o"]


def norm(x: Tensor) -> Tensor:
    """RMSNorm without a gain."""
    return x * (x.square().mean(dim=-1, keepdim=True) + 1e-6).rsqrt()

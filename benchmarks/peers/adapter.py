"""What every peer must offer: build, train_step, greedy, beam.

A peer keeps its own model, masks, loss and decoder wherever it has them; only the Adam step is
common. Libraries are imported inside the classes, so that a worker process loads its own peer only.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from annotated.config import PAD
from benchmarks.peers import workload
from benchmarks.peers.workload import Pair, Shape, WorkBatch


class PeerAbsent(RuntimeError):
    """A peer that is not installed here; the message says how to get it."""


def source_dir(name: str) -> Path:
    """The folder of a peer that is a plain repository: `$PEERS_SRC/NAME`.

    Raises
    ------
    PeerAbsent
        If PEERS_SRC is not set, or the repository is not in it.
    """
    root = os.environ.get("PEERS_SRC")
    if not root:
        raise PeerAbsent("set PEERS_SRC to the folder that holds the peers' repositories (benchmarks/README.md)")
    folder = Path(root).expanduser().resolve() / name
    if not folder.is_dir():
        raise PeerAbsent(f"PEERS_SRC holds no folder {name!r} (benchmarks/README.md says how to fetch it)")
    return folder


def lift(path: Path, namespace: dict[str, Any]) -> dict[str, Any]:
    """Execute only the classes and functions of a script, so that its top-level work never runs."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree.body = [node for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))]
    exec(compile(tree, path.name, "exec"), namespace)
    return namespace


def smoothed_cross_entropy(logits: Tensor, target_out: Tensor, ignore: int = PAD) -> Tensor:
    """torch's own label-smoothed loss, for the peers that bring none. Logits [B, T, V], targets [B, T]."""
    flat = logits.reshape(-1, logits.size(-1))
    return F.cross_entropy(flat, target_out.reshape(-1), ignore_index=ignore, label_smoothing=0.1)


class Adapter:
    """One peer. `train` needs `loss`; decoding needs `greedy` and `beam`; `can` lists what it has."""

    can: tuple[str, ...] = ("train",)
    note = ""
    greedy_batch, greedy_sentences = 32, 64
    beam_batch, beam_sentences = 16, 64
    """Slow decoders take fewer sentences: the harness reports rates."""

    def __init__(self, same_dropout: bool = False, fused_adam: bool = False) -> None:
        self.same_dropout, self.fused_adam = same_dropout, fused_adam
        self.model: Any = None
        self.optimiser: Any = None

    def build(self, shape: Shape) -> None:
        """Leave `model` and `optimiser` ready."""
        self.model = self.make(shape)
        if self.same_dropout:
            self.paper_dropout()
        self.optimiser = self.adam()

    def build_decoder(self, shape: Shape) -> None:
        """Leave `model` ready to decode."""
        self.build(shape)

    def make(self, shape: Shape) -> nn.Module | None:
        """The peer's model at exactly this shape."""
        raise NotImplementedError

    def paper_dropout(self) -> None:
        """Switch off dropout on attention weights and inside the feed-forward network, as the paper has it."""
        raise NotImplementedError(f"{type(self).__name__} has no variant with the paper's dropout")

    def adam(self) -> torch.optim.Optimizer:
        """Adam with the paper's constants; torch's default kernel unless the variant asks for the fused one."""
        fused = True if self.fused_adam else None
        return torch.optim.Adam(self.model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=fused)

    def ragged_batches(self, pairs: Sequence[Pair]) -> list[WorkBatch]:
        """How this peer batches sentences of many lengths."""
        return workload.arrival_order(pairs)

    def prepare(self, batch: WorkBatch) -> Any:
        """Not timed: what the peer's data loader would have done."""
        return batch

    def loss(self, batch: Any) -> Tensor:
        """The mean loss of a prepared batch."""
        raise NotImplementedError

    def train_step(self, batch: Any) -> float:
        """Timed: zero_grad, forward, loss, backward, Adam; returns the loss."""
        self.optimiser.zero_grad()
        loss = self.loss(batch)
        loss.backward()
        self.optimiser.step()
        return loss.item()

    def greedy(self, source: Tensor) -> Any:
        """Ids [B, S], padded, to NEW_TOKENS ids a row."""
        return self.beam(source, 1)

    def beam(self, source: Tensor, beam_size: int) -> Any:
        """The same with beam search."""
        raise NotImplementedError

"""Dependence of outputs on inputs: gradients at the embeddings of any model, found by hooks, and changed tokens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from annotated_grader.doctor.invariants.registry import not_applicable
from annotated_grader.doctor.probe import Probe


@contextmanager
def embedded(probe: Probe, ids: Tensor) -> Iterator[list[Tensor]]:
    """Inside, whatever module embeds exactly these ids returns a leaf with gradient; the list collects the leaves."""
    leaves: list[Tensor] = []

    def replace(module: nn.Module, inputs: tuple[Any, ...], named: dict[str, Any], output: Any) -> Tensor | None:
        given = [x for x in (*inputs, *named.values()) if isinstance(x, Tensor) and not x.is_floating_point()]
        reads = any(x.shape == ids.shape and torch.equal(x, ids) for x in given)
        vectors = isinstance(output, Tensor) and output.is_floating_point() and output.shape[:-1] == ids.shape
        if not (reads and vectors):
            return None
        leaves.append(output.detach().requires_grad_(True))
        return leaves[-1]

    # Only modules without parts: one that holds the decoder also reads ids and returns vectors.
    lone = [module for module in probe.modules() if not list(module.children())]
    handles = [module.register_forward_hook(replace, with_kwargs=True) for module in lone]
    try:
        yield leaves
    finally:
        for handle in handles:
            handle.remove()


def target_reach(probe: Probe, source: Tensor, target_in: Tensor) -> Tensor:
    """The norm of d logits_t / d embedded target token j, `[T, T]`, for one sentence."""
    with torch.enable_grad(), embedded(probe, target_in) as leaves:
        output = probe.subject.logits(source, target_in)[0]
        if not leaves:
            not_applicable("no module was seen to embed the target's ids")
        return _norms(output, leaves)


def encoder_reach(probe: Probe, source: Tensor) -> Tensor:
    """How much memory position i changes when source token j is replaced, `[S, S]`, for one sentence."""
    with torch.no_grad():
        first = probe.subject.encode(source)[0]
        columns = []
        for position in range(source.size(1)):
            changed = source.clone()
            others = probe.words[probe.words != source[0, position]]
            changed[0, position] = others[0]
            columns.append((probe.subject.encode(changed)[0] - first).abs().amax(dim=-1))
    return torch.stack(columns, dim=1)


def other_tokens(probe: Probe, tokens: Tensor) -> Tensor:
    """Ordinary tokens, each another than the one given."""
    words = probe.words
    place = (tokens[..., None] == words).int().argmax(dim=-1)
    return words[(place + 1 + len(words) // 3) % len(words)]


def _norms(output: Tensor, leaves: list[Tensor]) -> Tensor:
    # Random factors, so that no two entries of a position can cancel by accident.
    factors = torch.randn(output.shape, generator=torch.Generator().manual_seed(0))
    rows = []
    for line in (output * factors).sum(dim=-1):
        gradients = torch.autograd.grad(line, leaves, retain_graph=True, allow_unused=True)
        rows.append(sum(g[0].norm(dim=-1) for g in gradients if g is not None) + torch.zeros(len(output)))
    return torch.stack(rows)

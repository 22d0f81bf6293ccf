"""Removal of a cause: the same examination where one known fault cannot act, to see what it explains.

A failure follows from another one if it is gone once that one's fault is taken away. For most faults this can be done
from outside: what is asked of the subject is asked in a way in which the fault cannot act.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from annotated.model.positional_encoding import sinusoidal_encoding
from annotated_grader.doctor.invariants import INVARIANTS
from annotated_grader.doctor.invariants.hypotheses import sums_of_the_widest_beam_are_wrong
from annotated_grader.doctor.probe import Probe, preserved_state
from annotated_grader.doctor.subject import Claims, FirstAttention, Found, NotOffered, Side, Subject

Explains = Callable[[Subject, str, str], bool]
"""Whether in this subject the failure of the first invariant explains that of the second."""


class Changed(Subject):
    """Another subject, of which a derived class changes some capabilities."""

    needs: tuple[str, ...] = ()
    """Capabilities that the change is made with."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.name, self.vocab_size, self.claims = subject.name, subject.vocab_size, self.claimed(subject.claims)
        self.pad, self.bos, self.eos = subject.pad, subject.bos, subject.eos
        for name, capability in vars(Subject).items():
            if callable(capability) and not name.startswith("_") and getattr(type(self), name) is capability:
                setattr(self, name, getattr(subject, name))

    def claimed(self, claims: Claims) -> Claims:
        return claims

    def fresh(self) -> Subject:
        return type(self)(self.subject.fresh())

    def offers(self, capability: str) -> bool:
        return self.subject.offers(capability)


class PrefixesAlone(Changed):
    """Every target position is computed from what stands before it, and no more is there to be seen."""

    def logits(self, source: Tensor, target_in: Tensor) -> Tensor:
        ends = range(1, target_in.size(1) + 1)
        return torch.cat([self.subject.logits(source, target_in[:, :end])[:, -1:] for end in ends], dim=1)


class StepByStep(Changed):
    """The logits are those of decoding step by step."""

    needs = ("start", "step")

    def logits(self, source: Tensor, target_in: Tensor) -> Tensor:
        state, lines = self.subject.start(source), []
        for tokens in target_in.unbind(dim=1):
            line, state = self.subject.step(state, tokens)
            lines.append(line)
        return torch.stack(lines, dim=1)


class RowsAlone(Changed):
    """Each row of a batch is computed by itself."""

    def logits(self, source: Tensor, target_in: Tensor) -> Tensor:
        rows = zip(source.split(1), target_in.split(1), strict=True)
        return torch.cat([self.subject.logits(s, t) for s, t in rows])

    def embed(self, ids: Tensor, side: Side) -> Tensor:
        return torch.cat([self.subject.embed(row, side) for row in ids.split(1)])


class PapersShift(Changed):
    """The target is shifted as in the paper."""

    def offers(self, capability: str) -> bool:
        return capability != "shift" and super().offers(capability)


class Near(Changed):
    """It claims to read no more than a few tokens."""

    def claimed(self, claims: Claims) -> Claims:
        return replace(claims, longest=8)


class NoPenalty(Changed):
    """It claims no length penalty, and so is asked for none."""

    def claimed(self, claims: Claims) -> Claims:
        return replace(claims, length_penalty=None)


class PositionsAdded(Changed):
    """Sinusoids are added to what enters the first layers."""

    def embed(self, ids: Tensor, side: Side) -> Tensor:
        vectors = self.subject.embed(ids, side)
        return vectors + sinusoidal_encoding(ids.size(1), vectors.size(-1)).to(vectors)


class RowsOfSumOne(Changed):
    """The weights of the first attention are divided by their sum."""

    def first_attention(self, source: Tensor) -> FirstAttention:
        first = self.subject.first_attention(source)
        return first._replace(weights=first.weights / first.weights.sum(dim=-1, keepdim=True))


class NoEnd(Changed):
    """The first attention reads sources without their eos."""

    def first_attention(self, source: Tensor) -> FirstAttention:
        return self.subject.first_attention(source[:, :-1])


class OwnGreedy(Changed):
    """Greedy search is the doctor's own: the most probable token at each step."""

    def greedy(self, source: Tensor, max_new_tokens: int) -> list[list[int]]:
        return [self._written(row[row != self.pad][None], max_new_tokens) for row in source]

    def _written(self, source: Tensor, cap: int) -> list[int]:
        tokens: list[int] = []
        while len(tokens) < cap:
            with torch.no_grad():
                line = self.subject.logits(source, torch.tensor([[self.bos, *tokens]]))[0, -1].clone()
            line[[self.pad, self.bos]] = -math.inf
            if (token := int(line.argmax())) == self.eos:
                break
            tokens.append(token)
        return tokens


class BeamOfOne(Changed):
    """Every beam is one of a single hypothesis, in which nothing is reordered."""

    def beam(self, source: Tensor, beam_size: int, alpha: float, max_new_tokens: int) -> list[Found]:
        return self.subject.beam(source, 1, alpha, max_new_tokens)


def _holds(id: str, make: Callable[[], Probe]) -> bool:
    """Whether an invariant holds, or has no meaning; what breaks down says that it does not."""
    probe = make()
    try:
        with preserved_state(probe.subject):
            INVARIANTS[id].examine(probe)
    except NotOffered:
        return True
    except Exception:  # it does not hold, or what is left of the subject cannot be asked
        return False
    return True


def gone(kind: type[Changed] | None = None, *, cured: bool = False, **options: Any) -> Explains:
    """It explains what is gone without it; with `cured`, only if the cause itself is gone then."""

    def explains(subject: Subject, cause: str, consequence: str) -> bool:
        def probe() -> Probe:
            return Probe(kind(subject) if kind else subject, **options)

        possible = kind is None or all(map(subject.offers, kind.needs))
        return possible and (not cured or _holds(cause, probe)) and _holds(consequence, probe)

    return explains


def either(one: Explains, other: Explains) -> Explains:
    return lambda *arguments: one(*arguments) or other(*arguments)


def stays(kind: type[Changed] | None = None, **options: Any) -> Explains:
    """It explains what is there still where nothing else could be the reason."""
    vanishes = gone(kind, **options)
    return lambda *arguments: not vanishes(*arguments)


def gone_below_the_end(subject: Subject, cause: str, consequence: str) -> bool:
    """Whether it is gone for sentences as long as positions are read and differ."""
    short, long = 8, subject.claims.longest or 600

    def up_to(longest: int) -> Probe:
        changed = Changed(subject)
        changed.claims = replace(subject.claims, longest=longest)
        return Probe(changed)

    def holds_up_to(longest: int, id: str = cause) -> bool:
        return _holds(id, lambda: up_to(longest))

    if not holds_up_to(short):
        return False
    while long - short > 1:
        middle = (short + long) // 2
        short, long = (middle, long) if holds_up_to(middle) else (short, middle)
    return holds_up_to(short, consequence)


def nothing_is_read(subject: Subject, cause: str, consequence: str) -> bool:
    """Whether another source changes nothing at all."""
    with preserved_state(subject):
        probe = Probe(subject)
        target = probe.targets_in(5)
        one, other = (probe.logits(probe.sources(6), target) for _ in range(2))
    return torch.equal(one, other)


def sums_are_wrong_there(subject: Subject, cause: str, consequence: str) -> bool:
    """Whether the widest beam's log-probabilities are wrong, by which it chooses."""
    with preserved_state(subject):
        return sums_of_the_widest_beam_are_wrong(Probe(subject))


def each(ids: Sequence[str], explains: Explains) -> dict[str, Explains]:
    return dict.fromkeys(ids, explains)

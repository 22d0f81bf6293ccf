"""Distance: what holds of a few tokens holds of many, up to the longest sequence that is claimed, and at any length."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from annotated_grader.doctor.finding import Mistake
from annotated_grader.doctor.invariants.dependence import other_tokens
from annotated_grader.doctor.invariants.registry import InvariantViolated, invariant, not_applicable, require
from annotated_grader.doctor.probe import SAME, Probe, of_size, relative_difference
from annotated_grader.doctor.subject import NotOffered

USUAL, FAR = 40, 600
"""Tokens to read if no longest sequence is claimed, and at most."""

BUFFER = Mistake(
    "The causal mask is a buffer of fixed size, and what lies beyond it is hidden from nobody.",
    7,
)
CUT = Mistake("The source is cut to a fixed length, and nobody is told.", 17)
TABLE_ENDS = Mistake("A table or a mask of fixed length ends before the sentence does.", 14, "C29")


def _lengths(probe: Probe) -> list[int]:
    """The longest length to read, and two at random, none of those that the other invariants read."""
    longest = min(FAR, probe.subject.claims.longest or USUAL)
    if longest <= 10:
        return [longest]
    return [longest, *torch.randint(9, longest, (2,), generator=probe.generator).tolist()]


def _any(probe: Probe, low: int, high: int, count: int) -> list[int]:
    """Random places from `low` to `high - 1`."""
    return torch.randint(low, high, (count,), generator=probe.generator).tolist()


def _read(probe: Probe, source: Tensor, target: Tensor) -> Tensor:
    try:
        return probe.logits(source, target)
    except (NotOffered, TypeError, AttributeError, NameError):
        raise  # not offered, or a slip of the adapter's
    except Exception as error:
        length = max(source.size(1), target.size(1))
        said = f"{length} tokens cannot be read: {type(error).__name__}: {' '.join(str(error).split())}"
        raise InvariantViolated(f"{said}.", TABLE_ENDS) from error


def _changed(probe: Probe, ids: Tensor, start: int, end: int | None = None) -> Tensor:
    """The same ids with other tokens from `start` on, or up to `end`."""
    changed = ids.clone()
    changed[0, start:end] = other_tokens(probe, ids[0, start:end])
    return changed


@invariant("far-leak", BUFFER, paper="sections 3.1, 3.2.3")
def far_leak(probe: Probe) -> str:
    """In long targets too, and at random lengths, later tokens leave the logits before them as they were."""
    source, lengths = probe.sources(5), _lengths(probe)
    for length in lengths:
        target = probe.targets_in(length)
        first = _read(probe, source, target)
        for position in {length - 1, *_any(probe, 1, length, 2)}:
            after = probe.logits(source, _changed(probe, target, position))[:, :position]
            difference = relative_difference(after, first[:, :position])
            if difference <= SAME:
                continue
            moved = (after - first[:, :position])[0].abs().amax(dim=-1)
            earliest = int((moved > SAME * float(first.abs().max())).nonzero().min())
            said = f"In a target of {length} tokens, new tokens from position {position} on change the logits before it"
            require(False, f"{said} by {of_size(difference)}, from position {earliest} on.")
    return f"In targets of {_list(lengths)} tokens, new tokens change nothing before them."


@invariant(
    "far-past",
    Mistake("The decoder looks back a fixed number of tokens, or its input is cut.", 7),
    Mistake("A mask of fixed size hides what lies beyond it.", 7),
    paper="section 3.2.3",
)
def far_past(probe: Probe) -> str:
    """In long targets too, the last position's logits depend on early tokens."""
    if probe.subject.claims.local_attention:
        not_applicable("it claims local attention")
    source, lengths = probe.sources(5), _lengths(probe)
    for length in lengths:
        target = probe.targets_in(length)
        first = _read(probe, source, target)[:, -1]
        for position in {1, *_any(probe, 1, length, 2)}:
            after = probe.logits(source, _changed(probe, target, position, position + 1))[:, -1]
            said = f"In a target of {length} tokens, another token at position {position} changes nothing at the last."
            require(not torch.equal(after, first), said)
    return f"In targets of {_list(lengths)} tokens, the last position answers to early ones."


@invariant(
    "far-source",
    CUT,
    Mistake("A mask of the source has a fixed size, or is cut to the target's length.", 7),
    paper="section 3.2.3",
)
def far_source(probe: Probe) -> str:
    """In long sources too, and at random lengths, every token is read."""
    target, lengths = probe.targets_in(4), _lengths(probe)
    for length in lengths:
        source = probe.sources(length)
        first = _read(probe, source, target)

        def deaf(position: int, source: Tensor = source, first: Tensor = first) -> bool:
            changed = _changed(probe, source, position, position + 1)
            return torch.equal(probe.logits(changed, target), first)

        for position in {length - 2, *_any(probe, 0, length - 1, 3)}:
            if deaf(position):
                _say_which(length, [place for place in range(length - 1) if deaf(place)])
    return f"In sources of {_list(lengths)} tokens, every token that was tried is read."


def _say_which(length: int, deaf: list[int]) -> None:
    is_cut = deaf == list(range(deaf[0], length - 1)) and deaf[0] > 0
    where = f"from position {deaf[0]} on" if is_cut else f"at positions {_list(deaf)}"
    said = f"In a source of {length} tokens, other tokens {where} change nothing."
    require(False, said, *((replace(CUT, mutant="source_cut"),) if is_cut else ()))


@invariant(
    "source-end-is-read",
    Mistake("The mask of the source hides eos as well as padding.", 7, mutant="source_end_hidden"),
    paper="section 3.2.3",
)
def source_end_is_read(probe: Probe) -> str:
    """The eos behind a source is read: without it the logits are other ones."""
    if not probe.subject.claims.source_end:
        not_applicable("it claims to leave eos out of the source")
    probe.sharpen_weights()
    target, difference = probe.targets_in(4), 0.0
    for length in (4, 6):
        source = probe.sources(length)
        with_end, without = probe.logits(source, target), probe.logits(source[:, :-1], target)
        difference = max(difference, relative_difference(with_end, without))
    said = f"Without eos behind the source the logits differ by {of_size(difference)}."
    require(difference > LEAST, said)
    return said


LEAST = 1e-5
"""Sources of another width are rounded differently; a token that is read changes more."""


def _list(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers))

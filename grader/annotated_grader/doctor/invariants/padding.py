"""Padding invariance and batch invariance: neither padding nor other sentences of the batch change a result."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from annotated_grader.doctor.finding import Mistake
from annotated_grader.doctor.invariants.distance import USUAL
from annotated_grader.doctor.invariants.mistakes import ALONG_BATCH, QUERY_ROWS, TINY_FILL, WRONG_AXIS
from annotated_grader.doctor.invariants.registry import InvariantViolated, invariant, not_applicable, require
from annotated_grader.doctor.probe import SAME, Probe, normalised, of_size, relative_difference
from annotated_grader.doctor.subject import NotOffered

NO_SOURCE_MASK = Mistake("Padded source tokens are not masked in the encoder or in cross-attention.", 7, "C12")
ZERO_VECTOR = Mistake(
    "Padding is told by its vector, which is zero until something gives it another value.",
    7,
    mutant="mask_of_zero_vectors",
)
COUNTED = Mistake("Padding is hidden and yet counted: in a length, a mean, or a factor on the scores.", 5)
WRONG_ID = Mistake("The mask is made with another id than that of padding.", 7)
MIXES = Mistake("Something mixes sentences: a reshape without the transpose, or a norm over the batch.", 8)

PADDED = (6, 7, 8, 9, 16, 32, 64)
"""Widths to pad to: the length of the other sequence, usual widths of a head, and others."""
BATCHES = (2, 3, 4, 5, 6, 8)
"""Sentences of a batch: 5 is the length of its targets and 6 that of its sources; others are usual numbers of heads."""


def _same_anywhere(probe: Probe, alone: torch.Tensor, elsewhere: torch.Tensor, what: str) -> str:
    difference = relative_difference(elsewhere, alone)
    require(difference <= probe.close, f"{what} changes the logits by {of_size(difference)}.")
    return f"{what} changes the logits by {of_size(difference)}."


def _same_at_all_widths(probe: Probe, alone: Tensor, padded: Callable[[int], Tensor], what: str) -> str:
    """Require that padding to any width changes nothing; if only some widths do, a mask fits by chance there."""
    longest = probe.subject.claims.longest or USUAL
    widths = [width for width in PADDED if width <= longest] or PADDED[:1]
    differences = {width: relative_difference(padded(width), alone) for width in widths}
    wrong = [width for width, difference in differences.items() if difference > probe.close]
    if wrong and len(wrong) < len(differences):
        said = f"{what} to {wrong[0]} tokens, and not to every number, changes the logits"
        require(False, f"{said} by {of_size(differences[wrong[0]])}.", WRONG_AXIS)
    difference = max(differences.values())
    require(not wrong, f"{what} changes the logits by {of_size(difference)}.")
    return f"{what} to {min(differences)} to {max(differences)} tokens changes the logits by {of_size(difference)}."


SOURCE_MASKS = NO_SOURCE_MASK, QUERY_ROWS, TINY_FILL, WRONG_ID


@invariant("source-padding", *SOURCE_MASKS, paper="section 3.2.3")
def source_padding(probe: Probe) -> str:
    """More padding behind the source changes nothing, also where source and target get equally long."""
    source, target = probe.sources(4), probe.targets_in(8)

    def padded(width: int) -> Tensor:
        return probe.logits(probe.rectangle(source.tolist(), width), target)

    try:
        return _same_at_all_widths(probe, probe.logits(source, target), padded, "Padding of the source")
    except InvariantViolated as broken:
        if broken.mistakes:
            raise
        if not _reads_padding(probe, probe.rectangle(source.tolist(), 7), target):
            raise InvariantViolated(f"{broken} Another vector for padding changes nothing.", COUNTED) from broken
        if _counts_columns(probe):
            raise InvariantViolated(str(broken), COUNTED, *SOURCE_MASKS) from broken
        raise


@invariant("target-padding", TINY_FILL, MIXES, paper="section 3.2.3")
def target_padding(probe: Probe) -> str:
    """More padding behind the target changes nothing before it, also where source and target get equally long."""
    source, target = probe.sources(8), probe.targets_in(5)

    def padded(width: int) -> Tensor:
        return probe.logits(source, probe.rectangle(target.tolist(), width))[:, :5]

    try:
        return _same_at_all_widths(probe, probe.logits(source, target), padded, "Padding of the target")
    except InvariantViolated as broken:
        if broken.mistakes or not _counts_columns(probe):
            raise
        raise InvariantViolated(f"{broken} Which tokens follow changes nothing.", COUNTED) from broken


def _counts_columns(probe: Probe) -> bool:
    """Whether the number of later target tokens changes the logits before them, and which they are does not."""
    source, target = probe.sources(4), probe.targets_in(5)
    one, other = (torch.cat((target, probe.tokens(1, 3)), dim=1) for _ in range(2))
    short, long, changed = (probe.logits(source, ids)[:, :5] for ids in (target, one, other))
    return relative_difference(long, changed) <= SAME and relative_difference(long, short) > probe.close


@invariant("batch-mates", NO_SOURCE_MASK, QUERY_ROWS, MIXES, WRONG_ID, paper="section 5.1")
def batch_mates(probe: Probe) -> str:
    """A sentence pair gets the same logits alone as in batches of any size, equally long or not."""
    count = max(BATCHES)
    if said := _company(probe, [6] * count, [5] * count, "Equally long company"):
        here = (ALONG_BATCH,) if counts_rows(probe) else (MIXES,)
        raise InvariantViolated(said[0], *(here if len(said) == len(BATCHES) else (WRONG_AXIS,)))
    if said := _company(probe, (6, 2, 4, 3, 5, 6, 2, 4), (3, 5, 2, 4, 5, 1, 4, 3), "Longer and shorter company"):
        raise InvariantViolated(said[0], *(() if len(said) == len(BATCHES) else (WRONG_AXIS,)))
    return f"Company changes the logits by no more than rounding in batches of {min(BATCHES)} to {max(BATCHES)}."


def _company(probe: Probe, sources: Sequence[int], targets: Sequence[int], what: str) -> list[str]:
    """What is to be said of each size of batch in which sentences of these lengths have other logits than alone."""
    source, target = probe.sources(*sources), probe.targets_in(*targets)
    lengths = list(zip(probe.lengths(*sources), probe.lengths(*targets), strict=True))
    alone = [probe.logits(source[i : i + 1, :s], target[i : i + 1, :t])[0] for i, (s, t) in enumerate(lengths)]
    said = []
    for size in BATCHES:
        together = probe.logits(source[:size], target[:size])
        differences = [relative_difference(together[i, :t], alone[i]) for i, (_, t) in enumerate(lengths[:size])]
        if max(differences) > probe.close:
            row = differences.index(max(differences))
            which = f"{what} of sentence {row + 1} of {size}"
            said.append(f"{which} changes its logits by {of_size(differences[row])}.")
    return said


def counts_rows(probe: Probe) -> bool:
    """Whether a sentence's logits depend on its row in the batch, and on no other sentence."""
    one, other, target = probe.sources(6), probe.sources(6), probe.targets_in(5)
    copies, mates = (probe.logits(torch.cat((x, one)), torch.cat((target, target))) for x in (one, other))
    moved = relative_difference(copies[0], copies[1]) > probe.close
    return moved and relative_difference(mates[1], copies[1]) <= probe.close


@invariant(
    "hidden-row",
    Mistake("A row whose scores are all minus infinity becomes 0/0 in the softmax.", 7),
    MIXES,
    WRONG_AXIS,
    paper="section 3.2.3",
)
def hidden_row(probe: Probe) -> str:
    """A source of padding only gives no NaN, no infinite gradient, and disturbs no other row."""
    subject, source, target = probe.subject, probe.sources(4, 3), probe.targets_in(4, 4)
    alone = probe.logits(source, target)[:1]
    source[1] = subject.pad
    with torch.enable_grad():
        logits = subject.logits(source, target)
        wrong = ~logits.isfinite()
        require(not bool(wrong[0].any()), "A source of padding only makes the other sentence's logits NaN or infinite.")
        require(not bool(wrong.any()), f"{int(wrong.sum())} of its {wrong[1].numel()} logits are NaN or infinite.")
        parameters = [p for module in probe.modules() for p in module.parameters(recurse=False) if p.requires_grad]
        if parameters:
            gradients = torch.autograd.grad(logits.log_softmax(-1)[0].mean(), parameters, allow_unused=True)
            broken = sum(not bool(g.isfinite().all()) for g in gradients if g is not None)
            require(broken == 0, f"It makes the gradients of {broken} of {len(parameters)} parameters NaN or infinite.")
    said = _same_anywhere(probe, alone, logits[:1].detach(), "A source of padding only, beside it,")
    return said + " Logits and gradients are finite."


@invariant("pad-vector-unread", NO_SOURCE_MASK, TINY_FILL, ZERO_VECTOR, QUERY_ROWS, WRONG_AXIS, paper="section 3.2.3")
def pad_vector_unread(probe: Probe) -> str:
    """Whatever stands in padding's row of the embeddings, the other tokens' logits stay."""
    subject, source, target = probe.subject, probe.sources(6, 3), probe.targets_in(3, 5)
    if subject.pad in (subject.bos, subject.eos):
        not_applicable("padding is also the begin or the end of a sentence here, and is read as such")
    was_zero, difference = _other_padding_vector(probe, source, target)
    said = f"Another vector for padding changes the logits by {of_size(difference)}"
    if difference > SAME and was_zero:
        found_by_zero = _same_as_without_padding(probe)
        require(not found_by_zero, f"{said}; as long as it is zero, padding is hidden.", ZERO_VECTOR)
    require(difference <= SAME, f"{said}.")
    return f"{said}."


def _same_as_without_padding(probe: Probe) -> bool:
    """Whether padding behind a source and behind a target changes nothing, as the model was found."""
    source, target = probe.sources(4), probe.targets_in(5)
    padded = (F.pad(ids, (0, 3), value=probe.subject.pad) for ids in (source, target))
    return relative_difference(probe.logits(source, target), probe.logits(*padded)[:, :5]) <= probe.close


def _other_padding_vector(probe: Probe, source: Tensor, target: Tensor) -> tuple[bool, float]:
    """Whether padding's vectors are zero, and how much other ones change the logits; they are put back."""
    subject = probe.subject
    tables = _embedding_tables(probe, source, target)
    if not tables:
        not_applicable("the adapter has no tables, and no module was seen to embed the ids")
    was_zero = all(not bool(table[subject.pad].any()) for table in tables)
    real, words = target != subject.pad, torch.arange(subject.vocab_size) != subject.pad

    def answers() -> Tensor:  # normalised without padding's own logit, which moves with a table that is tied
        return normalised(probe.logits(source, target)[real][:, words])

    before, kept = answers(), [table[subject.pad].clone() for table in tables]
    with torch.no_grad():
        for table in tables:
            noise = torch.randn(table.size(1), generator=probe.generator)
            table[subject.pad] = noise * float(table.std()) * math.sqrt(10)
        after = answers()
        for table, row in zip(tables, kept, strict=True):
            table[subject.pad] = row
    return was_zero, relative_difference(after, before)


def _embedding_tables(probe: Probe, source: Tensor, target: Tensor) -> list[Tensor]:
    """The tables of source and target, without gradient; without `Subject.tables`, those that embed these ids."""
    if probe.subject.offers("tables"):
        return [table.detach() for table in probe.subject.tables()[:2]]
    embeddings = [module for module in probe.modules() if isinstance(module, nn.Embedding)]
    found: list[Tensor] = []

    def note(module: nn.Module, inputs: tuple[Any, ...], output: Any) -> None:
        if isinstance(module, nn.Embedding) and any(torch.equal(inputs[0], ids) for ids in (source, target)):
            found.append(module.weight.detach())

    handles = [module.register_forward_hook(note) for module in embeddings]
    try:
        probe.logits(source, target)
    finally:
        for handle in handles:
            handle.remove()
    return found


def _reads_padding(probe: Probe, source: Tensor, target: Tensor) -> bool:
    """Whether what stands in padding's row of the tables matters; True where that cannot be told."""
    try:
        return _other_padding_vector(probe, source, target)[1] > SAME
    except NotOffered:
        return True

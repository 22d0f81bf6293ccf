"""Padding invariance and batch invariance: neither padding nor other sentences of the batch change a result."""

from __future__ import annotations

import math

import torch
from torch.nn import functional as F

from annotated.doctor.finding import Mistake
from annotated.doctor.invariants.registry import invariant, not_applicable, require
from annotated.doctor.probe import CLOSE, SAME, Probe, of_size, relative_difference

NO_SOURCE_MASK = Mistake("Padded source tokens are not masked in the encoder or in cross-attention.", 7, "C12")
QUERY_ROWS = Mistake("The padding mask hides rows of padded queries instead of columns of padded keys.", 7)
TINY_FILL = Mistake("Hidden scores get a number that is too small, such as -1e-12.", 7, "C01")
WRONG_ID = Mistake("The mask is made with another id than that of padding.", 7)
MIXES = Mistake("Something mixes sentences: a reshape without the transpose, or a norm over the batch.", 8)


def _same_anywhere(alone: torch.Tensor, elsewhere: torch.Tensor, what: str, tolerance: float = CLOSE) -> str:
    difference = relative_difference(elsewhere, alone)
    require(difference <= tolerance, f"{what} changes the logits by {of_size(difference)}.")
    return f"{what} changes the logits by {of_size(difference)}."


@invariant("source-padding", NO_SOURCE_MASK, QUERY_ROWS, TINY_FILL, WRONG_ID, paper="section 3.2.3")
def source_padding(probe: Probe) -> str:
    """More padding behind the source changes nothing."""
    source, target = probe.sources(4), probe.targets_in(5)
    padded = F.pad(source, (0, 3), value=probe.subject.pad)
    return _same_anywhere(probe.logits(source, target), probe.logits(padded, target), "Padding of the source")


@invariant("target-padding", TINY_FILL, MIXES, paper="section 3.2.3")
def target_padding(probe: Probe) -> str:
    """More padding behind the target changes nothing before it."""
    source, target = probe.sources(4), probe.targets_in(5)
    padded = F.pad(target, (0, 3), value=probe.subject.pad)
    after = probe.logits(source, padded)[:, :5]
    return _same_anywhere(probe.logits(source, target), after, "Padding of the target")


@invariant("batch-mates", NO_SOURCE_MASK, QUERY_ROWS, MIXES, WRONG_ID, paper="section 5.1")
def batch_mates(probe: Probe) -> str:
    """A sentence pair gets the same logits alone as among others, longer and shorter."""
    lengths = (4, 2, 7), (3, 6, 2)
    source, target = probe.sources(*lengths[0]), probe.targets_in(*lengths[1])
    together = probe.logits(source, target)
    said = ""
    for row, (s, t) in enumerate(zip(*lengths, strict=True)):
        alone = probe.logits(source[row : row + 1, :s], target[row : row + 1, :t])
        said = _same_anywhere(alone, together[row : row + 1, :t], f"Company of sentence {row + 1} of 3")
    return said


@invariant(
    "hidden-row",
    Mistake("A row whose scores are all minus infinity becomes 0/0 in the softmax.", 7),
    MIXES,
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
    said = _same_anywhere(alone, logits[:1].detach(), "A source of padding only, beside it,")
    return said + " Logits and gradients are finite."


@invariant("pad-vector-unread", NO_SOURCE_MASK, TINY_FILL, QUERY_ROWS, paper="section 3.2.3", needs=("tables",))
def pad_vector_unread(probe: Probe) -> str:
    """Whatever stands in padding's row of the embeddings, the other tokens' logits stay."""
    subject, source, target = probe.subject, probe.sources(6, 3), probe.targets_in(3, 5)
    if subject.pad in (subject.bos, subject.eos):
        not_applicable("padding is also the begin or the end of a sentence here, and is read as such")
    tables = subject.tables()
    real = target != subject.pad
    words = torch.arange(subject.vocab_size) != subject.pad
    before = probe.logits(source, target)[real][:, words]
    with torch.no_grad():
        for table in (tables.source, tables.target):
            noise = torch.randn(table.size(1), generator=probe.generator)
            table[subject.pad] = noise * float(table.std()) * math.sqrt(10)
    after = probe.logits(source, target)[real][:, words]
    return _same_anywhere(before, after, "Another vector for padding", SAME)

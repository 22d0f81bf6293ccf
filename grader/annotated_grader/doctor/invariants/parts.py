"""The other parts of a layer: embeddings, residuals with their norms, the feed-forward network."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from annotated_grader.doctor.finding import Mistake
from annotated_grader.doctor.invariants.registry import InvariantViolated, invariant, not_applicable, require
from annotated_grader.doctor.probe import CLOSE, Probe, of_size, relative_difference
from annotated_grader.doctor.subject import SIDES, NotOffered, ResidualStep, Side


def token_scale(probe: Probe, side: Side, length: int) -> tuple[float, Tensor]:
    """The factor on the table's rows on their way in, and what is added to them: positions `[length, D]`."""
    tables = probe.subject.tables()
    table = (tables.source if side == "source" else tables.target).detach()
    a, b = (int(token) for token in probe.words[:2])
    with torch.no_grad():
        vectors = probe.subject.embed(torch.tensor([[a] * length, [b] * length]), side)
    rows, difference = table[a] - table[b], vectors[0, 0] - vectors[1, 0]
    scale = float((rows @ difference) / rows.square().sum())
    if relative_difference(difference, scale * rows) > 1e-3:
        not_applicable(f"on the {side} side, what enters the first layer is no multiple of the table's rows")
    return scale, vectors[0] - scale * table[a]


@invariant(
    "embedding-scale",
    Mistake("The embeddings are not multiplied by the root of d_model.", 13, "C36"),
    Mistake("They are multiplied by d_model, or divided by its root.", 13, "C37"),
    Mistake("One side is scaled and the other is not.", 13),
    paper="section 3.4",
    needs=("embed", "tables"),
    claims=("scaled_embeddings", "d_model"),
)
def embedding_scale(probe: Probe) -> str:
    """Token vectors enter as the table's rows times sqrt(d_model), plus the position."""
    claims = probe.subject.claims
    expected = math.sqrt(claims.d_model or 0) if claims.scaled_embeddings else 1.0
    for side in SIDES:
        try:
            scale, _ = token_scale(probe, side, 4)
        except NotOffered as error:
            raise InvariantViolated(str(error).capitalize() + ".") from None
        said = f"On the {side} side the table's rows are multiplied by {scale:.4g}; claimed is {expected:.4g}."
        require(abs(scale / expected - 1) < 1e-3, said)
    return f"The table's rows are multiplied by {expected:.4g}, as claimed."


NORM_ELSEWHERE = Mistake(
    "The norm stands before the sub-layer and not after the sum, or the other way round.", 12, "C46"
)
NO_RESIDUAL = Mistake("A residual connection is missing.", 12, "C44")
OTHER_NORM = Mistake("The norm divides by something else than the root of variance plus epsilon.", 12)
NO_LAST_NORM = Mistake("A pre-norm stack lacks its last norm.", 12)


@invariant(
    "residuals",
    NORM_ELSEWHERE,
    NO_RESIDUAL,
    OTHER_NORM,
    NO_LAST_NORM,
    paper="section 3.1",
    needs=("residuals",),
    claims=("norm",),
)
def residuals(probe: Probe) -> str:
    """Around each sub-layer: residual sum and LayerNorm, in the claimed order."""
    subject, source = probe.subject, probe.sources(5, 5)
    with torch.no_grad():
        steps = subject.residuals(source, probe.targets_in(5, 5))
    norm = subject.claims.norm
    for step in steps:
        total = step.before + step.output
        rms = subject.claims.rms_norm
        post, pre = (step.before, step.normalised(total, rms)), (step.normalised(step.before, rms), total)
        read, after = post if norm == "post" else pre
        for what, got, expected in (("what it reads", step.read, read), ("what follows", step.after, after)):
            difference = relative_difference(got, expected)
            said = f"In {step.where}, {what} differs from {norm}-norm by {of_size(difference, 'its')}."
            # What a sub-layer reads comes before the sum: it says nothing about the residual connection.
            because = (NORM_ELSEWHERE, OTHER_NORM) if got is step.read else _mistakes_behind(probe, step)
            require(difference <= probe.close, said, *because)
    for one, following in zip(steps, steps[1:], strict=False):
        if one.where.split()[0] == following.where.split()[0]:
            difference = relative_difference(one.after, following.before)
            require(difference <= probe.close, f"Something stands between {one.where} and {following.where}.")
    if subject.offers("encode"):
        _examine_memory(probe, source, [step for step in steps if step.where.startswith("encoder")])
    return f"{len(steps)} sub-layers are {norm}-norm with a residual sum."


def _mistakes_behind(probe: Probe, step: ResidualStep) -> tuple[Mistake, ...]:
    """What may be wrong in what follows a sub-layer: certainly the residual connection, if its output stands alone."""
    normed = step.normalised(step.output, probe.subject.claims.rms_norm)
    if any(relative_difference(step.after, alone) <= probe.close for alone in (step.output, normed)):
        return (NO_RESIDUAL,)
    return (NORM_ELSEWHERE, NO_RESIDUAL, OTHER_NORM)


def _examine_memory(probe: Probe, source: Tensor, steps: list[ResidualStep]) -> None:
    with torch.no_grad():
        memory = probe.subject.encode(source)
    if not steps or steps[-1].after.shape != memory.shape:
        return
    difference = relative_difference(memory, steps[-1].after)
    if probe.subject.claims.norm == "pre":
        said = "The encoder hands on the residual sum itself, without a norm on top."
        require(difference > CLOSE, said, NO_LAST_NORM)


@invariant(
    "feed-forward",
    Mistake("There is nothing between the two matrices: the ReLU is missing.", 10, "C34"),
    Mistake("The network mixes positions.", 10, "C34"),
    paper="section 3.3, equation 2",
    needs=("feed_forward",),
    claims=("d_model",),
)
def feed_forward(probe: Probe) -> str:
    """The feed-forward network mixes no positions, and is not linear."""
    x = torch.randn(2, 5, probe.subject.claims.d_model or 0, generator=probe.generator).to(probe.dtype)
    with torch.no_grad():
        y = probe.subject.feed_forward(x)
        changed = x.clone()
        changed[0, 2] += torch.randn(x.size(-1), generator=probe.generator)
        moved = (probe.subject.feed_forward(changed) - y).abs().amax(dim=-1)
        moved[0, 2] = 0
        reach = float(moved.max()) / float(y.abs().max())
        require(reach <= probe.close, f"Another vector at one position changes others by {of_size(reach)}.")
        zero = probe.subject.feed_forward(torch.zeros_like(x))
        # A line has neither; an odd function such as tanh lacks the first, and ReLU without biases the second.
        even, bend = probe.subject.feed_forward(-x) + y - 2 * zero, probe.subject.feed_forward(2 * x) - 2 * y + zero
        bent = float(torch.maximum(even.abs(), bend.abs()).max()) / float(y.abs().max())
    require(bent > 1e-3, f"f(x) + f(-x) - 2 f(0) and f(2 x) - 2 f(x) + f(0) are {bent:.0e} of f(x): f is linear.")
    return "One position's vector changes that position only, and the network is not linear."

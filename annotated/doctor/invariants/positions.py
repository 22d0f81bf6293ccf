"""Positions: the encoder and the decoder know the order of tokens, also far from the beginning."""

from __future__ import annotations

import torch
from torch import Tensor

from annotated.doctor.finding import Mistake
from annotated.doctor.invariants.parts import token_scale
from annotated.doctor.invariants.registry import InvariantViolated, invariant, not_applicable, require
from annotated.doctor.probe import CLOSE, Probe, of_size, relative_difference
from annotated.doctor.subject import SIDES, NotOffered

NOT_ADDED = Mistake("Positions are computed and not added, on this side at least.", 14, "C25")
ALL_ALIKE = Mistake("Every position gets the same vector: it was computed along the wrong axis.", 14, "C26")
OVERWRITTEN = Mistake("The encoding is too small to matter beside the embeddings, or set to zero.", 13, "C23")


@invariant("source-order", NOT_ADDED, ALL_ALIKE, OVERWRITTEN, paper="section 3.5")
def source_order(probe: Probe) -> str:
    """Exchanging two source tokens changes the logits."""
    probe.sharpen_weights()  # some initialise so small that attention hardly acts
    source, target = probe.sources(6), probe.targets_in(5)
    exchanged = source.clone()
    exchanged[0, 1], exchanged[0, 3] = source[0, 3], source[0, 1]
    difference = relative_difference(probe.logits(exchanged, target), probe.logits(source, target))
    require(difference > LEAST, f"Two source tokens change places, and the logits change by {of_size(difference)}.")
    return f"Two source tokens change places, and the logits change by {of_size(difference)}."


@invariant("target-positions", NOT_ADDED, ALL_ALIKE, OVERWRITTEN, paper="section 3.5")
def target_positions(probe: Probe) -> str:
    """A target of one repeated token has different logits at every position."""
    length = min(16, probe.subject.claims.longest or 16)
    source, target = probe.sources(5), probe.tokens(1, 1).repeat(1, length)
    closest = _closest(probe.logits(source, target)[0])
    require(closest > CLOSE, f"Two of {length} positions have the same logits (nearest: {of_size(closest)}).")
    return f"The logits of {length} positions of one repeated token are at least {of_size(closest)} apart."


@invariant(
    "far-positions",
    Mistake("A table of fixed length ends before the sentence does.", 14, "C29"),
    Mistake("Positions repeat, or are clamped to the last of the table.", 14),
    ALL_ALIKE,
    paper="section 3.5",
)
def far_positions(probe: Probe) -> str:
    """Positions up to 600, or the claimed longest, are read, and differ."""
    length = min(FAR, probe.subject.claims.longest or FAR)
    try:
        vectors = _far_vectors(probe, length)
    except NotOffered:
        raise
    except Exception as error:  # a table that ends is what is looked for here, however it says so
        raise InvariantViolated(f"{length} positions cannot be read: {type(error).__name__}: {error}") from error
    for side, rows in vectors.items():
        require(bool(rows.isfinite().all()), f"Among {length} {side} positions some are NaN or infinite.")
        closest = _closest(rows)
        require(closest > LEAST, f"Two of {length} {side} positions are alike: {of_size(closest)} apart.")
    return f"{length} positions are read, and no two are alike."


def _far_vectors(probe: Probe, length: int) -> dict[str, Tensor]:
    """What one repeated token becomes at each of `length` positions, `[length, D]` or `[length, V]`."""
    if probe.subject.offers("embed"):
        ids = probe.tokens(1, 1).repeat(1, length)
        with torch.no_grad():
            return {side: probe.subject.embed(ids, side)[0] for side in SIDES}
    source = torch.cat((probe.tokens(1, length - 1), probe.sources(1)), dim=1)
    target = probe.tokens(1, 1).repeat(1, length)
    return {"target": probe.logits(source, target)[0]}


FAR = 600
LEAST = 1e-5
"""Differences below are rounding; one that means something may still be small far down the sentence."""


@invariant(
    "sinusoids",
    Mistake("The exponent counts dimensions instead of pairs of sine and cosine.", 14, "C26"),
    Mistake("Sine and cosine of a pair have different frequencies.", 14),
    Mistake("The encoding is computed along the wrong axis, or for positions that start elsewhere.", 14),
    Mistake("Positions are scaled together with the embeddings.", 13),
    paper="section 3.5",
    needs=("embed", "tables"),
    claims=("positions", "d_model"),
)
def sinusoids(probe: Probe) -> str:
    """The claimed sinusoids: constant norm, dot products of the paper's frequencies."""
    claims, length = probe.subject.claims, 40
    if claims.positions != "sinusoidal":
        not_applicable(f"it claims {claims.positions} positions")
    d_model = claims.d_model or 0
    frequencies = 10000 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    offsets = torch.arange(length)[:, None] - torch.arange(length)
    # sin a sin b + cos a cos b = cos(a - b), whatever the order of the dimensions.
    expected = (offsets[..., None] * frequencies).cos().sum(dim=-1)
    for side in SIDES:
        _, rows = token_scale(probe, side, length)
        rows = rows.double()
        norms = rows.square().sum(dim=1)
        spread = float((norms - d_model / 2).abs().max()) / (d_model / 2)
        require(
            spread < TOLERANCE, f"On the {side} side the squared norm of a position is off d_model / 2 by {spread:.0%}."
        )
        worst = float((rows @ rows.T - expected).abs().max()) / (d_model / 2)
        require(
            worst < TOLERANCE,
            f"On the {side} side dot products of positions differ from the paper's frequencies by {worst:.0%}.",
        )
    return f"Dot products of {length} positions are sums of cosines of the paper's frequencies, within {TOLERANCE:.0%}."


TOLERANCE = 0.1
"""Wide enough for the released code, whose frequencies are spaced by D / 2 - 1 instead of D / 2."""


def _closest(rows: Tensor) -> float:
    """The smallest distance of any two rows, as a share of the largest number."""
    distances = torch.cdist(rows[None].double(), rows[None].double(), p=float("inf"))[0]
    distances.fill_diagonal_(float("inf"))
    return float(distances.min()) / max(float(rows.abs().max()), 1e-30)

"""Positions: the encoder and the decoder know the order of tokens, also far from the beginning."""

from __future__ import annotations

import torch
from torch import Tensor

from annotated_grader.doctor.finding import Mistake
from annotated_grader.doctor.invariants.mistakes import ALONG_BATCH
from annotated_grader.doctor.invariants.padding import counts_rows
from annotated_grader.doctor.invariants.parts import token_scale
from annotated_grader.doctor.invariants.registry import InvariantViolated, invariant, not_applicable, require
from annotated_grader.doctor.probe import CLOSE, Probe, of_size, relative_difference
from annotated_grader.doctor.subject import SIDES, NotOffered

INSIDE = (
    "its positions act inside attention, where equal tokens have equal values; source-order and target-order examine "
    "the order of different tokens"
)
UNORDERED = "it claims no positions"


def positions_are_added(probe: Probe) -> bool:
    """Whether positions are vectors added to the tokens', as claimed; if nothing is claimed, as the source shows.

    Where positions act inside attention, a source of one token again and again gives the same memory at any length:
    all its values are equal, however they are weighted. If its order matters nevertheless, positions are relative.
    """
    claimed = probe.subject.claims.positions
    if claimed is not None:
        return claimed not in ("relative", "none")
    target = probe.targets_in(4)
    for token in probe.words[:2].tolist():
        short, long = (probe.logits(torch.full((1, length), token), target) for length in (3, 7))
        if relative_difference(short, long) > CLOSE:
            return True
    source, exchanged = _exchanged(probe.sources(6))
    return relative_difference(probe.logits(exchanged, target), probe.logits(source, target)) <= LEAST


def _exchanged(ids: Tensor) -> tuple[Tensor, Tensor]:
    """One sentence `[1, L]`, and the same with its second and fourth token exchanged."""
    other = ids.clone()
    other[0, 1], other[0, 3] = ids[0, 3], ids[0, 1]
    return ids, other


def _along_batch(probe: Probe, differ: bool) -> tuple[Mistake, ...]:
    """The mistake, if positions do not differ and a sentence's row in the batch counts in their place."""
    return () if differ or not counts_rows(probe) else (ALONG_BATCH,)


def _forgets(probe: Probe) -> bool:
    """Whether an early target token changes nothing far behind it, as in a recurrent network or a convolution.

    Such a model knows the order of tokens by itself; on one token again and again its state converges.
    """
    source, (one, other) = probe.sources(5), probe.tokens(2, 2, distinct=True)
    words, rest = torch.stack((one, other)), probe.tokens(1, 1).repeat(2, FORGOTTEN)
    begins = torch.full((2, 1), probe.subject.bos)
    logits = probe.logits(source.expand(2, -1), torch.cat((begins, words, rest), dim=1))[:, -1]
    return relative_difference(logits[0], logits[1]) <= LEAST


FORGOTTEN = 200
RECURS = (
    "it claims no positions, and early tokens leave no trace behind a long run of one token: it is recurrent or a "
    "convolution, which knows the order of tokens without positions"
)


NOT_ADDED = Mistake("Positions are computed and not added, on this side at least.", 14, "C25")
ALL_ALIKE = Mistake("Every position gets the same vector: it was computed along the wrong axis.", 14, "C26")
OVERWRITTEN = Mistake("The encoding is too small to matter beside the embeddings, or set to zero.", 13, "C23")


@invariant("source-order", NOT_ADDED, ALL_ALIKE, OVERWRITTEN, paper="section 3.5")
def source_order(probe: Probe) -> str:
    """Exchanging two source tokens changes the logits."""
    if probe.subject.claims.positions == "none":
        not_applicable(UNORDERED)
    probe.sharpen_weights()  # some initialise so small that attention hardly acts
    (source, exchanged), target = _exchanged(probe.sources(6)), probe.targets_in(5)
    difference = relative_difference(probe.logits(exchanged, target), probe.logits(source, target))
    # A trained model, sharpened, rounds by some 1e-5 where order does not matter at all.
    said = f"Two source tokens change places, and the logits change by {of_size(difference)}."
    require(difference > CLOSE, said, *_along_batch(probe, difference > CLOSE))
    return said


@invariant("target-order", NOT_ADDED, ALL_ALIKE, OVERWRITTEN, paper="section 3.5")
def target_order(probe: Probe) -> str:
    """Exchanging two target tokens changes the logits after both."""
    if probe.subject.claims.positions == "none":
        not_applicable(UNORDERED)
    probe.sharpen_weights()
    source, (target, exchanged) = probe.sources(5), _exchanged(probe.targets_in(6))
    before, after = (probe.logits(source, ids)[:, 4:] for ids in (target, exchanged))
    difference = relative_difference(after, before)
    said = f"Two target tokens change places, and the logits after them change by {of_size(difference)}."
    require(difference > LEAST, said)
    return said


@invariant("target-positions", NOT_ADDED, ALL_ALIKE, OVERWRITTEN, paper="section 3.5")
def target_positions(probe: Probe) -> str:
    """Where positions are added, a target of one repeated token has different logits at every position."""
    if not positions_are_added(probe):
        not_applicable(INSIDE)
    length = min(16, probe.subject.claims.longest or 16)
    source, target = probe.sources(5), probe.tokens(1, 1).repeat(1, length)
    closest = _closest(probe.logits(source, target)[0])
    if closest <= CLOSE and probe.subject.claims.positions is None and _forgets(probe):
        not_applicable(RECURS)
    said = f"Two of {length} positions have the same logits (nearest: {of_size(closest)})."
    require(closest > CLOSE, said, *_along_batch(probe, closest > CLOSE))
    return f"The logits of {length} positions of one repeated token are at least {of_size(closest)} apart."


TABLE_ENDS = Mistake("A table of fixed length ends before the sentence does.", 14, "C29")
REPEATED = Mistake("Positions repeat, or are clamped to the last of the table.", 14)


@invariant(
    "far-positions",
    TABLE_ENDS,
    REPEATED,
    ALL_ALIKE,
    paper="section 3.5",
)
def far_positions(probe: Probe) -> str:
    """Positions up to 600, or the claimed longest, are read, and differ if they are added."""
    length = min(FAR, probe.subject.claims.longest or FAR)
    added = positions_are_added(probe)
    try:
        vectors = _far_vectors(probe, length, added)
    except (NotOffered, TypeError, AttributeError, NameError):
        raise  # not offered, or a slip of the adapter's
    except Exception as error:  # a table that ends is what is looked for here, however it says so
        said = f"{length} positions cannot be read: {type(error).__name__}: {error}"
        raise InvariantViolated(said, TABLE_ENDS) from error
    for side, rows in vectors.items():
        require(bool(rows.isfinite().all()), f"Among {length} {side} positions some are NaN or infinite.")
        if added:
            closest = _closest(rows)
            said = f"Two of {length} {side} positions are alike: {of_size(closest)} apart."
            by_logits = not probe.subject.offers("embed")
            if closest <= LEAST and by_logits and probe.subject.claims.positions is None and _forgets(probe):
                not_applicable(RECURS)
            require(closest > LEAST, said, REPEATED, ALL_ALIKE)
    if added and not probe.subject.offers("embed"):
        _require_far_order(probe, length)
    return f"{length} positions are read{', and no two are alike' if added else ''}."


def _require_far_order(probe: Probe, length: int) -> None:
    """Far in a source, too, the order of two tokens matters about as much as at its beginning."""
    source, target = probe.sources(length), probe.targets_in(4)
    first, last = probe.words[:2].tolist()

    def effect(place: int) -> float:
        pair = []
        for tokens in ((first, last), (last, first)):
            ids = source.clone()
            ids[0, place], ids[0, place + 3] = tokens
            pair.append(probe.logits(ids, target))
        return relative_difference(*pair)

    near, far = effect(0), max(effect(length - 2 - back) for back in (4, 7))
    said = f"Two tokens near the end of a source of {length} change places, and the logits change by {of_size(far)}"
    require(far > min(near / FADES, LEAST), f"{said}; near its beginning, by {of_size(near)}.", REPEATED)


FADES = 1000
"""The order of far tokens matters less by a smaller factor, unless they have the same position."""


def _far_vectors(probe: Probe, length: int, added: bool) -> dict[str, Tensor]:
    """What one repeated token becomes at each of `length` positions, `[length, D]` or `[length, V]`."""
    if added and probe.subject.offers("embed"):
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

"""Invariants of any encoder-decoder: one function for each, by theme, in the order of examination.

`annotated doctor --list` prints them with what they need; `INVARIANTS` holds them by id.
"""

from __future__ import annotations

from annotated_grader.doctor.invariants import (
    attention,
    causality,
    decoding,
    distance,
    evaluation,
    padding,
    parameters,
    parts,
    positions,
    precision,
    repeatability,
    training,
)
from annotated_grader.doctor.invariants.registry import DECLARED, Invariant, InvariantViolated

THEMES = (
    repeatability,
    causality,
    distance,
    padding,
    positions,
    attention,
    parts,
    parameters,
    precision,
    training,
    decoding,
    evaluation,
)
"""In the order of examination: what a failure of one often explains in the next comes first."""

INVARIANTS: dict[str, Invariant] = {
    invariant.id: invariant
    for theme in THEMES
    for invariant in DECLARED
    if theme.__name__.rpartition(".")[2] == invariant.theme
}
"""All of them by id, in the order of examination."""

__all__ = ["INVARIANTS", "THEMES", "Invariant", "InvariantViolated"]

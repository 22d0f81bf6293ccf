"""Causes: which failures follow, as a rule, from another one, so that it is shown first and they are only named."""

from __future__ import annotations

from collections.abc import Sequence

from annotated_grader.doctor.finding import Finding

SEARCHES = ("greedy-follows-model", "beam-one-is-greedy", "beam-scores", "beam-penalty", "beam-exhaustive")
STEPS = ("cache-equals-forward", "cache-follows-beam", *SEARCHES)
COMPANY = ("batch-mates", "accumulation", "perplexity")

FOLLOWS: dict[str, tuple[str, ...]] = {
    "leak-by-change": (
        "leak-by-gradient",
        "leak-canary",
        "far-leak",
        "target-padding",
        "pad-vector-unread",
        *COMPANY,
        *STEPS,
    ),
    "target-past-is-seen": ("far-past", *STEPS),
    "source-is-reached": ("far-source", "source-end-is-read", "source-order", "encoder-sees-both-sides", *STEPS),
    "source-padding": ("pad-vector-unread", *COMPANY, *STEPS),
    "target-padding": COMPANY,
    "source-order": ("target-order", "target-positions", "far-positions", "sinusoids"),
    "target-positions": ("far-positions", "sinusoids"),
    "far-positions": ("far-leak", "far-past", "far-source"),
    "source-end-is-read": ("attention-hidden", "attention-scale"),
    "attention-rows": ("attention-before-dropout", "attention-scale"),
    "attention-hidden": STEPS,
    "shift": ("leak-canary",),
    "cache-equals-forward": ("cache-follows-beam", *SEARCHES),
    "cache-follows-beam": ("beam-scores", "beam-exhaustive"),
    "greedy-follows-model": ("beam-one-is-greedy",),
    "beam-scores": ("beam-exhaustive",),
    "beam-penalty": ("beam-exhaustive",),
}
"""What a failure explains in others. An invariant that only repeats one that failed is looked at again afterwards."""


def roots(findings: Sequence[Finding]) -> dict[str, list[str]]:
    """The failed invariants that follow from no other, each with those that follow from it.

    Where what was measured tells the mistake itself, it comes first; else the order is that of the examination.
    """
    failed = [finding.id for finding in findings if finding.outcome == "failed"]
    after = {id: _consequences(id, failed) for id in failed}
    found: dict[str, list[str]] = {}
    for root in failed:
        if not any(root in others for others in after.values()):
            told = {id for following in found.values() for id in following}
            found[root] = [id for id in failed if id in after[root] - told]
    told_by_numbers = {f.id for f in findings if f.mistakes and f.mistakes[0].mutant}
    return dict(sorted(found.items(), key=lambda one: one[0] not in told_by_numbers))


def _consequences(cause: str, failed: Sequence[str]) -> set[str]:
    """What follows from a cause among what failed, at once or through another consequence."""
    seen, open = set(), [cause]
    while open:
        for id in FOLLOWS.get(open.pop(), ()):
            if id in failed and id not in seen:
                seen.add(id)
                open.append(id)
    return seen

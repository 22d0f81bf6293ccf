"""Causes: which failures follow from another one, so that it is shown first and they are only named.

`FOLLOWS` has what may follow from what. Whether it does, an examination finds out by taking the cause away: a failure
that is there without it is shown for itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from annotated_grader.doctor import removal
from annotated_grader.doctor.finding import Finding
from annotated_grader.doctor.removal import Explains, each, either, gone, gone_below_the_end, stays
from annotated_grader.doctor.subject import Subject

SEARCHES = ("greedy-follows-model", "beam-one-is-greedy", "beam-scores", "beam-penalty", "beam-exhaustive")
CACHE = ("cache-equals-forward", "cache-follows-beam")
STEPS = (*CACHE, *SEARCHES)
COMPANY = ("batch-mates", "accumulation", "perplexity")

_no_future = gone(removal.PrefixesAlone)
_no_padding = gone(even=True)
_by_steps = gone(removal.StepByStep)
# A leak and padding together: a search is right if it follows the steps where nothing is padded.
_no_padding_by_steps = either(_no_padding, gone(removal.StepByStep, even=True))
_right_steps = gone(removal.StepByStep, cured=True)
_near = stays(removal.Near)
_positions_added = gone(removal.PositionsAdded)

FOLLOWS: dict[str, dict[str, Explains]] = {
    "leak-by-change": each(
        ("leak-by-gradient", "leak-canary", "target-padding", "pad-vector-unread", "batch-mates"), _no_future
    )
    | {"far-leak": _near}
    | each(("accumulation", "perplexity"), _no_padding)
    | each(STEPS, _right_steps),
    "target-past-is-seen": {"far-past": _near} | each(("target-order", *STEPS), _right_steps),
    "source-is-reached": {"far-source": _near}
    | each(("source-end-is-read", "source-order"), removal.nothing_is_read)
    | each(STEPS, _right_steps),
    "source-padding": each(("pad-vector-unread", *COMPANY, *CACHE), _no_padding) | each(SEARCHES, _no_padding_by_steps),
    "target-padding": each(COMPANY, _no_padding),
    "batch-mates": each(("accumulation", "perplexity"), _no_padding) | {"embedding-scale": gone(removal.RowsAlone)},
    "source-order": {"far-positions": _near, "sinusoids": _positions_added},
    "target-positions": {"far-positions": _near, "sinusoids": _positions_added},
    "far-positions": each(("far-leak", "far-past", "far-source"), gone_below_the_end),
    "source-end-is-read": {"attention-scale": gone(removal.NoEnd)},
    "attention-rows": {
        "attention-before-dropout": stays(dropout=False),
        "attention-scale": gone(removal.RowsOfSumOne),
    },
    "shift": {"leak-canary": gone(removal.PapersShift)},
    "cache-equals-forward": each(("cache-follows-beam", *SEARCHES), _by_steps),
    "cache-follows-beam": {
        "beam-scores": gone(removal.BeamOfOne),
        "beam-exhaustive": removal.sums_are_wrong_there,
    },
    "greedy-follows-model": {"beam-one-is-greedy": gone(removal.OwnGreedy)},
    "beam-scores": {"beam-exhaustive": removal.sums_are_wrong_there},
    "beam-penalty": {"beam-exhaustive": gone(removal.NoPenalty)},
}
"""What a failure may explain in others, and how it is seen whether it does."""


def with_reasons(subject: Subject, findings: Sequence[Finding]) -> list[Finding]:
    """The findings; those that failed say of which other failures they are the consequence."""
    failed = [finding.id for finding in findings if finding.outcome == "failed"]
    told: dict[str, list[str]] = {id: [] for id in failed}
    for cause in failed:
        for consequence, explains in FOLLOWS.get(cause, {}).items():
            # Once it is explained, other causes of it that follow from the first one need no look.
            if consequence in failed and not told[consequence] and explains(subject, cause, consequence):
                told[consequence].append(cause)
    return [replace(finding, follows=tuple(told.get(finding.id, ()))) for finding in findings]


def roots(findings: Sequence[Finding]) -> dict[str, list[str]]:
    """The failed invariants that follow from no other, each with those that follow from it.

    Where what was measured tells the mistake itself, it comes first; else the order is that of the examination.
    """
    failed = [finding for finding in findings if finding.outcome == "failed"]
    after = {finding.id: _consequences(finding.id, failed) for finding in failed}
    found: dict[str, list[str]] = {}
    for root in after:
        if not any(root in others for others in after.values()):
            told = {id for following in found.values() for id in following}
            found[root] = [id for id in after if id in after[root] - told]
    told_by_numbers = {f.id for f in findings if f.mistakes and f.mistakes[0].mutant}
    return dict(sorted(found.items(), key=lambda one: one[0] not in told_by_numbers))


def _consequences(cause: str, failed: Sequence[Finding]) -> set[str]:
    """What follows from a cause among what failed, at once or through another consequence."""
    seen, open = set(), [cause]
    while open:
        because = open.pop()
        for finding in failed:
            told = finding.follows
            follows = because in told if told is not None else finding.id in FOLLOWS.get(because, ())
            if follows and finding.id not in seen:
                seen.add(finding.id)
                open.append(finding.id)
    return seen

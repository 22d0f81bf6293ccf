"""The examination: every invariant in turn, each on the subject as it was found."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import torch

from annotated_grader.doctor.causes import with_reasons
from annotated_grader.doctor.finding import Finding, Mistake, Outcome
from annotated_grader.doctor.invariants import INVARIANTS, Invariant, InvariantViolated
from annotated_grader.doctor.probe import Probe, preserved_state
from annotated_grader.doctor.report import Report
from annotated_grader.doctor.subject import NotOffered, Subject


def examine(
    subject: Subject,
    only: Sequence[str] | None = None,
    *,
    progress: Callable[[Finding], None] | None = None,
) -> Report:
    """Examine an encoder-decoder; afterwards it is as it was before.

    Parameters
    ----------
    subject
        An adapter around it.
    only
        Ids of invariants; None for all.
    progress
        Called with each finding as it comes.

    Returns
    -------
    Report
        One finding for each invariant.

    Raises
    ------
    ValueError
        If there is no invariant of a name in `only`, the vocabulary is too small to build sentences from, or the
        subject gives no logits for two plain sentences.
    """
    if unknown := [name for name in only or () if name not in INVARIANTS]:
        raise ValueError(f"there is no invariant {', '.join(unknown)}; there are {', '.join(INVARIANTS)}")
    _require_logits(subject)
    findings: list[Finding] = []
    for invariant in INVARIANTS.values():
        if only is None or invariant.id in only:
            findings.append(_muted(_examine_one(subject, invariant), findings))
            findings[-1] = _without_ruled_out(findings[-1], findings)
            if progress is not None:
                progress(findings[-1])
    return Report(subject.name, tuple(with_reasons(subject, findings)))


def _require_logits(subject: Subject) -> None:
    """What is wrong with the adapter itself is one error, and not one for each invariant."""
    if not isinstance(getattr(subject, "vocab_size", None), int):
        raise ValueError(f"{type(subject).__name__} must say its vocab_size, a number")
    if not subject.offers("logits"):
        raise ValueError(f"{type(subject).__name__} must define logits(source, target_in)")
    probe = Probe(subject)
    source, target = probe.sources(4, 3), probe.targets_in(3, 2)
    try:
        with preserved_state(subject), torch.no_grad():
            logits = subject.logits(source, target)
    except Exception as error:
        kind, text = type(error).__name__, " ".join(str(error).split())
        raise ValueError(f"logits(source [2, 4], target_in [2, 3]) of {subject.name} raised {kind}: {text}") from error
    expected = (*target.shape, subject.vocab_size)
    if not isinstance(logits, torch.Tensor) or tuple(logits.shape) != expected:
        got = list(logits.shape) if isinstance(logits, torch.Tensor) else type(logits).__name__
        raise ValueError(f"logits(source [2, 4], target_in [2, 3]) must be a tensor {list(expected)}, not {got}")


def _muted(finding: Finding, before: Sequence[Finding]) -> Finding:
    """What cannot be judged: where two equal calls differ, or a sentence has no numbers of its own, all fails."""
    reasons = [BASIS[one.id] for one in before if one.outcome == "failed" and one.id in BASIS]
    if not reasons or finding.outcome not in ("failed", "error"):
        return finding
    return replace(finding, outcome="not applicable", measured=reasons[0], mistakes=())


def _without_ruled_out(finding: Finding, before: Sequence[Finding]) -> Finding:
    """Without the mistakes that another invariant, which holds, rules out."""
    held = {one.id for one in before if one.outcome == "passed"}
    return replace(finding, mistakes=tuple(one for one in finding.mistakes if one.unless not in held))


BASIS = {
    "dropout-off": "Two equal calls differ, which is a failure of dropout-off: correct that first and examine again.",
    "softmax-axis": "The logits are normalised over the wrong axis, which is a failure of softmax-axis: correct that "
    "first and examine again.",
}
"""What is said of other failures where what they rest on fails."""


def _examine_one(subject: Subject, invariant: Invariant) -> Finding:
    began = time.perf_counter()
    outcome, measured, mistakes = _outcome(subject, invariant)
    return Finding(
        id=invariant.id,
        title=invariant.title,
        theme=invariant.theme,
        paper=invariant.paper,
        outcome=outcome,
        measured=measured,
        mistakes=mistakes,
        seconds=round(time.perf_counter() - began, 3),
    )


def _outcome(subject: Subject, invariant: Invariant) -> tuple[Outcome, str, tuple[Mistake, ...]]:
    if lacking := [capability for capability in invariant.needs if not subject.offers(capability)]:
        return "not applicable", f"The adapter has no {', '.join(lacking)}.", ()
    if silent := [name for name in invariant.claims if getattr(subject.claims, name) is None]:
        return "not applicable", f"The subject claims no {', '.join(silent)}.", ()
    try:
        with preserved_state(subject):
            return "passed", invariant.examine(Probe(subject)), ()
    except InvariantViolated as broken:
        return "failed", str(broken), broken.mistakes or invariant.mistakes
    except NotOffered as reason:
        text = str(reason)
        return "not applicable", f"{text[0].upper()}{text[1:]}.", ()
    except Exception as error:  # the subject's own: it is a finding, and the examination goes on
        return "error", f"{type(error).__name__}: {' '.join(str(error).split())}", ()

"""Cases of the game: for each model the answers to choose from, why the others are wrong, and the doctor's report."""

from __future__ import annotations

import random
from typing import Any

from annotated_book.record import recorded
from annotated_book.reference.doctor.experiment import HEALTHY
from annotated_grader.doctor import Report, mutants
from annotated_grader.doctor.finding import CHAPTERS
from annotated_grader.doctor.invariants import INVARIANTS
from annotated_grader.doctor.report.page import BESIDE, claim_link, diagnoses_html

SENTENCES = (
    "The grandmother opened the green school bag.",
    "The small dog sees the cat.",
    "Yesterday the old teacher bought a red car.",
    "The children do not eat the cold soup.",
)
"""What every model of the game translates."""

CASES: dict[str, tuple[int, tuple[str, ...]]] = {
    "positions_missing": (14, ("positions_in_encoder_only", "embedding_not_scaled", "encoder_skipped")),
    "encoder_is_causal": (7, ("causal_mask_missing", "padding_seen_by_encoder", "source_end_hidden")),
    "residual_missing": (12, ("softmax_over_queries", "embedding_not_scaled", "encoder_skipped")),
    "causal_mask_missing": (7, ("causal_mask_too_wide", "mask_fill_tiny", "causal_mask_in_first_layer_only")),
    "scale_by_d_k": (5, ("scale_missing", "softmax_over_queries", "encoder_skipped")),
    HEALTHY: (15, ("padding_seen_by_encoder", "causal_mask_too_wide", "cached_position_restarts", "positions_missing")),
    "padding_seen_by_encoder": (7, ("mask_fill_tiny", "encoder_is_causal", "cached_step_sees_padding")),
    "cache_forgets_values": (23, ("causal_mask_too_wide", "greedy_ignores_eos", "encoder_skipped")),
    "causal_mask_too_wide": (7, ("causal_mask_missing", "causal_mask_too_narrow", "mask_fill_tiny")),
    "encoder_skipped": (6, ("cross_attention_reads_target", "positions_missing", "scale_by_d_k")),
    "softmax_over_queries": (5, ("keys_and_values_swapped", "residual_missing", "causal_mask_missing")),
    "mask_fill_tiny": (7, ("causal_mask_missing", "padding_seen_by_encoder", "causal_mask_too_wide")),
    "keys_and_values_swapped": (5, ("softmax_over_queries", "residual_missing", "positions_missing")),
    "cached_position_restarts": (23, ("positions_missing", "causal_mask_too_wide", "cached_step_sees_padding")),
}
"""In the order of the game: the chapter on the part, and wrong answers that the page can tell from the right one."""

TOLD_BY_MAPS = {
    frozenset(("causal_mask_missing", "causal_mask_too_wide")): (
        "Both mistakes fail the same invariants. The map of the masked self-attention tells them apart: above its "
        "diagonal either every cell is open, or one more diagonal."
    ),
    frozenset(("scale_by_d_k", "scale_missing")): (
        "Both mistakes fail the same invariant. The maps tell them apart: scores that are not divided give nearly "
        "one-hot rows, scores divided by d_k nearly uniform ones."
    ),
    frozenset(("causal_mask_missing", "causal_mask_in_first_layer_only")): (
        "Both mistakes fail the same of the four tests. The map of the masked self-attention tells them apart: without "
        "a mask every layer has weight above its diagonal, with a mask in the first layer that layer has none."
    ),
}
"""How to tell two mistakes that the four tests do not tell apart."""

TESTS = {"leak-by-change": 1, "source-padding": 2, "cache-equals-forward": 3, "source-order": 4}
"""Invariants that a reader can examine, each with the number of its test on the page."""

ALIKE = 0.5
"""Two mistakes look alike if they share this part of the invariants that either fails."""


def game() -> dict[str, Any]:
    """What the page's script needs: sentences, the answers in words, and the cases."""
    reports = recorded("doctor").results["reports"]
    cases = [_case(id, Report.from_dict(reports[id])) for id in CASES]
    answers = {id for case in cases for id in case["options"]}
    return {"sentences": SENTENCES, "answers": {id: _sentence(id) for id in sorted(answers)}, "cases": cases}


def _sentence(id: str) -> str:
    return "No mistake: the model is healthy." if id == HEALTHY else mutants.find(id).sentence


def _case(id: str, report: Report) -> dict[str, Any]:
    number, wrong = CASES[id]
    title, page = CHAPTERS[number]
    options = sorted({id, HEALTHY, *wrong})
    random.Random(id).shuffle(options)
    return {
        "id": id,
        "options": options,
        "whyNot": {option: why_not(option, report) for option in options if option != id},
        "chapter": {"text": f"Chapter {number}, {title}", "href": f"{BESIDE}/{page}.html"},
        "claim": "" if id == HEALTHY else claim_link(mutants.find(id).claim, BESIDE),
        "seen": "" if id == HEALTHY else mutants.find(id).source,
        "counts": report.counts,
        "report": diagnoses_html(report, BESIDE),
        "alike": alike(id),
    }


def why_not(option: str, report: Report) -> str:
    """One sentence on what tells the model from the one that this answer describes.

    It is about one of the page's tests if one differs, else about a map, else about another invariant.
    """
    expected = () if option == HEALTHY else mutants.find(option).killed_by
    told = TOLD_BY_MAPS.get(frozenset((option, report.subject)))
    told_apart = _difference(option, report, expected)
    if told and told_apart not in TESTS:
        return told
    if told_apart is None:
        failed = sorted(finding.id for finding in report.of("failed"))
        raise ValueError(f"the doctor does not tell {option} from {report.subject}, which fails {failed}")
    test = TESTS.get(told_apart)
    where = f"test {test}" if test else "found by the full examination, not by the tests here"
    title = INVARIANTS[told_apart].title
    if told_apart in expected:
        return f"With that mistake this invariant would fail, and it holds here ({where}): {title}"
    whole = "In a healthy model" if option == HEALTHY else "With that mistake alone"
    return f"{whole} this invariant holds, and it fails here ({where}): {title}"


def _difference(option: str, report: Report, expected: tuple[str, ...]) -> str | None:
    """An invariant that holds in one of the two models only: one that the page tests, if there is any."""
    held = {finding.id for finding in report.of("passed")}
    found = [invariant for invariant in expected if invariant in held]
    found += [finding.id for finding in report.of("failed") if finding.id not in expected]
    return min(found, key=lambda invariant: invariant not in TESTS, default=None)


def alike(id: str) -> list[str]:
    """Other mistakes of the bank that fail much the same invariants, the nearest first; at most three."""
    if id == HEALTHY:
        return []
    own = set(mutants.find(id).killed_by)

    def share(mutant: mutants.Mutant) -> float:
        return len(own & {*mutant.killed_by}) / len(own | {*mutant.killed_by})

    near = [mutant for mutant in mutants.MUTANTS if mutant.id != id and share(mutant) >= ALIKE]
    return [mutant.sentence for mutant in sorted(near, key=share, reverse=True)[:3]]

"""The record of public implementations: complete, judged, and about invariants that exist."""

from __future__ import annotations

import copy
import json
from collections import Counter
from importlib.resources import files
from typing import Any, get_args

import pytest

from annotated_grader.doctor.finding import Outcome
from annotated_grader.doctor.invariants import INVARIANTS
from annotated_grader.doctor.mutants import MUTANTS
from benchmarks.doctor.record import SCHEMA, judged
from benchmarks.doctor.registry import IMPLEMENTATIONS
from benchmarks.doctor.verdicts import CHOICES, STRENGTHS, VERDICTS, Weight

RECORD: dict[str, Any] = json.loads((files("annotated_grader") / "assets" / "doctor_public.json").read_text("utf-8"))
SUBJECTS: dict[str, Any] = {subject["id"]: subject for subject in RECORD["results"]["subjects"]}


def test_the_record_says_where_it_comes_from() -> None:
    assert RECORD["command"] == "python -m benchmarks doctor" and RECORD["cpu_seconds"] > 0
    assert RECORD["results"]["schema"] == SCHEMA and RECORD["date"] >= "2026-11-21"
    assert list(SUBJECTS) == list(IMPLEMENTATIONS)


@pytest.mark.parametrize("subject", SUBJECTS.values(), ids=SUBJECTS)
def test_each_implementation_was_examined_and_judged(subject: dict[str, Any]) -> None:
    assert subject["version"] and subject["strength"]
    outcomes = {finding["id"]: finding["outcome"] for finding in subject["findings"]}
    assert len(outcomes) >= 50 and set(outcomes) <= set(INVARIANTS)
    tally = Counter(outcomes.values())
    assert subject["counts"] == {outcome: tally[outcome] for outcome in get_args(Outcome)}
    for finding in subject["findings"]:
        assert finding["measured"]
        wrong = finding["outcome"] in ("failed", "error")
        assert wrong == ("verdict" in finding)
        assert not wrong or finding["verdict"]["weight"] in get_args(Weight)
    assert set(subject["resembles"]) <= {mutant.id for mutant in MUTANTS}


def test_verdicts_are_about_what_exists() -> None:
    for table in (VERDICTS, STRENGTHS, CHOICES):
        assert set(table) <= set(IMPLEMENTATIONS)
    assert set().union(*VERDICTS.values()) <= set(INVARIANTS)


@pytest.mark.parametrize(
    ("name", "invariant"),
    [
        ("annotated_transformer", "warmup-unit"),  # stepped for each micro-batch
        ("hyunwoongko", "bleu-words"),  # n-grams of characters
        ("jadore801120", "beam-scores"),  # logits scaled in training only
        ("joeynmt", "schedule"),  # the first update before the first rate
        ("x_transformers_earlier", "beam-scores"),  # the cache not reordered
    ],
)
def test_mistakes_that_reading_had_found_are_found(name: str, invariant: str) -> None:
    assert {f["id"]: f["outcome"] for f in SUBJECTS[name]["findings"]}[invariant] == "failed"


@pytest.mark.parametrize("name", ["torch", "marian", "annotated"])
def test_sound_implementations_are_cleared(name: str) -> None:
    assert SUBJECTS[name]["counts"]["failed"] == SUBJECTS[name]["counts"]["error"] == 0


def test_nothing_is_recorded_that_nobody_has_checked() -> None:
    found = copy.deepcopy(SUBJECTS["torch"])
    found["findings"][0]["outcome"] = "failed"
    with pytest.raises(ValueError, match=f"torch disagree:\n  {found['findings'][0]['id']}: "):
        judged(found)
    judged(found, drafts=True)


def test_a_verdict_without_a_finding_is_reported() -> None:
    found = copy.deepcopy(SUBJECTS["hyunwoongko"])
    for finding in found["findings"]:
        finding["outcome"] = "passed"
    with pytest.raises(ValueError, match="bleu-words: it passes, or was not examined"):
        judged(found)

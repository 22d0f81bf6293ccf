"""Fingerprints: what an invariant measured, without the figures that are this model's own, to compare with the bank's.

`annotated_grader.doctor.record_fingerprints` examines every known mistake and records what its failures measured.
"""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path

from annotated_grader.doctor.finding import Finding

RECORD = Path(__file__).resolve().parents[1] / "assets" / "doctor_fingerprints.json"

BLURRED: tuple[tuple[str, str], ...] = (
    (r"(cannot be read|In float16): .*", r"\1"),  # what libraries say changes with their releases
    (r" Another vector for padding changes nothing\.$", ""),  # seen only where modules or tables are offered
    (r"(encoder|decoder|cross) layer 1\b", r"\1 layer one"),
    (r"(encoder|decoder|cross) layer \d+", r"\1 layer later"),
    (r"(In|behind) (encoder|decoder)\b(?! layer (one|later) (a|eos)\b)[^.]*?(, what |\.$)", r"\1 \2\5"),
    (r"^(\w[\w.]*) and \S+ hold the same", "# hold the same"),
    (r"^(The \w+) of head \d+ and the (\w+) of head \d+", r"\1 and \2"),
    (r"(\bby|alike:) nothing\b", r"\1 #"),
    (r"\[[^\]]*\]", "#"),
    (r"\S+ of (their|its|f\(x\)) ?(size)?", "#"),
    (r"\b(eos|token \d+)\b(?=, whose)", "#"),
    (r"on the (source|target) side", "on one side"),
    (r"-?\d[\d.,]*(e[-+]?\d+)?%?", "#"),
)
"""Patterns and what they become, in this order: figures, lists and names of the model's parts are its own."""


def fingerprint(finding: Finding) -> str:
    """What was measured in words alone, and the likeliest mistake that it points to."""
    text = re.sub(
        r"^(Step|After step) (\d+)", lambda m: f"{m[1]} {'one' if m[2] == '1' else 'later'}", finding.measured
    )
    if finding.id == "greedy-follows-model":
        text = re.sub(r"^Step \w+", "A step", text)
    for pattern, becomes in BLURRED:
        text = re.sub(pattern, becomes, text, flags=re.IGNORECASE if "side" in pattern else 0)
    return " ".join([text, *(mistake.says for mistake in finding.mistakes[:1])])


@functools.cache
def recorded() -> dict[str, dict[str, str]]:
    """For every mistake of the bank the fingerprints of the invariants that it fails."""
    found: dict[str, dict[str, str]] = json.loads(RECORD.read_text("utf-8"))
    return found


def contradicts(id: str, findings: dict[str, Finding]) -> bool:
    """Whether one of these failed findings measured another thing than this mistake of the bank makes it measure."""
    known = recorded().get(id, {})
    return any(name in known and known[name] != fingerprint(finding) for name, finding in findings.items())

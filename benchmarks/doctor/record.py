"""The record: what the doctor found in each implementation, with the verdict of a person on every finding."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import date
from typing import Any

from benchmarks import machine
from benchmarks.doctor.registry import IMPLEMENTATIONS
from benchmarks.doctor.verdicts import CHOICES, STRENGTHS, VERDICTS

SCHEMA = 1
ABSENT = 3
WRONG = ("failed", "error")


def examined(name: str) -> dict[str, Any]:
    """Examine one implementation in this process."""
    from annotated_grader.doctor import examine

    implementation = IMPLEMENTATIONS[name]
    subject = implementation.subject()
    report = examine(subject)
    findings = [{"id": f.id, "outcome": f.outcome, "measured": f.measured} for f in report.findings]
    claims = {key: value for key, value in asdict(subject.claims).items() if value is not None}
    return {
        "id": name,
        "title": implementation.title,
        "url": implementation.url,
        "version": implementation.version(),
        "commit": implementation.commit,
        "date": implementation.date,
        "promises": claims,  # the name in records of before, kept so that they stay comparable
        "counts": report.counts,
        "resembles": [mutant.id for mutant in report.similar_mutants],
        "findings": findings,
    }


def judged(found: dict[str, Any], drafts: bool = False) -> dict[str, Any]:
    """The same with verdicts.

    Raises
    ------
    ValueError
        If a finding has no verdict, or a verdict no finding; the message lists them.
    """
    verdicts = VERDICTS.get(found["id"], {})
    wrong = {finding["id"]: finding["measured"] for finding in found["findings"] if finding["outcome"] in WRONG}
    unjudged = [f"{name}: {measured}" for name, measured in wrong.items() if name not in verdicts]
    idle = [f"{name}: it passes, or was not examined" for name in verdicts if name not in wrong]
    if (unjudged or idle) and not drafts:
        lines = "\n  ".join(unjudged + idle)
        raise ValueError(f"verdicts.py and the findings in {found['id']} disagree:\n  {lines}")
    for finding in found["findings"]:
        if finding["id"] in wrong and finding["id"] in verdicts:
            finding["verdict"] = asdict(verdicts[finding["id"]])
    return {**found, "strength": STRENGTHS[found["id"]], "choices": list(CHOICES.get(found["id"], ()))}


def examine_all(names: Sequence[str], drafts: bool = False) -> dict[str, Any]:
    """Examine each in a process of its own, because their packages share names; returns the record.

    Raises
    ------
    ValueError
        If one breaks down, or if findings and verdicts disagree.
    """
    subjects = []
    for name in names:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}
        command = [sys.executable, "-m", "benchmarks.doctor", name]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        if done.returncode == ABSENT:
            print(f"*** {name} is left out: {done.stderr.strip()}", file=sys.stderr)
            continue
        if done.returncode:
            raise ValueError(f"{name} cannot be examined:\n{done.stderr}")
        subjects.append(judged(json.loads(done.stdout), drafts))
        print(f"{name}: {', '.join(f'{count} {outcome}' for outcome, count in subjects[-1]['counts'].items())}")
    described = machine.describe()
    versions = described.pop("versions")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "command": "python -m benchmarks doctor",
        "date": date.today().isoformat(),
        "machine": {**described, "torch": versions["torch"]},
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 1),
        "results": {"schema": SCHEMA, "subjects": subjects},
    }

"""The report in the terminal: what is wrong first, and what may be behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from annotated_grader.doctor.diagnosis import JointDiagnosis
from annotated_grader.doctor.finding import Finding
from annotated_grader.doctor.similar_mutants import SimilarMutant

if TYPE_CHECKING:
    from annotated_grader.doctor.report import Report

MARKS = {"passed": ("✓", "green"), "failed": ("✗", "bold red"), "error": ("!", "bold magenta")}
FOLLOW = "These follow from it; correct it first and examine again:"
SHOWN = 3
"""Likely mistakes of a diagnosis that the terminal shows; JSON and HTML have all."""
WORDS = {"passed": "passed", "failed": "failed", "error": "broke down", "not applicable": "not examined"}


def print_report(report: Report, console: Any = None, passed: bool = False) -> None:
    """Print a report; see `Report.print`."""
    console = console or Console(highlight=False)
    console.print(Text(f"Examination of {report.subject}", style="bold"))
    console.print(summary(report))
    if near := report.similar_mutants:
        console.print(f"\n{heading(near)}:")
        for one in near:
            console.print(Padding(Text.assemble(f"· {one.sentence} ", (f"[{alike(one)}]", "cyan")), (0, 0, 0, 2)))
    causes = report.causes
    for diagnosis in report.diagnoses:
        console.print()
        for finding in diagnosis.findings:
            _print_trouble(console, finding)
            if following := causes[finding.id]:
                said = f"{FOLLOW} {', '.join(following)}"
                console.print(Padding(Text(said, style="dim"), (0, 0, 0, 2)))
        _print_guesses(console, diagnosis)
    for finding in report.of("error"):
        console.print()
        _print_trouble(console, finding)
    if passed and report.of("passed"):
        console.print()
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True)
        table.add_column()
        for finding in report.of("passed"):
            table.add_row(_name(finding), Text(finding.measured, style="dim"))
        console.print(table)
    if reasons := not_examined(report):
        console.print("\nNot examined:")
        for reason, ids in reasons.items():
            console.print(Padding(Text.assemble(reason, (f" {', '.join(ids)}", "dim")), (0, 0, 0, 2)))


def summary(report: Report) -> str:
    """One line: how many findings of each kind, and the time."""
    counts = [f"{number} {WORDS[outcome]}" for outcome, number in report.counts.items() if number]
    return f"{', '.join(counts)} in {report.seconds:.1f} s. {verdict(report)}"


def verdict(report: Report) -> str:
    """What it comes to, in one sentence."""
    failed, broken = len(report.of("failed")), len(report.of("error"))
    parts = [f"{failed} invariants do not hold" if failed > 1 else "one invariant does not hold"] * bool(failed)
    parts += [f"{broken} could not be examined to the end"] * bool(broken)
    if parts:
        text = ", ".join(parts)
        return f"{text[0].upper()}{text[1:]}."
    passed, skipped = len(report.of("passed")), len(report.of("not applicable"))
    if not passed:
        return "Nothing could be examined."
    held = f"All {passed} invariants that were examined hold" if passed > 1 else "The one invariant examined holds"
    return f"{held}; {skipped} {'were' if skipped > 1 else 'was'} not examined." if skipped else f"{held}."


def alike(one: SimilarMutant) -> str:
    """Why a known mistake is named, with its claim if it has one: 'as measured, claim C01'."""
    near = {
        "measured": "as measured",
        "fits": "fits; other mistakes may fail the same",
        "near": f"{one.similarity:.0%} of the failing invariants in common",
    }[one.fit]
    return f"{near}, claim {one.claim}" if one.claim else near


def heading(near: Sequence[SimilarMutant]) -> str:
    """What the list of known mistakes is headed with."""
    titles = {
        "measured": "A known mistake that what was measured points to",
        "fits": "Known mistakes that fail these invariants; yours may be another",
        "near": "Known mistakes that fail much the same invariants",
    }
    return titles[near[0].fit]


def not_examined(report: Report) -> dict[str, list[str]]:
    """Why invariants were not applicable, and which."""
    reasons: dict[str, list[str]] = {}
    for finding in report.of("not applicable"):
        reasons.setdefault(finding.measured, []).append(finding.id)
    return reasons


def _name(finding: Finding) -> Text:
    mark, style = MARKS[finding.outcome]
    return Text(f"{mark} {finding.id}", style=style)


def _print_trouble(console: Console, finding: Finding) -> None:
    console.print(_name(finding))
    for what, line in (("Must hold", finding.title), ("Found", finding.measured)):
        console.print(Padding(Text.assemble((f"{what}: ", "dim"), line), (0, 0, 0, 2)))


def behind(diagnosis: JointDiagnosis) -> str:
    """What the list of likely mistakes is headed with."""
    number = len(diagnosis.findings)
    return f"What may be behind {'it' if number == 1 else f'these {number} findings'}, likeliest first:"


def _print_guesses(console: Console, diagnosis: JointDiagnosis) -> None:
    if diagnosis.guesses:
        console.print(Padding(Text(behind(diagnosis), style="dim"), (0, 0, 0, 2)))
    for guess in diagnosis.guesses[:SHOWN]:
        said = Text.assemble(f"· {guess.mistake.says} ", (f"[{guess.mistake.where}]", "cyan"))
        console.print(Padding(said, (0, 0, 0, 4)))

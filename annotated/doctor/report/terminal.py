"""The report in the terminal: what is wrong first, and what may be behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from annotated.doctor.finding import Finding
from annotated.doctor.similar_mutants import SimilarMutant

if TYPE_CHECKING:
    from annotated.doctor.report import Report

MARKS = {"passed": ("✓", "green"), "failed": ("✗", "bold red"), "error": ("!", "bold magenta")}
SHOWN = 3
"""Likely mistakes of a finding that the terminal shows; JSON and HTML have all."""
WORDS = {"passed": "passed", "failed": "failed", "error": "broke down", "not applicable": "not applicable"}


def print_report(report: Report, console: Any = None, passed: bool = True) -> None:
    """Print a report; see `Report.print`."""
    console = console or Console(highlight=False)
    console.print(Text(f"Examination of {report.subject}", style="bold"))
    console.print(summary(report))
    if near := report.similar_mutants:
        console.print("\nKnown mistakes that fail much the same invariants:")
        for one in near:
            console.print(Padding(Text.assemble(f"· {one.sentence} ", (f"[{alike(one)}]", "cyan")), (0, 0, 0, 2)))
    for finding in (*report.of("failed"), *report.of("error")):
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
    return "Nothing wrong was found." if report.of("passed") else "Nothing could be examined."


def alike(one: SimilarMutant) -> str:
    """How near a known mistake is, with its claim if it has one: 'exactly these, claim C01'."""
    near = "exactly these" if one.similarity == 1 else f"{one.similarity:.0%} alike"
    return f"{near}, claim {one.claim}" if one.claim else near


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
    for line in (finding.title, finding.measured):
        console.print(Padding(Text(line), (0, 0, 0, 2)))
    if finding.mistakes:
        console.print(Padding(Text("What may be behind it:", style="dim"), (0, 0, 0, 2)))
    for mistake in finding.mistakes[:SHOWN]:
        console.print(Padding(Text.assemble(f"· {mistake.says} ", (f"[{mistake.where}]", "cyan")), (0, 0, 0, 4)))

"""Report of an examination: as text in the terminal, as JSON, and as one page of HTML."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, get_args

import torch

from annotated import __version__
from annotated.ownership import is_json_of, require_our_file
from annotated.storage import atomic_write
from annotated_grader.doctor.causes import roots
from annotated_grader.doctor.diagnosis import JointDiagnosis, diagnoses
from annotated_grader.doctor.finding import Finding, Outcome
from annotated_grader.doctor.report.page import BESIDE, STYLE, built_book, fragment, page
from annotated_grader.doctor.report.terminal import print_report
from annotated_grader.doctor.similar_mutants import SimilarMutant, similar_mutants

SCHEMA = "annotated.doctor/1"
"""Of the JSON: fields may be added under this name, and none removed or given another meaning."""


def _versions() -> dict[str, str]:
    return {"annotated": __version__, "torch": torch.__version__}


@dataclass(frozen=True)
class Report:
    """The findings of one examination.

    In a notebook it shows itself; `print` gives the text.
    """

    subject: str
    """The subject's name."""
    findings: tuple[Finding, ...]
    """One for each invariant, in the order of examination."""
    versions: dict[str, str] = field(default_factory=_versions)

    @property
    def healthy(self) -> bool:
        """Nothing failed and nothing broke down; what is not applicable does not count."""
        return not self.of("failed") and not self.of("error")

    def of(self, outcome: Outcome) -> list[Finding]:
        """The findings with this outcome."""
        return [finding for finding in self.findings if finding.outcome == outcome]

    @property
    def counts(self) -> dict[str, int]:
        """How many findings have each outcome."""
        return {outcome: len(self.of(outcome)) for outcome in get_args(Outcome)}

    @property
    def similar_mutants(self) -> list[SimilarMutant]:
        """Known mistakes that fail much the same invariants, the nearest first."""
        return similar_mutants(self.findings)

    @property
    def causes(self) -> dict[str, list[str]]:
        """The failed invariants that follow from no other one, each with those that follow from it."""
        return roots(self.findings)

    @property
    def diagnoses(self) -> list[JointDiagnosis]:
        """The failed invariants that follow from no other one, those with the same likely mistakes together."""
        return diagnoses([self[id] for id in self.causes])

    @property
    def seconds(self) -> float:
        """Time of the examination."""
        return sum(finding.seconds for finding in self.findings)

    def __getitem__(self, id: str) -> Finding:
        """The finding of one invariant.

        Raises
        ------
        KeyError
            If it was not examined.
        """
        for finding in self.findings:
            if finding.id == id:
                return finding
        raise KeyError(id)

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values, for JSON."""
        return {
            "schema": SCHEMA,
            "subject": self.subject,
            "healthy": self.healthy,
            "counts": self.counts,
            "versions": self.versions,
            "causes": self.causes,
            "diagnoses": [diagnosis.to_dict() for diagnosis in self.diagnoses],
            "resembles": [asdict(mutant) for mutant in self.similar_mutants],
            "findings": [finding.to_dict() for finding in self.findings],
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Report:
        """The inverse of `to_dict`.

        Raises
        ------
        ValueError
            If it is not a report, or one of another schema.
        """
        if fields.get("schema") != SCHEMA:
            raise ValueError(f"this is no report of the schema {SCHEMA}: it says {fields.get('schema')!r}")
        findings = tuple(Finding.from_dict(finding) for finding in fields["findings"])
        return cls(fields["subject"], findings, fields["versions"])

    def to_json(self) -> str:
        """The report as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"

    def to_html(self, book: str | None = None) -> str:
        """The report as one page that needs no other file and no network.

        Parameters
        ----------
        book
            Where the book is, an address or a folder as seen from the page: chapters and claims become links to it.
            None for the book that was built in this checkout, if there is one; '' for no links.
        """
        return page(self, built_book() if book is None else book)

    def save(self, path: str | Path, book: str | None = None) -> None:
        """Write a file: HTML if its name ends in .html, with links to the book as in `to_html`, else JSON.

        Raises
        ------
        FileExistsError
            If there is a file that is no report of the doctor.
        """
        path = require_our_file(path, is_report)
        html = path.suffix.lower() in (".html", ".htm")
        with atomic_write(path) as file:
            file.write(self.to_html(book) if html else self.to_json())

    def print(self, console: Any = None, passed: bool = False) -> None:
        """The report as text.

        Parameters
        ----------
        console
            A `rich.console.Console`; None for standard output.
        passed
            List what holds, too, with what was measured.
        """
        print_report(self, console, passed)

    def _repr_html_(self) -> str:
        return fragment(self, BESIDE)

    def __str__(self) -> str:
        from rich.console import Console

        console = Console(width=100, no_color=True, highlight=False)
        with console.capture() as text:
            self.print(console)
        return text.get()


def is_report(file: Path) -> bool:
    """Whether a file is a report that was saved: JSON with our schema, or the page with our style."""
    if is_json_of(file, "schema", "subject", "findings"):
        return True
    try:
        return STYLE.split("{")[0] in file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False

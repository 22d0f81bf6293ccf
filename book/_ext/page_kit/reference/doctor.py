"""The directive `doctor`: what `annotated doctor` looks for, and what it found, from the code and from its record.

    :::{doctor} invariants
    :::

lists the invariants by theme; `mutants` the bank of known mistakes; `summary` and `implementations` show the public
implementations of doctor_public.json, in the assets of the grader, and `recorded` says when and how that was measured.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import annotated_grader
from page_kit.raw_html import raw

RECORD = Path(annotated_grader.__file__).parent / "assets" / "doctor_public.json"

PAPER: dict[str, dict[Any, str]] = {
    "norm": {"pre": "pre-norm"},
    "tied_embeddings": {False: "not one table for embeddings and output"},
    "scaled_embeddings": {False: "embeddings not multiplied"},
    "positions": {"learned": "learned positions"},
    "smoothing": {0.0: "no label smoothing"},
}
"""Claims that are not the paper's, in words."""

PACKAGES = {"marian": "transformers"}
"""Packages whose version is given, of implementations that are a part of one."""

FEW = 4
"""How many failing invariants of a mistake are shown before the rest is folded."""
WEIGHTS = ("matters", "hardly matters", "a choice")
"""Of verdicts, the gravest first."""


@cache
def record() -> dict[str, Any]:
    """What was found in the public implementations."""
    found: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8"))
    return found


class Doctor(SphinxDirective):
    """One of the lists."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The list, written as Markdown and read as such."""
        for path in (RECORD, *RECORD.parent.with_name("doctor").rglob("*.py")):
            self.env.note_dependency(str(path))
        lists: dict[str, Callable[[], list[nodes.Node]]] = {
            "invariants": self.invariants,
            "mutants": self.mutants,
            "implementations": self.implementations,
            "summary": self.summary,
            "recorded": self.recorded,
        }
        return lists[directives.choice(self.arguments[0], tuple(lists))]()

    def invariants(self) -> list[nodes.Node]:
        """By theme, folded: what must hold, the likeliest mistake, and what an adapter must offer."""
        from annotated_grader.doctor.invariants import INVARIANTS

        found: list[nodes.Node] = []
        for theme, members in groupby(INVARIANTS.values(), key=lambda invariant: invariant.theme):
            entries = []
            for one in members:
                needs = ", ".join(("logits", *one.needs, *(f"claim {name}" for name in one.claims)))
                likely = f"{one.mistakes[0].says} {_claim(one.mistakes[0].claim)}" if one.mistakes else ""
                asides = [("likely mistake", likely)] * bool(likely) + [("needs", needs)]
                entries.append(self.entry(one.title, f"`{one.id}`", asides))
            found += _theme(theme, "invariant", "doctor-invariants", entries)
        return found

    def mutants(self) -> list[nodes.Node]:
        """By theme, folded: the mistake, who made it, and what fails."""
        from annotated_grader.doctor import mutants

        found: list[nodes.Node] = []
        for theme, members in groupby(mutants.table(), key=lambda row: row["theme"]):
            entries = []
            for row in members:
                names = [f"`{name}`" for name in row["killed_by"].split(", ")]
                entry = self.entry(
                    f"{row['sentence']} {_claim(row['claim'])}",
                    f"`{row['id']}`{_seen(row['source'])}",
                    [("fails", ", ".join(names[:FEW]))],
                )
                if rest := names[FEW:]:
                    fold = [
                        raw(f"<details><summary>and {len(rest)} more</summary>"),
                        *self.parse_text_to_nodes(", ".join(rest)),
                    ]
                    entry[1] += [*fold, raw("</details>")]
                entries.append(entry)
            found += _theme(theme, "mistake", "doctor-mutants", entries)
        return found

    def entry(self, says: str, below: str, asides: list[tuple[str, str]]) -> nodes.list_item:
        """What must hold or what is wrong, its name below it, and beside it what else is known, each with a label."""
        left, right = nodes.container(), nodes.container()
        for text, name in ((says, "doctor-says"), (below, "doctor-aside")):
            left += nodes.container("", *self.parse_text_to_nodes(text), classes=[name])
        for label, text in asides:
            right += nodes.container("", *self.parse_text_to_nodes(f"*{label}:* {text}"), classes=["doctor-aside"])
        return nodes.list_item("", left, right)

    def summary(self) -> list[nodes.Node]:
        """One row for each implementation, and a column for each weight that a finding has."""
        subjects = record()["results"]["subjects"]
        weights = [
            [finding["verdict"]["weight"] for finding in subject["findings"] if "verdict" in finding]
            for subject in subjects
        ]
        given = [weight for weight in WEIGHTS if any(weight in own for own in weights)]
        rows = [
            (
                one["title"],
                *map(str, (one["counts"]["passed"], *map(own.count, given), one["counts"]["not applicable"])),
            )
            for one, own in zip(subjects, weights, strict=True)
        ]
        return self.table(("Code", "Hold", *map(str.capitalize, given), "Not examined"), rows, "summary")

    def implementations(self) -> list[nodes.Node]:
        """A card for each."""
        return [self.card(subject) for subject in record()["results"]["subjects"]]

    def card(self, subject: dict[str, Any]) -> nodes.container:
        """One implementation: what it is, what holds, what it chose, what was found."""
        counts, state = subject["counts"], subject["version"]
        title = f"[{subject['title']}]({subject['url']})" if subject["url"] else subject["title"]
        dated = f", {subject['date']}" if subject["date"] else ""
        choices = [words[subject["promises"][name]] for name, words in PAPER.items() if _departs(subject, name, words)]
        state = f"in {PACKAGES[subject['id']]} {state}" if subject["id"] in PACKAGES else state
        lines = [f"**{title}** {state}{dated}", "", subject["strength"], ""]
        lines += [f"- {counts['passed']} invariants hold, {counts['not applicable']} could not be examined."]
        if choices := [*choices, *subject["choices"]]:
            lines += [f"- Other than the paper, by choice: {'; '.join(choices)}."]
        findings = [finding for finding in subject["findings"] if "verdict" in finding]
        if not findings:
            lines += ["- Nothing was found."]
        for finding in sorted(findings, key=lambda finding: WEIGHTS.index(finding["verdict"]["weight"])):
            lines += [f"- {_finding(subject, finding)}"]
        box = nodes.container(classes=["map-card", "doctor-card"])
        box += self.parse_text_to_nodes("\n".join(lines))
        return box

    def recorded(self) -> list[nodes.Node]:
        """When, on what, and by which command; and how many of today's invariants it knew."""
        from annotated_book import Record
        from annotated_grader.doctor.invariants import INVARIANTS

        fields = {key: value for key, value in record().items() if key != "results"}
        subjects = record()["results"]["subjects"]
        known = {finding["id"] for finding in subjects[-1]["findings"]}
        public = [one for one in subjects if one["id"] != "annotated"]
        skipped, shares = [one["counts"]["not applicable"] for one in public], [*map(_share, public)]
        broken = {finding["id"] for one in public for finding in one["findings"] if "verdict" in finding}
        told = (
            f" The doctor had {len(known)} invariants then, of which {min(skipped)} to {max(skipped)} could not be "
            f"examined in a public code. Of the others, {min(shares):.0f} to {max(shares):.0f} % hold in each code; "
            f"{len(broken)} of the {len(known)} fail in at least one."
        )
        if later := [name for name in INVARIANTS if name not in known]:
            names = ", ".join(f"`{name}`" for name in later)
            told += f" Today it has {len(INVARIANTS)}. Not in the table are the {len(later)} that came later: {names}."
        return self.parse_text_to_nodes(Record(name="doctor_public", results={}, **fields).caption() + "." + told)

    def table(self, head: Iterable[str], rows: Iterable[Iterable[str]], kind: str) -> list[nodes.Node]:
        """A table, in which a 0 is marked as such."""
        head = tuple(head)
        lines = [f"| {' | '.join(map(_cell, row))} |" for row in (head, ("---",) * len(head), *rows)]
        box = nodes.container("", *self.parse_text_to_nodes("\n".join(lines)), classes=[f"doctor-{kind}"])
        for cell in box.findall(nodes.entry):
            cell["classes"] += ["doctor-none"] if cell.astext() == "0" else []
        return [box]


def _share(subject: dict[str, Any]) -> float:
    """How many of the invariants that could be examined hold, in per cent; an error is not a pass."""
    counts = subject["counts"]
    return 100 * counts["passed"] / (counts["passed"] + counts["failed"] + counts["error"])


def _theme(theme: str, what: str, kind: str, entries: list[nodes.list_item]) -> list[nodes.Node]:
    number = f"{len(entries)} {what}{'s' * (len(entries) != 1)}"
    head = f"<summary>{theme.capitalize()} <span>{number}</span></summary>"
    return [
        raw(f'<details class="doctor-theme" data-kind="{kind}">{head}'),
        nodes.bullet_list("", *entries, classes=["doctor-entries", kind]),
        raw("</details>"),
    ]


def _departs(subject: dict[str, Any], name: str, words: dict[Any, str]) -> bool:
    return subject["promises"].get(name) in words


def _finding(subject: dict[str, Any], finding: dict[str, Any]) -> str:
    verdict, path = finding["verdict"], finding["verdict"]["where"]
    where = ""
    if path and subject["commit"]:
        where = f" [{path.partition('#')[0]}]({subject['url']}/blob/{subject['commit']}/{path})"
    measured = f"*Measured:* {_plain(finding['measured'])}"
    return f"**{verdict['weight'].capitalize()}** (`{finding['id']}`). {verdict['says']}{where}<br>{measured}"


def _plain(text: str) -> str:
    """A measured sentence, none of whose signs means anything to Markdown."""
    for sign in "\\[]*_<>$`":
        text = text.replace(sign, "\\" + sign)
    return text


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _claim(id: str | None) -> str:
    return f"({{claim}}`often said <{id}>`)" if id else ""


def _seen(source: str | None) -> str:
    return f" *Seen in {source.rstrip('.')}.*" if source else ""


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("doctor", Doctor)

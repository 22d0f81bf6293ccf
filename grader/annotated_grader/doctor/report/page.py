"""The report as one page of HTML: no other file, no network, no script; light and dark, wide and narrow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import annotated
from annotated_grader.doctor.diagnosis import JointDiagnosis
from annotated_grader.doctor.finding import CHAPTERS, CLAIMS, MISREADINGS, Finding, Mistake
from annotated_grader.doctor.report.terminal import FOLLOW, alike, behind, heading, not_examined, summary, verdict

if TYPE_CHECKING:
    from annotated_grader.doctor.report import Report

BESIDE = ".."
"""Where the book's root is, seen from a page of the book whose cell shows a report."""

STYLE = """
.doctor { --good: #1a7f37; --bad: #b3261e; --odd: #7a3e9d; --line: #8888; --quiet: #57606a;
  font: 1rem/1.5 system-ui, sans-serif; max-width: 52rem; overflow-wrap: anywhere; }
@media (prefers-color-scheme: dark) { .doctor { --good: #56d364; --bad: #ff8a80; --odd: #d2a8ff; --quiet: #9da7b3; } }
[data-theme="dark"] .doctor, [data-jp-theme-light="false"] .doctor {
  --good: #56d364; --bad: #ff8a80; --odd: #d2a8ff; --quiet: #9da7b3; }
[data-theme="light"] .doctor, [data-jp-theme-light="true"] .doctor {
  --good: #1a7f37; --bad: #b3261e; --odd: #7a3e9d; --quiet: #57606a; }
.doctor h1 { font-size: clamp(1.2rem, 5vw, 1.6rem); line-height: 1.2; margin: 0 0 .5rem; }
.doctor h2 { font-size: 1.2rem; margin: 1.5rem 0 .5rem; }
.doctor h3 { font-size: 1rem; margin: 0; } .doctor * + h3 { margin-top: 1rem; }
.doctor .case { border-left: 4px solid var(--bad); padding: .25rem 0 .25rem 1rem; margin: 1rem 0; }
.doctor .case.error { border-color: var(--odd); }
.doctor .case p { margin: .25rem 0; }
.doctor b.failed, .doctor strong.failed { color: var(--bad); }
.doctor b.error { color: var(--odd); } .doctor strong.passed { color: var(--good); }
.doctor .quiet { color: var(--quiet); }
.doctor code { font: .95em ui-monospace, monospace; background: none; padding: 0; color: inherit; }
.doctor ul { margin: .25rem 0 .25rem; padding-left: 1.2rem; }
.doctor table { border-collapse: collapse; width: 100%; margin: .25rem 0; font-size: inherit; }
.doctor th { text-align: left; font-weight: 600; color: var(--quiet); }
.doctor th, .doctor td { padding: .25rem .75rem .25rem 0; vertical-align: top; text-align: left; width: 50%; }
.doctor td code { display: block; }
.doctor a { color: inherit; text-decoration: underline; }
.doctor summary { cursor: pointer; padding: .5rem 0; font-weight: 600; }
.doctor details { border-top: 1px solid var(--line); }
"""

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 0; padding: 1.5rem 1rem 3rem; background: #fff; color: #1f2328; }}
main {{ margin: 0 auto; }}
@media (prefers-color-scheme: dark) {{ body {{ background: #14181d; color: #e6edf3; }} }}
{style}</style>
</head>
<body>
<main class="doctor">
{body}
</main>
</body>
</html>
"""


def built_book() -> str:
    """The address of the book that was built in this checkout; '' if there is none."""
    folder = Path(annotated.__file__).resolve().parents[1] / "_build" / "html"
    return folder.as_uri() if (folder / "index.html").is_file() else ""


def page(report: Report, book: str) -> str:
    """A whole page, with links to the book at this address; none if it is empty."""
    title = escape(f"Examination of {report.subject}")
    return PAGE.format(title=title, style=STYLE, body=_body(report, "h1", book))


def fragment(report: Report, book: str) -> str:
    """The same for the output of a notebook cell."""
    return f'<style>{STYLE}</style><div class="doctor">{_body(report, "h2", book)}</div>'


def _body(report: Report, level: str, book: str) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    parts = [
        f"<{level}>Examination of {escape(report.subject)}</{level}>",
        f'<p><strong class="{"passed" if report.healthy else "failed"}">{escape(verdict(report))}</strong></p>',
        f'<p class="quiet">{escape(summary(report).split(". ")[0])}. Examined with {escape(versions)}.</p>',
    ]
    if near := report.similar_mutants:
        rows = "".join(
            f'<li>{escape(one.sentence)} <span class="quiet">({_with_claim(alike(one), one.claim, book)})</span></li>'
            for one in near
        )
        parts.append(f"<h2>{escape(heading(near))}</h2><ul>{rows}</ul>")
    causes, broken = report.causes, report.of("error")
    if causes or broken:
        parts.append("<h2>What was found</h2>")
        parts.append(diagnoses_html(report, book))
        parts += [f'<section class="case error">{_found(finding)}</section>' for finding in broken]
    if passed := report.of("passed"):
        parts.append(_folded(f"{len(passed)} invariants hold", _table(passed), not causes and not broken))
    if reasons := not_examined(report):
        rows = "".join(f"<li>{escape(reason)} <code>{', '.join(ids)}</code></li>" for reason, ids in reasons.items())
        number = sum(map(len, reasons.values()))
        parts.append(_folded(f"{number} were not examined", f"<ul>{rows}</ul>", False))
    return "\n".join(parts)


def diagnoses_html(report: Report, book: str) -> str:
    """What failed and what may be behind it, as a part of a page: one section for each diagnosis."""
    following = {id: [report[one] for one in others] for id, others in report.causes.items()}
    return "\n".join(_diagnosis(one, following, book) for one in report.diagnoses)


def claim_link(claim: str, book: str) -> str:
    """The name of a claim of the ledger, as a link to where the book treats it."""
    return _with_claim(f"claim {claim}", claim, book)


def _folded(title: str, content: str, is_open: bool) -> str:
    return f"<details{' open' if is_open else ''}><summary>{escape(title)}</summary>{content}</details>"


def _table(findings: Iterable[Finding]) -> str:
    """What must hold beside what was found, a row for each finding."""
    rows = "".join(
        f"<tr><td><code>{escape(finding.id)}</code> {escape(finding.title)}</td>"
        f"<td>{escape(finding.measured)}</td></tr>"
        for finding in findings
    )
    return f"<table><thead><tr><th>Must hold</th><th>Found</th></tr></thead><tbody>{rows}</tbody></table>"


def _diagnosis(diagnosis: JointDiagnosis, following: Mapping[str, Iterable[Finding]], book: str) -> str:
    """Findings that point to the same mistakes, what follows from each, and once what may be behind them."""
    found = "".join(_found(finding, following[finding.id]) for finding in diagnosis.findings)
    likely = "".join(_mistake(guess.mistake, book) for guess in diagnosis.guesses)
    guesses = f"<p>{behind(diagnosis)}</p><ul>{likely}</ul>" if likely else ""
    return f'<section class="case failed">{found}{guesses}</section>'


def _found(finding: Finding, following: Iterable[Finding] = ()) -> str:
    word = "Broke down" if finding.outcome == "error" else "Failed"
    others = list(following)
    ids = ", ".join(f"<code>{escape(one.id)}</code>" for one in others)
    muted = f"<details><summary>{FOLLOW} {ids}</summary>{_table(others)}</details>" if others else ""
    return (
        f'<h3><b class="{finding.outcome}">{word}:</b> <code>{escape(finding.id)}</code> '
        f'<span class="quiet">({escape(finding.paper)})</span></h3>'
        f"<p><b>Must hold:</b> {escape(finding.title)}</p><p><b>Found:</b> {escape(finding.measured)}</p>{muted}"
    )


def _mistake(mistake: Mistake, book: str) -> str:
    where = _with_claim(f"{mistake.where[0].upper()}{mistake.where[1:]}", mistake.claim, book)
    title, page = CHAPTERS[mistake.chapter]
    chapter = f"chapter {mistake.chapter} ({escape(title)})"
    for text in (chapter, f"C{chapter[1:]}"):  # at the beginning of the sentence, or behind a claim
        where = where.replace(text, _link(text, f"{page}.html", book))
    return f'<li>{escape(mistake.says)} <span class="quiet">{where}.</span></li>'


def _with_claim(text: str, claim: str | None, book: str) -> str:
    """A text, escaped, in which the name of a claim of the ledger is a link to where the book treats it."""
    text = escape(text)
    if not claim:
        return text
    gathered, members = MISREADINGS
    page = gathered if claim in members else CHAPTERS[CLAIMS[claim]][1]
    return text.replace(claim, _link(claim, f"{page}.html#claim-{claim.lower()}", book))


def _link(text: str, target: str, book: str) -> str:
    return f'<a href="{escape(book.rstrip("/"))}/{target}">{text}</a>' if book else text

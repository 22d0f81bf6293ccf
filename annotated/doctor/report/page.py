"""The report as one page of HTML: no other file, no network, no script; light and dark, wide and narrow."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from annotated.doctor.finding import Finding, Mistake
from annotated.doctor.report.terminal import alike, not_examined, summary, verdict

if TYPE_CHECKING:
    from annotated.doctor.report import Report

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
.doctor h3 { font-size: 1rem; margin: 0; }
.doctor .case { border-left: 4px solid var(--bad); padding: .25rem 0 .25rem 1rem; margin: 1rem 0; }
.doctor .case.error { border-color: var(--odd); }
.doctor .case p { margin: .25rem 0; }
.doctor b.failed, .doctor strong.failed { color: var(--bad); }
.doctor b.error { color: var(--odd); } .doctor strong.passed { color: var(--good); }
.doctor .quiet { color: var(--quiet); }
.doctor code { font: .95em ui-monospace, monospace; background: none; padding: 0; color: inherit; }
.doctor ul { margin: .25rem 0 .25rem; padding-left: 1.2rem; }
.doctor dt { margin-top: .6rem; } .doctor dd { margin: 0 0 0 1.2rem; }
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


def page(report: Report) -> str:
    """A whole page."""
    title = escape(f"Examination of {report.subject}")
    return PAGE.format(title=title, style=STYLE, body=_body(report, "h1"))


def fragment(report: Report) -> str:
    """The same for the output of a notebook cell."""
    return f'<style>{STYLE}</style><div class="doctor">{_body(report, "h2")}</div>'


def _body(report: Report, heading: str) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    parts = [
        f"<{heading}>Examination of {escape(report.subject)}</{heading}>",
        f'<p><strong class="{"passed" if report.healthy else "failed"}">{escape(verdict(report))}</strong></p>',
        f'<p class="quiet">{escape(summary(report).split(". ")[0])}. Examined with {escape(versions)}.</p>',
    ]
    trouble = (*report.of("failed"), *report.of("error"))
    if near := report.similar_mutants:
        rows = "".join(
            f'<li>{escape(one.sentence)} <span class="quiet">({escape(alike(one))})</span></li>' for one in near
        )
        parts.append(f"<h2>Known mistakes that fail much the same invariants</h2><ul>{rows}</ul>")
    if trouble:
        parts += ["<h2>What was found</h2>", *map(_case, trouble)]
    if passed := report.of("passed"):
        rows = "".join(
            f"<dt><code>{escape(finding.id)}</code> {escape(finding.title)}</dt>"
            f'<dd class="quiet">{escape(finding.measured)}</dd>'
            for finding in passed
        )
        parts.append(_folded(f"{len(passed)} invariants hold", f"<dl>{rows}</dl>", not trouble))
    if reasons := not_examined(report):
        rows = "".join(f"<li>{escape(reason)} <code>{', '.join(ids)}</code></li>" for reason, ids in reasons.items())
        number = sum(map(len, reasons.values()))
        parts.append(_folded(f"{number} were not examined", f"<ul>{rows}</ul>", False))
    return "\n".join(parts)


def _folded(title: str, content: str, is_open: bool) -> str:
    return f"<details{' open' if is_open else ''}><summary>{escape(title)}</summary>{content}</details>"


def _case(finding: Finding) -> str:
    word = "Broke down" if finding.outcome == "error" else "Failed"
    likely = "".join(map(_mistake, finding.mistakes))
    behind = f"<p>What may be behind it, likeliest first:</p><ul>{likely}</ul>" if likely else ""
    return (
        f'<section class="case {finding.outcome}"><h3><b class="{finding.outcome}">{word}:</b> '
        f"<code>{escape(finding.id)}</code></h3><p>{escape(finding.title)} "
        f'<span class="quiet">({escape(finding.paper)})</span></p><p>{escape(finding.measured)}</p>{behind}</section>'
    )


def _mistake(mistake: Mistake) -> str:
    where = f"{mistake.where[0].upper()}{mistake.where[1:]}"
    return f'<li>{escape(mistake.says)} <span class="quiet">{escape(where)}.</span></li>'

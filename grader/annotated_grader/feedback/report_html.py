"""Report as HTML: legible on light and dark grounds, without a script, and complete when styles are taken away."""

from __future__ import annotations

import re
from html import escape as without_markup
from pathlib import Path
from typing import Any

from annotated_grader.exercise.diagnosis import Cause
from annotated_grader.exercise.markdown import html
from annotated_grader.exercise.run import CheckResult, ExerciseResult, Failure
from annotated_grader.feedback.report import (
    Feedback,
    described,
    explained,
    first_failure,
    has_details,
    headline,
    label,
    not_begun,
    opening,
    shown_inputs,
    stopped,
    where_treated,
)
from annotated_grader.feedback.tensor_tables import TensorTable, compared, is_matrix, single

_POSITIVE, _NEGATIVE = "59, 131, 214", "217, 115, 26"  # the house's blue and orange: mid-tones on any ground
_STRONGEST = 0.5  # of a tint, so that the number on it stays legible
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_STEERING = re.compile(r"[^\n\t -~\xa0-\U0010ffff]|[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_STYLE = f"<style>{Path(__file__).with_name('report.css').read_text(encoding='utf-8')}</style>"


def html_of(report: Feedback) -> str:
    """A report as one `div`, with its style sheet."""
    result = report.result
    shown = first_failure(result)
    score, mark, why = headline(result).partition(":")
    parts = [f'<p class="score"><b>{escape(score)}</b>{mark}{escape(why)}</p>']
    if shown is not None and shown.failure is not None and has_details(result, shown):
        parts.append(_counterexample(shown, shown.failure))
    parts += [_cause(report, cause) for cause in (report.diagnosis.causes if report.diagnosis else ())]
    parts.append(_checks(result))
    if report.output.strip():
        printed = f"<pre>{escape(report.output.rstrip())}</pre>"
        parts.append(f"<details><summary>What your code printed</summary>{printed}</details>")
    parts += [f'<p class="quiet">{escape(note)}</p>' for note in report.notes]
    return f'{_STYLE}<div class="annotated-check">{"".join(parts)}</div>'


def escape(text: str) -> str:
    """Text for a page: no markup, no colours of a terminal, and a mark for whatever else would steer what is shown."""
    return without_markup(_STEERING.sub("\N{REPLACEMENT CHARACTER}", _COLOURS.sub("", text)))


def _counterexample(shown: CheckResult, failure: Failure) -> str:
    head = f'<p><span class="verdict">✗ FAIL</span> {html(shown.check.title)}</p>'
    if shown.hidden:
        return f'<div class="part">{head}</div>'
    parts = [head]
    if failure.error:
        parts.append(f"<p>{escape(stopped(failure))}</p>")
    if failure.line:
        parts.append(f"<pre>{escape(failure.line)}</pre>")
    inputs = "".join(_input(*shown_input) for shown_input in shown_inputs(failure))
    parts += [f'<div class="grids">{inputs}</div>'] if inputs else []
    pair = compared(failure.expected, failure.got, failure.where)
    if pair:
        parts.append(_pair(*pair))
    elif failure.expected is not None:
        parts.append(f"<p>expected <code>{escape(described(failure.expected))}</code></p>")
        parts.append(f"<p>got <code>{escape(described(failure.got))}</code></p>")
    elif failure.got is not None:
        parts.append(f"<p>got <code>{escape(described(failure.got))}</code></p>")
        parts += [heat_map(single("got", failure.got))] if is_matrix(failure.got) and failure.got.ndim else []
    return f'<div class="part">{"".join(parts)}</div>'


def _input(name: str, value: Any, small: bool) -> str:
    about = f"<b>{escape(label(name))}</b>: <code>{escape(described(value))}</code>"
    if not (is_matrix(value) and value.ndim):
        return f"<p>{about}</p>"
    drawn = heat_map(single("", value))
    return f"<details{' open' if small else ''}><summary>{about}</summary>{drawn}</details>"


def _pair(expected: TensorTable, got: TensorTable) -> str:
    note = f"shape {list(expected.shape)}" + (f", {expected.note}" if expected.note else "")
    legend = "Blue is positive, orange negative; a frame and ≠ mark what differs."
    drawn = heat_map(expected) + heat_map(got, "≠")
    return f'<div class="grids">{drawn}</div><p class="quiet">{escape(note)}. {legend}</p>'


def heat_map(grid: TensorTable, mark: str = "") -> str:
    """A grid as a table whose cells are tinted by size; with a mark, those that differ have it, and a frame."""
    rows = []
    for texts, tints, marks in zip(grid.cells, grid.tint, grid.wrong, strict=True):
        cells = "".join(_cell(*cell, mark) for cell in zip(texts, tints, marks, strict=True))
        rows.append(f'<tr style="background: none">{cells}</tr>')
    caption = f"<caption>{escape(grid.name)}</caption>" if grid.name else ""
    note = f'<div class="quiet">{escape(grid.note)}</div>' if grid.note and not mark and not grid.name else ""
    return f'<div class="grid"><table class="heat">{caption}<tbody>{"".join(rows)}</tbody></table>{note}</div>'


def _cell(text: str, tint: float, wrong: bool, mark: str) -> str:
    colour = _POSITIVE if tint >= 0 else _NEGATIVE
    kind, sign = (' class="wrong"', f" {mark}") if wrong and mark else ("", "")
    return f'<td{kind} style="background: rgba({colour}, {abs(tint) * _STRONGEST:.2f})">{escape(text)}{sign}</td>'


def _cause(report: Feedback, cause: Cause) -> str:
    about = explained(report.result, cause)
    parts = [f"<p><b>{opening(cause)}</b>{f' {html(about)}' if about else ''}</p>"]
    for entry in cause.entries:
        place = escape(where_treated(report.result, entry))
        number = entry.chapter or report.result.exercise.number
        if address := report.chapters.get(number):
            place = re.sub(rf"\b(chapter {number})\b", rf'<a href="{escape(address)}">\1</a>', place, count=1)
        parts.append(f'<p>{html(entry.says)}</p><p class="quiet">{place}</p>')
    return f'<div class="part">{"".join(parts)}</div>'


def _checks(result: ExerciseResult) -> str:
    rows = []
    for check in result.checks:
        verdict = "○ TODO" if not_begun(check) else "✗ FAIL" if check.failure else "✓ PASS"
        hidden = ' <span class="quiet">(hidden)</span>' if check.hidden else ""
        cells = f'<td class="verdict">{verdict}</td><td>{check.earned}/{check.points}</td>'
        rows.append(f'<tr style="background: none">{cells}<td>{html(check.check.title)}{hidden}</td></tr>')
    caption = f"{escape(result.exercise.id)}, {html(result.exercise.title)}"
    return f'<table class="list"><caption>{caption}</caption><tbody>{"".join(rows)}</tbody></table>'

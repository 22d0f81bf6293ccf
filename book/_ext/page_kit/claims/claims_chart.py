"""Chart of the page of claims: for each section of the paper its verdicts, and a meter of how much is under test.

A part of a bar, and an entry of the key, is a link that shows these claims in the list below (`filter.js`).
"""

from __future__ import annotations

from html import escape
from urllib.parse import quote

from page_kit.claims.claim import SENTENCE, TESTED, Claim, group_anchor, tally
from page_kit.claims.sentences import ARITHMETIC, sections

VERDICTS = (*TESTED, "not tested")


def chart(claims: list[Claim]) -> str:
    """A table with one row for each section: its name, a stacked bar, and the meter."""
    found = tally(claims)
    most = max(sum(counts.values()) for counts in found.values())
    rows = "".join(_row(section, found[section], most) for section in sections() if section in found)
    total = {name: sum(counts[name] for counts in found.values()) for name in VERDICTS}
    key = "".join(
        f'<li class="claim-{name.replace(" ", "-")}">'
        f"{_link('', name, f'<i aria-hidden=true></i>{name} <b>{total[name]}</b>')}</li>"
        for name in VERDICTS
    )
    printed = sum(bool(claim.by) for claim in claims)
    if printed:
        words = f"<i aria-hidden=true></i>by arithmetic <b>{printed}</b>"
        key += f'<li class="claim-confirmed claim-by-printed">{_link("", f"by {ARITHMETIC}", words)}</li>'
    tested = sum(total[name] for name in TESTED)
    every = sum(total.values())
    title = f"{tested} of {every} sentences are under test, and most of the others need WMT14 or the paper's own models"
    head = "".join(f'<th scope="col">{name}</th>' for name in ("Section", "Verdicts", "Under test"))
    return (
        f'<figure class="claims-chart no-search"><figcaption><strong>{title}</strong></figcaption>'
        f'<ul class="claims-key">{key}</ul>'
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></figure>"
    )


def _link(section: str, verdict: str, inner: str, extra: str = "") -> str:
    """A link that shows the paper's sentences with a verdict in a section, or in all."""
    chosen = {"section": section, "verdict": verdict, "kind": SENTENCE}
    asked = "&amp;".join(f"{name}={quote(value)}" for name, value in chosen.items() if value)
    return f'<a href="?{asked}#all-claims-play" data-filters{extra}>{inner}</a>'


def _row(section: str, counts: dict[str, int], most: int) -> str:
    """One section; a segment of the bar is as long as its verdict has sentences."""
    title = sections()[section]
    number = section if section[:1].isdigit() else ""
    name = f'<span class="claims-number">{number}</span> <span>{escape(title)}</span>' if number else escape(title)
    parts = "".join(_segment(section, verdict, counts[verdict]) for verdict in VERDICTS if counts.get(verdict))
    every = sum(counts.values())
    tested = sum(counts.get(verdict, 0) for verdict in TESTED)
    meter = f'<meter min="0" max="{every}" value="{tested}" aria-label="Under test, section {escape(title)}"></meter>'
    return (
        f'<tr><th scope="row"><a href="#{group_anchor(section)}">{name}</a></th>'
        f'<td><span class="claims-bar" style="--most:{most}">{parts}</span></td>'
        f"<td>{meter} <span>{tested} of {every}</span></td></tr>"
    )


def _segment(section: str, verdict: str, count: int) -> str:
    """A part of a bar."""
    spoken = f"{count} {verdict}, {escape(sections()[section])}"
    look = f' class="claim-{verdict.replace(" ", "-")}" style="--n:{count}"'
    return _link(section, verdict, str(count), f'{look} title="{count} {verdict}" aria-label="{spoken}"')

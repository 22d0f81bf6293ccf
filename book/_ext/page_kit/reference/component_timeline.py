"""The directive `component-timeline`: what became of each part of the Transformer after 2017, from timeline.yaml.

Each part is a row that opens: its name, whether it was kept, changed or replaced, and a track of years with a mark for
each published form of it. A slider of years, made by `timeline.js`, says which form was the newest in a year, and what
is usual today. Without scripts the marks and the rows are all there, with what is usual today.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from page_kit.authoring.paper import resolve
from page_kit.data import DATA, records
from page_kit.raw_html import raw

FILE = DATA / "timeline.yaml"
BY_TODAY = {"kept": "kept until today", "changed": "changed by today", "replaced": "replaced by today"}
"""What a row says of each state, whatever the year of the slider."""
FIRST, LAST = 2017.0, 2027.0
"""Years between which the tracks run; the paper is of June 2017."""
PAPER = "2017-06"


@dataclass(frozen=True)
class Named:
    """A work or a model, with its year and address."""

    name: str
    year: int
    address: str

    @property
    def html(self) -> str:
        """A link, and the arXiv number where the address is one."""
        is_arxiv = self.address[0].isdigit()
        url = f"https://arxiv.org/abs/{self.address}" if is_arxiv else self.address
        shown = f"{escape(self.name)}, {self.year}" + (f", arXiv {self.address}" if is_arxiv else "")
        return f'<a class="reference external" href="{escape(url)}">{shown}</a>'


@dataclass(frozen=True)
class Event:
    """A form of a part that was published."""

    date: str
    name: str
    source: Named
    used: Named
    why: str
    early: bool = False
    """Whether the source is an early work with the form, and not the one that proposed it."""

    @property
    def origin(self) -> str:
        """What the source is to the form."""
        return "An early work with it" if self.early else "Proposed"


@dataclass(frozen=True)
class Component:
    """A part of the Transformer."""

    key: str
    title: str
    paper: tuple[str, ...]
    chapter: str
    state: str
    printed: str
    today: str
    """What most models of today do."""
    events: tuple[Event, ...]


def components() -> list[Component]:
    """All parts, in the order of the file.

    Raises
    ------
    ValueError
        If one lacks a field, has one that nobody reads, or has events that are not in order.
    """
    return list(records(FILE, _component).values())


def _component(key: str, events: tuple[dict[str, Any], ...] = (), **fields: Any) -> Component:
    made = Component(key, **fields, events=tuple(_event(**one) for one in events))
    dates = [event.date for event in made.events]
    if dates != sorted(dates) or made.state not in BY_TODAY:
        raise ValueError(f"dates go in order, and a state is one of {', '.join(BY_TODAY)}")
    return made


def _event(date: str, name: str, source: list[Any], used: list[Any], why: str, early: bool = False) -> Event:
    event = Event(date, name, Named(*source), Named(*used), why, early)
    number = event.source.address
    if event.source.year == int(date[:4]) and number[0].isdigit() and f"20{number[:2]}-{number[2:4]}" != date:
        raise ValueError(f"{name}: arXiv {number} is not of {date}")
    return event


def place(date: str) -> float:
    """Where a month lies on the track, in percent."""
    year, month = map(int, date.split("-"))
    return round(100 * (year + (month - 0.5) / 12 - FIRST) / (LAST - FIRST), 2)


def row(one: Component, chapter: str) -> str:
    """The row of a part; `chapter` is the address of the chapter that treats it."""
    forms = [(PAPER, one.printed), *((event.date, event.name) for event in one.events)]
    marks = "".join(
        f'<i style="--at:{place(date)}%" data-date="{date}" data-name="{escape(name)}"></i>' for date, name in forms
    )
    printed = ", ".join(f'<a class="reference external" href="{url}" title="{escape(title)}">{shown}</a>'
                        for shown, title, url in map(resolve, one.paper))  # fmt: skip
    items = "".join(
        f'<li><b><time datetime="{event.date}">{event.date[:4]}</time> {escape(event.name)}</b>. {escape(event.why)} '
        f'<span class="sources">{event.origin}: {event.source.html}. A model with it: {event.used.html}.</span></li>'
        for event in one.events
    )
    items = items or "<li>No other form has come into general use.</li>"
    return (
        f'<details class="component {one.state}" id="since-2017-{one.key.replace("_", "-")}"><summary>'
        f'<span class="what">{escape(one.title)}</span><span class="state">{BY_TODAY[one.state]}</span>'
        f'<span class="track" aria-hidden="true">{marks}</span>'
        f'<span class="form">{escape(one.today)}</span></summary>'
        f'<ol><li><b><time datetime="{PAPER}">2017</time> {escape(one.printed)}</b>, as printed in {printed}; '
        f'see <a class="reference internal" href="{escape(chapter)}">its chapter</a>.</li>{items}</ol></details>'
    )


class ComponentTimeline(SphinxDirective):
    """The figure."""

    def run(self) -> list[nodes.Node]:
        """All rows, under an axis of years."""
        self.env.note_dependency(str(FILE))
        years = "".join(
            f'<i style="--at:{place(f"{year}-01")}%"{" class=minor" if year % 3 else ""}>{year}</i>'
            for year in range(2018, 2027)
        )
        builder, here = self.env.app.builder, self.env.docname
        rows = "".join(row(one, builder.get_relative_uri(here, one.chapter)) for one in components())
        html = (
            '<div class="component-timeline"><div class="axis" aria-hidden="true"><span class="track">'
            f"{years}</span></div>{rows}</div>"
        )
        return [raw(html)]


def setup(app: Sphinx) -> None:
    """Register the directive; script and style are in `on_demand`."""
    app.add_directive("component-timeline", ComponentTimeline)

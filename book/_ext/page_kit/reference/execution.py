"""How the execution of the chapters went: the tables of a page that tells of checks, seconds and records."""

from __future__ import annotations

import hashlib
import platform
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import cache
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import Any

from docutils import nodes
from myst_nb.sphinx_ext import NbMetadataCollector
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import annotated
from annotated.runs.hardware import describe_machine, name_machine
from annotated_book.record import record_names, record_path, recorded
from page_kit.chapter.page_facts import parts_of
from page_kit.places import Place
from page_kit.raw_html import raw
from page_kit.reference.records import described, fed_pages
from page_kit.running.output_cache import PACKAGES

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""They stand in the table for machines other than the usual one."""
NO_RECORD = "from this build alone"
ROOT = Path(annotated.__file__).resolve().parent.parent
_PACKAGES = ("annotated", "book/annotated_book")
_SUFFIXES = {".py", ".js", ".css", ".json", ".jsonl", ".safetensors", ".toml"}


@cache
def library_digest() -> str:
    """A digest of the library's files and of the versions of what it stands on, as the table has it."""
    digest = hashlib.sha256(f"{platform.python_version()} {[(p, version(p)) for p in PACKAGES]}".encode())
    for path in sorted(path for package in _PACKAGES for path in (ROOT / package).rglob("*")):
        if path.suffix in _SUFFIXES and path.is_file():
            digest.update(path.relative_to(ROOT).as_posix().encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


class ExecutionStatus(SphinxDirective):
    """`{execution-status}`: executed pages with checks and seconds; `{execution-status} records`: the records."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """A place for the table."""
        self.env.note_reread()  # it tells of the other pages
        return [Place(fill=records_table if self.arguments == ["records"] else runs_table)]


def table(head: Sequence[str], rows: Sequence[Sequence[nodes.Node]]) -> nodes.table:
    """A table with a head of plain texts, each cell one node."""
    made = nodes.table(classes=["colwidths-auto"])
    group = nodes.tgroup(cols=len(head))
    group += [nodes.colspec(colwidth=1) for _ in head]
    group += nodes.thead("", nodes.row("", *[nodes.entry("", nodes.paragraph(text=text)) for text in head]))
    group += nodes.tbody("", *[nodes.row("", *[nodes.entry("", cell) for cell in row]) for row in rows])
    made += group
    return made


def executed(env: Any, names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """What MyST-NB noted of each page that it executed: `runtime`, `mtime`, `succeeded`."""
    data = NbMetadataCollector.get_doc_data(env)
    return {name: data[name]["exec_data"] for name in names if data.get(name, {}).get("exec_data")}


def _amount(key: str, value: float, text: str, after: str = "") -> nodes.paragraph:
    """A number that the page's script can sort by and add up (`sorting.js`)."""
    html = f'<span data-sum="{key}" data-value="{value:g}">{escape(text)}</span>{after}'
    return nodes.paragraph("", "", raw(html))


def _count(of: int) -> nodes.paragraph:
    """A number to sort by, not to add up: a record that two pages show is one."""
    return nodes.paragraph("", "", raw(f'<span data-value="{of}">{of or "–"}</span>'))


def _bar(seconds: float, most: float) -> nodes.paragraph:
    share = 100 * seconds / most if most else 0
    bar = f'<span class="seconds-bar" aria-hidden="true"><i style="width:{share:.1f}%"></i></span>'
    return _amount("seconds", round(seconds, 1), f"{seconds:.1f}", f" {bar}")


def _total(text: str, what: str) -> nodes.raw:
    return raw(f'<p class="table-total" data-what="{what}">{escape(text)}</p>')


def part_of(app: Sphinx, name: str) -> str:
    """The part of the table of contents that lists a page, by its caption in the sidebar."""
    return parts_of(app.env).get(name) or "Front matter"


def _page(app: Sphinx, here: str, name: str, **marks: str) -> nodes.paragraph:
    """A link to a page; the filter's menus choose by the marks."""
    uri = app.builder.get_relative_uri(here, name)
    link = nodes.reference("", app.env.titles[name].astext(), refuri=uri, internal=True)
    data = " ".join(f'data-{key}="{escape(value)}"' for key, value in marks.items())
    return nodes.paragraph("", "", link, *([raw(f"<span {data}></span>")] if data else []))


def fed_by(app: Sphinx) -> dict[str, list[str]]:
    """The pages that each record feeds."""
    env = app.env
    sources = {
        n: Path(env.doc2path(n)).read_text(encoding="utf-8") for n in app.config.external_site_map if n in env.titles
    }
    return fed_pages((name for name in record_names() if record_path(name).is_file()), sources)


def slowest(titles: dict[str, str], seconds: dict[str, float]) -> str:
    """Which page takes longest, and how few of them take half of the time.

    Examples
    --------
    >>> slowest({"a": "Masks", "b": "BLEU", "c": "Beams"}, {"a": 6.0, "b": 30.0, "c": 4.0})
    'The slowest page is “BLEU” with 30.0 seconds. Half of all seconds are spent on 1 of the 3 pages.'
    """
    ordered = sorted(seconds, key=lambda name: -seconds[name])
    half, spent, few = sum(seconds.values()) / 2, 0.0, 0
    while spent < half:
        spent, few = spent + seconds[ordered[few]], few + 1
    return (
        f"The slowest page is “{titles[ordered[0]]}” with {seconds[ordered[0]]:.1f} seconds. Half of all seconds are "
        f"spent on {few} of the {len(ordered)} pages."
    )


def runs_table(app: Sphinx, docname: str, place: Place) -> list[nodes.Node]:
    """Each executed page with its checks and seconds; below it the machine, the versions and the days."""
    runs = executed(app.env, app.config.external_site_map)  # in the order of the table of contents
    seconds = {name: run["runtime"] or 0.0 for name, run in runs.items()}
    checks = {name: sum(app.env.metadata[name].get("checks", [])) for name in runs}
    most = max(seconds.values(), default=0.0)
    shown = Counter(page for pages in fed_by(app).values() for page in pages)
    rows: list[list[nodes.Node]] = [
        [
            _page(
                app, docname, name, part=part_of(app, name), numbers="from records too" if shown[name] else NO_RECORD
            ),
            _amount("checks", checks[name], str(checks[name])),
            _count(shown[name]),
            _bar(seconds[name], most),
        ]
        for name in runs
    ]
    failed = [app.env.titles[name].astext() for name, run in runs.items() if not run["succeeded"]]
    days = sorted({f"{datetime.fromtimestamp(run['mtime'], tz=UTC):%d %B %Y}".lstrip("0") for run in runs.values()})
    versions = ", ".join(f"{package} {version(package)}" for package in PACKAGES[:4])
    about = (f"{slowest({name: app.env.titles[name].astext() for name in runs}, seconds)} " if runs else "") + (
        f"Failed: {', '.join(failed)}." if failed else "Every page ran to its end, and every check holds."
    )
    made_with = {
        "Run on": " and ".join(days),
        "Machine": short_machine(name_machine(describe_machine())),
        "Python": platform.python_version(),
        "Packages": versions,
        "Library": f"{annotated.__version__}, files and packages with the digest {library_digest()}",
    }
    made = table(["Page", "Checks", "Records", "Seconds"], rows)
    made["classes"] += ["execution-table", "sortable", "no-search"]
    spent = sum(round(one, 1) for one in seconds.values())  # as the rows have them
    total = f"All {len(rows)} pages: {sum(checks.values()):,} checks, {spent:,.1f} seconds"
    return [_total(total, "pages"), made, nodes.paragraph(text=about), _listed(made_with)]


def short_machine(name: str) -> str:
    """A machine's name without what its maker adds.

    Examples
    --------
    >>> short_machine("2 cores of Intel(R) Xeon(R) Processor"), short_machine("2 cores of AMD EPYC")
    ('2 cores of Intel Xeon', '2 cores of AMD EPYC')
    """
    return " ".join(re.sub(r"\((?:R|TM)\)|\b(?:Processor|CPU)\b|@.*", "", name).split())


def _listed(facts: dict[str, str]) -> nodes.field_list:
    """Facts in a line each."""
    made = nodes.field_list(classes=["execution-facts"])
    for name, text in facts.items():
        made += nodes.field(
            "", nodes.field_name("", name), nodes.field_body("", nodes.paragraph(text=text, classes=["no-search"]))
        )
    return made


def records_table(app: Sphinx, docname: str, place: Place) -> list[nodes.Node]:
    """Each record with what it measures, the pages that it feeds, the day and machine, and what it took."""
    fed = fed_by(app)
    records = {name: recorded(name) for name, pages in fed.items() if pages}
    if not records:
        return []
    machines = {
        n: f"torch {r.machine['torch']} on {short_machine(name_machine(r.machine))}" for n, r in records.items()
    }
    usual = Counter(machines.values()).most_common(1)[0][0]
    others = list(dict.fromkeys(machine for machine in machines.values() if machine != usual))
    minutes = {name: round(made.cpu_seconds / 60, 1) for name, made in records.items()}
    rows: list[list[nodes.Node]] = []
    for name, made in records.items():
        what = nodes.paragraph(text=described(name).rstrip("."))
        links = nodes.inline("", "", *[node for page in fed[name] for node in _page(app, docname, page).children])
        parts = ";".join(dict.fromkeys(part_of(app, page) for page in fed[name]))
        links += raw(f'<span data-part="{escape(parts)}"></span>')
        called = nodes.paragraph("", "", _breakable(name))
        day = made.date + ("" if machines[name] == usual else f" ({LETTERS[others.index(machines[name])]})")
        rows.append([called, what, nodes.paragraph("", "", links), nodes.paragraph(text=day),
                     _amount("CPU minutes", minutes[name], f"{minutes[name]:,.1f}")])  # fmt: skip
    table_of = table(["Record", "What was measured", "Page", "Recorded on", "CPU minutes"], rows)
    table_of["classes"] += ["records-table", "sortable", "no-search"]
    total = _total(f"All {len(rows)} records: {sum(minutes.values()):,.1f} CPU minutes", "records")
    marked = [f"those marked ({LETTERS[i]}) with {machine}" for i, machine in enumerate(others)]
    made_with = "; ".join([f"Recorded with {usual}", *marked])
    wide = nodes.container("", table_of, classes=["wide"])
    return [nodes.paragraph(text=f"{made_with}."), total, wide, _command()]


def _breakable(name: str) -> nodes.literal:
    """A record's name, which a narrow column may break after a slash or an underscore, and nowhere else."""
    literal = nodes.literal()
    for i, part in enumerate(re.findall(r"[^/_]+[/_]?", name)):
        literal += [*([raw("<wbr>")] if i else []), nodes.Text(part)]
    return literal


def _command() -> nodes.raw:
    """The command that makes a record; with scripts, all records that the filter shows (`sorting.js`)."""
    text = "python -m annotated_book masks"
    button = f'<button type="button" class="copy" data-copy="{text}" hidden>Copy the command</button>'
    head = '<p role="status">The command for one record, here <code>masks</code>:</p>'
    return raw(f'<div class="again">{head}<pre tabindex="0">{text}</pre>{button}</div>')


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.setup_extension("page_kit.places")
    app.add_directive("execution-status", ExecutionStatus)

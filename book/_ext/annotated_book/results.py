"""The directive `results-ledger`: the runs in the folder ledger/, as a table beside what the paper prints.

    :::{results-ledger}
    :::

It says itself whether a run on WMT14 is among them. Report, log and translations of each entry are downloads.
"""

from __future__ import annotations

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from annotated.paper import SETTINGS, TABLE_2
from annotated.runs.registry import Entry, entries
from annotated.runs.report.model_card import title
from annotated_book.execution import ROOT, table

FOLDER = ROOT / "ledger"
HEAD = ("Run, data, hardware", "BLEU, sacreBLEU", "BLEU, the paper's way", "Updates", "Hours")
DOWNLOADS = {"report.json": "report", "log.jsonl": "log", "hypotheses.txt": "translations"}
NONE_YET = (
    "No run on WMT14 itself is in the ledger yet. Below stand rehearsals on other text. Their scores say that the "
    "chain works, and nothing about the paper's numbers."
)
_SIZES = {"Transformer (base model)": "base", "Transformer (big)": "big"}
_RULERS = {
    "sacrebleu": "BLEU by sacreBLEU",
    "paper": "BLEU the paper's way",
    "moses": "so with Moses' own tokeniser",
    "chrf": "chrF",
}


class ResultsLedger(SphinxDirective):
    """The table, and below it each entry's signatures."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Read the entries."""
        self.env.note_reread()  # an entry may have come
        found = entries(FOLDER)
        result: list[nodes.Node] = []
        if not any(entry.report["label"].startswith("WMT14") for entry in found):
            result.append(nodes.admonition("", nodes.title(text="As it stands"), nodes.paragraph(text=NONE_YET)))
        rows = [*_printed(), *map(self._row, found)]
        box = nodes.container("", table(HEAD, rows), classes=["results-ledger"])
        if found:
            box += nodes.paragraph(text="How each was scored:")
            box += nodes.bullet_list("", *map(_signatures, found))
        return [*result, box]

    def _row(self, entry: Entry) -> list[nodes.Node]:
        report = entry.report
        hours, _, machine = entry.machine.partition(" on ")
        test = f"{report['test']['name']}, {report['test']['sentences']:,} sentences"
        about = nodes.container("", nodes.paragraph("", "", nodes.strong(text=entry.name)))
        about += [nodes.paragraph(text=text) for text in (f"{title(report)}; {test}.", f"{machine}.")]
        about += self._files(entry)
        scores = (report["scores"]["average"][ruler] for ruler in ("sacrebleu", "paper"))
        cells = [*(f"{one['score']:.2f} ({one['low']:.2f} to {one['high']:.2f})" for one in scores)]
        cells += [f"{report['training']['updates']:,}", hours]
        return [about, *(nodes.paragraph(text=text) for text in cells)]

    def _files(self, entry: Entry) -> nodes.paragraph:
        place = nodes.paragraph()
        for file, text in DOWNLOADS.items():
            path = entry.folder / file
            self.env.note_dependency(str(path))
            target = f"/../{path.relative_to(ROOT).as_posix()}"  # seen from the book's folder
            place += addnodes.download_reference("", text, refdoc=self.env.docname, reftarget=target)
            place += nodes.Text(" ")
        return place


def _printed() -> list[list[nodes.Node]]:
    """What the paper prints of itself. Which BLEU it is it does not say; its released script is the second ruler."""
    rows: list[list[nodes.Node]] = []
    for line in TABLE_2:
        if line.system in _SIZES:
            run = SETTINGS[_SIZES[line.system]]
            about = nodes.container("", nodes.paragraph("", "", nodes.strong(text=line.system)))
            about += nodes.paragraph(text=f"As written in Table 2: WMT14 en-de; {run['gpus']:g} P100 GPUs.")
            cells = ("", str(line.bleu_en_de), f"{run['steps']:,}", f"{run['hours']:g}:00:00")
            rows.append([about, *(nodes.paragraph(text=text) for text in cells)])
    return rows


def _signatures(entry: Entry) -> nodes.list_item:
    text = nodes.paragraph("", f"{entry.name}: ")
    scores = entry.report["scores"]["average"]
    for ruler, name in _RULERS.items():
        if (one := scores.get(ruler)) is None:
            continue
        end = "." if ruler == "chrf" else "; "
        text += [nodes.Text(f"{name} {one['score']:.2f}, "), nodes.literal(text=one["signature"]), nodes.Text(end)]
    return nodes.list_item("", text)


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("results-ledger", ResultsLedger)

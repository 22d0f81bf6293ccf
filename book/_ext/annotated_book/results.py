"""The directive `results-ledger`: the runs in the folder ledger/ as a table, and as another what the paper prints.

    :::{results-ledger}
    :::

It says itself whether a run on WMT14 is among them. Of each entry the files that its scores rest on are downloads.
"""

from __future__ import annotations

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from annotated.paper import SETTINGS, TABLE_2
from annotated.runs.registry import Entry, entries
from annotated.runs.report import test_name
from annotated.runs.report.model_card import title
from annotated_book.execution import ROOT, table

FOLDER = ROOT / "ledger"
SCORES_HEAD = ("Score", "Value", "Signature")
HEAD = ("Run, data, hardware", "BLEU, sacreBLEU", "BLEU, the paper's way", "Updates")
PRINTED_HEAD = ("Model, data, hardware", "BLEU, as printed", "Updates")
DOWNLOADS = {
    "report.json": "report",
    "log.jsonl": "log",
    "hypotheses.txt": "translations",
    "hypotheses.last.txt": "translations of the last checkpoint",
    "test.tsv": "test set",
    "statistics.tsv": "counts",
    "README.md": "summary",
    "entry.json": "hashes",
}
NONE_YET = "No run on WMT14 itself is in the ledger yet."
ONE = (
    "So far there is one rehearsal, on other text. Its score shows that the chain works and says nothing about the "
    "paper."
)
SOME = (
    "So far there are {count} rehearsals, on other text. Their scores show that the chain works and say nothing about "
    "the paper."
)
PRINTED = (
    "For comparison, and not checkable: what the paper prints of its own models. BLEU is from Table 2, updates and "
    "times are from section 5.2. The paper does not say how it computed BLEU."
)
_SIZES = {"Transformer (base model)": "base", "Transformer (big)": "big"}
_BLEU_SETTINGS = {
    "sacrebleu": "BLEU by sacreBLEU",
    "paper": "BLEU the paper's way",
    "moses": "BLEU the paper's way with Moses' own tokeniser",
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
            told = f"{NONE_YET} {ONE if len(found) == 1 else SOME.format(count=len(found))}" if found else NONE_YET
            box = nodes.admonition("", nodes.title(text="As it stands"), nodes.paragraph(text=told))
            box["classes"].append("admonition-as-it-stands")
            result.append(box)
        box = nodes.container(classes=["results-ledger"])
        if found:
            box += table(HEAD, [*map(self._row, found)])
            for entry in found:
                box += nodes.paragraph(text=f"How {entry.name} was scored:")
                box += table(SCORES_HEAD, _signatures(entry))
        box += [nodes.paragraph(text=PRINTED), table(PRINTED_HEAD, _printed())]
        for one in box.findall(nodes.table):
            one["classes"].append("blocks")
        return [*result, box]

    def _row(self, entry: Entry) -> list[nodes.Node]:
        report = entry.report
        test = f"{test_name(report)}, {report['test']['sentences']:,} sentences"
        about = nodes.container("", nodes.paragraph("", "", nodes.strong(text=entry.name)))
        about += [nodes.paragraph(text=text) for text in (f"{title(report)}; {test}.", f"{entry.machine}.")]
        about += self._files(entry)
        scores = (report["scores"]["average"][setting] for setting in ("sacrebleu", "paper"))
        cells = [*(f"{one['score']:.2f} ({one['low']:.2f} to {one['high']:.2f})" for one in scores)]
        cells.append(f"{report['training']['updates']:,}")
        return [about, *(nodes.paragraph(text=text) for text in cells)]

    def _files(self, entry: Entry) -> nodes.paragraph:
        place = nodes.paragraph()
        for file, text in DOWNLOADS.items():
            path = entry.folder / file
            if not path.is_file():
                continue  # not every run has it
            self.env.note_dependency(str(path))
            target = f"/../{path.relative_to(ROOT).as_posix()}"  # seen from the book's folder
            place += addnodes.download_reference("", text, refdoc=self.env.docname, reftarget=target)
            place += nodes.Text(" ")
        return place


def _printed() -> list[list[nodes.Node]]:
    """What the paper prints of itself: BLEU in Table 2, hardware, time and updates in section 5.2."""
    rows: list[list[nodes.Node]] = []
    for line in TABLE_2:
        if line.system in _SIZES:
            run = SETTINGS[_SIZES[line.system]]
            about = nodes.container("", nodes.paragraph("", "", nodes.strong(text=line.system)))
            about += nodes.paragraph(text=f"WMT14 en-de; {_as_printed(run['hours'])} on {run['gpus']:g} P100.")
            cells = (str(line.bleu_en_de), f"{run['steps']:,}")
            rows.append([about, *(nodes.paragraph(text=text) for text in cells)])
    return rows


def _as_printed(hours: float) -> str:
    """A training time in the unit of section 5.2: '12 hours', '3.5 days'."""
    return f"{hours:g} hours" if hours < 48 else f"{hours / 24:g} days"


def _signatures(entry: Entry) -> list[list[nodes.Node]]:
    """For each setting the score and its signature, with the method where no signature contains it."""
    rows: list[list[nodes.Node]] = []
    scores = entry.report["scores"]["average"]
    for setting, name in _BLEU_SETTINGS.items():
        if (one := scores.get(setting)) is None:
            continue
        signature = nodes.paragraph("", "", nodes.literal(text=one["signature"]))
        signature += nodes.Text(f" ({one['method']})" if "method" in one else "")
        rows.append([nodes.paragraph(text=name), nodes.paragraph(text=f"{one['score']:.2f}"), signature])
    return rows


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("results-ledger", ResultsLedger)

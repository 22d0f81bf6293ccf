"""The ledger's table in the book: what it shows, and what it says while no run is on WMT14."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sphinx", reason="the book's extension needs the extra `book`")


@pytest.fixture
def results(repository: Path) -> Iterator[Any]:
    sys.path.insert(0, str(repository / "book" / "_ext"))
    yield import_module("annotated_book.results")
    sys.path.pop(0)


def page(folder: Path) -> str:
    """A page with the directive and nothing else, as HTML."""
    from sphinx.application import Sphinx
    from sphinx.util.docutils import docutils_namespace

    source, out = folder / "book", folder / "html"
    source.mkdir()
    (source / "index.md").write_text("# Ledger\n\n:::{results-ledger}\n:::\n", encoding="utf-8")
    settings = {"extensions": ["myst_parser", "annotated_book.results"], "myst_enable_extensions": ["colon_fence"]}
    complaints = io.StringIO()
    with docutils_namespace():
        Sphinx(str(source), None, str(out), str(out / ".trees"), "html", settings, None, complaints).build()
    assert complaints.getvalue() == ""
    return (out / "index.html").read_text(encoding="utf-8")


def entry(folder: Path, name: str, label: str, sacrebleu: float, paper: float) -> None:
    """As much of an entry as the table shows."""
    place = folder / "ledger" / name
    place.mkdir(parents=True)
    settings = {"sacrebleu": sacrebleu, "paper": paper, "chrf": 50.0}
    scores = {
        setting: {"score": score, "low": score - 1, "high": score + 1, "signature": f"nrefs:1|{setting}"}
        for setting, score in settings.items()
    }
    scores["paper"]["method"] = "13a in place of Moses"
    report = {
        "format": 1,
        "label": label,
        "test": {"name": "newstest2014", "sentences": 3003},
        "scores": {"average": scores, "last": None},
        "training": {"updates": 100_000, "hours": 1.5},
        "hardware": {"trained_on": {"processor": "x", "gpus": [{"name": "GPU Nine"}] * 8}, "device": "cuda"},
    }
    (place / "report.json").write_text(json.dumps(report), encoding="utf-8")
    (place / "entry.json").write_text(json.dumps({"added": "2026-01-31"}), encoding="utf-8")
    for file in ("log.jsonl", "hypotheses.txt", "statistics.tsv", "test.tsv"):
        (place / file).write_text(f"{file} of {name}", encoding="utf-8")


def text_of(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def test_both_rulers_hardware_hours_and_the_log_of_each_run(
    results: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry(tmp_path, "rehearsal-one", "rehearsal, not WMT14", 12.34, 12.56)
    monkeypatch.setattr(results, "FOLDER", tmp_path / "ledger")
    monkeypatch.setattr(results, "ROOT", tmp_path)
    html = page(tmp_path)
    shown = text_of(html)
    assert "12.34 (11.34 to 13.34)" in shown and "12.56 (11.56 to 13.56)" in shown
    assert "100,000" in shown and "1:30:00 on 8 x GPU Nine." in shown and "nrefs:1|paper" in shown
    runs, printed = shown.split("For comparison, and not checkable")
    assert "rehearsal-one" in runs and "27.3" not in runs and "other text in the file of newstest2014" in runs
    assert re.search(r"nrefs:1\|paper\s+\(13a in place of Moses\)", runs), "the method, which no signature contains"
    assert re.search(r"12 hours on 8 P100\.\s+27\.3\s+100,000", printed), "as section 5.2 and Table 2 print them"
    assert re.search(r"3\.5 days on 8 P100\.\s+28\.4\s+300,000", printed) and ":00" not in printed
    assert "So far there is one rehearsal" in runs
    assert re.search(r"Score\s+Value\s+Signature.*chrF\s+.*50\.00", runs), "a table of the scores"
    assert "hypotheses.last.txt" not in html, "no link to a file that the entry lacks"
    for file in ("log.jsonl", "statistics.tsv", "test.tsv"):
        found = re.findall(rf'href="(_downloads/[^"]*{re.escape(file)})"', html)
        assert [(tmp_path / "html" / one).read_text() for one in found] == [f"{file} of rehearsal-one"]
    assert len(re.findall(r'href="_downloads/[^"]*entry\.json"', html)) == 1
    assert "No run on WMT14 itself is in the ledger yet" in shown


def test_a_run_on_wmt14_ends_the_notice(results: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry(tmp_path, "wmt14-base", "WMT14 en-de", 26.5, 27.4)
    monkeypatch.setattr(results, "FOLDER", tmp_path / "ledger")
    monkeypatch.setattr(results, "ROOT", tmp_path)
    shown = text_of(page(tmp_path))
    assert "No run on WMT14" not in shown and "WMT14 en-de; newstest2014, 3,003 sentences." in shown

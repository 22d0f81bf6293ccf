"""In a live notebook a chart needs no network: a widget draws it, with its script taken from vl-convert."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest.importorskip("vl_convert", reason="offline charts need the extra `book`")
client = pytest.importorskip("nbclient", reason="running a kernel needs the extra `book`")

CHART = """
from annotated_book.viz.attention_map import attention_chart
attention_chart([[1.0]], ["q"], ["k"])
"""
CHECK = r"""
import re, altair
from annotated_book.viz.notebook_chart import NotebookChart
assert altair.renderers.active == "annotated", altair.renderers.active
script = NotebookChart({"mark": "point"}).library
assert "vega" in script and not re.search(r"(from|import)[ (]*[\"']https?:", script)
"""


def test_charts_are_offline_widgets(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import nbformat

    monkeypatch.delenv("ANNOTATED_BOOK", raising=False)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in (CHART, CHECK)])
    environment = {
        **os.environ,
        "PYTHONPATH": f"{repository}{os.pathsep}{repository / 'book'}",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }
    ran = client.NotebookClient(notebook, timeout=600, startup_timeout=600, kernel_name="python3").execute(
        env=environment
    )
    outputs = [output for output in ran.cells[0].outputs if output.output_type != "stream"]
    data = outputs[0]["data"]
    assert "application/vnd.jupyter.widget-view+json" in data, outputs
    assert data["text/plain"].startswith("Attention map."), "where there are no widgets the chart is described"

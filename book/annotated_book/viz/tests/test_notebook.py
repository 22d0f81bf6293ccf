"""In a notebook a chart needs no network, and no kernel once it is saved: a widget draws it, or its picture stays."""

from __future__ import annotations

import base64
import copy
import os
import struct
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("vl_convert", reason="offline charts need the extra `book`")
client = pytest.importorskip("nbclient", reason="running a kernel needs the extra `book`")
pytestmark = pytest.mark.slow

CHART = """
from annotated_book.viz.attention_map import attention_chart
attention_chart([[1.0]], ["q"], ["k"])
"""
CHECK = r"""
import re, altair
from annotated_book.viz.notebook_chart import NotebookChart
assert altair.renderers.active == "annotated", altair.renderers.active
script = NotebookChart({"mark": "point"}).library.code
assert "vega" in script and not re.search(r"(from|import)[ (]*[\"']https?:", script)
"""


VIEW, STATE = "application/vnd.jupyter.widget-view+json", "application/vnd.jupyter.widget-state+json"


@pytest.fixture(scope="module")
def saved(repository: Path) -> Any:
    """A notebook with two charts, as it is after it was run and saved, with the state of its widgets."""
    import nbformat

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in (CHART, CHART, CHECK)])
    environment = {name: value for name, value in os.environ.items() if name != "ANNOTATED_BOOK"} | {
        "PYTHONPATH": f"{repository}{os.pathsep}{repository / 'book'}",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }
    run = client.NotebookClient(notebook, timeout=600, startup_timeout=600, kernel_name="python3")
    return nbformat.reads(nbformat.writes(run.execute(env=environment)), 4)


def charts(notebook: Any) -> list[dict[str, str]]:
    """The outputs of the cells with charts, by MIME type."""
    return [[one for one in cell.outputs if one.output_type != "stream"][0]["data"] for cell in notebook.cells[:2]]


def test_charts_are_offline_widgets(saved) -> None:
    for data in charts(saved):
        assert VIEW in data
        assert data["text/plain"].startswith("Attention map."), "where there are no widgets the chart is described"


def test_charts_have_one_library(saved) -> None:
    states = {name: one["state"] for name, one in saved.metadata.widgets[STATE]["state"].items()}
    libraries = [name for name, state in states.items() if "vega" in state.get("code", "")]
    drawn = [state["library"] for state in states.values() if "specification" in state]
    assert len(libraries) == 1 and drawn == [f"IPY_MODEL_{libraries[0]}"] * 3, "two shown, and one made in the check"


def test_a_saved_notebook_shows_each_chart_without_a_kernel(saved) -> None:
    exporters = pytest.importorskip("nbconvert", reason="reading a saved notebook needs the extra `dev`")
    for data in charts(saved):
        picture = base64.b64decode(data["image/png"])
        width, height = struct.unpack(">II", picture[16:24])
        assert picture.startswith(b"\x89PNG") and min(width, height) > 50 and len(picture) < 200_000
    without = copy.deepcopy(saved)
    del without.metadata["widgets"]  # as JupyterLab saves by default
    page, _ = exporters.HTMLExporter().from_notebook_node(without)
    assert page.count('src="data:image/png;base64,') == 2

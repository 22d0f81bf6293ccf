"""Chapters in a real JupyterLab: each chart is drawn wide, light and dark, and each live panel shows its picture.

A chapter is run there as a reader runs it: the notebook that its page offers, all cells. `make lab` does it with a few
chapters that have every kind of output of the book, and `make nightly` with the others.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from annotated_book.pages import page_file
from book.conftest import ROOT, built
from book.tests.jupyter import PATIENCE, Complaints, Server, jupyterlab_server, until
from book.tests.kinds import CHAPTERS, chosen, every_kind, source

pytestmark = [pytest.mark.slow, pytest.mark.spread]

LEAST_SHARE = 0.6
"""Of the width of the cell's output that a plot has at least."""
LEAST_CONTRAST = 0.4
"""Between the lightness of a chart's words and that of the ground, each from 0 to 1."""
PANELS = {
    "decoding/beam_search": ("The dog sees a cat.", "live_panel(", ".notebook-chart svg"),
}
"""The live panels: what is typed, words of the cell that shows what comes of it, and the drawing there."""
WIDGET = "application/vnd.jupyter.widget-view+json"


class Lab:
    """The page of JupyterLab; what is asked of it stands in lab.js."""

    def __init__(self, page: Any, server: Server) -> None:
        self.page, self.is_dark, self.complaints = page, False, Complaints(page, server)
        page.add_init_script(path=Path(__file__).with_name("lab.js"))
        page.goto(f"{server.address}/lab?reset")
        page.wait_for_function("window.jupyterapp && jupyterapp.restored.then(() => true)")

    def open(self, notebook: str) -> None:
        """Open a notebook, and wait for its kernel."""
        self._command("docmanager:open", path=notebook)
        self.page.wait_for_function("path => lab.isOpen(path)", arg=notebook)

    def run(self, notebook: str) -> list[dict[str, Any]]:
        """Open a notebook and run all its cells, which are returned."""
        self.open(notebook)
        self._command("notebook:run-all-cells")
        return self.page.evaluate("lab.cells()")

    def close(self) -> None:
        """Close the notebook, with its kernel."""
        self.page.evaluate("lab.close()")

    def change_theme(self) -> None:
        """From light to dark, or back."""
        self.is_dark = not self.is_dark
        self._command("apputils:change-theme", theme="JupyterLab Dark" if self.is_dark else "JupyterLab Light")
        mark = f"body[data-jp-theme-light={'false' if self.is_dark else 'true'}]"
        self.page.wait_for_selector(mark, state="attached")

    def outputs(self, number: int) -> Any:
        """The element of the outputs of a cell, which comes into view."""
        return self.page.evaluate_handle("number => lab.outputs(number)", number).as_element()

    def charts(self, number: int, count: int) -> list[dict[str, Any]]:
        """Measures of the charts under a cell, once they are drawn, have their width and, of a canvas, its new colours.

        JupyterLab may take a cell out of the page between two looks at it, so each look brings it into view again.
        """
        deadline = time.monotonic() + PATIENCE
        while True:
            outputs = self.outputs(number)
            self.page.wait_for_function("([area, count]) => lab.areDrawn(area, count)", arg=[outputs, count])
            charts = outputs.evaluate("area => lab.measures(area)")
            if not any(map(is_wrong, charts)) or time.monotonic() > deadline:
                return charts
            time.sleep(0.1)

    def picture(self, name: str) -> None:
        """Keep what is in view, for somebody who wants to see it."""
        if folder := os.environ.get("ANNOTATED_SHOTS"):
            self.page.screenshot(
                path=Path(folder, f"{name.replace('/', '-')}-{'dark' if self.is_dark else 'light'}.png")
            )

    def _command(self, name: str, **options: Any) -> None:
        self.page.evaluate("([name, options]) => lab.command(name, options)", [name, options])


@pytest.fixture(scope="module")
def server(extension: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    first_cell = extension("delivery.downloads").first_cell
    notebook_of = extension("delivery.notebook_export").notebook_of
    with jupyterlab_server(tmp_path_factory.mktemp("jupyter"), ROOT) as server:
        for name in CHAPTERS:
            place = server.folder / f"{name}.ipynb"
            place.parent.mkdir(exist_ok=True)
            place.write_text(json.dumps(notebook_of(source(name), first_cell(), page_file(name))), encoding="utf-8")
        yield server


@pytest.fixture(scope="module")
def lab(server: Server, chromium: Any) -> Iterator[Lab]:
    context = chromium.new_context(viewport={"width": 1280, "height": 1000})
    context.set_default_timeout(PATIENCE * 1000)
    yield Lab(context.new_page(), server)
    context.close()


def number_of_charts(cell: dict[str, Any]) -> int:
    """How many outputs are charts, which are described in words where other widgets give the name of their class."""
    data = [output.get("data", {}) for output in cell["outputs"]]
    plain = ["".join(one["text/plain"]) for one in data if WIDGET in one]
    return sum(not re.match(r"<|\w+\(", text) for text in plain)


def is_wrong(chart: dict[str, Any]) -> bool:
    """Whether a chart is narrow or cannot be read."""
    is_narrow = chart["plot"] < LEAST_SHARE * chart["cell"]
    return is_narrow or abs(chart["ink"] - chart["ground"]) < LEAST_CONTRAST


def look(lab: Lab, name: str, charts: dict[int, int]) -> list[Any]:
    """The charts that are narrow or cannot be read, of the cells that have so many each."""
    wrong = []
    for number, count in charts.items():
        measured = lab.charts(number, count)
        lab.picture(f"{name}-{number}")
        wrong += filter(is_wrong, measured)
    return wrong


def type_into(lab: Lab, name: str, cells: list[dict[str, Any]]) -> None:
    """Type into a live panel, and see what it shows before and after."""
    sentence, where, drawing = PANELS[name]
    panel, shown = (next(c["number"] for c in cells if words in c["source"]) for words in ("\nlive_panel(", where))

    def seen() -> str:
        area = lab.outputs(shown)
        picture = area.query_selector(drawing)
        return area.text_content() if picture and picture.is_visible() else ""

    before = until(seen, "the panel shows its picture before anybody types")
    field = lab.outputs(panel).query_selector("input[type=text]")
    field.fill(sentence)
    field.press("Enter")
    until(lambda: seen() not in ("", before), "the panel shows another picture for another sentence")
    lab.page.wait_for_function("lab.idle()")
    assert "Traceback" not in lab.outputs(panel).text_content()
    lab.picture(f"{name}-typed")


def test_a_notebook_of_somebody_else_shows_its_pictures_before_it_is_run(lab: Lab, server: Server) -> None:
    """JupyterLab has no reason to trust it, and so takes what is behind the widget. Of a notebook of one's own it takes
    the widget, which is not there without its kernel: `jupyterlab_widgets` 3.0.17 goes back to no other MIME type.
    """
    import nbformat

    from annotated_book.viz.notebook_chart import notebook_renderer

    axes = {"x": {"field": "a"}, "y": {"field": "b"}}
    output, _ = notebook_renderer({"data": {"values": [{"a": 1, "b": 2}]}, "mark": "point", "encoding": axes})
    saved = nbformat.v4.new_output("display_data", output)
    cell = nbformat.v4.new_code_cell("chart", outputs=[saved])
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(cells=[cell], metadata={"kernelspec": kernel})
    nbformat.write(notebook, server.folder / "saved.ipynb")
    try:
        lab.open("saved.ipynb")
        picture = lab.outputs(0).wait_for_selector("img[src^='data:image/png']")
        assert picture.evaluate("img => img.complete && img.naturalWidth") > 50
        assert "widget" not in lab.outputs(0).text_content()
    finally:
        lab.close()
    assert lab.complaints.take() == []


def test_each_live_panel_is_typed_into() -> None:
    assert {name for name in CHAPTERS if "\nlive_panel(" in source(name)} == set(PANELS)


def test_the_chosen_chapters_have_every_kind_of_output() -> None:
    if not all(map(built, CHAPTERS)):
        pytest.skip("the book is not built: every chapter is run")
    kinds = every_kind(chosen())
    assert kinds == every_kind(CHAPTERS) and len(chosen()) < len(CHAPTERS) / 4
    assert kinds >= {"widget", "table", "live panel", "svg, one view, container"}
    assert {kind.split(", ")[0] for kind in kinds if ", " in kind} == {"svg", "canvas"}


FEW = chosen()


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in FEW else pytest.mark.nightly) for name in CHAPTERS]
)
def test_a_chapter_in_jupyterlab(lab: Lab, name: str) -> None:
    try:
        cells = lab.run(f"{name}.ipynb")
        assert [o for cell in cells for o in cell["outputs"] if o["output_type"] == "error"] == []
        assert not [c for c in cells if c["type"] == "markdown" and "needs JavaScript" in c["source"]]
        for cell in cells:
            if "training_panel(" in cell["source"]:
                until(lambda number=cell["number"]: "not started" in lab.outputs(number).text_content(), "its panel")
        charts = {cell["number"]: count for cell in cells if (count := number_of_charts(cell))}
        wrong = look(lab, name, charts)
        if name in PANELS:
            type_into(lab, name, cells)
        lab.change_theme()
        wrong += look(lab, name, charts)
    finally:
        lab.close()
    assert wrong == [], json.dumps(wrong, indent=1)
    assert lab.complaints.take() == []

"""The training panel in a real JupyterLab: start, pause, resume, kill the kernel, find the training again."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from annotated.runs import list_checkpoints
from annotated.runs.launch import running, stop
from annotated.runs.monitor import TrainingMonitor
from book.tests.jupyter import PATIENCE, Complaints, Server, jupyterlab_server, until

pytestmark = pytest.mark.slow
CELL = """
from annotated import DataConfig, ModelConfig, TrainingConfig
from annotated_book.viz.panel import training_panel
model = ModelConfig(d_model=16, d_ff=32, num_heads=2, d_k=8, d_v=8, num_encoder_layers=1, num_decoder_layers=1)
training = TrainingConfig(updates=100_000, batch_tokens=400, warmup=400, log_every=5, validate_every=50,
                          validate_bleu=0, checkpoint_every=100_000, device="cpu")
data = DataConfig(classroom_pairs=300, vocab_size=300)
training_panel("{run}", model, training, data, samples=["The cat sleeps."], threads=1)
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Iterator[Server]:
    with jupyterlab_server(tmp_path_factory.mktemp("jupyter"), repository) as server:
        yield server


@pytest.fixture
def run(server: Server) -> Iterator[Path]:
    """A folder that is not there yet, and beside it a notebook whose panel trains into it.

    Each try of a test has its own: a training outlives the test that started it.
    """
    nbformat = pytest.importorskip("nbformat", reason="a notebook needs the extra `book`")
    run = server.folder / f"run-{uuid.uuid4().hex[:8]}"
    cells = [nbformat.v4.new_code_cell(CELL.strip().format(run=run.name), id="panel")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, run.with_suffix(".ipynb"))
    try:
        yield run
    finally:
        stop(run, PATIENCE)
        for kernel in server.kernels():
            server.end_kernel(kernel)


def run_cell(page: Any) -> Any:
    page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for(state="attached")
    cell = page.locator(".jp-CodeCell").first

    def begun() -> bool:  # JupyterLab drops what is asked for before it has connected to the kernel
        cell.locator(".jp-InputArea-editor").click()
        page.keyboard.press("Shift+Enter")
        page.wait_for_timeout(2000)
        return cell.locator(".jp-InputPrompt").inner_text().strip() != "[ ]:"

    until(begun, "the cell runs")
    panel = page.locator(".training-panel")
    panel.wait_for()
    return panel


def button(panel: Any, name: str) -> Any:
    return panel.locator("button", has_text=name)


def curve(panel: Any) -> str:
    """The path of the loss curve as it is drawn."""
    return panel.evaluate("e => [...e.querySelectorAll('svg .mark-line path')].map(p => p.getAttribute('d')).join()")


def test_a_training_survives_its_kernel(server: Server, run: Path, chromium: Any) -> None:
    context = chromium.new_context(viewport={"width": 1280, "height": 1100})
    context.set_default_timeout(PATIENCE * 1000)
    page = context.new_page()
    complaints = Complaints(page, server)
    page.goto(f"{server.address}/lab/tree/{run.name}.ipynb?reset")

    panel = run_cell(page)
    assert "not started" in panel.inner_text() and button(panel, "Pause").is_disabled()
    assert not run.exists()
    button(panel, "Start").click()
    panel.locator("svg .mark-line path").first.wait_for(state="attached")
    assert button(panel, "Start").is_disabled()
    before = curve(panel)
    until(lambda: curve(panel) != before, "the curve grows")
    panel.get_by_text("What it writes after update").wait_for()
    assert "The cat sleeps." in panel.inner_text()
    panel.locator(".attention-heads .thumbnails canvas").first.wait_for()
    assert panel.locator(".attention-heads .thumbnails button").count() == 2  # one layer of two heads
    until(lambda: "gradient norm" in panel.inner_text() and "of the peak" in panel.inner_text(), "all that it measures")
    assert "spent" not in panel.inner_text()
    panel.get_by_label("an hour costs").fill("36")
    panel.get_by_label("an hour costs").press("Tab")
    until(lambda: "spent" in panel.inner_text() and "to come" in panel.inner_text(), "what it costs")

    process = running(run)
    assert process is not None and f"process {process}" in panel.inner_text()
    button(panel, "Pause").click()
    panel.get_by_text("paused: a checkpoint is saved").wait_for()
    assert running(run) is None
    saved = int(list_checkpoints(run)[-1].name.removeprefix("update-"))
    assert saved > 0

    button(panel, "Resume").click()
    until(lambda: button(panel, "Pause").is_enabled(), "it goes on")
    until(lambda: TrainingMonitor(run).poll().update > saved, "it makes more updates")
    process = running(run)

    for kernel in server.kernels():
        server.end_kernel(kernel)
    assert not server.kernels()
    update = TrainingMonitor(run).poll().update
    until(lambda: TrainingMonitor(run).poll().update > update, "the training lives on without its kernel")
    assert running(run) == process

    page.goto(f"{server.address}/lab/tree/{run.name}.ipynb?reset")
    panel = run_cell(page)
    panel.get_by_text(f"process {process}").wait_for()
    panel.locator("svg .mark-line path").first.wait_for(state="attached")
    before = curve(panel)
    until(lambda: curve(panel) != before, "the new panel follows the old training")
    button(panel, "Pause").click()
    panel.get_by_text("paused: a checkpoint is saved").wait_for()
    if folder := os.environ.get("ANNOTATED_SHOTS"):
        panel.screenshot(path=f"{folder}/panel.png")
    context.close()
    assert complaints.take() == []

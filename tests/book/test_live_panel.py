"""The training panel in a real JupyterLab: start, pause, resume, kill the kernel, find the training again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from annotated.runs import list_checkpoints
from annotated.runs.launch import running, stop
from annotated.runs.monitor import TrainingMonitor

CELL = """
from annotated import DataConfig, ModelConfig, TrainingConfig
from annotated.viz.panel import training_panel
model = ModelConfig(d_model=16, d_ff=32, num_heads=2, d_k=8, d_v=8, num_encoder_layers=1, num_decoder_layers=1)
training = TrainingConfig(updates=100_000, batch_tokens=400, warmup=400, log_every=5, validate_every=50,
                          validate_bleu=0, checkpoint_every=100_000, device="cpu")
data = DataConfig(classroom_pairs=300, vocab_size=300)
training_panel("run", model, training, data, samples=["The cat sleeps."], threads=1)
"""
PATIENCE = 150  # seconds; a busy machine is no failure
OURS = ("anywidget", "vega", "training", "widget", "altair")


class Laboratory(NamedTuple):
    """A running JupyterLab."""

    address: str
    folder: Path

    def kernels(self) -> list[str]:
        with urllib.request.urlopen(f"{self.address}/api/kernels") as answer:
            return [kernel["id"] for kernel in json.load(answer)]

    def end_kernel(self, kernel: str) -> None:
        """End a kernel as JupyterLab's own 'shut down' does: its process is killed."""
        request = urllib.request.Request(f"{self.address}/api/kernels/{kernel}", method="DELETE")
        urllib.request.urlopen(request).close()


def skip(message: str) -> None:
    warnings.warn(message, stacklevel=1)
    pytest.skip(message)


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Iterator[Laboratory]:
    nbformat = pytest.importorskip("nbformat", reason="a notebook needs the extra `book`")
    try:
        import jupyterlab  # noqa: F401
    except ImportError:
        skip("no jupyterlab here (extra `dev`): the training panel is not tested in a real notebook")
    home = tmp_path_factory.mktemp("laboratory")
    folder = home / "work"
    folder.mkdir()
    cells = [nbformat.v4.new_code_cell(CELL.strip(), id="panel")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, folder / "panel.ipynb")
    kernel = home / "data" / "kernels" / "python3"
    kernel.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": argv, "display_name": "Python 3", "language": "python"}
    (kernel / "kernel.json").write_text(json.dumps(spec))
    page_config = home / "config" / "labconfig" / "page_config.json"
    page_config.parent.mkdir(parents=True)
    page_config.write_text('{"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": true}}')
    environment = {name: value for name, value in os.environ.items() if name != "ANNOTATED_BOOK"}
    environment |= {
        "HOME": str(home),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "PYTHONPATH": str(repository),
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "OMP_NUM_THREADS": "1",
    }
    options = {
        "ServerApp.open_browser": "False",
        "ServerApp.port": "0",
        "ServerApp.ip": "127.0.0.1",
        "ServerApp.allow_root": "True",
        "ServerApp.root_dir": str(folder),
        "IdentityProvider.token": "",
        "ServerApp.disable_check_xsrf": "True",
        "LabApp.news_url": "None",
        "LabApp.check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
        "LabApp.extension_manager": "readonly",
    }
    command = [sys.executable, "-m", "jupyterlab", *(f"--{name}={value}" for name, value in options.items())]
    with (home / "server.txt").open("wb") as output:
        server = subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT, cwd=folder)
    try:
        yield Laboratory(address_of(server, home), folder)
    finally:
        stop(folder / "run", PATIENCE)
        server.terminate()
        try:
            server.wait(30)
        except subprocess.TimeoutExpired:
            server.kill()


def address_of(server: subprocess.Popen, home: Path) -> str:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and server.poll() is None:
        for file in (home / "runtime").glob("jpserver-*.json"):
            try:
                return json.loads(file.read_text())["url"].rstrip("/")
            except ValueError:
                pass
        time.sleep(0.1)
    raise AssertionError(f"JupyterLab did not start:\n{(home / 'server.txt').read_text()}")


def until(condition: Any, what: str, seconds: float = PATIENCE) -> Any:
    deadline = time.monotonic() + seconds
    while not (result := condition()):
        assert time.monotonic() < deadline, f"not within {seconds} seconds: {what}"
        time.sleep(0.1)
    return result


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


def test_a_training_survives_its_kernel(laboratory: Laboratory, chromium: Any) -> None:
    run = laboratory.folder / "run"
    context = chromium.new_context(viewport={"width": 1280, "height": 1100})
    context.set_default_timeout(PATIENCE * 1000)
    page = context.new_page()
    foreign: list[str] = []
    errors: list[str] = []
    page.on("request", lambda r: r.url.startswith((laboratory.address, laboratory.address.replace("http", "ws", 1),
            "data:", "blob:")) or foreign.append(r.url))  # fmt: skip
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda m: m.type == "error" and errors.append(m.text))
    page.goto(f"{laboratory.address}/lab/tree/panel.ipynb?reset")

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

    for kernel in laboratory.kernels():
        laboratory.end_kernel(kernel)
    assert not laboratory.kernels()
    update = TrainingMonitor(run).poll().update
    until(lambda: TrainingMonitor(run).poll().update > update, "the training lives on without its kernel")
    assert running(run) == process

    page.goto(f"{laboratory.address}/lab/tree/panel.ipynb?reset")
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
    assert foreign == []
    assert [error for error in errors if any(name in error.lower() for name in OURS)] == []

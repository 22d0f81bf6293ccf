"""Panel that starts, pauses and resumes a training run, and shows how it goes: for a live notebook.

The training is a process of its own (`annotated.runs.launch`), and the panel only watches its folder. When the
kernel dies, the training goes on; when the cell is run again, the new panel finds it.
"""

from __future__ import annotations

import html
import math
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from annotated.config import DataConfig, ModelConfig, TrainingConfig
from annotated.runs.launch import launch, stop
from annotated.runs.log import duration
from annotated.runs.monitor import Phase, TrainingMonitor, TrainingStatus
from annotated_book.viz.live import Notice
from annotated_book.viz.live_log_chart import STYLE, LiveTrainingChart
from annotated_book.viz.renderers import BOOK_VARIABLE
from annotated_book.viz.training_heads import LiveHeads
from annotated_book.viz.training_numbers import fraction_of_peak, money

_PERIOD = 1.0
_IDLE_PERIOD = 3.0
_SAYS: dict[Phase, str] = {
    "empty": "not started",
    "preparing": "preparing data",
    "training": "training",
    "stopped": "paused: a checkpoint is saved",
    "finished": "finished",
    "died": "its process has died",
}
_STYLE = (
    f"<style>{STYLE}"
    + """
.training-panel { max-width: 640px; }
.training-panel .samples { border-collapse: collapse; width: 100%; line-height: 1.35; }
.training-panel .samples caption { text-align: left; caption-side: top; padding: 2px 0; }
.training-panel .samples td { text-align: left; padding: 3px 14px 3px 0; vertical-align: top; width: 50%;
  white-space: normal; overflow-wrap: anywhere;
  border-top: 1px solid color-mix(in srgb, currentcolor 20%, transparent); }
.training-panel .says { line-height: 1.45; white-space: normal; font-variant-numeric: tabular-nums; }
.training-panel .says pre { white-space: pre-wrap; overflow-wrap: anywhere; max-height: 12em; overflow: auto; }
</style>"""
)
_open: dict[Path, Any] = {}


def unfinished(folder: str | Path) -> Path:
    """This folder; if a training run has finished in it, the first of `folder-2`, `folder-3`, ... where none has.

    So a panel finds the run that it had begun, and has a button to press when that run is over.
    """
    folder, number = Path(folder), 1
    while (
        TrainingMonitor(candidate := folder if number == 1 else Path(f"{folder}-{number}")).poll().phase == "finished"
    ):
        number += 1
    return candidate


def training_panel(
    folder: str | Path,
    model_config: ModelConfig,
    training: TrainingConfig,
    data: DataConfig,
    *,
    samples: Sequence[str] = (),
    threads: int | None = None,
    processes: int = 1,
    price_per_hour: float = 0.0,
) -> Any:
    """Start, pause and resume a training run from a notebook, and watch it learn.

    A page of the book has no kernel; there, and without ipywidgets, a sentence takes the panel's place.

    Parameters
    ----------
    folder, model_config, training, data, samples, threads, processes
        As in `annotated.runs.launch.launch`.
    price_per_hour
        What an hour of all the machines together costs, in any currency; the panel has a field for it.

    Returns
    -------
    ipywidgets.VBox or Notice
        To be the last expression of a cell. Making another panel for the same folder closes the one before; the
        training does not notice.
    """
    if os.environ.get(BOOK_VARIABLE):
        return Notice("Run this page in Jupyter to start, pause and resume this training, and to watch it learn.")
    try:
        import ipywidgets  # noqa: F401
    except ImportError:
        return Notice("Install ipywidgets (pip install ipywidgets) to start a training here.")
    folder = Path(folder).resolve()
    if folder in _open:
        _open.pop(folder).close()

    def start() -> None:
        launch(folder, model_config, training, data, samples=samples, threads=threads, processes=processes)

    panel = _Panel(folder, training.updates, start, price_per_hour)
    _open[folder] = panel
    panel.watch()
    return panel.box


class _Panel:
    """The widgets, and a thread that keeps them up to date."""

    def __init__(self, folder: Path, updates: int, start: Callable[[], None], price: float) -> None:
        import ipywidgets

        self._start, self._updates = start, updates
        self._monitor = TrainingMonitor(folder)
        self._busy, self._error = "", ""
        self._chart: LiveTrainingChart | None = None
        self._heads = LiveHeads(folder)
        self._closed, self._wake, self._lock = threading.Event(), threading.Event(), threading.RLock()
        self._buttons = {
            name: ipywidgets.Button(description=name, icon=icon, disabled=True, layout={"width": "7.2em"})
            for name, icon in {"Start": "play", "Pause": "pause", "Resume": "step-forward"}.items()
        }
        self._buttons["Start"].on_click(lambda _: self._do("starting ...", self._start))
        self._buttons["Resume"].on_click(lambda _: self._do("starting ...", self._start))
        self._buttons["Pause"].on_click(lambda _: self._do("pausing: it saves a checkpoint ...", lambda: stop(folder)))
        self._progress = ipywidgets.IntProgress(min=0, max=updates, layout={"width": "100%"})
        self._progress.tooltip = "updates made"
        self._status, self._table = ipywidgets.HTML(), ipywidgets.HTML()
        self._picture = ipywidgets.VBox(layout={"width": "100%", "overflow": "hidden"})
        self._atlas = ipywidgets.VBox(layout={"width": "100%"})
        self._price = ipywidgets.BoundedFloatText(
            price, min=0, max=1e6, description="an hour costs", style={"description_width": "initial"},
            layout={"width": "14em"},
        )  # fmt: skip
        self._price.observe(lambda _: self._wake.set(), names=["value"])
        row = ipywidgets.HBox(list(self._buttons.values()), layout={"flex_flow": "row wrap"})
        parts = [ipywidgets.HTML(_STYLE, layout={"display": "none"}), row, self._progress, self._status]
        self.box = ipywidgets.VBox([*parts, self._picture, self._table, self._price, self._atlas])
        self.box.add_class("training-panel")

    def watch(self) -> None:
        """Show how things stand, and go on showing it until closed."""
        self._show()
        threading.Thread(target=self._follow, daemon=True).start()

    def close(self) -> None:
        """Stop watching; the training goes on."""
        self._closed.set()
        self._wake.set()
        self.box.close()

    def _follow(self) -> None:
        while not self._closed.is_set():
            try:
                phase = self._show()
            except Exception as error:  # what a thread raises is seen by nobody
                self._status.value = f'<div class="says"><pre>{html.escape(repr(error))}</pre></div>'
                phase = "empty"
            self._wake.wait(_PERIOD if phase in ("preparing", "training") or self._busy else _IDLE_PERIOD)
            self._wake.clear()

    def _do(self, busy: str, action: Callable[[], Any]) -> None:
        """Run what a button asks for beside the kernel, which stays free."""

        def work() -> None:
            try:
                action()
            except Exception as error:
                self._error = str(error)
            self._busy = ""
            self._wake.set()

        if not self._busy:
            self._busy, self._error = busy, ""
            self._show()
            threading.Thread(target=work, daemon=True).start()

    def _show(self) -> Phase:
        with self._lock:
            status = self._monitor.poll()
            if not self._closed.is_set():
                self._show_status(status)
                self._show_chart()
            return status.phase

    def _show_status(self, status: TrainingStatus) -> None:
        phase, busy = status.phase, bool(self._busy)
        self._buttons["Start"].disabled = busy or phase != "empty"
        self._buttons["Pause"].disabled = busy or phase not in ("preparing", "training")
        self._buttons["Resume"].disabled = busy or phase not in ("stopped", "died")
        self._progress.max = status.updates or self._updates
        self._progress.value = status.update
        self._progress.bar_style = {"finished": "success", "died": "danger", "stopped": "warning"}.get(phase, "info")
        words = [f"<b>{html.escape(self._busy or _SAYS[phase])}</b>", *_numbers(status, self._price.value)]
        share = fraction_of_peak(self._monitor.start, status.tokens_per_second) if phase == "training" else None
        if share is not None:
            words.append(f"{share:.0%} of the peak")
        if status.pid is not None:
            words.append(f"process {status.pid}")
        error = self._error or status.last_words
        said = f"<pre>{html.escape(error)}</pre>" if error and not busy else ""
        self._status.value = f'<div class="says">{" · ".join(words)}{said}</div>'

    def _show_chart(self) -> None:
        records = self._monitor.records
        if not any(record["kind"] == "train" for record in records):
            return
        if self._chart is None:
            self._chart = LiveTrainingChart(records, moved=self._show_moment, width=520, height=210, dashboard=True)
            self._picture.children = [self._chart.widget]
        else:
            self._chart.update(records)
        self._show_moment(self._chart.moment)

    def _show_moment(self, moment: int) -> None:
        self._show_samples(moment)
        self._heads.show(self._monitor.records, moment)
        if self._heads.widget is not None and not self._atlas.children:
            self._atlas.children = [self._heads.widget]

    def _show_samples(self, moment: int) -> None:
        chosen = None
        for record in self._monitor.records:
            if record["kind"] == "samples" and record["update"] <= moment and not record.get("averaged"):
                chosen = record
        if chosen is None:
            self._table.value = ""
            return
        pairs = [(one["source"], one["translation"][:200] or "(nothing)") for one in chosen["samples"]]
        rows = "".join(
            f"<tr><td>{html.escape(one)}</td><td><b>{html.escape(other)}</b></td></tr>" for one, other in pairs
        )
        caption = f"<caption>What it writes after update {chosen['update']}</caption>"
        self._table.value = f'<table class="samples">{caption}<tbody>{rows}</tbody></table>'


def _numbers(status: TrainingStatus, price: float) -> list[str]:
    words = [f"update {status.update:,} of {status.updates:,}"] if status.updates else []
    perplexity = None if status.valid_loss is None else math.exp(min(status.valid_loss, 50.0))
    training = status.phase == "training"
    for form, value in (
        ("loss {:.3f}", status.loss),
        ("validation {:.3f}", status.valid_loss),
        ("perplexity {:.2f}", perplexity),
        ("BLEU {:.1f}", status.bleu),
        ("gradient norm {:.2f}", status.gradient_norm if training else None),
        ("{:,.0f} tokens/s", status.tokens_per_second if training else None),
    ):
        if value is not None:
            words.append(form.format(value))
    if status.seconds_left is not None:
        words.append(f"{duration(status.seconds_left)} left")
    if price and status.elapsed is not None:
        left = "" if status.seconds_left is None else f", {money(status.seconds_left, price):,.2f} to come"
        words.append(f"{money(status.elapsed, price):,.2f} spent{left}")
    if status.lost:
        words.append(f"{status.lost:,} updates since its last checkpoint are lost; Resume makes them again")
    return words

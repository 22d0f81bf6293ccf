"""Live chart of a training log: the same picture as `training_chart`, which grows while updates are made."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import altair as alt

from annotated_book.viz.log_chart import log_data, training_chart
from annotated_book.viz.renderers import BOOK_VARIABLE
from annotated_book.viz.theme import with_theme

STYLE = """
.vega-embed, .vega-embed svg { max-width: 100%; height: auto; }
.vega-embed { width: auto; color: var(--jp-ui-font-color1, currentColor); }
.vega-embed .vega-bind input[type="range"] { width: min(320px, 60vw); vertical-align: middle; }
"""


class LiveTrainingChart:
    """A chart in a widget, whose data are replaced as the log grows; nothing is drawn anew.

    `widget` is to be shown. The slider follows the newest update until the reader moves it back.

    Parameters
    ----------
    records
        So far, as `annotated.runs.read_records` gives them; at least the one of kind 'start'.
    moved
        Called with the update at which the slider stands when it moves.
    """

    def __init__(
        self,
        records: Sequence[Mapping[str, Any]],
        *,
        samples: int | None = 0,
        moved: Callable[[int], None] | None = None,
        **size: Any,
    ) -> None:
        with contextlib.suppress(ImportError):  # without vl-convert the script comes from the network
            alt.JupyterChart.enable_offline(True)
        chart = training_chart(records, samples=samples, **size)
        self.widget = alt.JupyterChart(chart, embed_options={"renderer": "svg", "actions": False})
        self.widget.spec = with_theme(self.widget.spec)
        self._data = log_data(records)
        self._newest = self.moment = int(self.widget.params.moment)
        self._moved, self._setting = moved or (lambda moment: None), False
        self.widget.observe(self._hear, names=["_params"])

    def update(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Show all of these records."""
        following = self.moment >= self._newest
        self._data = log_data(records)
        self._newest = max((row["u"] for row in self._data["log"]), default=0)
        if following or self.moment > self._newest:
            self.moment = self._newest
        self._set()

    def _set(self) -> None:
        self._setting = True
        try:
            with self.widget.hold_sync():
                for name, value in {**self._data, "moment": self.moment}.items():
                    setattr(self.widget.params, name, value)
        finally:
            self._setting = False

    def _hear(self, change: Mapping[str, Any]) -> None:
        """The page sends back all parameters when one of them moves; by then its data may be old."""
        if self._setting:
            return
        if change["new"].get("log") == self._data["log"]:
            self.moment = int(change["new"]["moment"])  # the reader has moved the slider
        else:
            self._set()
        self._moved(self.moment)


class NoTrainingChart:
    """In the place of a live chart where there is no notebook: the next cell shows the whole picture."""

    def update(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Show nothing."""


def live_training_chart(records: Sequence[Mapping[str, Any]], **options: Any) -> LiveTrainingChart | NoTrainingChart:
    """Show a chart under this cell that grows with each call of its `update(records)`; in the book, nothing.

    Parameters
    ----------
    records
        So far; at least the one of kind 'start'.
    **options
        Of `training_chart`.
    """
    try:
        from IPython import get_ipython
        from IPython.display import HTML, display
    except ImportError:
        return NoTrainingChart()
    if os.environ.get(BOOK_VARIABLE) or not hasattr(get_ipython(), "kernel"):
        return NoTrainingChart()
    live = LiveTrainingChart(records, **{"samples": None, "width": 520, **options})
    display(HTML(f"<style>{STYLE}</style>"), live.widget)
    return live

"""The folder that a training panel opens."""

from __future__ import annotations

import json
from pathlib import Path

from annotated.runs.log import LOG
from annotated_book.viz.panel import unfinished


def end(folder: Path, finished: bool) -> None:
    folder.mkdir()
    start = {"kind": "start", "update": 0, "configuration": {"training": {"updates": 3}}}
    records = [start, {"kind": "end", "update": 3, "finished": finished, "stopped_by": None}]
    (folder / LOG).write_text("".join(json.dumps(record) + "\n" for record in records))


def test_a_panel_opens_the_first_folder_whose_run_has_not_finished(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    assert unfinished(folder) == folder and not folder.exists()
    end(folder, finished=True)
    assert unfinished(folder) == tmp_path / "run-2"
    end(tmp_path / "run-2", finished=False)
    assert unfinished(str(folder)) == tmp_path / "run-2", "a run that was stopped goes on"

"""`annotated export-log`: the log of a run, to a dashboard."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import tyro


@dataclass
class ExportLog:
    """Send the log of a training run to a dashboard.

    What `annotated train --log-to` does while it trains, for a run that has ended, or was not sent.
    """

    run_folder: tyro.conf.Positional[Path]
    """Folder that `annotated train` wrote."""
    to: tuple[str, ...]
    """tensorboard (into RUN/tensorboard, or tensorboard:FOLDER), wandb[:PROJECT], mlflow[:URI]; each needs the extra of
    its name."""

    def run(self) -> int:
        """Send it."""
        from annotated.runs.dashboards import export_log

        for target in export_log(self.run_folder, self.to):
            print(f"{self.run_folder}: sent to {target.word}", file=sys.stderr)
        return 0

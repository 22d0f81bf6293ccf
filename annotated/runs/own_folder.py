"""The folder of a run is the run's own: what somebody else put there is not written over."""

from __future__ import annotations

from pathlib import Path

from annotated.runs.checkpoint import BEST, CHECKPOINTS, list_checkpoints
from annotated.runs.log import LOG
from annotated.saving import CheckpointError

ORIGIN = "tokenizer.origin.json"
"""What a folder's tokenizer was made from; the first file that a run writes, so that it knows its folder again."""
_WRITTEN = ("README.md", "tokenizer.json", "data", CHECKPOINTS, BEST, LOG, "heads", "model", "report")


def require_own_folder(folder: str | Path) -> None:
    """Make sure that nothing in a run's folder would be lost: it is the folder of a run, or has none of our names.

    Raises
    ------
    CheckpointError
        If there is something that no run wrote under a name that a run writes; the message names it.
    """
    folder = Path(folder)
    foreign = [name for name in _WRITTEN if (folder / name).exists()]
    if foreign and not _is_of_a_run(folder):
        raise CheckpointError(
            f"{folder}: holds {foreign[0]}, which no training run wrote, and a run would write over it; give the name "
            "of a folder that is new or empty"
        )


def _is_of_a_run(folder: Path) -> bool:
    if (folder / ORIGIN).is_file() or list_checkpoints(folder):
        return True
    try:
        with open(folder / LOG, encoding="utf-8") as log:
            return '"kind": "start"' in log.readline()
    except (OSError, UnicodeDecodeError):
        return False

"""The folder of a run is the run's own: what somebody else put there is not written over."""

from __future__ import annotations

from pathlib import Path

from annotated.ownership import begins_with, is_json_of, is_lock, require_our_folder
from annotated.runs.checkpoint import BEST, CHECKPOINTS, list_checkpoints
from annotated.runs.lock import LOCK
from annotated.runs.log import DISCARDED, LOG

ORIGIN = "tokenizer.origin.json"
"""What a folder's tokenizer was made from; the first file that the preparation of a run's text writes."""
WRITTEN = (
    "README.md", "tokenizer.json", ORIGIN, "data", CHECKPOINTS, BEST, LOG, DISCARDED, LOCK, "heads", "model", "report",
    "nonfinite_batch*.json",
)  # fmt: skip
"""What a run writes, at the top of its folder."""


def require_own_folder(folder: str | Path) -> Path:
    """Make sure that nothing in a run's folder would be lost: it is the folder of a run, or has none of our names.

    Raises
    ------
    FileExistsError
        If there is something that no run wrote under a name that a run writes; the message names it.
    ValueError
        If the path is ''.
    """
    return require_our_folder(folder, WRITTEN, is_of_a_run)


def is_of_a_run(folder: Path) -> bool:
    """Whether a training run, or the preparation of its text, wrote into a folder: its lock, log and such tell."""
    origin = any(is_json_of(folder / ORIGIN, key) for key in ("corpus", "fingerprint", "prepared"))
    log = begins_with(folder / LOG, '{"kind": "start"')
    return (
        origin
        or log
        or is_lock(folder / LOCK)
        or any(is_json_of(one / "state.json", "files") for one in list_checkpoints(folder))
    )

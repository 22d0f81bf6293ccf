"""Preflight checks of the disk: data that is whole, room, a sound file system, a folder that is free."""

from __future__ import annotations

import os
import shutil
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

from annotated.config import DataConfig, ModelConfig, TrainingConfig
from annotated.data.corpora import CorpusError, open_corpus
from annotated.runs.checkpoint import latest_checkpoint
from annotated.runs.dry_run import DryRun
from annotated.runs.lock import run_lock, run_lock_holder
from annotated.runs.own_folder import require_own_folder
from annotated.runs.preflight.table import PreflightCheck
from annotated.runs.setup import check_same_run
from annotated.saving import CheckpointError, read_json
from annotated.storage import format_bytes

BYTES_PER_SAVED_WEIGHT = 12
"""Of a checkpoint: the weight and Adam's two moments, in float32."""
SECONDS_FOR_A_MIRROR = 5.0
_RESERVE = 200_000_000
"""Bytes for logs, the tokenizer, and whatever else wants to write on that disk."""


def check_data(data: DataConfig, mirrors: Sequence[str] = ()) -> Iterator[PreflightCheck]:
    """That the text is there and, where it was prepared, that it is what its manifest says.

    Parameters
    ----------
    mirrors
        Asked for an answer if the data has still to be downloaded.
    """
    prepared = data.prepared
    if prepared is None:
        try:
            for split in ("train", "valid", "test"):
                open_corpus(getattr(data, split), split, data)
        except CorpusError as error:
            yield PreflightCheck(
                "data", "fail", str(error), "give files that exist with --data.train, --data.valid, --data.test"
            )
            return
        yield PreflightCheck(
            "data", "ok", "the classroom corpus" if data.train == "classroom" else f"{data.train} is there"
        )
        return
    from annotated.wmt14.corpus import PreparedCorpus, preparing_command  # only those who train on it need it

    try:
        corpus = PreparedCorpus.open(prepared)
        corpus.verify()
    except (OSError, ValueError) as error:
        yield PreflightCheck("data", "fail", str(error), f"prepare it first: {preparing_command(prepared)}")
        yield from _check_mirrors(mirrors)
        return
    pairs = f"{corpus.source_language}-{corpus.target_language}, {len(corpus.train):,} training pairs"
    yield PreflightCheck("data", "ok", f"{prepared}: {pairs}; every file is as its manifest says")


def check_disk(training: TrainingConfig, weights: int, known: DryRun | None, folder: Path | None) -> PreflightCheck:
    """That the disk has room for the checkpoints that will be kept, one more, and the final model.

    Parameters
    ----------
    weights
        Numbers in the model's weights.
    """
    checkpoint = known.checkpoint_bytes if known else BYTES_PER_SAVED_WEIGHT * weights
    kept = training.keep_checkpoints + training.keep_best
    there = _existing(folder)
    free = shutil.disk_usage(there).free
    present = [path for path in (folder / "checkpoints").glob("update-*") if path.is_dir()] if folder else []
    needed = max(1, kept + 1 - len(present)) * checkpoint + 2 * 4 * weights + _RESERVE
    found = f"{format_bytes(free)} free, {format_bytes(needed)} needed"
    found += f": {kept} checkpoints of {format_bytes(checkpoint)} and more"
    if free < needed:
        return PreflightCheck(
            "disk", "fail", found, f"free some space under {there}, or lower --training.keep-checkpoints"
        )
    if free < 1.5 * needed:
        return PreflightCheck("disk", "warn", found, "that is close: others write on this disk too")
    return PreflightCheck("disk", "ok", found)


def check_folder(
    model_config: ModelConfig, training: TrainingConfig, data: DataConfig, folder: Path | None
) -> Iterator[PreflightCheck]:
    """That the folder of the run is nobody else's, and that its file system locks, renames and keeps files."""
    there = _existing(folder)
    problem = _file_system_problem(there)
    advice = "put the run on a local disk, or on a network file system with locks (NFS 4, Lustre with flock)"
    yield PreflightCheck(
        "file system", "fail" if problem else "ok", problem or "locks, renames and keeps files", advice * bool(problem)
    )
    if folder is None:
        return
    holder = run_lock_holder(folder)
    if holder is not None:
        yield PreflightCheck(
            "run", "fail", f"{folder}: {holder} trains here", "follow it, stop it, or take another folder"
        )
        return
    wanted = {"model": model_config.to_dict(), "training": training.to_dict(), "data": data.to_dict()}
    try:
        require_own_folder(folder)
        checkpoint, reports = latest_checkpoint(folder)
        if checkpoint is None:
            yield PreflightCheck("run", "ok", f"{folder}: a new run")
            return
        state = read_json(checkpoint / "state.json")
        check_same_run(state["configuration"], wanted, folder)
    except (CheckpointError, FileExistsError) as error:
        yield PreflightCheck("run", "fail", str(error), "go on with the old configuration, or take another folder")
        return
    found = f"{folder}: goes on after update {state['update']:,} of {training.updates:,}"
    yield PreflightCheck("run", "warn" if reports else "ok", "; ".join([found, *reports]))


def _existing(folder: Path | None) -> Path:
    """The folder, or the nearest one above it that exists."""
    path = (folder or Path()).resolve()
    while not path.is_dir():
        path = path.parent
    return path


def _file_system_problem(folder: Path) -> str | None:
    """What this file system does not do that the run's safety rests on; None if nothing."""
    try:
        with tempfile.TemporaryDirectory(prefix=".preflight-", dir=folder) as name:
            place = Path(name)
            with run_lock(place / "locked"):
                if os.name != "nt" and run_lock_holder(place / "locked") is None:
                    return f"{folder}: file locks do nothing here, so two trainings could write into one folder"
            (place / "a").mkdir()
            (place / "a" / "file").write_text("kept", encoding="utf-8")
            (place / "a").rename(place / "b")
            if (place / "b" / "file").read_text(encoding="utf-8") != "kept":
                return f"{folder}: a renamed folder lost what was in it"
    except OSError as error:
        return f"{folder}: {error.strerror or error}"
    return None


def _check_mirrors(mirrors: Sequence[str]) -> Iterator[PreflightCheck]:
    """Whether somebody answers where data would come from. Any answer counts: a mirror need not list itself."""
    for mirror in mirrors:
        if not mirror.startswith(("http://", "https://")):
            there = Path(mirror.removeprefix("file:")).is_dir()
            yield PreflightCheck("mirror", "ok" if there else "fail", f"{mirror} is {'' if there else 'not '}there")
            continue
        try:
            with urllib.request.urlopen(mirror, timeout=SECONDS_FOR_A_MIRROR):
                pass
        except urllib.error.HTTPError as error:
            yield PreflightCheck("mirror", "ok", f"{mirror} answers ({error.code})")
        except (OSError, ValueError) as error:
            yield PreflightCheck(
                "mirror", "fail", f"{mirror} does not answer: {error}", "check the address, or give another"
            )
        else:
            yield PreflightCheck("mirror", "ok", f"{mirror} answers")

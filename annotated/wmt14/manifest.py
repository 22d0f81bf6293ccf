"""Manifests of stages: what each was given, told and made, as a file such as `manifest/03-clean.json`.

A manifest holds: `stage`, `version` (of the stage's code), `options`, `inputs` and `outputs` (name, bytes, SHA-256,
time of change), `counts`, `seconds`. It is written last, in one step, so a stage without one has not ended.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from annotated.storage import checksum, sha256
from annotated.wmt14.options import PreparationError

MANIFESTS = "manifest"

FileRecord = Mapping[str, Any]
"""Of a file: its `bytes`, `sha256`, and `modified`, the time of its last change in nanoseconds."""


def describe_file(path: Path) -> dict[str, Any]:
    """The record of a file."""
    return {**checksum(path), "modified": path.stat().st_mtime_ns}


def compare_file(path: Path, record: FileRecord, thorough: bool = False) -> Literal["same", "missing", "changed"]:
    """A file beside its record. One of the same size that nobody has touched since is not read again.

    Parameters
    ----------
    thorough
        Read it all the same.
    """
    try:
        status = path.stat()
    except FileNotFoundError:
        return "missing"
    if status.st_size != record["bytes"]:
        return "changed"
    if not thorough and status.st_mtime_ns == record.get("modified"):
        return "same"
    return "same" if sha256(path) == record["sha256"] else "changed"


def manifest_path(folder: Path, number: int, stage: str) -> Path:
    """Where the manifest of a stage lies in a prepared folder."""
    return folder / MANIFESTS / f"{number:02}-{stage}.json"


def read_manifest(path: Path) -> dict[str, Any] | None:
    """A manifest; None where the stage has not ended.

    Raises
    ------
    PreparationError
        If the file is damaged.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise PreparationError(f"{path}: damaged ({error}); delete it, and its stage is run again") from None
    if not isinstance(content, dict) or {"stage", "version", "options", "inputs", "outputs", "counts"} - set(content):
        raise PreparationError(f"{path}: not the manifest of a stage; delete it, and its stage is run again")
    return content


def differences(before: Mapping[str, Any], now: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """What differs between two dictionaries, nested ones and all: 'max_words was 250 and is 100 now'."""
    for name in [*before, *(name for name in now if name not in before)]:
        old, new, label = before.get(name), now.get(name), f"{prefix}{name}"
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from differences(old, new, f"{label}.")
        elif old != new:
            yield f"{label} was {_short(old)} and is {_short(new)} now"


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."

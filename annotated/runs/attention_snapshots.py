"""Attention snapshots of a run: where the heads look in a few fixed sentences, a file for each validation.

A weight is kept in one byte, which is exact to a fifth of a per cent: a run of 100 validations of the base model takes
some ten megabytes. Observers read the files; the training run never does.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from annotated.saving import CheckpointError
from annotated.storage import atomic_write

HEADS = "heads"
"""Folder of a run that holds the files."""
MOST_TOKENS = 40
"""Of a source; a longer one has no heads."""
EXTRA_TOKENS = 6
"""A translation may have so many more tokens than its source; newborn models write without end, and are cut."""
_USES = ("encoder", "decoder", "cross")


class SentenceHeads(NamedTuple):
    """Where all heads look while one sentence is read and its translation written; 255 is all of the attention."""

    source_tokens: Sequence[str]
    """The S tokens that the encoder reads, the end of the sentence included."""
    target_tokens: Sequence[str]
    """The T tokens that were written: row t belongs to the step that wrote `target_tokens[t]`."""
    encoder: NDArray[Any]
    """uint8 `[L, H, S, S]`."""
    decoder: NDArray[Any]
    """uint8 `[L, H, T, T]`: column k is what was read at step k, the beginning of the sentence first."""
    cross: NDArray[Any]
    """uint8 `[L, H, T, S]`."""


def as_bytes(weights: ArrayLike) -> NDArray[np.uint8]:
    """Attention weights from 0 to 1, rounded to one byte each."""
    return (np.asarray(weights, dtype=np.float64) * 255).round().clip(0, 255).astype(np.uint8)


def write_heads(folder: Path, update: int, sentences: Sequence[SentenceHeads]) -> Path:
    """Write the heads after an update; a process that is killed leaves a whole file, or none."""
    path = folder / HEADS / f"update-{update:09d}.npz"
    tokens = [[list(one.source_tokens), list(one.target_tokens)] for one in sentences]
    arrays: dict[str, NDArray[Any]] = {f"{use}_{n}": getattr(s, use) for n, s in enumerate(sentences) for use in _USES}
    with atomic_write(path, "wb") as file:
        np.savez_compressed(file, tokens=np.array(json.dumps(tokens)), **arrays)  # type: ignore[arg-type]
    return path


def read_heads(path: str | Path | IO[bytes]) -> list[SentenceHeads]:
    """The inverse of `write_heads`.

    Parameters
    ----------
    path
        The file, or one that is open.

    Raises
    ------
    CheckpointError
        If the file is missing, damaged, or holds something else.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            tokens = json.loads(str(file["tokens"]))
            return [
                SentenceHeads(source, target, *(file[f"{use}_{n}"] for use in _USES))
                for n, (source, target) in enumerate(tokens)
            ]
    except FileNotFoundError:
        raise CheckpointError(f"{path}: no such file; the heads of a run are written at each validation") from None
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise CheckpointError(
            f"{path}: damaged or not a file of heads ({error}); delete it, it is for looking only"
        ) from None

"""Files of a token store: written whole or not at all, checked when opened. `store.py` is the part to use."""

from __future__ import annotations

import contextlib
import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from annotated.config import EOS
from annotated.data.tokenizer import Tokenizer
from annotated.ownership import is_json_of, is_lock, require_our_folder
from annotated.storage import atomic_write, fsync, sweep, translate_disk_full

CHUNK_PAIRS = 8192
"""Pairs that are encoded at a time, and all that a build holds in memory."""

FORMAT = 1
SIDES = ("source", "target")
LOCK = "store.lock"
"""One builder at a time in a folder holds it; the others wait."""
PARTS = ("source.tokens", "target.tokens", "source.offsets", "target.offsets")
_AGAIN = "delete the folder and build it again from the corpus"


class StoreError(ValueError):
    """A token store is missing, damaged, or would be empty; the message says what to do."""


@dataclass(frozen=True)
class StoreInfo:
    """What a store holds and what it was made from."""

    pairs: int = 0
    """Pairs kept."""
    empty: int = 0
    """Pairs left out because a side had no tokens."""
    too_long: int = 0
    """Pairs left out because a side, with its eos, was longer than `max_length`."""
    source_tokens: int = 0
    """Source tokens kept, eos included."""
    target_tokens: int = 0
    """Target tokens kept, eos included."""
    vocab_size: int = 0
    max_length: int = 0
    tokenizer: str = ""
    """Fingerprint of the tokenizer."""
    corpus: str = ""
    """Identity of the corpus (`Corpus.identity`); empty if the builder gave none."""
    blank: int = 0
    """Pairs that the corpus itself left out because a side was empty, blank lines included."""

    @property
    def content(self) -> dict[str, Any]:
        """What identifies a store: its fields, without those that say nothing of what it holds."""
        return {name: value for name, value in asdict(self).items() if name != "blank"}


def require_own_folder(folder: str | Path) -> Path:
    """Make sure that a store may be built in a folder: it has one, or has none of its names."""
    written = (LOCK, "store.json", *(f"{part}.*" for part in PARTS))
    return require_our_folder(
        folder, written, lambda place: is_lock(place / LOCK) or is_json_of(place / "store.json", "files", "info")
    )


def token_dtype(vocab_size: int) -> np.dtype:
    """Two bytes a token while they suffice, else four."""
    return np.dtype(np.uint16 if vocab_size <= 65_536 else np.uint32)


def write(folder: Path, pairs: Iterable[tuple[str, str]], tokenizer: Tokenizer, max_length: int, corpus: str) -> None:
    """Encode a corpus into new files of a folder, chunk by chunk, and make them the folder's store.

    `store.json` names the files and is replaced last, so the change is one step: until then the old store stands,
    whatever happens to this process.
    """
    _sweep(folder)
    names = {part: f"{part}.{secrets.token_hex(4)}" for part in PARTS}
    written = 0

    def advice() -> str:
        return (
            f"{written / 1e6:,.1f} MB were written and have been removed again. Free more than that (about twice the "
            "size of the text is enough) or choose another folder, and run again"
        )

    try:
        with translate_disk_full(folder, advice):
            with contextlib.ExitStack() as stack:
                files = {part: stack.enter_context(open(folder / name, "wb")) for part, name in names.items()}
                info = StoreInfo(
                    vocab_size=tokenizer.vocab_size,
                    max_length=max_length,
                    tokenizer=tokenizer.fingerprint,
                    corpus=corpus,
                )
                for side in SIDES:
                    files[f"{side}.offsets"].write(np.zeros(1, dtype=np.int64).tobytes())
                remaining = iter(pairs)
                while chunk := list(islice(remaining, CHUNK_PAIRS)):
                    info = write_chunk(files, chunk, tokenizer, info)
                    written = sum(file.tell() for file in files.values())
                info = replace(info, blank=getattr(getattr(pairs, "counts", None), "empty", 0))
                if not info.pairs:
                    raise StoreError(nothing_left(info))
            for name in names.values():
                fsync(folder / name)
            commit(folder, {"format": FORMAT, "files": names, "info": asdict(info)})
    finally:
        _sweep(folder)  # what is half written, or the files of the store that this one replaces


def write_chunk(
    files: Mapping[str, BinaryIO], chunk: Sequence[tuple[str, str]], tokenizer: Tokenizer, info: StoreInfo
) -> StoreInfo:
    """Encode some pairs onto the ends of the four files; what the store holds then, if it held `info` before."""
    sources, targets = (tokenizer.encode_batch([pair[side] for pair in chunk]) for side in range(2))
    kept: list[tuple[list[int], list[int]]] = []
    empty = too_long = 0
    for source, target in zip(sources, targets, strict=True):
        if not source or not target:
            empty += 1
        elif max(len(source), len(target)) + 1 > info.max_length:
            too_long += 1
        else:
            kept.append((source, target))
    totals = {}
    for side, (name, total) in enumerate(zip(SIDES, (info.source_tokens, info.target_tokens), strict=True)):
        flat: list[int] = []
        for pair in kept:
            flat += pair[side]
            flat.append(EOS)
        ends = total + np.cumsum([len(pair[side]) + 1 for pair in kept], dtype=np.int64)
        files[f"{name}.tokens"].write(np.array(flat, dtype=token_dtype(info.vocab_size)).tobytes())
        files[f"{name}.offsets"].write(ends.tobytes())
        totals[f"{name}_tokens"] = total + len(flat)
    counts = {"pairs": info.pairs + len(kept), "empty": info.empty + empty, "too_long": info.too_long + too_long}
    return replace(info, **counts, **totals)  # type: ignore[arg-type]


def nothing_left(info: StoreInfo) -> str:
    """Why a store would be empty, as a message."""
    if not info.empty + info.too_long:
        return "the corpus holds no sentence pairs: nothing to store"
    return (
        f"no sentence pair is left: {info.empty} had an empty side and {info.too_long} were longer than "
        f"{info.max_length} tokens; check the corpus, or raise max_length"
    )


def commit(folder: Path, content: dict) -> None:
    """Replace `store.json`, which names the files of the store: the one step that makes a store."""
    with atomic_write(folder / "store.json") as file:
        json.dump(content, file, indent=2)


def _sweep(folder: Path) -> None:
    """Remove the files that no `store.json` names: what killed builds and replaced stores left."""
    try:
        current = set(json.loads((folder / "store.json").read_text(encoding="utf-8"))["files"].values())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        current = set()
    sweep(folder)
    for part in PARTS:
        for path in folder.glob(f"{part}.*"):
            if path.name not in current:
                with contextlib.suppress(OSError):  # Windows keeps files that are mapped; the next build gets them
                    path.unlink()


def read(folder: Path) -> tuple[StoreInfo, dict[str, NDArray]]:
    """The metadata of a folder's store and its four arrays, mapped; sizes are checked."""
    path = folder / "store.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise StoreError(f"{folder}: no token store here (no store.json)") from None
    except (OSError, ValueError) as error:
        raise StoreError(f"{path}: cannot be read ({error}); {_AGAIN}") from None
    try:
        if content["format"] != FORMAT:
            raise StoreError(f"{folder}: made by another version (format {content['format']}, not {FORMAT}); {_AGAIN}")
        info, names = StoreInfo(**content["info"]), content["files"]
        files = {part: folder / names[part] for part in PARTS}
    except (KeyError, TypeError) as error:
        raise StoreError(f"{path}: not the metadata of a token store ({error}); {_AGAIN}") from None
    arrays = {}
    for side in SIDES:
        tokens = getattr(info, f"{side}_tokens")
        arrays[f"{side}.tokens"] = _mapped(files[f"{side}.tokens"], token_dtype(info.vocab_size), tokens)
        offsets = arrays[f"{side}.offsets"] = _mapped(files[f"{side}.offsets"], np.dtype(np.int64), info.pairs + 1)
        if offsets[-1] != tokens:
            raise StoreError(f"{files[f'{side}.offsets']}: does not fit the tokens; {_AGAIN}")
    return info, arrays


def _mapped(path: Path, dtype: np.dtype, size: int) -> NDArray:
    try:
        found = path.stat().st_size
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror or error}; {_AGAIN}") from None
    if found != size * dtype.itemsize or not size:
        raise StoreError(f"{path}: has {found:,} bytes where {size * dtype.itemsize:,} belong; {_AGAIN}")
    # A plain array over the mapping: indexing np.memmap itself costs several times as much.
    return np.asarray(np.memmap(path, dtype=dtype, mode="r"))

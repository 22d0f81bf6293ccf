"""Encoding of the training text to token ids in parallel: shards, each whole or not at all, then one store.

Each shard is a fixed number of pairs, so how many processes there are changes no byte, and a preparation that was
killed goes on with the shards that it lacks. At the end the shards are joined: one store of four files is what
`TokenStore` maps, and all that training need know. (A store over many shards would save the copy, some seconds, and
would cost a search for the shard at each of a billion look-ups.)
"""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

import numpy as np

from annotated.data import store_files
from annotated.data.store_files import PARTS, SIDES, StoreInfo
from annotated.data.tokenizer import Tokenizer
from annotated.storage import atomic_folder, rename, sha256

SHARD_PAIRS = 32_768
"""Pairs of a shard: some seconds of one core, so that all cores end at about the same time."""

CHUNK_PAIRS = 4096
"""Pairs that a process encodes at a time: bounds its memory."""

_READ_BYTES = 1 << 22
_ADVICE = "What was encoded before stays: free some space, then run the same command again; it goes on with this stage"


@dataclass(frozen=True)
class ShardRange:
    """Where the lines of a shard lie in the text."""

    number: int
    start: int
    end: int


def ranges(text: Path, pairs: int) -> list[ShardRange]:
    """Cut a text after every `pairs` lines."""
    cuts, lines, position = [0], 0, 0
    with text.open("rb") as file:
        while chunk := file.read(_READ_BYTES):
            ends = np.flatnonzero(np.frombuffer(chunk, dtype=np.uint8) == ord("\n")) + 1
            first = pairs - lines % pairs - 1  # of these line ends, the one that completes a shard
            cuts += [position + int(end) for end in ends[first::pairs]]
            lines += len(ends)
            position += len(chunk)
    if cuts[-1] != position:
        cuts.append(position)
    return [ShardRange(number, *bounds) for number, bounds in enumerate(zip(cuts[:-1], cuts[1:], strict=True))]


@dataclass(frozen=True)
class ShardWriter:
    """Encodes shards of one text; sent to each process once."""

    text: Path
    folder: Path
    tokenizer: Tokenizer
    info: StoreInfo
    """Of an empty store: the tokenizer, the longest sentence."""

    def __call__(self, shard: ShardRange) -> tuple[int, StoreInfo]:
        """Encode a shard, unless that was done before. Its number, and what it holds."""
        folder = self.folder / f"shard-{shard.number:06}"
        with contextlib.suppress(FileNotFoundError):
            made = json.loads((folder / "info.json").read_text(encoding="utf-8"))
            if (made["start"], made["end"]) == (shard.start, shard.end):
                return shard.number, StoreInfo(**made["info"])
        with atomic_folder(folder, advice=_ADVICE) as partial:
            info = self.info
            with contextlib.ExitStack() as stack:
                files = {part: stack.enter_context((partial / part).open("wb")) for part in PARTS}
                for chunk in self._chunks(shard):
                    info = store_files.write_chunk(files, chunk, self.tokenizer, info)
            about = {"start": shard.start, "end": shard.end, "info": asdict(info)}
            (partial / "info.json").write_text(json.dumps(about), encoding="utf-8")
        return shard.number, info

    def _chunks(self, shard: ShardRange) -> Iterator[list[tuple[str, str]]]:
        with self.text.open("rb") as file:
            file.seek(shard.start)
            lines = file.read(shard.end - shard.start).decode().split("\n")[:-1]
        for start in range(0, len(lines), CHUNK_PAIRS):
            chunk = (line.partition("\t") for line in lines[start : start + CHUNK_PAIRS])
            yield [(source, target) for source, _, target in chunk]


def join(shards: Path, infos: Sequence[StoreInfo], folder: Path) -> StoreInfo:
    """One store out of shards, in their order; the names of its files come from their content.

    Raises
    ------
    StoreError
        If no pair is left.
    """
    total = _sum(infos)
    if not total.pairs:
        raise store_files.StoreError(store_files.nothing_left(total))
    folder.mkdir(parents=True, exist_ok=True)
    names = {}
    for part in PARTS:
        made = folder / f"{part}.new"
        with made.open("wb") as file:
            if part.endswith("offsets"):
                file.write(np.zeros(1, dtype=np.int64).tobytes())
            before = 0
            for number, info in enumerate(infos):
                shard = shards / f"shard-{number:06}" / part
                if part.endswith("offsets"):
                    file.write((np.fromfile(shard, dtype=np.int64) + before).tobytes())
                    before += getattr(info, f"{part.partition('.')[0]}_tokens")
                else:
                    with shard.open("rb") as piece:
                        shutil.copyfileobj(piece, file, _READ_BYTES)
        names[part] = f"{part}.{sha256(made)[:8]}"
        rename(made, folder / names[part])  # named by its content; the store appears whole with `commit`
    store_files.commit(folder, {"format": store_files.FORMAT, "files": names, "info": asdict(total)})
    return total


def _sum(infos: Sequence[StoreInfo]) -> StoreInfo:
    counted = ("pairs", "empty", "too_long", *(f"{side}_tokens" for side in SIDES))
    assert set(counted) < {field.name for field in fields(StoreInfo)}
    return replace(infos[0], **{name: sum(getattr(info, name) for info in infos) for name in counted})

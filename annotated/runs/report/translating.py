"""Translation of a test set so that nothing is done twice: each part is on the disk before the next begins."""

from __future__ import annotations

import hashlib
import json
import os
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotated.config import DecodingConfig
from annotated.data.tokenizer import Tokenizer
from annotated.evaluation.corpus import TranslatesText
from annotated.ownership import begins_with, require_our_file
from annotated.runs.log import read_records
from annotated.storage import atomic_write
from annotated.translator import LongSourceWarning, OverlongSourceWarning

PART_TOKENS = 16_384
"""Source tokens between two writes: what a kill costs, at most."""


@dataclass(frozen=True)
class Translated:
    """The translations of a test set."""

    texts: list[str]
    """One for each source, in the order of the sources, each one line."""
    seconds: float
    """Of all processes that had a part in it."""
    taken_up: int
    """Sentences that an earlier process had translated."""


def digest(lines: Sequence[str]) -> str:
    """SHA-256 of lines of text, each with its line end: that of a file with these lines."""
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()


def translate_once(
    translator: TranslatesText,
    sources: Sequence[str],
    journal: str | Path,
    weights: str,
    decoding: DecodingConfig,
    progress: Callable[[int, int], None] | None = None,
) -> Translated:
    """Translate sentences, and take up what an earlier call with the same arguments has done.

    Sentences of like length go together, longest first, always in the same parts: a translation that was interrupted
    ends with the same texts as one that was not. Of sources that are cut, or longer than any in training, it does not
    warn: the caller knows their numbers (`annotated.translator.length_warnings`).

    Parameters
    ----------
    journal
        File for what is done. One that belongs to other weights, sources or settings is begun anew; a file that is no
        such journal is not replaced.
    weights
        What the weights are known by: the SHA-256 of their file.
    progress
        Called with sentences done and sentences in all.
    """
    path = require_our_file(journal, lambda file: begins_with(file, '{"of": '))
    parts = _parts(translator.tokenizer, sources)
    done = _take_up(path, {"of": _key(translator, sources, weights, decoding), "parts": len(parts)})
    texts: dict[int, str] = {}
    seconds = 0.0
    for record in done.values():
        texts.update(zip(parts[record["part"]], record["texts"], strict=True))
        seconds += record["seconds"]
    taken_up = len(texts)
    with path.open("a", encoding="utf-8", newline="\n") as file:
        for number, part in enumerate(parts):
            if number in done:
                continue
            began = time.perf_counter()
            options = {**decoding.to_dict(), "num_return": 1}
            with warnings.catch_warnings():
                for category in (OverlongSourceWarning, LongSourceWarning):  # of this part alone
                    warnings.simplefilter("ignore", category)
                found = translator.translate([sources[n] for n in part], overlong="truncate", **options)
            lines = [" ".join(text.splitlines()) for text in found]
            took = time.perf_counter() - began
            file.write(json.dumps({"part": number, "seconds": round(took, 4), "texts": lines}) + "\n")
            file.flush()
            os.fsync(file.fileno())
            texts.update(zip(part, lines, strict=True))
            seconds += took
            if progress is not None:
                progress(len(texts), len(sources))
    return Translated([texts[n] for n in range(len(sources))], seconds, taken_up)


def _key(translator: TranslatesText, sources: Sequence[str], weights: str, decoding: DecodingConfig) -> str:
    about = [weights, translator.tokenizer.fingerprint, digest(sources), decoding.to_dict(), PART_TOKENS]
    return hashlib.sha256(json.dumps(about).encode()).hexdigest()


def _take_up(path: Path, header: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """The parts that a journal holds, by number; it is left without the line that a killed process wrote half of."""
    try:
        first, *records = read_records(path)
    except (FileNotFoundError, ValueError):  # nothing yet, or nothing that can be read
        first, records = {}, []
    if first != header:
        records = []
    with atomic_write(path) as file:
        file.writelines(json.dumps(record) + "\n" for record in (header, *records))
    return {record["part"]: record for record in records}


def _parts(tokenizer: Tokenizer, sources: Sequence[str]) -> list[list[int]]:
    """Numbers of sentences, longest first, in parts of about `PART_TOKENS` tokens."""
    lengths = [len(tokens) + 1 for tokens in tokenizer.encode_batch(list(sources))]
    parts: list[list[int]] = []
    room = 0
    for number in sorted(range(len(sources)), key=lambda n: (-lengths[n], n)):
        if room < lengths[number]:
            parts.append([])
            room = PART_TOKENS
        parts[-1].append(number)
        room -= lengths[number]
    return parts

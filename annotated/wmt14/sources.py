"""Sources of a preparation's text, once it is in files: their names, and what they are for."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotated.checked import not_a_path
from annotated.config import DataConfig
from annotated.text.formats import PLAIN, PairFormat, formatted_pairs, uneven
from annotated.text.recognition import of_two_files, recognised
from annotated.text.text_files import CorpusError, raw_lines
from annotated.wmt14.options import PreparationError
from annotated.wmt14.runner import Stage
from annotated.wmt14.sgm import read_parallel

EXPANSION = 4
"""Text is at most so much larger than its archive, for want of a better number: small archives gave 3 to 4."""

BLOCK_PAIRS = 8192
"""Pairs that are read and worked on at a time."""

Block = tuple[bytes, bytes]
"""Lines of the sources and as many of the targets, each joined by line ends."""


@dataclass(frozen=True)
class Text:
    """One corpus or test set: two files, or one TSV file, by their names in the prepared folder."""

    name: str
    source: str
    target: str | None
    pairs: int | None = None
    """Sentence pairs that it must have, where that is known."""

    @property
    def files(self) -> tuple[str, ...]:
        """The names of its files."""
        return (self.source,) if self.target is None else (self.source, self.target)


@dataclass(frozen=True)
class Sources:
    """All text of a preparation."""

    name: str
    pair: str
    """Languages: 'en-de' from English to German."""
    train: tuple[Text, ...]
    valid: Text
    test: Text
    further: tuple[Text, ...] = ()
    vocab_size: int = DataConfig.vocab_size
    stages: tuple[Stage, ...] = ()
    """What fetches it."""
    elsewhere: Mapping[str, Path] = field(default_factory=dict)
    """Where files are that no stage makes."""
    formats: Mapping[str, PairFormat] = field(default_factory=dict)
    """Of files of pairs that are not plain TSV, by name in the prepared folder."""
    archives: Mapping[str, int | None] = field(default_factory=dict)
    """Files to download, by name in the prepared folder, and their sizes."""
    text_bytes: int = 0
    """Of the training text, at most, before anything of it is there."""

    sacrebleu: Mapping[str, str] = field(default_factory=dict)
    """What sacreBLEU calls the evaluation sets that it has."""
    note: str = ""

    @property
    def languages(self) -> tuple[str, str]:
        """Source and target."""
        source, _, target = self.pair.partition("-")
        return source, target

    def describe(self) -> dict[str, Any]:
        """For the manifest: names, without paths."""
        names = {"valid": self.valid.name, "test": self.test.name, "further": [text.name for text in self.further]}
        train = [text.name for text in self.train]
        return {"name": self.name, "pair": self.pair, "note": self.note, "train": train, **names} | {
            "sacrebleu": dict(self.sacrebleu)
        }


def of_files(
    train: Mapping[str, str | Path],
    valid: str | Path,
    test: str | Path,
    pair: str,
    format: str = DataConfig.format,
) -> Sources:
    """A reader's own files: each a file of pairs, or 'SOURCE,TARGET' for two files of lines; .gz and .zst as well.

    Parameters
    ----------
    format
        Of files of pairs, as `DataConfig.format`; a `FormatNotice` warns of each that is not plain TSV.
    """
    elsewhere: dict[str, Path] = {}
    formats: dict[str, PairFormat] = {}
    format = DataConfig(format=format).format

    def text(kind: str, label: str, spec: str | Path) -> Text:
        if fault := not_a_path(str(spec)):
            raise PreparationError(fault)
        paths = [Path(part.strip()) for part in str(spec).split(",")]
        if len(paths) > 2:
            raise PreparationError(f"{spec!r}: give one TSV file, or two text files as SOURCE,TARGET")
        names = [f"{kind}-{label}.{side}" for side in (["tsv"] if len(paths) == 1 else ["source", "target"])]
        for one, path in zip(names, paths, strict=True):
            if not path.exists():
                raise PreparationError(f"{path}: no such file; check the path")
            elsewhere[one] = path.resolve()
        plain = [path for path in paths if kind == "train" or path.suffix != ".sgm"]  # see `evaluation_pairs`
        found = recognised(paths[0], format, say=True) if len(paths) == 1 else of_two_files(plain)
        if found != PLAIN:
            formats[names[0]] = found
        return Text(label, names[0], names[1] if len(names) == 2 else None)

    texts = tuple(text("train", label, spec) for label, spec in train.items())
    if not texts:
        raise PreparationError("no training text was given")
    evaluation = text("valid", "valid", valid), text("test", "test", test)
    size = sum(elsewhere[one].stat().st_size * _packed(elsewhere[one]) for each in texts for one in each.files)
    return Sources("own text", pair, texts, *evaluation, elsewhere=elsewhere, text_bytes=size, formats=formats)


def _packed(path: Path) -> int:
    return EXPANSION if path.suffix in (".gz", ".zst") else 1


def line_blocks(path: Path) -> Iterator[list[bytes]]:
    """The lines of a file, `BLOCK_PAIRS` at a time."""
    lines = raw_lines(path)
    while block := list(itertools.islice(lines, BLOCK_PAIRS)):
        yield block


def blocks(source: Path, target: Path | None, format: PairFormat = PLAIN) -> Iterator[Block]:
    """The pairs of two files, block by block; or, without `target`, of a file of pairs, TSV as a rule.

    Raises
    ------
    CorpusError
        If a file is missing or damaged, or the two have different numbers of lines.
    """
    if target is None:
        yield from _columns(source) if format == PLAIN else _formatted(source, format)
        return
    number, nothing = 0, list[bytes]()
    for left, right in itertools.zip_longest(line_blocks(source), line_blocks(target), fillvalue=nothing):
        if len(left) != len(right):
            shorter, longer = (source, target) if len(left) < len(right) else (target, source)
            raise CorpusError(
                f"{shorter}: ends after line {number + min(len(left), len(right))}, but {longer} goes on; line k of "
                "one must be the translation of line k of the other, so one of them is incomplete or has lines too many"
            )
        number += len(left)
        yield b"\n".join(left), b"\n".join(right)


def _columns(path: Path) -> Iterator[Block]:
    number = 0
    for lines in line_blocks(path):
        columns = [line.split(b"\t") for line in lines]
        if wrong := [(at, row) for at, row in enumerate(columns, start=number + 1) if len(row) != 2]:
            at, row = wrong[0]
            raise uneven(path, at, b"\t".join(row).decode(errors="replace"))
        number += len(columns)
        yield b"\n".join(row[0] for row in columns), b"\n".join(row[1] for row in columns)


def _formatted(path: Path, format: PairFormat) -> Iterator[Block]:
    pairs = formatted_pairs(path, format)
    while block := list(itertools.islice(pairs, BLOCK_PAIRS)):
        left, right = ("\n".join(side).encode() for side in zip(*block, strict=True))
        yield left, right


def evaluation_pairs(source: Path, target: Path | None, format: PairFormat = PLAIN) -> list[tuple[str, str]]:
    """A validation or test set, whole, as it stands in its files (.sgm: a pair a segment).

    Raises
    ------
    CorpusError
        If a file is missing, damaged, not UTF-8 or of another format, or the sides have different numbers of sentences.
    """
    if target is not None:
        pairs = list(read_parallel(source, target, "sgm" if source.suffix == ".sgm" else "plain"))
    else:
        pairs = list(formatted_pairs(source, format))
    if not pairs:
        raise CorpusError(f"{source}: holds no sentences; is this the file of a test set?")
    return pairs

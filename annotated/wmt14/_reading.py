"""Pairs out of files: training text in blocks, never all at once, and evaluation sets whole."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

from annotated.wmt14.sgm import read_parallel
from annotated.data.text_files import CorpusError, raw_lines, read_lines

BLOCK_PAIRS = 8192
"""Pairs that are read and worked on at a time."""

Block = tuple[bytes, bytes]
"""Lines of the sources and as many of the targets, each joined by line ends."""


def blocks(source: Path, target: Path | None, pairs: int) -> Iterator[Block]:
    """The pairs of two files, block by block; or, without `target`, of a TSV file.

    Raises
    ------
    CorpusError
        If a file is missing or damaged, or the two have different numbers of lines.
    """
    if target is None:
        yield from _columns(source, pairs)
        return
    left, right, number = raw_lines(source), raw_lines(target), 0
    while True:
        sides = [list(itertools.islice(side, pairs)) for side in (left, right)]
        if len(sides[0]) != len(sides[1]):
            shorter, longer = (source, target) if len(sides[0]) < len(sides[1]) else (target, source)
            raise CorpusError(
                f"{shorter}: ends after line {number + min(map(len, sides))}, but {longer} goes on; line k of one must "
                "be the translation of line k of the other, so one of them is incomplete or has lines too many"
            )
        if not sides[0]:
            return
        number += len(sides[0])
        yield b"\n".join(sides[0]), b"\n".join(sides[1])


def _columns(path: Path, pairs: int) -> Iterator[Block]:
    lines, number = raw_lines(path), 0
    while chunk := list(itertools.islice(lines, pairs)):
        columns = [line.split(b"\t") for line in chunk]
        if uneven := [(at, row) for at, row in enumerate(columns, start=number + 1) if len(row) != 2]:
            at, row = uneven[0]
            raise CorpusError(f"{path}, line {at}: uneven columns: expected 2 (source, tab, target), found {len(row)}")
        number += len(columns)
        yield b"\n".join(row[0] for row in columns), b"\n".join(row[1] for row in columns)


def evaluation_pairs(source: Path, target: Path | None) -> list[tuple[str, str]]:
    """A validation or test set, whole, as it stands in its files (.sgm: a pair a segment).

    Raises
    ------
    CorpusError
        If a file is missing, damaged or not UTF-8, or the sides have different numbers of sentences.
    """
    if target is not None:
        pairs = list(read_parallel(source, target, "sgm" if source.suffix == ".sgm" else "plain"))
    else:
        halves = (line.partition("\t") for line in read_lines(source))
        pairs = [(left, right) for left, _, right in halves]
    if not pairs:
        raise CorpusError(f"{source}: holds no sentences; is this the file of a test set?")
    return pairs

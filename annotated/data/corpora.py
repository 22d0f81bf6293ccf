"""Corpora of sentence pairs: the classroom grammar, files of pairs, two text files side by side; always a stream."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from annotated.checked import not_a_path
from annotated.config import DataConfig
from annotated.text.formats import PLAIN, PairFormat, formatted_pairs
from annotated.text.normal_form import is_blank
from annotated.text.recognition import of_two_files, recognised
from annotated.text.text_files import CorpusError, read_lines

__all__ = [
    "Corpus",
    "CorpusError",
    "PairCounts",
    "corpus_of",
    "open_corpus",
    "read_lines",
    "read_pairs",
    "side_by_side",
]

Pair = tuple[str, str]

CLASSROOM_EVALUATION_PAIRS = 1000
"""Pairs of each classroom split that is not trained on."""
_SAMPLE_PAIRS = 100


@dataclass
class PairCounts:
    """What reading a corpus came across."""

    pairs: int = 0
    """Pairs given out."""
    empty: int = 0
    """Pairs left out because a side has nothing to see: blank lines of a TSV file, too."""


def read_pairs(
    spec: str | Path, counts: PairCounts | None = None, keep_empty: bool = False, format: str = DataConfig.format
) -> Iterator[Pair]:
    """Sentence pairs of a file or of two, line by line, in constant memory, without white space at their ends.

    A pair with an empty side teaches nothing: it is left out, and counted in `counts`.

    Parameters
    ----------
    spec
        A file of pairs, such as a TSV file with two columns, source and target; or 'SOURCE,TARGET', two text files of
        which line k of one is the translation of line k of the other. Each plain, or compressed as .gz or .zst; UTF-8.
    counts
        Filled while reading.
    keep_empty
        Give pairs with an empty side too: where translations are scored, line k must remain line k.
    format
        Of a file of pairs, as `DataConfig.format`; a `FormatNotice` warns of what 'auto' understood, if it is not plain
        TSV.

    Raises
    ------
    CorpusError
        If a file is missing, broken or not UTF-8, a file of pairs is in no format that can be read in one way only, a
        TSV line has not exactly two columns, two files have different numbers of lines, or there is no pair at all.
    """
    paths = _paths(spec)
    found = recognised(paths[0], format, say=True) if len(paths) == 1 else of_two_files(paths)
    return _read(spec, paths, found, PairCounts() if counts is None else counts, keep_empty)


def _read(
    spec: str | Path, paths: list[Path], found: PairFormat, counts: PairCounts, keep_empty: bool
) -> Iterator[Pair]:
    for pair in formatted_pairs(paths[0], found) if len(paths) == 1 else side_by_side(*paths):
        source, target = pair[0].strip(), pair[1].strip()  # as `Translator` does
        empty = is_blank(source) or is_blank(target)
        if empty:
            counts.empty += 1
        else:
            counts.pairs += 1
        if keep_empty or not empty:
            yield source, target
    if not counts.pairs:
        left_out = f"all of its {counts.empty} pairs have an empty side" if counts.empty else "it is empty"
        raise CorpusError(f"{spec}: holds no sentence pairs: {left_out}")


class Corpus:
    """A corpus that can be read again and again: each `iter` streams it from the beginning.

    Made by `open_corpus`. `counts` belongs to the latest reading.
    """

    def __init__(
        self, spec: str, read: Callable[[PairCounts, bool], Iterable[Pair]], identity: str, format: PairFormat = PLAIN
    ) -> None:
        self.spec, self.format = spec, format
        """What it was opened by, and how its pairs are written."""
        self.identity = identity
        """Hash of what it was made from: a store encoded from a corpus of this identity need not be built again."""
        self.counts = PairCounts()
        self._read = read

    def __iter__(self) -> Iterator[Pair]:
        self.counts = PairCounts()
        return iter(self._read(self.counts, False))

    def every_pair(self) -> Iterator[Pair]:
        """All pairs, those with an empty side too: for scoring, where each line of the file has its translation."""
        self.counts = PairCounts()
        return iter(self._read(self.counts, True))

    def texts(self) -> Iterator[str]:
        """Both sides, one sentence after the other: what a shared tokenizer is trained on."""
        for pair in self:
            yield from pair

    def __repr__(self) -> str:
        return f"Corpus({self.spec!r})"


def open_corpus(spec: str, split: str, config: DataConfig) -> Corpus:
    """The corpus that a configuration names; files are looked for at once, and read when iterated.

    Of a file of pairs the format is found out at once, too: a `FormatNotice` warns if it is not plain TSV.

    Parameters
    ----------
    spec
        `config.train`, `config.valid` or `config.test`: 'classroom', or what `read_pairs` takes.
    split
        Which part of the classroom corpus: 'train' (`config.classroom_pairs` pairs), 'valid', 'test' or
        'constructions' (1,000 pairs each). Files are read whole, whatever the split.
    config
        The format of files of pairs, and sizes of the classroom corpus.

    Raises
    ------
    CorpusError
        If a file is missing, or in no format that can be read in one way only.
    ValueError
        If the classroom corpus has no such split.

    Paper: section 5.1
    """
    if spec == "classroom":
        return _classroom(split, config)
    paths = _paths(spec)
    found = []
    for path in paths:
        if len(paths) == 1 and not path.suffix and not path.exists():
            raise CorpusError(
                f"{spec}: no such file, and no corpus of the package, which has 'classroom'; annotated data wmt14, "
                "annotated data iwslt14 and annotated data multi30k prepare others"
            )
        if not path.is_file():
            next(read_lines(path), None)  # raises the message that fits
        status = path.stat()
        found.append([str(path.resolve()), status.st_size, status.st_mtime_ns])
    format = recognised(paths[0], config.format, say=True) if len(paths) == 1 else of_two_files(paths)
    identity = _hash(found if format == PLAIN else [*found, format.key])
    return Corpus(spec, lambda counts, keep: _read(spec, paths, format, counts, keep), identity, format)


def corpus_of(data: DataConfig, split: str = "test") -> str:
    """What a configuration names as its test text (or 'train', 'valid'), as `open_corpus` takes it.

    Raises
    ------
    ValueError
        If the training text is the user's own and this one is still the classroom corpus, which has nothing to do with
        it: a score there would say nothing about the model.
    """
    spec = str(getattr(data, split))
    if data.train != "classroom" and spec == "classroom":
        raise ValueError(
            f"the training text is {data.train}, but no {split} text of its kind is named; the classroom corpus, which "
            "stands in its place, has nothing to do with it"
        )
    return spec


def _classroom(split: str, config: DataConfig) -> Corpus:
    from annotated.classroom import classroom_pairs  # here, because most users of files need no grammar

    size = config.classroom_pairs if split == "train" else CLASSROOM_EVALUATION_PAIRS

    def read(counts: PairCounts, keep_empty: bool = False) -> Iterator[Pair]:
        for pair in classroom_pairs(split, size):  # type: ignore[arg-type]
            counts.pairs += 1
            yield pair.source, pair.target

    sample = list(islice(read(PairCounts()), _SAMPLE_PAIRS))  # another version's grammar makes other sentences
    return Corpus(f"classroom ({split})", read, _hash(["classroom", split, size, sample]))


def _hash(content: object) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]


def _paths(spec: str | Path) -> list[Path]:
    """One path or two. A comma belongs to the name if a file of the whole name exists."""
    path = Path(spec)
    if fault := not_a_path(str(spec)):
        raise CorpusError(fault)
    if isinstance(spec, Path) or "," not in spec or path.exists():
        return [path]
    parts = [part.strip() for part in spec.split(",")]
    if len(parts) != 2 or not all(parts):
        raise CorpusError(f"{spec!r}: give one TSV file, or two text files as SOURCE,TARGET; this names {len(parts)}")
    return [Path(part) for part in parts]


def side_by_side(source: Path, target: Path) -> Iterator[Pair]:
    """Line k of one file with line k of the other, pairs with an empty side included.

    Raises
    ------
    CorpusError
        If a file is missing, broken or not UTF-8, or the two have different numbers of lines.
    """
    sides, number = (read_lines(source), read_lines(target)), 0
    while True:
        pair = [next(side, None) for side in sides]
        if pair[0] is None and pair[1] is None:
            return
        if pair[0] is None or pair[1] is None:
            shorter, longer = (source, target) if pair[0] is None else (target, source)
            raise CorpusError(
                f"{shorter}: ends after line {number}, but {longer} goes on; line k of one must be the translation "
                "of line k of the other, so one of them is incomplete or has lines too many"
            )
        number += 1
        yield pair[0], pair[1]

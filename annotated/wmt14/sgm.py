"""SGM test sets, and the sentence pairs of two files of an archive: segments, or lines side by side, plain or gzip."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from annotated.data.corpora import side_by_side
from annotated.data.text_files import CorpusError, read_lines

MemberFormat = Literal["plain", "sgm", "gzip"]
"""How the text of an archive member is written: one sentence a line, an SGM test set, or lines within a .gz file."""

_MARKUP = re.compile(
    r"""<doc\b[^>]*?\bdocid\s*=\s*["']?(?P<doc>[^"'>]*)["']?[^>]*> | <seg\b[^>]*?\bid\s*=\s*["']?(?P<seg>[^"'\s>]+)["']?
    [^>]*> (?P<text>.*?) </seg\s*>""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_ENTITY = re.compile(r"&(?:(amp|lt|gt|quot|apos)|#([0-9]{1,7})|#x([0-9a-f]{1,6}));", re.IGNORECASE)
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


@dataclass(frozen=True, slots=True)
class Segment:
    """A sentence of an SGM test set."""

    document: str
    id: str
    text: str


def read_parallel(source: Path, target: Path, format: MemberFormat = "plain") -> Iterator[tuple[str, str]]:
    """Sentence pairs of two files, one pair a line or segment, those with an empty side included.

    Parameters
    ----------
    source, target
        The two files; line k of one, or segment k, is the translation of line k of the other.
    format
        'plain' or 'gzip' for lines (a .gz file must be called so), 'sgm' for test sets with `<seg id=...>`.

    Raises
    ------
    CorpusError
        If a file is missing, damaged or not UTF-8, or if the two do not belong together.
    """
    if format == "sgm":
        yield from _paired(source, target)
    else:
        yield from side_by_side(source, target)


def read_sgm(path: Path) -> list[Segment]:
    r"""The segments of an SGM test set, in the order of the file.

    The five entities of XML and those with numbers become the characters that they stand for: a model that was
    trained on "&" should not be tested on "&amp;". BLEU does not notice: the 13a tokenisation of sacreBLEU and of the
    official script undoes the named ones too, though sacreBLEU's own copies of the test sets keep them. Any other "&"
    stays as it is. A segment that runs over several lines becomes one line.

    Raises
    ------
    CorpusError
        If the file is missing or not UTF-8, holds no segments, or holds one twice.
    """
    document, segments = "", []
    for match in _MARKUP.finditer("\n".join(read_lines(path))):
        if match["doc"] is not None:
            document = match["doc"]
        else:
            segments.append(Segment(document, match["seg"], _characters(" ".join(match["text"].split("\n")).strip())))
    if not segments:
        raise CorpusError(f"{path}: holds no segments (<seg id=...>); is it an SGM test set?")
    if len({(segment.document, segment.id) for segment in segments}) < len(segments):
        seen: set[tuple[str, str]] = set()
        twice = next(s for s in segments if (s.document, s.id) in seen or seen.add((s.document, s.id)))  # type: ignore[func-returns-value]
        raise CorpusError(f"{path}: holds segment {twice.id} of document {twice.document!r} twice")
    return segments


def _characters(text: str) -> str:
    return _ENTITY.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    if match[1]:
        return _NAMED[match[1].lower()]
    code = int(match[2]) if match[2] else int(match[3], 16)
    return chr(code) if 0x20 <= code < 0xD800 or 0xE000 <= code <= 0x10FFFF else match[0]


def _paired(source: Path, target: Path) -> Iterator[tuple[str, str]]:
    sides = read_sgm(source), read_sgm(target)
    for left, right in zip(*sides, strict=False):
        if (left.document, left.id) != (right.document, right.id):
            raise CorpusError(
                f"{target}: has segment {right.id} of document {right.document!r} where {source} has segment {left.id} "
                f"of document {left.document!r}; the two files do not belong together"
            )
    if len(sides[0]) != len(sides[1]):
        raise CorpusError(
            f"{target}: has {len(sides[1]):,} segments where {source} has {len(sides[0]):,}; one of them is incomplete"
        )
    yield from ((left.text, right.text) for left, right in zip(*sides, strict=True))

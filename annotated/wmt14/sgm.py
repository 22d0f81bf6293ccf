"""SGM test sets, and the sentence pairs of two files of an archive: segments, or lines side by side, plain or gzip."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from annotated.data.corpora import side_by_side
from annotated.text.text_files import CorpusError, read_lines

MemberFormat = Literal["plain", "sgm", "gzip"]
"""How the text of an archive member is written: one sentence a line, an SGM test set, or lines within a .gz file."""

_MARKUP = re.compile(
    r"""<(?P<doc>doc)\b(?P<about>[^>]*)> | <seg\b(?P<seg>[^>]*)> (?P<text>.*?) </seg\s*>""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_BEGINNING = re.compile(r"<seg\b", re.IGNORECASE)
_DOCUMENT = re.compile(r"""\bdocid\s*=\s*["']?([^"'>]*)""", re.IGNORECASE)
_NUMBER = re.compile(r"""\bid\s*=\s*["']?([^"'\s>]+)""", re.IGNORECASE)
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
    r"""The segments of an SGM test set, in the order of the file: one a line, whatever the documents are called.

    The five entities of XML and those with numbers become the characters that they stand for: a model that was
    trained on "&" should not be tested on "&amp;". BLEU does not notice: the 13a tokenisation of sacreBLEU and of the
    official script undoes the named ones too, though sacreBLEU's own copies of the test sets keep them. Any other "&"
    stays as it is. A segment that runs over several lines becomes one line.

    Raises
    ------
    CorpusError
        If the file is missing or not UTF-8, holds no segments, or one that does not end or has no id.
    """
    return [segment for document in _documents(path) for segment in document.segments]


@dataclass(frozen=True, slots=True)
class _Document:
    """A document of an SGM test set; another one may have the same name."""

    name: str
    segments: list[Segment]


def _documents(path: Path) -> list[_Document]:
    """The documents in the order of the file, with what stands before the first, if anything does."""
    text, count = "\n".join(read_lines(path)), 0
    documents = [_Document("", [])]
    for match in _MARKUP.finditer(text):
        if match["doc"]:
            named = _DOCUMENT.search(match["about"])
            documents.append(_Document(named[1] if named else "", []))
            continue
        count += 1
        number, name = _NUMBER.search(match["seg"]), documents[-1].name
        if _BEGINNING.search(match["text"]):
            raise CorpusError(f"{path}: a segment of document {name!r} does not end (</seg>); get the file again")
        if number is None:
            where = f"the one after segment {documents[-1].segments[-1].id}" if documents[-1].segments else "the first"
            raise CorpusError(f"{path}: a segment of document {name!r} has no id, {where}; get the file again")
        content = _characters(" ".join(match["text"].split("\n")).strip())
        documents[-1].segments.append(Segment(name, number[1], content))
    if count < len(_BEGINNING.findall(text)):
        raise CorpusError(f"{path}: ends within a segment of document {documents[-1].name!r}; get the file again")
    if not any(one.segments for one in documents):
        raise CorpusError(f"{path}: holds no segments (<seg id=...>); is it an SGM test set?")
    return documents if documents[0].segments else documents[1:]


def _characters(text: str) -> str:
    return _ENTITY.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    if match[1]:
        return _NAMED[match[1].lower()]
    code = int(match[2]) if match[2] else int(match[3], 16)
    return chr(code) if 0x20 <= code < 0xD800 or 0xE000 <= code <= 0x10FFFF else match[0]


def _paired(source: Path, target: Path) -> Iterator[tuple[str, str]]:
    sides = _documents(source), _documents(target)
    for number, (left, right) in enumerate(zip(*sides, strict=False), start=1):
        if left.name != right.name:
            raise CorpusError(
                f"{target}: its document number {number} is {right.name!r} where {source} has {left.name!r}; the two "
                "files do not belong together"
            )
        if len(left.segments) != len(right.segments):
            raise CorpusError(
                f"{target}: document {right.name!r}, number {number}, has {len(right.segments):,} segments where "
                f"{source} has {len(left.segments):,}; one of the two files is incomplete"
            )
        for one, other in zip(left.segments, right.segments, strict=True):
            if one.id != other.id:
                raise CorpusError(
                    f"{target}: has segment {other.id} of document {right.name!r} where {source} has segment {one.id}; "
                    "the two files do not belong together"
                )
    if len(sides[0]) != len(sides[1]):
        raise CorpusError(
            f"{target}: has {len(sides[1]):,} documents where {source} has {len(sides[0]):,}; one of them is incomplete"
        )
    for left, right in zip(*sides, strict=True):
        yield from ((one.text, other.text) for one, other in zip(left.segments, right.segments, strict=True))

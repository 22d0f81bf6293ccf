"""Formats of files of sentence pairs: TSV, CSV, JSONL, `|||`, TMX and XLIFF, and the pairs of a file in one of them."""

from __future__ import annotations

import csv
import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotated.text.text_files import CorpusError, read_lines
from annotated.text.xml_pairs import read_tmx, read_xliff

Pair = tuple[str, str]

SIGNS = {"tsv": "\t", "bars": "|||"}
"""What stands between the columns of a line, where that is all."""
DELIMITERS = {",": "CSV with commas", ";": "CSV with semicolons", "\t": "TSV in a spreadsheet's quotes"}
"""What a CSV file is called, by what stands between its fields."""


@dataclass(frozen=True)
class PairFormat:
    """How the pairs of a file are written; by default plain TSV of two columns."""

    kind: str = "tsv"
    places: tuple[Any, Any] = (0, 1)
    """Where source and target are: columns from 0, keys of an object, languages."""
    width: int = 2
    """Columns of a row."""
    header: str = ""
    """The first line, if it is none of the pairs."""
    delimiter: str = ""
    """Of a CSV file."""

    def __str__(self) -> str:
        kind = DELIMITERS.get(self.delimiter) or {"bars": "text with |||"}.get(self.kind, self.kind.upper())
        first, second = (f"column {place + 1}" if isinstance(place, int) else place for place in self.places)
        sides = "" if (first, second) == ("source", "target") else f", {first} as the source and {second} as the target"
        left = f"; the header {self.header!r} is left out" if self.header else ""
        otherwise = "; format tsv takes each line as it stands" if kind.startswith("TSV") else ""
        return f"{kind}{sides}{left}{otherwise}"

    @property
    def key(self) -> str:
        """The same for files that are read alike, in every version."""
        return "|".join([self.kind, *map(str, self.places), self.delimiter, "header" * bool(self.header)])


PLAIN = PairFormat()


def formatted_pairs(path: Path, found: PairFormat) -> Iterator[Pair]:
    """The pairs of a file, each text on one line; empty sides included.

    Raises
    ------
    CorpusError
        If the file is missing, broken, not UTF-8, or not in this format throughout.
    """
    return _plain_pairs(path) if found == PLAIN else _other_pairs(path, found)


def _other_pairs(path: Path, found: PairFormat) -> Iterator[Pair]:
    source, target = found.places
    header = bool(found.header)
    for number, row in enumerate(rows_of(path, found.kind, found.delimiter), start=1):
        if len(row) < 2 and not any(row):  # a blank line
            row = {}
        elif header or (found.header and ", ".join(row) == found.header):  # that of a second file, after `cat`
            header = False
            continue
        if not isinstance(row, Mapping) and len(row) != found.width:
            raise CorpusError(
                f"{path}: row {number} has {len(row)} columns, and not {found.width}, as the others: "
                + ("a text that holds the delimiter must stand in quotes" if found.kind == "csv" else "mend it")
            )
        pair = (row.get(source), row.get(target)) if isinstance(row, Mapping) else (row[source], row[target])
        yield _one_line(path, number, pair[0]), _one_line(path, number, pair[1])


def _plain_pairs(path: Path) -> Iterator[Pair]:
    for number, line in enumerate(read_lines(path), start=1):
        columns = line.split("\t")
        if len(columns) == 2:
            yield columns[0], columns[1]
        elif not line.strip():
            yield "", ""
        else:
            raise uneven(path, number, line)


def uneven(path: Path, number: int, line: str) -> CorpusError:
    """What to say of a line of a TSV file that has not two columns."""
    columns = line.count("\t") + 1
    if line.lstrip().startswith('"'):
        advice = "if a spreadsheet wrote it, with quotes around its fields, format csv reads it (--data.format csv)"
    elif columns == 1:
        advice = (
            "if this is text of one language, name both files as SOURCE,TARGET; if something else stands between the "
            "two, name the format: --data.format csv, jsonl, bars, tmx or xliff"
        )
    else:
        advice = f"mend the line, or take two columns of all: {converted(path, 'cut -f1,2')}"
    return CorpusError(
        f"{path}, line {number}: uneven columns: expected 2 (source, tab, target), found {columns}; {advice}"
    )


class NotCsv(CorpusError):
    """A row breaks the rules of CSV."""


def rows_of(path: Path, kind: str, delimiter: str = "") -> Iterator[Any]:
    """The rows of a file: columns, or texts by key or language."""
    if kind == "tmx":
        yield from read_tmx(path)
    elif kind == "xliff":
        yield from read_xliff(path)
    elif kind == "csv":
        yield from _csv_rows(path, delimiter)
    elif kind == "jsonl":
        for number, line in enumerate(read_lines(path), start=1):
            yield _texts(path, number, json_value(line)) if line.strip() else {}
    else:
        yield from (line.split(SIGNS[kind]) for line in read_lines(path))


def _csv_rows(path: Path, delimiter: str) -> Iterator[list[str]]:
    reader = csv.reader((line + "\n" for line in read_lines(path)), delimiter=delimiter, strict=True)
    try:
        yield from reader
    except csv.Error as error:
        raise NotCsv(
            f"{path}, line {reader.line_num}: not CSV ({error}): a quote is not closed, or not doubled"
        ) from None


def json_value(line: str) -> Any:
    """What a line of JSON says; None if it is none."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _texts(path: Path, number: int, value: Any) -> dict[str, Any]:
    """An object, or the object `translation` in it."""
    if not isinstance(value, dict):
        raise CorpusError(f"{path}, line {number}: not a JSON object; a line is one object, with the texts of one pair")
    inner = value.get("translation")
    return inner if isinstance(inner, dict) else value


def _one_line(path: Path, number: int, text: Any) -> str:
    if text is None:
        return ""
    if not isinstance(text, str):
        raise CorpusError(
            f"{path}, row {number}: {json.dumps(text)} is no text; put it in quotes, or leave the row out"
        )
    if text.isprintable():
        return text
    return re.sub("[\ud800-\udfff]", "\ufffd", re.sub(r"[\t\r\n]+", " ", text))


def converted(path: Path, command: str, suffix: str = ".tsv") -> str:
    """The whole command that writes a converted file beside a file."""
    given, bare = shlex.quote(str(path)), unpacked(path)
    made = shlex.quote(str(bare.with_name(f"{bare.stem}.pairs{suffix}")))
    unpack = {".gz": "gzip -dc", ".zst": "zstd -dc"}.get(path.suffix)
    return f"convert it: {f'{unpack} {given} | {command}' if unpack else f'{command} < {given}'} > {made}"


def unpacked(path: Path) -> Path:
    """The name without the ending of a compressed file."""
    return path.with_suffix("") if path.suffix in (".gz", ".zst") else path

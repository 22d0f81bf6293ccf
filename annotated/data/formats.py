"""Formats of files of sentence pairs: TSV, CSV, JSONL, `|||`, TMX and XLIFF; which one a file is in, and its pairs.

Only what can be read in one way is read. Anything else is refused, with the command that converts it. A format may also
be named: its kind, and where the two texts are, as in 'tsv:2,4' (columns from 1), 'csv:English,German' (a header's
names), 'jsonl:en,de' (keys), 'tmx:en,de' (languages).
"""

from __future__ import annotations

import csv
import json
import re
import shlex
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from annotated.data.text_files import CorpusError, raw_lines, read_lines
from annotated.data.xml_pairs import read_tmx, read_xliff

Pair = tuple[str, str]

_SAMPLE = 200
"""Lines, or rows, by which a format is recognised."""
_KINDS = {
    "csv": "csv", "jsonl": "jsonl", "ndjson": "jsonl", "json": "jsonl", "tmx": "tmx", "xlf": "xliff", "xliff": "xliff"
}  # fmt: skip
"""By the ending of a file's name."""
_DELIMITERS = {",": "CSV with commas", ";": "CSV with semicolons", "\t": "TSV in a spreadsheet's quotes"}
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_NO_TEXT = re.compile(r"[-+]?[\d.,:/eE-]+|\w{2,3}([-_]\w{2,4})?|\w+://\S*|")
"""A number, a date, a code of a language, an address, nothing."""
_SOURCES = {"source", "src", "source_text", "source_sentence"}
_TARGETS = {"target", "tgt", "trg", "target_text", "target_sentence"}
_LANGUAGES = (
    "ar bg bn ca cs cy da de el en es et eu fa fi fr ga gl he hi hr hu id is it ja ko lt lv ms nb nl nn no pl pt ro ru "
    "sk sl sr sv sw ta te th tr uk ur vi zh arabic bulgarian catalan chinese czech danish dutch english estonian "
    "finnish french german greek hebrew hindi hungarian indonesian italian japanese korean latvian lithuanian "
    "norwegian persian polish portuguese romanian russian slovak slovenian spanish swedish thai turkish ukrainian "
    "vietnamese"
)
_LANGUAGE = re.compile(f"(?:{_LANGUAGES.replace(' ', '|')})(?:_[a-z]{{2,4}}|_sentence)?")
"""By its code, with a country or a script, or its English name."""
_TO_TSV = (
    "python3 -c 'import csv, sys; csv.field_size_limit(10**9); "
    '[print(*(" ".join(r[i].split()) for i in ({}, {})), sep="\\t") for r in csv.reader(sys.stdin, delimiter="{}")]\''
)
_TO_JSONL = (
    "python3 -c 'import json, sys; d = json.load(sys.stdin); "
    "rows = d if isinstance(d, list) else next(v for v in d.values() if isinstance(v, list)); "
    "[print(json.dumps(row)) for row in rows]'"
)


class FormatNotice(UserWarning):
    """How a file of pairs was understood that is not plain TSV."""


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
        kind = _DELIMITERS.get(self.delimiter) or {"bars": "text with |||"}.get(self.kind, self.kind.upper())
        first, second = (f"column {place + 1}" if isinstance(place, int) else place for place in self.places)
        sides = "" if (first, second) == ("source", "target") else f", {first} as the source and {second} as the target"
        left = f"; the header {self.header!r} is left out" if self.header else ""
        as_it_stands = "; format tsv takes each line as it stands" if "\t" in (self.delimiter, self.sign) else ""
        return f"{kind}{sides}{left}{as_it_stands}"

    @property
    def sign(self) -> str:
        """What stands between the columns of a line, where that is all."""
        return {"tsv": "\t", "bars": "|||"}.get(self.kind, "")


PLAIN = PairFormat()


def recognised(path: Path, asked: str = "auto", *, say: bool = False) -> PairFormat:
    """The format of a file of pairs, by its name and its beginning.

    Parameters
    ----------
    asked
        'auto', or a kind of `annotated.config.FORMATS`, with or without places: 'tsv' is two columns as they stand.
    say
        Warn with what was understood, unless that is plain TSV or was asked for.

    Raises
    ------
    CorpusError
        If it cannot be read, or could be read in more than one way; the message has the command that converts it.
    """
    kind, _, named = asked.partition(":")
    places = tuple(name.strip() for name in named.split(",")) if named else ()
    if asked == "tsv":
        return PLAIN
    if kind == "auto":
        kind = _kind(path, [line for line in _beginning(path) if line.strip()])
    found = _BY_KIND[kind](path, kind, places)
    if say and found != PLAIN and (asked == "auto" or found.header):
        warnings.warn(FormatNotice(f"{path}: read as {found}"), stacklevel=3)
    return found


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
    for number, row in enumerate(_rows(path, found.kind, found.delimiter), start=1):
        if number == 1 and found.header:
            continue
        if len(row) < 2 and not any(row):  # a blank line
            row = {}
        if not isinstance(row, Mapping) and len(row) != found.width:
            raise CorpusError(
                f"{path}: row {number} has {len(row)} columns, and those before it have {found.width}: "
                + ("a text that holds the delimiter must stand in quotes" if found.kind == "csv" else "mend it")
            )
        pair = (row.get(source, ""), row.get(target, "")) if isinstance(row, Mapping) else (row[source], row[target])
        yield _one_line(pair[0]), _one_line(pair[1])


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
        advice = f"mend the line, or take two columns of all: {_converted(path, 'cut -f1,2')}"
    return CorpusError(
        f"{path}, line {number}: uneven columns: expected 2 (source, tab, target), found {columns}; {advice}"
    )


def _kind(path: Path, lines: list[str]) -> str:
    """The kind of a file, by its name and its first lines that are not blank."""
    by_name = _KINDS.get(_unpacked(path).suffix.lstrip(".").lower())
    first = lines[0].lstrip() if lines else ""
    if by_name in ("tmx", "xliff") or not first:
        return by_name or "tsv"
    if len(lines) == 1 and "\r" in first:
        command = _converted(path, r"tr '\r' '\n'", _unpacked(path).suffix)
        raise CorpusError(f"{path}: its lines end as on old Macs; {command}")
    if first.startswith(("<?xml", "<tmx", "<xliff", "<!DOCTYPE")) and "\t" not in first:
        beginning = "\n".join(lines)
        for kind in ("tmx", "xliff"):
            if re.search(rf"<(\w+:)?{kind}\b", beginning):
                return kind
        raise CorpusError(f"{path}: XML, and neither TMX nor XLIFF: save its pairs as TSV, a pair a line")
    if isinstance(_json(first), dict):
        return "jsonl"
    if (by_name == "jsonl" and first[0] in "[{") or first.rstrip() == "[" or isinstance(_json(first), list):
        raise CorpusError(f"{path}: one JSON value, not an object a line; {_converted(path, _TO_JSONL, '.jsonl')}")
    if by_name:
        return by_name
    tabs = {line.count("\t") for line in lines}
    if tabs == {0} and all("|||" in line for line in lines):
        return "bars"
    if tabs == {0} and all(re.fullmatch(r'".*"[,;]".*"', line) for line in lines):
        return "csv"
    fields = [field.strip() for line in lines for field in line.split("\t")]
    return "csv" if tabs == {1} and _in_quotes(fields) else "tsv"


def _in_quotes(fields: list[str]) -> bool:
    """Whether a spreadsheet has put quotes around fields: around all of them, or just where it must.

    That is around those with a quote, which it doubles, and with some programs around those with a comma.
    """
    quoted = [field for field in fields if _QUOTED.fullmatch(field)]
    others = [field for field in fields if not _QUOTED.fullmatch(field)]
    if not quoted or len(quoted) >= 0.95 * len(fields):
        return bool(quoted)
    if any(field.startswith('"') for field in others):
        return False
    commas = len(quoted) > 2 and all("," in field for field in quoted) and not any("," in field for field in others)
    return commas or any('""' in field[1:-1] for field in quoted)


def _of_columns(path: Path, kind: str, places: tuple[str, ...]) -> PairFormat:
    """The format of a file whose rows are columns. Where their numbers differ, reading says which line is wrong."""
    rows = [row for row in islice(_rows(path, kind), _SAMPLE) if any(row)]
    even = [row for row in rows if len(row) == len(rows[0])]
    if not places and (len(even) < len(rows) or not rows or len(rows[0]) == 1):
        return replace(PLAIN, kind=kind)
    return _columns(path, kind, "", even, places)


def _of_csv(path: Path, kind: str, places: tuple[str, ...]) -> PairFormat:
    """The format of a CSV file, with the delimiter that gives every row equally many columns, two if one does."""
    first = next(iter(_beginning(path)), "")
    by_count = sorted(_DELIMITERS, key=lambda delimiter: -first.count(delimiter))
    found, why = [], ""
    for delimiter in by_count:
        try:
            rows = [row for row in islice(_rows(path, kind, delimiter), _SAMPLE) if row]
        except _NotCsv as error:
            why = why or str(error)
            continue
        if not rows:
            return PLAIN
        widths = {len(row) for row in rows}
        if len(widths) == 1 and len(rows[0]) > 1:
            found.append((delimiter, rows))
        elif len(widths) > 1:
            why = (
                why
                or f"{path}: its rows have different numbers of columns: a text with the delimiter must be in quotes"
            )
    if not found:
        why = why or f"{path}: its rows have one column, and a pair has two"
        raise CorpusError(f"{why}. If it is no CSV: format tsv takes each line of a TSV file as it stands")
    delimiter, rows = min(found, key=lambda one: len(one[1][0]) != 2)
    return _columns(path, kind, delimiter, rows, places)


def _columns(path: Path, kind: str, delimiter: str, rows: list[Sequence[str]], places: tuple[str, ...]) -> PairFormat:
    """Which columns hold the texts, and whether the first row is a header."""
    width = len(rows[0])
    found = PairFormat(kind, width=width, delimiter=delimiter)
    if places:
        names = [name.strip() for name in rows[0]]
        if all(place.isdecimal() and 1 <= int(place) <= width for place in places):
            found = replace(found, places=(int(places[0]) - 1, int(places[1]) - 1))
            names = []
        elif not all(place in names for place in places):
            raise CorpusError(f"{path}: has no columns {', '.join(places)}; its first line is {_shown(rows[0])}")
        else:
            return replace(found, places=(names.index(places[0]), names.index(places[1])), header=_shown(rows[0]))
    named = _places(rows[0])
    if named and len(rows) > 1 and not _places(rows[1]):  # words that are codes, too, may stand in every row
        return replace(found, places=found.places if places else named, header=_shown(rows[0]))
    if width == 2 or places:
        return found
    texts = [at for at in range(width) if not all(_NO_TEXT.fullmatch(row[at].strip()) for row in rows)]
    first, second, *_ = [*texts, 0, 1] if len(texts) > 1 else (0, 1)
    cut = {
        "tsv": f"cut -f{first + 1},{second + 1}",
        "bars": f"awk -F ' *[|][|][|] *' -v OFS='\\t' '{{print ${first + 1}, ${second + 1}}}'",
    }
    command = cut.get(kind) or _TO_TSV.format(first, second, "\\t" if delimiter == "\t" else delimiter)
    raise CorpusError(
        f"{path}: its lines have {width} columns, and a pair has 2; {_converted(path, command)}; or name them: "
        f"--data.format {kind}:{first + 1},{second + 1}"
    )


def _of_objects(path: Path, kind: str, places: tuple[str, ...]) -> PairFormat:
    """The format of JSON objects, one a line: which keys hold the texts."""
    keys = list(dict.fromkeys(key for row in islice(_rows(path, kind), _SAMPLE) for key in row))
    if missing := [place for place in places if place not in keys]:
        raise CorpusError(f"{path}: its objects have no text {missing[0]!r}; they have {', '.join(keys) or 'none'}")
    if len(places) == 2:
        return PairFormat(kind, (places[0], places[1]))
    if named := _places(keys):
        return PairFormat(kind, (keys[named[0]], keys[named[1]]))
    given = f"say so: --data.format jsonl:{keys[0]},{keys[1]}" if len(keys) > 1 else "a pair has two"
    raise CorpusError(
        f"{path}: which texts of an object are source and target? Its texts are {', '.join(keys) or 'none'}; {given}"
    )


def _of_units(path: Path, kind: str, places: tuple[str, ...]) -> PairFormat:
    """The format of a translation memory: which two languages its units have, or the two sides of XLIFF."""
    units = list(islice(_rows(path, kind), _SAMPLE))
    found = list(dict.fromkeys(name for unit in units for name, text in unit.items() if text or kind == "xliff"))
    if missing := [place for place in places if place not in found]:
        raise CorpusError(f"{path}: has no texts in {missing[0]!r}; there are {', '.join(found) or 'none'}")
    if not places and len(found) != 2:
        given = f"; name two of them: --data.format tmx:{found[0]},{found[1]}" if len(found) > 2 else ""
        raise CorpusError(f"{path}: has texts in {', '.join(found) or 'no language'}, and a pair has two{given}")
    return PairFormat(kind, tuple(places or found))  # type: ignore[arg-type]


_BY_KIND = {
    "tsv": _of_columns, "bars": _of_columns, "csv": _of_csv, "jsonl": _of_objects, "tmx": _of_units, "xliff": _of_units
}  # fmt: skip


class _NotCsv(CorpusError):
    """A row breaks the rules of CSV."""


def _rows(path: Path, kind: str, delimiter: str = "") -> Iterator[Any]:
    """The rows of a file: columns, or texts by key or language."""
    if kind == "tmx":
        yield from read_tmx(path)
    elif kind == "xliff":
        yield from read_xliff(path)
    elif kind == "csv":
        yield from _csv_rows(path, delimiter)
    elif kind == "jsonl":
        for number, line in enumerate(read_lines(path), start=1):
            yield _texts(path, number, _json(line)) if line.strip() else {}
    else:
        yield from (line.split(PairFormat(kind).sign) for line in read_lines(path))


def _csv_rows(path: Path, delimiter: str) -> Iterator[list[str]]:
    reader = csv.reader((line + "\n" for line in read_lines(path)), delimiter=delimiter, strict=True)
    try:
        yield from reader
    except csv.Error as error:
        raise _NotCsv(
            f"{path}, line {reader.line_num}: not CSV ({error}): a quote is not closed, or not doubled"
        ) from None


def _json(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _texts(path: Path, number: int, value: Any) -> dict[str, str]:
    """The texts of an object, or of the object `translation` in it."""
    if not isinstance(value, dict):
        raise CorpusError(f"{path}, line {number}: not a JSON object; a line is one object, with the texts of one pair")
    inner = value.get("translation")
    return {key: text for key, text in (inner if isinstance(inner, dict) else value).items() if isinstance(text, str)}


def _places(names: Sequence[str]) -> tuple[int, int] | None:
    """Where source and target are, if these name columns or keys: one of each role, or exactly two languages."""
    words = [re.sub(r"\W+", "_", name.strip().lower()) for name in names]
    sources = [at for at, word in enumerate(words) if word in _SOURCES]
    targets = [at for at, word in enumerate(words) if word in _TARGETS]
    if len(sources) == len(targets) == 1:
        return sources[0], targets[0]
    languages = [at for at, word in enumerate(words) if _LANGUAGE.fullmatch(word)]
    return (languages[0], languages[1]) if len(languages) == 2 and len({words[at] for at in languages}) == 2 else None


def _beginning(path: Path) -> list[str]:
    """The first lines, whatever their encoding: reading them says what is wrong with it."""
    return [raw.decode("utf-8-sig", errors="replace").rstrip("\r") for raw in islice(raw_lines(path), _SAMPLE)]


def _one_line(text: str) -> str:
    if text.isprintable():
        return text
    return re.sub("[\ud800-\udfff]", "\ufffd", re.sub(r"[\t\r\n]+", " ", text))


def _shown(row: Sequence[str]) -> str:
    return ", ".join(row)


def _converted(path: Path, command: str, suffix: str = ".tsv") -> str:
    """The whole command that writes a converted file beside a file."""
    given, bare = shlex.quote(str(path)), _unpacked(path)
    made = shlex.quote(str(bare.with_name(f"{bare.stem}.pairs{suffix}")))
    unpack = {".gz": "gzip -dc", ".zst": "zstd -dc"}.get(path.suffix)
    return f"convert it: {f'{unpack} {given} | {command}' if unpack else f'{command} < {given}'} > {made}"


def _unpacked(path: Path) -> Path:
    return path.with_suffix("") if path.suffix in (".gz", ".zst") else path

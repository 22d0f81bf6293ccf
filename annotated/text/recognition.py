"""Recognition of the format of a file of sentence pairs, by its name and its beginning.

Only what can be read in one way is read. Anything else is refused, with the command that converts it. A format may also
be named: its kind, and where the two texts are, as in 'tsv:2,4' (columns from 1), 'csv:English,German' (a header's
names), 'jsonl:en,de' (keys), 'tmx:en,de' (languages).
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from annotated.text.formats import (
    DELIMITERS,
    PLAIN,
    SIGNS,
    NotCsv,
    PairFormat,
    converted,
    json_value,
    rows_of,
    unpacked,
)
from annotated.text.text_files import CorpusError, raw_lines

_SAMPLE = 200
"""Lines, or rows, by which a format is recognised."""
_KINDS = {
    "csv": "csv", "jsonl": "jsonl", "ndjson": "jsonl", "json": "jsonl", "tmx": "tmx", "xlf": "xliff", "xliff": "xliff"
}  # fmt: skip
"""By the ending of a file's name."""
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


_NO_SENTENCES = (
    (
        r"<(\?xml|!doctype|html|srcset|refset|tstset|mteval)\b",
        "mark-up, such as SGM or HTML",
        r"take the sentences out: sed -n 's|.*<seg[^>]*> *\(.*\) *</seg>.*|\1|p'",
    ),
    (r"webvtt|1\s+\d\d:\d\d:\d\d,\d+ -->", "subtitles", "leave out their numbers and times"),
    (r'(#.*\n)*msgid "', "a gettext catalogue", "make TMX of it: po2tmx"),
)
"""What a file of one language may begin with that is no sentence: a pattern, its name, and what to do."""


class FormatNotice(UserWarning):
    """How a file of pairs was understood that is not plain TSV."""


def of_two_files(paths: Sequence[Path]) -> PairFormat:
    """The format of a file for each language: a sentence a line, which mark-up, subtitles and catalogues are not.

    Raises
    ------
    CorpusError
        If one of them begins as something else.
    """
    for path in paths:
        beginning = "\n".join(line for line in _beginning(path) if line.strip()).lstrip()
        for pattern, what, advice in _NO_SENTENCES:
            if re.match(pattern, beginning, re.IGNORECASE):
                raise CorpusError(f"{path}: {what}, and not text, one sentence a line; {advice}")
    return PLAIN


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


def _kind(path: Path, lines: list[str]) -> str:
    """The kind of a file, by its name and its first lines that are not blank."""
    by_name = _KINDS.get(unpacked(path).suffix.lstrip(".").lower())
    first = lines[0].lstrip() if lines else ""
    if by_name in ("tmx", "xliff") or not first:
        return by_name or "tsv"
    if len(lines) == 1 and "\r" in first and "\ufffd" not in first:  # what is not UTF-8 may be no text at all
        command = converted(path, r"tr '\r' '\n'", unpacked(path).suffix)
        raise CorpusError(f"{path}: its lines end as on old Macs; {command}")
    if first.startswith(("<?xml", "<tmx", "<xliff", "<!DOCTYPE")) and "\t" not in first:
        beginning = "\n".join(lines)
        for kind in ("tmx", "xliff"):
            if re.search(rf"<(\w+:)?{kind}\b", beginning):
                return kind
        raise CorpusError(f"{path}: XML, and neither TMX nor XLIFF: save its pairs as TSV, a pair a line")
    if isinstance(json_value(first), dict):
        return "jsonl"
    if (by_name == "jsonl" and first[0] in "[{") or first.rstrip() == "[" or isinstance(json_value(first), list):
        raise CorpusError(f"{path}: one JSON value, not an object a line; {converted(path, _TO_JSONL, '.jsonl')}")
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
    rows = [line.split(SIGNS[kind]) for line in _beginning(path) if line.strip()]
    even = [row for row in rows if len(row) == len(rows[0])]
    if not places and (len(even) < len(rows) or not rows or len(rows[0]) == 1):
        return replace(PLAIN, kind=kind)
    return _columns(path, kind, "", even, places)


def _of_csv(path: Path, kind: str, places: tuple[str, ...]) -> PairFormat:
    """The format of a CSV file, with the delimiter that gives every row equally many columns, two if one does."""
    first = next(iter(_beginning(path)), "")
    if first.startswith("sep="):
        tail = converted(path, "tail -n +2", unpacked(path).suffix)
        raise CorpusError(f"{path}: its first line, {first!r}, is for a spreadsheet and none of the pairs; {tail}")
    by_count = sorted(DELIMITERS, key=lambda delimiter: -first.count(delimiter))
    found, why = [], ""
    for delimiter in by_count:
        try:
            rows = [row for row in islice(rows_of(path, kind, delimiter), _SAMPLE) if row]
        except NotCsv as error:
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
    pairs = [one for one in found if len(one[1][0]) == 2]
    if len(pairs) > 1:
        commands = (converted(path, _TO_TSV.format(0, 1, one.replace("\t", "\\t"))) for one, _ in pairs)
        names = " or ".join(DELIMITERS[one] for one, _ in pairs)
        raise CorpusError(f"{path}: can be read as {names}; {'; or '.join(commands)}")
    delimiter, rows = (pairs or found)[0]
    return _columns(path, kind, delimiter, rows, places)


def _columns(
    path: Path, kind: str, delimiter: str, rows: Sequence[Sequence[str]], places: tuple[str, ...]
) -> PairFormat:
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
        f"{path}: its lines have {width} columns, and a pair has 2; {converted(path, command)}; or name them: "
        f"--data.format {kind}:{first + 1},{second + 1}"
    )


def _of_objects(path: Path, kind: str, places: tuple[str, ...]) -> PairFormat:
    """The format of JSON objects, one a line: which keys hold the texts."""
    rows = islice(rows_of(path, kind), _SAMPLE)
    keys = list(dict.fromkeys(key for row in rows for key, text in row.items() if isinstance(text, str)))
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
    units = list(islice(rows_of(path, kind), _SAMPLE))
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


def _shown(row: Sequence[str]) -> str:
    return ", ".join(row)

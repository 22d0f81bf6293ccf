"""Files of pairs as people have them: read where that is safe, and said; else refused, with a command that works."""

from __future__ import annotations

import ast
import bz2
import csv
import gzip
import io
import json
import lzma
import re
import subprocess
import sys
import tempfile
import warnings
import zipfile
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

import annotated.cli
from annotated.config import DataConfig
from annotated.data.corpora import CorpusError, open_corpus, read_pairs
from annotated.text.formats import PairFormat
from annotated.text.recognition import FormatNotice, recognised
from annotated.wmt14.sources import blocks

PAIRS = [("The cat, it sleeps.", 'Die "Katze" schläft.'), ("Yes; no?", "Ja; nein?"), ("'Tis 5 < 6 & so.", "😀 ok")]
"""With a comma, quotes, a semicolon and what XML escapes; no format may change them."""


def lines(*columns: str, sign: str = "\t") -> str:
    """A line for each pair, of these columns: 'S' and 'T' are the texts, '#' the number of the line."""
    rows = []
    for number, (source, target) in enumerate(PAIRS, start=1):
        texts = {"S": source, "T": target, "#": str(number)}
        rows.append(sign.join(texts.get(column, column) for column in columns))
    return "\n".join(rows) + "\n"


def table(delimiter: str, *columns: str, header: tuple[str, ...] = (), quoting: int = csv.QUOTE_MINIMAL) -> str:
    file = io.StringIO()
    writer = csv.writer(file, delimiter=delimiter, quoting=quoting, lineterminator="\r\n")  # type: ignore[arg-type]
    writer.writerows([header] * bool(header))
    for number, (source, target) in enumerate(PAIRS, start=1):
        writer.writerow([{"S": source, "T": target, "#": number}.get(column, column) for column in columns])
    return file.getvalue()


def objects(wrap=lambda source, target: {"source": source, "target": target}) -> str:
    return "".join(json.dumps(wrap(*pair)) + "\n" for pair in PAIRS)


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def tmx(*languages: str, srclang: str = "en", encoding: str = "UTF-8", inline: str = "") -> str:
    units = ""
    for source, target in PAIRS:
        texts = {"en": source, "de": target}
        units += "<tu>" + "".join(
            f'<tuv xml:lang="{name}"><note>n</note><seg>{escaped(texts.get(name[:2], "x"))}{inline}</seg></tuv>\n'
            for name in languages
        )
        units += "</tu>\n"
    return (
        f'<?xml version="1.0" encoding="{encoding}"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx version="1.4">'
        f'<header srclang="{srclang}" datatype="plaintext"/><body>\n{units}</body></tmx>\n'
    )


def xliff(version: str, *targets: str) -> str:
    old = version == "1.2"
    unit, inner = ("trans-unit", "") if old else ("segment", "<unit id='1'>")
    units = "".join(
        f"<{unit}><source>{escaped(source)}</source><target>{escaped(target)}</target>"
        + ("<alt-trans><source>no</source><target>nein</target></alt-trans>" if old else "")
        + f"</{unit}>"
        for source, target in PAIRS
    )
    files = "".join(
        f"<file original='a' source-language='en' target-language='{target}'><body>{units}</body></file>"
        if old
        else f"<file>{inner}{units}</unit></file>"
        for target in targets
    )
    about = "" if old else f' srcLang="en" trgLang="{targets[0]}"'
    return f'<xliff version="{version}"{about} xmlns="urn:oasis:names:tc:xliff:document:{version}">{files}</xliff>'


def zipped() -> bytes:
    file = io.BytesIO()
    zipfile.ZipFile(file, "w").writestr("sheet.xml", "a")
    return file.getvalue()


READ: dict[str, tuple[str | bytes, str]] = {
    "plain.tsv": (lines("S", "T"), ""),
    "plain.txt": (lines("S", "T"), ""),
    "windows.tsv": (lines("S", "T").replace("\n", "\r\n"), ""),
    "twice_windows.tsv": (lines("S", "T").replace("\n", "\r\r\n"), ""),
    "two_marks.tsv": ("\ufeff" + lines("S", "T").replace("\n", "\n\ufeff", 1), ""),  # cat a.tsv b.tsv
    "header.tsv": ("Source\tTarget\n" + lines("S", "T"), "TSV, column 1 .* the header 'Source, Target' is left out"),
    "two_headers.tsv": ("source\ttarget\n" + lines("S", "T") + "source\ttarget\n", "the header 'source, target'"),
    "codes.tsv": ("en\tde\n" + lines("S", "T"), "the header 'en, de' is left out"),
    "names.tsv": ("English\tGerman\n" + lines("S", "T"), "the header 'English, German' is left out"),
    "turned.tsv": ("tgt\tsrc\n" + lines("T", "S"), "column 2 as the source and column 1 as the target"),
    "named_columns.tsv": ("no\tsource\ttarget\n" + lines("#", "S", "T"), "column 2 as the source and column 3"),
    "quoted.tsv": (table("\t", "S", "T", quoting=csv.QUOTE_ALL), "TSV in a spreadsheet's quotes"),
    "some_quoted.tsv": (table("\t", "S", "T"), "TSV in a spreadsheet's quotes"),
    "commas_quoted.tsv": (
        lines("S", "T")
        .replace("The cat, it sleeps.", '"The cat, it sleeps."')
        .replace('"Katze"', '""Katze""')
        .replace("Die", '"Die')
        .replace("schläft.", 'schläft."'),
        "TSV in a spreadsheet's quotes",
    ),
    "commas.csv": (table(",", "S", "T"), "CSV with commas, column 1 as the source and column 2 as the target$"),
    "semicolons.csv": (table(";", "S", "T", header=("en", "de")), "CSV with semicolons, .* header 'en, de'"),
    "header.csv": (table(",", "S", "T", header=("en-GB", "de_DE")), "the header 'en-GB, de_DE' is left out"),
    "named.csv": (table(",", "T", "#", "S", header=("target", "number", "source")), "column 3 as the source"),
    "quotes.txt": (table(",", "S", "T", quoting=csv.QUOTE_ALL), "CSV with commas"),
    "pairs.jsonl": (objects(), "JSONL$"),
    "hub.json": (objects(lambda s, t: {"id": 1, "translation": {"en": s, "de": t}}), "JSONL, en as the source and de"),
    "short.ndjson": (objects(lambda s, t: {"tgt": t, "src": s, "score": 0.5}), "src as the source and tgt as"),
    "bars.txt": (lines("S", "T", sign=" ||| "), r"text with \|\|\|"),
    "memory.tmx": (tmx("en", "de"), "TMX, en as the source and de as the target"),
    "countries.tmx": (tmx("de-AT", "en-US", srclang="en-US"), "TMX, en as the source and de as the target"),
    "any_source.tmx": (tmx("en", "de", srclang="*all*"), "TMX, en as the source"),
    "codes.tmx": (tmx("en", "de", inline='<ph x="1">&lt;b></ph><bpt i="1">{</bpt><ept i="1">}</ept>'), "TMX"),
    "memory.xml": (tmx("en", "de"), "TMX, en as the source"),
    "utf_16.tmx": (tmx("en", "de", encoding="UTF-16").encode("utf-16"), "TMX"),
    "old.xlf": (xliff("1.2", "de"), "XLIFF$"),
    "new.xliff": (xliff("2.0", "de"), "XLIFF$"),
}
"""Files that are read, and what is said of them; nothing of those that are read as they always were."""

REFUSED: dict[str, tuple[str | bytes, str]] = {
    "one_side.txt": (lines("S"), "name both files as SOURCE,TARGET"),
    "tatoeba.tsv": (lines("#", "eng", "S", "#", "T"), "5 columns.* --data.format tsv:3,5"),
    "four.tsv": (lines("#", "S", "#", "T"), "4 columns"),
    "licence.tsv": (lines("S", "T", "CC-BY 2.0 (France) Attribution: tatoeba.org #1"), "3 columns.* tsv:1,2"),
    "score.tsv.gz": (lines("0.93", "S", "T"), "3 columns.* tsv:2,3"),
    "coded.tsv.zst": (lines("en", "de", "S", "T"), "4 columns.* tsv:3,4"),
    "three.csv": (table(",", "#", "S", "T"), "3 columns.* csv:2,3"),
    "semicolons_too.csv": (table(";", "S", "T", "ok"), "3 columns.* csv:1,2"),
    "three_bars.txt": (lines("S", "T", "0-0 1-1", sign=" ||| "), "3 columns"),
    "array.json": (json.dumps([{"source": s, "target": t} for s, t in PAIRS]), "one JSON value"),
    "wrapped.json": (json.dumps({"data": [{"en": s, "de": t} for s, t in PAIRS]}, indent=2), "one JSON value"),
    "mac.tsv": (lines("S", "T").replace("\n", "\r"), "old Macs"),
    "mac.csv": (table(",", "S", "T").replace("\r\n", "\r"), "old Macs"),
    "keys.jsonl": (objects(lambda s, t: {"a": s, "b": t}), "Its texts are a, b; say so: --data.format jsonl:a,b"),
    "number.jsonl": (objects() + '{"source": 1984, "target": "a"}\n', "row 4: 1984 is no text"),
    "list.jsonl": (objects() + '{"source": ["a"], "target": "a"}\n', 'row 4: \\["a"\\] is no text'),
    "either.csv": ("a;1,5\nb;2,5\n", "CSV with commas or CSV with semicolons"),
    "sep.csv": ("sep=,\r\n" + table(",", "S", "T"), "its first line, 'sep=,', is for a spreadsheet"),
    "bars_first.txt": ("a ||| b ||| c\nd ||| e\n", "row 1 has 3 columns, and not 2"),
    "letter.rtf": ("{\\rtf1 a\tb}\n", "a document of an office program"),
    "old.xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(99), "a document of an office program"),
    "page.pdf": ("%PDF-1.4\na\tb\n", "a PDF, not text"),
    "pairs.tar": (b"a.tsv".ljust(257, b"\0") + b"ustar\0", "an archive"),
    "twice.tsv.gz": (gzip.compress(lines("S", "T").encode(), mtime=0), "gzip data, not text"),
    "twice_at_a_time_with_a_line_end.tsv.gz": (
        gzip.compress(lines("S", "T").encode(), mtime=0x0D0D0D0D),
        "gzip data, not text",
    ),
    "array_of_texts.jsonl": ('{"source": "a", "target": "b"}\n["a", "b"]\n', "line 2: not a JSON object"),
    "unquoted.csv": ("a,b\nc, d,e\n", "a text with the delimiter must be in quotes"),
    "one_column.csv": ("a\nb\n", "its rows have one column, and a pair has two"),
    "open_quote.csv": ('a,b\nc,"d\ne,f\n', "a quote is not closed, or not doubled"),
    "some_quotes.tsv": (lines("S", "T") + '"a\nb"\tc\n', "line 4: uneven columns: .* format csv reads it"),
    "sheet.xlsx": (zipped(), r"a zip archive or a spreadsheet, not text; unpack it .unzip .*, or save it as CSV"),
    "page.xml": ("<?xml version='1.0'?>\n<html/>\n", "XML, and neither TMX nor XLIFF"),
    "languages.tmx": (tmx("en", "de", "fr"), "has texts in en, de, fr, .* --data.format tmx:en,de"),
    "one_language.tmx": (tmx("en"), "has texts in en, and a pair has two$"),
    "cut.tmx": (tmx("en", "de")[:500], "damaged XML"),
    "two_targets.xlf": (xliff("1.2", "de", "fr"), "translations into de, fr"),
    "pairs.bz2": (bz2.compress(lines("S", "T").encode()), "bzip2 data"),
    "pairs.xz": (lzma.compress(lines("S", "T").encode()), "xz data"),
    "unnamed.tsv": (gzip.compress(lines("S", "T").encode()), "gzip data, not text; name it so: mv .*unnamed.tsv.gz"),
    "table.parquet": (b"PAR1\x15\x04\x15", "a Parquet table"),
    "excel.csv": (table(",", "S", "T").encode("utf-16"), "UTF-16"),
}
"""Files that are not read, and what is said of them."""
CONVERTED = {
    "tatoeba.tsv", "four.tsv", "licence.tsv", "score.tsv.gz", "coded.tsv.zst", "three.csv", "semicolons_too.csv",
    "three_bars.txt", "array.json", "wrapped.json", "mac.tsv", "mac.csv", "pairs.bz2", "pairs.xz", "unnamed.tsv",
    "sep.csv",
}  # fmt: skip
"""Those for which a command is named."""


def written(path: Path, content: str | bytes) -> Path:
    raw = content.encode() if isinstance(content, str) else content
    pack = {".gz": gzip.compress, ".zst": zstandard.ZstdCompressor().compress}.get(path.suffix, bytes)
    path.write_bytes(pack(raw))
    return path


def read(path: Path, format: str = "auto") -> tuple[list[tuple[str, str]], list[str]]:
    """The pairs of a file, and what was said of it."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        pairs = list(read_pairs(path, format=format))
    return pairs, [str(one.message) for one in said if issubclass(one.category, FormatNotice)]


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
@pytest.mark.parametrize("name", READ)
def test_what_is_safe_is_read_and_said_in_one_line(name: str, suffix: str, tmp_path: Path) -> None:
    content, notice = READ[name]
    path = written(tmp_path / f"{name}{suffix}", content)
    pairs, said = read(path)
    assert pairs == PAIRS
    if notice:
        assert len(said) == 1 and said[0].startswith(f"{path}: read as ") and re.search(notice, said[0]), said
    else:
        assert not said


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_safe_is_refused(name: str, tmp_path: Path) -> None:
    content, message = REFUSED[name]
    path = written(tmp_path / name, content)
    with pytest.raises(CorpusError, match=message) as caught:
        read(path)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize("name", sorted(CONVERTED))
def test_the_command_of_a_refusal_makes_a_file_that_is_read(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    folder.mkdir()
    path = written(folder / name, REFUSED[name][0])
    before = path.read_bytes()
    with pytest.raises(CorpusError) as caught:
        read(path)
    command = re.search(r"(?:convert it|unpack it|name it so): (.+?)(?:; or name them.*)?$", str(caught.value))
    assert command is not None
    subprocess.run(command[1].replace("python3", sys.executable, 1), shell=True, check=True, cwd=tmp_path)
    (made,) = [one for one in folder.iterdir() if one != path]
    assert read(made)[0] == PAIRS
    assert made.name.startswith(name) if name == "unnamed.tsv" else path.read_bytes() == before


@pytest.mark.parametrize(
    "name, format",
    [
        ("tatoeba.tsv", "tsv:3,5"),
        ("four.tsv", "tsv: 2, 4"),
        ("score.tsv.gz", "tsv:2,3"),
        ("three.csv", "csv:2,3"),
        ("three_bars.txt", "bars:1,2"),
        ("keys.jsonl", "jsonl:a,b"),
        ("languages.tmx", "tmx:en,de"),
    ],
)
def test_a_format_may_be_named_and_turned_round(name: str, format: str, tmp_path: Path) -> None:
    path = written(tmp_path / name, REFUSED[name][0])
    assert [(source.strip(), target) for source, target in read(path, format)[0]] == PAIRS
    kind, places = format.split(":")
    first, second = places.split(",")
    assert read(path, f"{kind}:{second},{first}")[0] == [(target, source) for source, target in PAIRS]


def test_columns_by_the_names_of_a_header(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", table(",", "#", "T", "S", header=("Nr", "Deutsch", "Englisch")))
    pairs, said = read(path, "csv:Englisch,Deutsch")
    assert pairs == PAIRS and "the header 'Nr, Deutsch, Englisch' is left out" in said[0]
    with pytest.raises(CorpusError, match="no columns French, Deutsch; its first line is Nr, Deutsch, Englisch"):
        read(path, "csv:French,Deutsch")
    with pytest.raises(CorpusError, match="no text 'en'; they have source, target"):
        read(written(tmp_path / "a.jsonl", objects()), "jsonl:en,source")
    with pytest.raises(CorpusError, match="no texts in 'fr'; there are en, de"):
        read(written(tmp_path / "a.tmx", tmx("en", "de")), "tmx:en,fr")


@pytest.mark.parametrize("name", ["header.tsv", "quoted.tsv", "bars.txt", "commas.csv"])
def test_as_tsv_a_file_is_read_as_it_stands(name: str, tmp_path: Path) -> None:
    content = str(READ[name][0])
    path = written(tmp_path / name, content)
    if "\t" not in content:
        with pytest.raises(CorpusError, match="line 1: uneven columns"):
            read(path, "tsv")
    else:
        expected = [tuple(line.split("\t")) for line in content.splitlines()]
        assert read(path, "tsv") == (expected, [])


@pytest.mark.parametrize("format", ["", "xlsx", "auto:1,2", "tsv:", "tsv:1", "tsv:1,1", "tsv:1,2,3", "tsv:,2"])
def test_a_format_that_there_is_not(format: str) -> None:
    with pytest.raises(ValueError, match="format"):
        DataConfig(format=format)


PLAIN = {
    "dialogue": '"Go!"\t"Los!"\n"Go," she said.\t"Los", sagte sie.\n',
    "dialogue and prose": '"Go, now!"\tLos, jetzt!\n"No, no."\tNein.\n"Yes, yes."\tJa.\n',
    "dialogue with a comma outside": '"Yes, sir."\tJa.\nWell, yes.\tJa.\n',
    "words": "it\tes\nno\tde\n",
    "words without a header": "source\tQuelle\ntarget\tZiel\n",
    "braces": "{a}\t{b}\n",
    "brackets": "[1]\t[2]\n",
    "bars within": "a ||| b\tc ||| d\n",
    "mark-up": "<?xml a\tb\n",
    "commas": "a,b\tc,d\n",
}


@pytest.mark.parametrize("what", PLAIN)
def test_text_that_only_looks_like_another_format_is_plain_tsv(what: str, tmp_path: Path) -> None:
    expected = [tuple(line.split("\t")) for line in PLAIN[what].splitlines()]
    assert read(written(tmp_path / "pairs.tsv", PLAIN[what])) == (expected, [])


SIDES = (
    st.text(alphabet='ab ",;|{}[]<>1:endsrctg\r\u2028\ufeff', min_size=1)
    .map(str.strip)
    .filter(lambda text: text and text.strip("\ufeff") == text)
)


@given(st.lists(st.tuples(SIDES, SIDES), min_size=1))
def test_plain_tsv_is_read_as_it_stands_or_something_is_said(pairs: list[tuple[str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder) / "pairs.tsv", "".join(f"{source}\t{target}\n" for source, target in pairs))
        try:
            found, said = read(path)
        except CorpusError as error:
            assert str(path) in str(error)
        else:
            assert said or found == pairs


@given(st.lists(st.tuples(SIDES, SIDES), min_size=2), st.sampled_from(",;\t"))
def test_csv_comes_back(pairs: list[tuple[str, str]], delimiter: str) -> None:
    """Whatever stands in the fields, as long as every field is in quotes; a header may be taken for one."""
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows(pairs)
    with tempfile.TemporaryDirectory() as folder:
        found, said = read(written(Path(folder) / "pairs.csv", file.getvalue()))
    expected = [tuple(re.sub(r"[\r\n]+", " ", side).strip() for side in pair) for pair in pairs]
    assert found == expected[len(pairs) - len(found) :] and len(said) == 1


def test_quotes_that_are_none_of_a_spreadsheets_are_refused_further_down(tmp_path: Path) -> None:
    path = written(tmp_path / "a.tsv", '"Ja."\t"Yes."\n' * 300 + '"Go," she said.\t"Los", sagte sie.\n')
    with pytest.raises(CorpusError, match=r"line 301: not CSV .*a quote is not closed, or not doubled"):
        read(path)
    assert len(read(path, "tsv")[0]) == 301


@pytest.mark.parametrize("kind", ["tsv", "csv", "bars", "jsonl"])
def test_for_scoring_every_line_stays_and_every_text_is_one_line(kind: str, tmp_path: Path) -> None:
    """A blank line and an empty side keep their places; a line end within a text becomes a space."""
    content = {
        "tsv": "\nsource\ttarget\na\tb\n\n\tc\nd\te\n",
        "csv": 'a,b\n\n"",c\n"d\r\n\td","e"\n',
        "bars": "a ||| b\n\n ||| c\nd ||| e\n",
        "jsonl": '{"src": "a", "tgt": "b"}\n\n{"src": null, "tgt": "c"}\n{"src": "d\\n\\td", "tgt": "e\\ud800"}\n',
    }[kind]
    with pytest.warns(FormatNotice):
        pairs = list(read_pairs(written(tmp_path / f"a.{kind}", content), keep_empty=True))
    last = {"tsv": ("d", "e"), "csv": ("d d", "e"), "bars": ("d", "e"), "jsonl": ("d d", "e\ufffd")}[kind]
    assert pairs == [("", "")] * (kind == "tsv") + [("a", "b"), ("", ""), ("", "c"), last]


def test_a_line_that_is_not_utf_8_is_no_other_format(tmp_path: Path) -> None:
    """Who cleans text counts such lines, and leaves them out."""
    path = written(tmp_path / "a.tsv", b"a\tb\nStra\xdfe\tc\n")
    assert recognised(path) == PairFormat()
    assert list(blocks(path, None)) == [(b"a\nStra\xdfe", b"b\nc")]


def test_a_row_of_another_width_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "a,b\n" * 300 + "c,d,e\n")
    with pytest.raises(CorpusError, match=r"a\.csv: row 301 has 3 columns, and not 2, as the others: .* in quotes"):
        read(path)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "tmx", "xliff"])
def test_an_empty_file_is_empty_in_every_format(kind: str, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="it is empty|a pair has two|damaged XML|no text"):
        read(written(tmp_path / f"a.{kind}", ""))


def test_a_corpus_is_known_by_how_it_is_read(tmp_path: Path) -> None:
    """What was encoded from a file is not used again for the same file in another format."""
    path = str(written(tmp_path / "a.tsv", "source\ttarget\na\tb\n"))
    with pytest.warns(FormatNotice):
        found = open_corpus(path, "train", DataConfig())
    as_it_stands = open_corpus(path, "train", DataConfig(format="tsv"))
    assert list(found) == [("a", "b")] and list(as_it_stands) == [("source", "target"), ("a", "b")]
    assert found.identity != as_it_stands.identity


def test_a_long_memory_is_read_in_little_memory(tmp_path: Path) -> None:
    import tracemalloc

    units = "<tu><tuv xml:lang='en'><seg>a</seg></tuv><tuv xml:lang='de'><seg>b</seg></tuv></tu>\n" * 20_000
    path = written(tmp_path / "a.tmx", f"<tmx><header srclang='en'/><body>{units}</body></tmx>")
    tracemalloc.start()
    assert sum(1 for _ in read_pairs(path, format="tmx")) == 20_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000


def fields_with_notes(source: str) -> list[tuple[ast.ClassDef, dict[str, str]]]:
    """The classes of a module, with their fields and what is written below each."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef):
            notes = {}
            for field, below in zip(node.body, node.body[1:], strict=False):
                if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr):
                    notes[ast.unparse(field.target)] = ast.unparse(below)
            found.append((node, notes))
    return found


def test_every_command_that_takes_files_of_pairs_takes_their_format() -> None:
    takes = 0
    for path in Path(annotated.cli.__file__).parent.glob("*.py"):
        for node, notes in fields_with_notes(path.read_text(encoding="utf-8")):
            if any("SOURCE,TARGET" in note for note in notes.values()):
                assert "format" in notes, f"{path.name}: {node.name}"
                takes += 1
    assert takes >= 3  # data show, data texts, evaluate; the others have DataConfig


def test_nothing_in_the_library_reads_pairs_without_a_word_on_their_format() -> None:
    """What a user asks for reaches every reading; our own files are read as we wrote them."""
    calls = []
    for path in Path(annotated.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                given = [keyword.arg for keyword in node.keywords]
                if node.func.id in ("read_pairs", "of_files"):
                    calls.append((f"{path.name}:{node.lineno}", "format" in given))
                if node.func.id == "open_corpus":
                    calls.append((f"{path.name}:{node.lineno}", ast.unparse(node.args[2]) != "DataConfig()"))
    assert len(calls) > 10
    assert not [where for where, passes_it_on in calls if not passes_it_on]

"""Files of sentence pairs: what comes out of good ones, and what is said about bad ones."""

from __future__ import annotations

import gzip
import os
import subprocess
import tracemalloc
from pathlib import Path

import pytest
import zstandard

from annotated.config import DataConfig
from annotated.data.corpora import CorpusError, PairCounts, open_corpus, read_lines, read_pairs
from annotated.wmt14.sources import of_files

PAIRS = [("The cat sleeps.", "Die Katze schläft."), ("two  spaces", "zwei\u2028Zeilen\x85?"), ("😀", "ﬁ")]


def tsv(pairs: list[tuple[str, str]]) -> bytes:
    return "".join(f"{source}\t{target}\n" for source, target in pairs).encode()


def written(path: Path, content: bytes) -> Path:
    pack = {".gz": gzip.compress, ".zst": zstandard.ZstdCompressor().compress}.get(path.suffix, bytes)
    path.write_bytes(pack(content))
    return path


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_pairs_come_back_exactly_from_every_kind_of_file(tmp_path, suffix):
    table = written(tmp_path / f"pairs.tsv{suffix}", tsv(PAIRS))
    assert list(read_pairs(table)) == PAIRS
    sides = [
        written(tmp_path / f"text.{name}{suffix}", "".join(pair[side] + "\n" for pair in PAIRS).encode())
        for side, name in enumerate(["en", "de"])
    ]
    assert list(read_pairs(f"{sides[0]},{sides[1]}")) == PAIRS


SPACES = " \u00a0\u3000\u2003\u2028\x0b\x85\r"


@pytest.mark.parametrize("space", SPACES)
def test_white_space_at_the_ends_is_nothing_to_learn(tmp_path, space):
    """As `Translator` reads a text: what training kept there, no input of the model would have."""
    path = written(tmp_path / "pairs.tsv", tsv([(f"{space}a b{space}", f"{space}c{space}"), (space, "d")]))
    assert list(read_pairs(path)) == [("a b", "c")]
    assert list(read_pairs(path, keep_empty=True)) == [("a b", "c"), ("", "d")]
    assert list(open_corpus(str(path), "test", DataConfig()).every_pair()) == [("a b", "c"), ("", "d")]


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_line_ends_of_windows_byte_order_mark_and_missing_last_line_end(tmp_path, suffix):
    path = written(tmp_path / f"pairs.tsv{suffix}", b"\xef\xbb\xbfa\tb\r\nc\td")
    assert list(read_pairs(path)) == [("a", "b"), ("c", "d")]


def test_pairs_with_an_empty_side_are_left_out_and_counted(tmp_path):
    path = written(tmp_path / "pairs.tsv", b"a\tb\n\tb\n a \t \n\nc\td\n")
    counts = PairCounts()
    assert list(read_pairs(path, counts)) == [("a", "b"), ("c", "d")]
    assert (counts.pairs, counts.empty) == (2, 3)


def test_a_comma_may_be_part_of_a_file_name(tmp_path):
    path = written(tmp_path / "a,b.tsv", b"a\tb\n")
    assert list(read_pairs(str(path))) == [("a", "b")]


@pytest.mark.parametrize("line, columns", [("only one", 1), ("a\tb\tc", 3)])
def test_uneven_columns_name_file_line_and_number(tmp_path, line, columns):
    path = written(tmp_path / "pairs.tsv", f"a\tb\n{line}\n".encode())
    with pytest.raises(CorpusError, match=rf"pairs\.tsv, line 2: uneven columns: .*found {columns}"):
        list(read_pairs(path))


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_bytes_that_are_not_utf8_are_located(tmp_path, suffix):
    path = written(tmp_path / f"pairs.tsv{suffix}", b"a\tb\nc\tsch\xe4n\n")
    with pytest.raises(CorpusError, match=r"line 2: byte 0xe4 at position 6 of the line is not UTF-8"):
        list(read_pairs(path))


@pytest.mark.parametrize("encoding", ["gb18030", "shift_jis", "windows-1252", "latin1", "koi8-r"])
def test_the_advice_on_an_encoding_names_what_it_may_be(tmp_path, encoding):
    """Latin-1 is named where the bytes are letters of it, and never as the only encoding that there is."""
    text = {"gb18030": "三", "shift_jis": "です", "koi8-r": "Кот"}.get(encoding, "“ä”" if "w" in encoding else "ä")
    path = written(tmp_path / "pairs.tsv", f"a\t{text}\n".encode(encoding))
    with pytest.raises(CorpusError) as caught:
        list(read_pairs(path))
    guess = "windows-1252" if encoding in ("shift_jis", "windows-1252") else "latin1"
    assert f"iconv -f {guess} -t utf-8 pairs.tsv; else" in str(caught.value) and "gb18030" in str(caught.value)


def test_one_line_of_another_encoding_is_no_reason_to_convert_the_file(tmp_path):
    path = written(tmp_path / "pairs.tsv", "a\tfünf\n".encode() + b"b\tf\xfcnf\n")
    with pytest.raises(CorpusError, match=r"line 2: .* not the file: mend it$"):
        list(read_pairs(path))


def test_line_ends_of_old_macs_are_named_in_two_files_too(tmp_path):
    for side in ("en", "de"):
        written(tmp_path / f"text.{side}", b"one\rtwo\rthree")
    with pytest.raises(CorpusError, match="its lines end as on old Macs; convert it: tr"):
        list(read_pairs(f"{tmp_path / 'text.en'},{tmp_path / 'text.de'}"))
    one = written(tmp_path / "one.txt", b"one\rtwo\nthree\n")
    assert list(read_lines(one)) == ["one\rtwo", "three"]


NO_SENTENCES = {
    "a.sgm": ('<refset setid="n" trglang="de">\n<doc docid="1">\n<seg id="1"> eins </seg>\n</doc>\n', "mark-up"),
    "a.html": ("\n<!DOCTYPE html>\n<p>eins</p>\n", "mark-up"),
    "a.srt": ("1\n00:00:01,000 --> 00:00:02,000\neins\n", "subtitles"),
    "a.vtt": ("WEBVTT\n\n00:01.000 --> 00:02.000\neins\n", "subtitles"),
    "a.po": ('# German\nmsgid ""\nmsgstr ""\n', "a gettext catalogue"),
}


@pytest.mark.parametrize("name", NO_SENTENCES)
def test_files_of_one_language_that_hold_no_sentences_are_refused(tmp_path, name):
    content, what = NO_SENTENCES[name]
    path, other = written(tmp_path / name, content.encode()), written(tmp_path / "text", content.encode())
    message = f"{what}.* and not text, one sentence a line; "
    with pytest.raises(CorpusError, match=message) as caught:
        list(read_pairs(f"{other},{path}"))
    with pytest.raises(CorpusError, match=message):
        of_files({"own": f"{other},{path}"}, valid=f"{other},{other}", test=path, pair="en-de")
    if name == "a.sgm":
        command = str(caught.value).partition("take the sentences out: ")[2]
        done = subprocess.run(command, shell=True, input=content, text=True, capture_output=True, check=True)
        assert done.stdout == "eins \n"
    for plain in ("1\n2\n", "<b>fett</b>\n", "msgid, die\n", "# 1\n"):
        sides = [written(tmp_path / side, plain.encode()) for side in ("x", "y")]
        assert list(read_pairs(f"{sides[0]},{sides[1]}"))


@pytest.mark.skipif(os.name != "posix", reason="named pipes")
def test_a_pipe_is_named_and_waits_for_nobody(tmp_path):
    os.mkfifo(tmp_path / "pairs.tsv")
    for corpus in (tmp_path / "pairs.tsv", f"{tmp_path / 'pairs.tsv'},{tmp_path / 'pairs.tsv'}", "/dev/null"):
        with pytest.raises(CorpusError, match="a pipe or a device"):
            open_corpus(str(corpus), "train", DataConfig())


@pytest.mark.parametrize("shorter", ["en", "de"])
def test_files_of_different_length_name_the_shorter_and_the_line(tmp_path, shorter):
    lines = {"en": b"1\n2\n3\n", "de": b"1\n2\n3\n", shorter: b"1\n2\n"}
    for name, content in lines.items():
        written(tmp_path / f"text.{name}", content)
    with pytest.raises(CorpusError, match=rf"text\.{shorter}: ends after line 2"):
        list(read_pairs(f"{tmp_path / 'text.en'},{tmp_path / 'text.de'}"))


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_truncated_compressed_files_are_never_taken_for_whole_ones(tmp_path, suffix):
    pairs = [(os.urandom(40).hex(), os.urandom(40).hex()) for _ in range(3000)]
    path = written(tmp_path / f"pairs.tsv{suffix}", tsv(pairs))
    whole = path.read_bytes()
    for kept in (3, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:kept])
        read = []
        with pytest.raises(CorpusError, match=r"incomplete: .* break off after line (\d+)") as caught:
            for pair in read_pairs(path):
                read.append(pair)
        assert read == pairs[: len(read)], "only whole lines may come out of a broken file"
        assert f"after line {len(read)};" in str(caught.value)


def test_a_second_zstandard_frame_is_read_and_its_truncation_seen(tmp_path):
    frames = [zstandard.ZstdCompressor().compress(tsv([pair])) for pair in PAIRS]
    path = tmp_path / "pairs.tsv.zst"
    path.write_bytes(b"".join(frames))
    assert list(read_pairs(path)) == PAIRS
    path.write_bytes(b"".join(frames)[:-1])
    with pytest.raises(CorpusError, match="incomplete"):
        list(read_pairs(path))


def test_a_zstandard_file_made_with_a_long_window_is_read(tmp_path):
    parameters = zstandard.ZstdCompressionParameters(window_log=28)  # `zstd --long=28`, twice the library's limit
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    (tmp_path / "pairs.tsv.zst").write_bytes(packer.compress(tsv(PAIRS)) + packer.flush())
    assert list(read_pairs(tmp_path / "pairs.tsv.zst")) == PAIRS


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_damaged_and_misnamed_compressed_files(tmp_path, suffix):
    path = written(tmp_path / f"pairs.tsv{suffix}", tsv([(os.urandom(40).hex(), "x") for _ in range(3000)]))
    content = bytearray(path.read_bytes())
    content[len(content) // 2 :] = bytes(len(content) - len(content) // 2)
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=r"damaged|incomplete|not UTF-8|uneven"):
        list(read_pairs(path))
    path.write_bytes(tsv(PAIRS))
    with pytest.raises(CorpusError, match="whatever its name says"):
        list(read_pairs(path))


def test_missing_folder_empty_and_all_empty(tmp_path):
    with pytest.raises(CorpusError, match=r"nowhere\.tsv: no such file"):
        list(read_pairs(tmp_path / "nowhere.tsv"))
    with pytest.raises(CorpusError, match="a folder, not a file"):
        list(read_pairs(tmp_path))
    for suffix in ("", ".gz", ".zst"):
        with pytest.raises(CorpusError, match="it is empty"):
            list(read_pairs(written(tmp_path / f"empty.tsv{suffix}", b"")))
    (tmp_path / "zero.tsv.zst").write_bytes(b"")
    with pytest.raises(CorpusError, match="it is empty"):
        list(read_pairs(tmp_path / "zero.tsv.zst"))
    with pytest.raises(CorpusError, match="all of its 2 pairs have an empty side"):
        list(read_pairs(written(tmp_path / "blank.tsv", b"\tb\na\t\n")))


@pytest.mark.parametrize("spec", ["a,b,c", "a,", ","])
def test_a_specification_that_is_neither_one_file_nor_two(spec):
    with pytest.raises(CorpusError, match="SOURCE,TARGET"):
        list(read_pairs(spec))


def test_a_binary_file_without_lines_is_not_collected_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("annotated.text.text_files._LONGEST_LINE", 100_000)
    with pytest.raises(CorpusError, match="is this text"):
        list(read_lines(written(tmp_path / "blob.gz", bytes(1_000_000))))


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_reading_takes_the_same_memory_however_long_the_file(tmp_path, suffix):
    content = b"".join(os.urandom(50).hex().encode() + b"\n" for _ in range(100_000))  # 10 MB
    path = written(tmp_path / f"text{suffix}", content)
    tracemalloc.start()
    assert sum(1 for _ in read_lines(path)) == 100_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4_000_000


def test_a_corpus_is_read_again_and_its_identity_follows_its_file(tmp_path):
    path = written(tmp_path / "pairs.tsv", b"a\tb\n\tx\nc\td\n")
    corpus = open_corpus(str(path), "train", DataConfig())
    assert list(corpus) == list(corpus) == [("a", "b"), ("c", "d")]
    assert (corpus.counts.pairs, corpus.counts.empty) == (2, 1)
    assert list(corpus.texts()) == ["a", "b", "c", "d"]
    assert open_corpus(str(path), "valid", DataConfig()).identity == corpus.identity
    written(path, b"a\tb\nc\td\ne\tf\n")
    assert open_corpus(str(path), "train", DataConfig()).identity != corpus.identity


def test_the_classroom_is_a_corpus_like_any_other():
    config = DataConfig(classroom_pairs=300)
    train = open_corpus("classroom", "train", config)
    pairs = list(train)
    assert pairs == list(train), "read again, it gives the same pairs"
    assert len(pairs) == train.counts.pairs == 300
    assert all(source.strip() and target.strip() for source, target in pairs)
    test = open_corpus("classroom", "test", config)
    assert not {source for source, _ in pairs} & {source for source, _ in test}
    again = open_corpus("classroom", "train", config)
    other = open_corpus("classroom", "train", DataConfig(classroom_pairs=301))
    assert len({train.identity, again.identity, other.identity, test.identity}) == 3
    with pytest.raises(ValueError, match="no split"):
        open_corpus("classroom", "exam", config)


def test_opening_a_missing_corpus_fails_at_once(tmp_path):
    with pytest.raises(CorpusError, match="no such file"):
        open_corpus(f"{tmp_path / 'a'},{tmp_path / 'b'}", "train", DataConfig())


def test_real_text(shared_data):
    pairs = list(read_pairs(shared_data / "test.tsv"))
    assert all(source.strip() and target.strip() for source, target in pairs)
    for count, pair in enumerate(read_pairs(shared_data / "train.tsv.zst"), start=1):
        assert len(pair) == 2
        if count == 2000:
            break
    assert count == 2000


@pytest.mark.parametrize("nothing", ["", " ", "\u200b", "\ufeff", "\u3000\u00ad", "\x00"])
def test_a_side_with_nothing_to_see_is_empty(tmp_path, nothing):
    path = tmp_path / "pairs.tsv"
    path.write_text(f"a\tb\nc\t{nothing}\n{nothing}\td\n", encoding="utf-8")
    counts = PairCounts()
    assert list(read_pairs(path, counts)) == [("a", "b")] and counts.empty == 2

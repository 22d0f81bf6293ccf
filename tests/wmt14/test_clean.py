"""Each rule of cleaning, duplicates, overlap and shards, on cases made by hand."""

from __future__ import annotations

import gzip
import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotated.text.text_files import CorpusError
from annotated.wmt14 import sources
from annotated.wmt14.clean import RULES, CleaningLimits, clean_block
from annotated.wmt14.encode import ranges
from annotated.wmt14.options import PreparationError, PreparationOptions
from annotated.wmt14.overlap import Seen, first_of_each, folded, hash_lines, split_block
from annotated.wmt14.sources import blocks
from annotated.wmt14.workers import in_order

pytestmark = pytest.mark.process

LIMITS = CleaningLimits(max_words=5, max_ratio=3, max_word_length=12, scripts=("Latin", "Latin"))


def test_a_language_without_spaces_is_measured_by_its_characters() -> None:
    english = "The two old cats sleep in the garden behind the house."  # 11 words
    chinese, thai = "两只老猫在房子后面的花园里睡觉。", "แมวแก่สองตัวนอนหลับอยู่ในสวนหลังบ้าน"
    limits = CleaningLimits(max_words=12, max_ratio=2, max_word_length=12, scripts=("Latin", ""))
    for text in (chinese, thai):
        assert clean_block((english.encode(), text.encode()), limits).kept == 1
        assert clean_block((b"The cat.", (4 * text).encode()), limits).dropped["long"] == 1
        assert clean_block((b"The cat.", text.encode()), limits).dropped["ratio"] == 1
    assert clean_block(("https://example.org/a/b/c 猫".encode(), "猫".encode()), limits).dropped["word"] == 1


@pytest.mark.parametrize(
    "rule, source, target, harmless",
    [
        ("empty", "a", "", ("a", "b")),
        ("broken", "caf\ufffd", "Café", ("café", "Café")),
        ("broken", "a", "Gr\x84fin", ("a", "Gräfin")),
        ("long", "a b c d e f", "a b c d e g", ("a b c d e", "a b c d f")),
        ("ratio", "a", "b c d e", ("a", "b c d")),
        ("word", "a" * 13, "b", ("a" * 12, "b")),
        ("markup", "a <b>big</b>", "b", ("a < b > c", "a <3 b")),
        ("markup", "a", "b <br/>", ("a<1", "x > y")),
        ("identical", "Berlin", "Berlin", ("Berlin", "Berlin!")),
        ("script", "Привет, you", "Hallo", ("alpha α", "Alpha α")),
        ("script", "Hello", "日本語 ja", ("Hello 日", "Hallo 日")),
    ],
)
def test_each_rule_takes_its_pair_alone_and_can_be_left_off(rule, source, target, harmless) -> None:
    def dropped(pair: tuple[str, str], without: tuple[str, ...] = ()) -> dict[str, int]:
        return dict(clean_block((pair[0].encode(), pair[1].encode()), LIMITS, without).dropped)

    assert dropped((source, target)) == {rule: 1}
    assert dropped((source, target), without=(rule,)) == {}
    assert dropped(harmless) == {}


def test_every_rule_has_a_name_and_a_reason() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert all(len(rule.why) > 30 for rule in RULES)
    with pytest.raises(PreparationError, match="no rule lang; the rules are empty, broken, long"):
        PreparationOptions(without=("lang",))


def test_a_script_is_asked_only_of_languages_that_are_known() -> None:
    block = (b"Hello", "Привет".encode())
    assert clean_block(block, LIMITS).dropped["script"] == 1
    assert clean_block(block, CleaningLimits(5, 3, 12, ("Latin", ""))).kept == 1


def test_lines_that_are_not_utf8_are_left_out_and_their_neighbours_kept() -> None:
    block = b"one\nsch\xe4n\nthree", b"eins\nzwei\ndr\xc3\xa4i"
    cleaned = clean_block(block, LIMITS)
    assert cleaned.text.decode() == "one\teins\nthree\tdräi\n"
    assert (cleaned.read, cleaned.kept, dict(cleaned.dropped)) == (3, 2, {"not UTF-8": 1})


@given(st.lists(st.sampled_from([b"a", b"b", b"c", b"dd", b""])))
def test_the_first_of_equal_lines_stays(lines: list[bytes]) -> None:
    seen: set[bytes] = set()
    expected = [line not in seen and not seen.add(line) for line in lines]  # type: ignore[func-returns-value]
    assert first_of_each(hash_lines(lines)).tolist() == expected


def test_a_hash_is_the_beginning_of_blake2b() -> None:
    import hashlib

    expected = int.from_bytes(hashlib.blake2b(b"a\tb", digest_size=8).digest(), "little")
    assert hash_lines([b"a\tb"]).tolist() == [expected]


def test_overlap_is_found_whatever_case_and_punctuation() -> None:
    seen = Seen.of("test", [("The big cat sees the dog.", "Die Katze."), ("Yes.", "Ja.")], words=6)
    assert folded("The BIG cat -- sees the dog!") == "thebigcatseesthedog" and folded("STRASSE") == folded("Straße")
    cases = {
        ("the big cat sees the dog", "die katze"): "pair",
        ("The big cat sees the dog!", "Etwas anderes."): "source",
        ("yes", "JA"): "pair",  # a pair counts whatever its length
        ("Yes.", "Jawohl."): None,  # a short side does not
        ("Another sentence.", "Die Katze."): None,
    }
    for (source, target), expected in cases.items():
        assert seen.how(folded(source), folded(target)) == expected
    lines = "".join(f"{source}\t{target}\n" for source, target in cases).encode()
    block = (lines, np.array([True, True, True, True, False]))
    removed, counted = (split_block(block, (seen,), remove) for remove in (True, False))
    assert removed.text.decode() == "Yes.\tJawohl.\n"
    assert dict(removed.overlap) == dict(counted.overlap) == {"test pair": 2, "test source": 1}
    assert (removed.kept, counted.kept, removed.duplicates) == (1, 4, 1)


@pytest.mark.parametrize("lines", [1, 2, 3, 7, 50])
@pytest.mark.parametrize("read_bytes", [5, 1 << 20])
def test_shards_cut_the_text_after_whole_lines(tmp_path: Path, monkeypatch, lines: int, read_bytes: int) -> None:
    monkeypatch.setattr("annotated.wmt14.encode._READ_BYTES", read_bytes)
    text = [f"{'ä' * (number % 5)}{number}\n".encode() for number in range(21)]
    path = tmp_path / "text"
    path.write_bytes(b"".join(text))
    pieces = [path.read_bytes()[shard.start : shard.end] for shard in ranges(path, lines)]
    assert pieces == [b"".join(text[start : start + lines]) for start in range(0, 21, lines)]
    assert [shard.number for shard in ranges(path, lines)] == list(range(len(pieces)))


def test_an_empty_text_has_no_shards(tmp_path: Path) -> None:
    (tmp_path / "text").touch()
    assert ranges(tmp_path / "text", 5) == []


def test_blocks_of_two_files_and_of_a_table_are_the_same(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(sources, "BLOCK_PAIRS", 3)
    pairs = [(f"s{number}", f"t{number}") for number in range(7)]
    (tmp_path / "a").write_text("".join(f"{source}\n" for source, _ in pairs))
    (tmp_path / "b.gz").write_bytes(gzip.compress("\n".join(target for _, target in pairs).encode()))
    (tmp_path / "c.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in pairs))
    found = list(blocks(tmp_path / "a", tmp_path / "b.gz"))
    assert found == list(blocks(tmp_path / "c.tsv", None))
    assert [block[0] for block in found] == [b"s0\ns1\ns2", b"s3\ns4\ns5", b"s6"]


@pytest.mark.parametrize("size", [2, 3, 100])
def test_sides_of_different_length_name_the_shorter(tmp_path: Path, monkeypatch, size: int) -> None:
    monkeypatch.setattr(sources, "BLOCK_PAIRS", size)
    (tmp_path / "a").write_text("1\n2\n3\n4\n5\n6\n")
    (tmp_path / "b").write_text("1\n2\n3\n4\n")
    with pytest.raises(CorpusError, match="b: ends after line 4, but .*a goes on"):
        list(blocks(tmp_path / "a", tmp_path / "b"))
    with pytest.raises(CorpusError, match="b: ends after line 4, but .*a goes on"):
        list(blocks(tmp_path / "b", tmp_path / "a"))


def test_an_uneven_table_names_the_line(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(sources, "BLOCK_PAIRS", 2)
    (tmp_path / "c.tsv").write_text("a\tb\nc\td\ne\n")
    with pytest.raises(CorpusError, match="c.tsv, line 3: uneven columns: expected 2 .*found 1"):
        list(blocks(tmp_path / "c.tsv", None))


def _slow_square(number: int) -> int:
    time.sleep(0.02 * (3 - number % 4))  # later ones end first
    return number * number


def _die_at_three(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def _refuse_three(number: int) -> int:
    if number == 3:
        raise PreparationError("three")
    return number


@pytest.mark.parametrize("jobs", [1, 3])
def test_results_come_in_the_order_of_the_work(jobs: int) -> None:
    assert list(in_order(_slow_square, range(12), jobs)) == [number * number for number in range(12)]


def test_a_killed_worker_is_an_error_with_advice_and_not_an_endless_wait() -> None:
    with pytest.raises(PreparationError, match="was killed, most likely because memory ran out.*fewer --jobs"):
        list(in_order(_die_at_three, range(100), 2))


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_in_a_worker_is_the_error(jobs: int) -> None:
    with pytest.raises(PreparationError, match="three"):
        list(in_order(_refuse_three, range(100), jobs))

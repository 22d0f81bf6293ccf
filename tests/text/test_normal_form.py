"""The normal form of a line of text: by hand, as a property, and as every reader of a tokenizer's file applies it."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotated.data import Tokenizer
from annotated.data.byte_level import normalizer
from annotated.text.normal_form import EARLIER_INVISIBLE, INVISIBLE, normalise

AWKWARD = (
    " \t\r\n\x00\x1c\x1f\x7f\x85\xa0\xada\u0301\u0308o\u1680\u180e\u200b\u200c\u200d\u2028\u202e"
    "\u2060\u3000\ufe0f\ufeff\u0628\u061c\u2067\u2069\u0915\u094d\U0001f468"
)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("  The\tcat \u00a0 sleeps.\r", "The cat sleeps."),
        ("Mu\u0308ller", "Müller"),
        ("Auto\u00adbahn \ufeffhier\u200b", "Autobahn hier"),
        ("ca\x02t\x1f s\x7fits", "cat sits"),
        ("one\u2028two\x85three", "one two three"),
        ("“quoted” – and … ½ ﬁ", "“quoted” – and … ½ ﬁ"),
        ("😀 日本", "😀 日本"),
        ("می\u200cخواهم \u200cب\u200c", "می\u200cخواهم ب"),
        ("क्\u200dष 👨\u200d👩\u200d👧\ufe0f\u200d👦", "क्\u200dष 👨\u200d👩\u200d👧\ufe0f\u200d👦"),
        ("Auf\u200clage \u200dx\u200d\u200d ب\u200c\u200cب\u200d", "Auflage x ب\u200cب"),
        ("\u061cسلام \u2067ب\u2069\u206a", "سلام ب"),
        (" \u3000 ", ""),
    ],
)
def test_normalise_changes_what_no_reader_sees(text: str, expected: str) -> None:
    assert normalise(text) == expected


@given(st.text(st.sampled_from("a \u200c\u200d\u0628\u0915\U0001f468\ufe0f\u0301\u200b")))
def test_joiners_stay_as_they_are_once_they_are_kept(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    assert not once.startswith(("\u200c", "\u200d")) and "a\u200c" not in once and "\u200d " not in once


@given(st.text())
def test_normalised_text_fits_a_tsv_file_and_stays_as_it_is(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    assert once == once.strip() and "  " not in once and not set(once) & set("\t\n\r\x00\x1f\u2028\ufeff")
    assert unicodedata.is_normalized("NFC", once)


# Beyond the first plane, each version of Unicode adds characters that another library does not know.
@given(st.one_of(st.text(st.characters(max_codepoint=0xFFFF)), st.text(st.sampled_from(AWKWARD))))
def test_a_tokenizers_file_says_the_same_as_the_readable_function(text: str) -> None:
    assert normalizer().normalize_str(text) == normalise(text)


def test_a_tokenizer_of_an_earlier_version_keeps_its_form(tmp_path: Path) -> None:
    """It was trained on text with Arabic letter marks and isolates, and reads them still."""
    path = tmp_path / "tokenizer.json"
    tokenizer = Tokenizer.train(["ab ab"] * 3, 270, normal_form=True)
    tokenizer.save(path)
    content = json.loads(path.read_text("utf-8"))
    assert content["normalizer"]["normalizers"][0]["pattern"]["Regex"] == INVISIBLE != EARLIER_INVISIBLE
    content["normalizer"]["normalizers"][0]["pattern"]["Regex"] = EARLIER_INVISIBLE
    path.write_text(json.dumps(content), encoding="utf-8")
    earlier = Tokenizer.load(path)
    assert earlier.normal_form and earlier.decode(earlier.encode(" \u200bab\u061c")) == "ab\u061c"
    assert tokenizer.decode(tokenizer.encode(" \u200bab\u061c")) == "ab"
    content["normalizer"]["normalizers"][0]["pattern"]["Regex"] = "[a-z]"
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ValueError, match="changes the text"):
        Tokenizer.load(path)

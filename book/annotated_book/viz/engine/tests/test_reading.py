"""What a panel says of a reader's sentence: words that the model has never read, and a sentence that it knows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import annotated
from annotated.classroom import classroom_pairs
from annotated_book.viz.engine.script import FOLDER, words_and_sentences
from book.tests.javascript import evaluate

EVERYDAY = Path(__file__).with_name("everyday.txt").read_text(encoding="utf-8").splitlines()
"""Two hundred sentences that a visitor may type."""


def read(work: str, texts: Any) -> Any:
    """What `work`, JavaScript with `reading` and `texts`, returns."""
    code = f"({{ Reading }}, [data, texts]) => {{ const reading = new Reading(data); return {work}; }}"
    return evaluate(FOLDER / "reading.js", code, [words_and_sentences(), texts])


def test_words_of_everyday_sentences_are_known_if_the_training_text_has_them() -> None:
    """By another way of cutting words, on the sentences of which every word has small letters but the first."""
    words = {word for pair in classroom_pairs("train", 20_000) for word in pair.source_words}
    plain = [text for text in EVERYDAY if re.fullmatch(r"[A-Z][a-z]*( [a-z]+)+[.?!]", text)]
    assert len(EVERYDAY) == 200 and len(plain) > 120
    expected = []
    for text in plain:
        first, *rest = text[:-1].split()
        strange = [] if first in words or first.lower() in words else [first]
        expected.append([*strange, *(word for word in rest if word not in words)])
    assert read("texts.map(text => reading.unknown(text).map(one => one.word))", plain) == expected
    assert sum(map(bool, expected)) > 40, "some have strange words"


def test_each_everyday_sentence_is_answered_with_one_that_the_model_knows() -> None:
    found = read("texts.map(text => [reading.notes(text), reading.instead(text).sentence])", EVERYDAY)
    instead = [other for notes, other in found if notes]
    assert len(instead) > 100 and read("texts.flatMap(text => reading.notes(text))", instead) == []


@pytest.mark.parametrize(
    ("text", "note", "instead"),
    [
        (
            "the cat sleeps",
            "At the beginning of a sentence it has read “The” in this spelling only.",
            "The cat sleeps.",
        ),
        ("Where is the dog", "Its sentences end with a full stop, “?” or “!”.", "Where is the dog?"),
        ("THE CAT SLEEPS.", "It has read “cat” and “sleeps” in this spelling only.", "The cat sleeps."),
        ("anna has a dog.", "it has read “Anna” in this spelling only.", "Anna has a dog."),
        ("The cat sleeps. The dog sleeps.", "of several it often translates the first only", "The cat sleeps."),
        ("The " + "old " * 30 + "cat sleeps.", "this text has 34", None),
        ("She has 3 red cats, e.g. old ones.", "never read “e.g”", None),
        ("x" * 300, "“xxxxxxxxxxxxxxxxxxxxxxxx …”", None),
        ("Der Hund", "never read “Der” or “Hund”", None),
        ("The 🍎 is red.", "never read “🍎”", None),
    ],
)
def test_a_note_says_what_is_unlike_the_training_text(text: str, note: str, instead: str | None) -> None:
    notes, other = read("[reading.notes(texts), reading.instead(texts).sentence]", text)
    assert note in " ".join(notes) and (other == instead or instead is None)


def test_titles_numbers_and_times_are_no_strange_words() -> None:
    known = ["Mr. Klein sees the dog.", "She buys 12 books at 10:30.", "He came in 1987.", "Anna's dog sleeps."]
    assert read("texts.map(text => reading.notes(text))", known) == [[]] * 4


def test_words_are_offered_from_their_second_letter() -> None:
    offered = read(
        "texts.map(text => reading.completions(text))", ["The gra", "The g", "", "gra", "The cat sees the umb"]
    )
    assert set(offered[0]) == {"The grandmother", "The grandfather", "The grandmother's", "The grandfather's"}
    assert offered[1] == offered[2] == [] and "Grandmother" in offered[3]
    assert "The cat sees the umbrella" in offered[4]


def test_a_word_is_strange_unless_it_may_still_become_a_known_one() -> None:
    texts = ["Hello, how are you?", "The cat sleeps.", "The gra", "T", "The gra sleeps.", "the cat sleeps.", "Hell"]
    found = read("texts.map(text => [reading.strange(text).map(({ word }) => word), reading.neverRead(text)])", texts)
    assert [words for words, _ in found] == [["Hello", "how"], [], [], [], ["gra"], ["the"], ["Hell"]]
    assert [quoted for _, quoted in found][:2] == ["“Hello”", ""], "it has read “how” as “How”"


def test_the_sentences_have_nearly_every_word_and_no_number() -> None:
    data = words_and_sentences()
    found = " ".join(data["sentences"])
    assert data["longest"] == 22 and sum(word not in found for word in data["words"]) < 10
    assert not any(re.match(r"\d", word) for word in data["words"])


@pytest.mark.parametrize("count", [30, pytest.param(400, marks=pytest.mark.nightly)])
def test_the_model_is_sure_of_its_own_test_sentences_only(translator: annotated.Translator, count: int) -> None:
    own = [pair.source for pair in classroom_pairs("test", count)]
    jobs = []
    for source in [*own, "I love you.", "You see me."]:
        found = translator.score(source, translator.translate([source], beam_size=1)[0])
        jobs.append({"logProbability": found.log_probability, "steps": [0] * (len(found.tokens) + 1)})
    doubts = read("texts.map(one => reading.doubts(one).length)", jobs)
    assert doubts == [0] * count + [1, 1]

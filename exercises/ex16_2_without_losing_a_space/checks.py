"""Checks of ex16-2: byte-level encoding that loses nothing.

Paper: section 5.1
"""

from typing import Any

from annotated_grader import Case, Student, expect, graded

ENTRIES = ("the ", "the", " the", "er", " d", "un", "und", " und ", "in", "ing", "sch", "ei", "oo", "ou", "re", "Haus")
WORDS = ("the", "tree", "under", "Haus", "singing", "house", "rot", "und", "schein", "door")
CHARACTERS = ("ü", "ß", "é", "漢", "🍵", "👩‍🚀", "u\u0308", "\ufeff")
MARKS = ("<unk>", "@@", "a@@ b", "▁", "##ing", "</s>", "|")


def vocabulary(case: Case) -> list[str]:
    """The entries, in random order on the larger cases."""
    return [ENTRIES[int(i)] for i in case.permutation(len(ENTRIES))] if case.level else list(ENTRIES)


def sentence(case: Case, words: tuple[str, ...], spaces: tuple[str, ...] = (" ",)) -> str:
    """Random words with random white space after each but the last."""
    count = 2 + case.between(1, 5)
    text = ""
    for _ in range(count):
        text += words[int(case.integers(0, len(words), 1))] + spaces[int(case.integers(0, len(spaces), 1))]
    return text.removesuffix(" ")


def reference(text: str, entries: list[str]) -> list[int]:
    """The longest entry at each place, on bytes, found by sorting."""
    data, ids = text.encode(), []
    by_length = sorted(range(len(entries)), key=lambda k: -len(entries[k].encode()))
    while data:
        k = next((k for k in by_length if data.startswith(entries[k].encode())), None)
        ids.append(data[0] if k is None else 256 + k)
        data = data[1 if k is None else len(entries[k].encode()) :]
    return ids


def encoded(student: Student, text: str, entries: list[str]) -> list[int]:
    """The answer's ids of a text."""
    ids: Any = student.call("encode", text, entries)
    numbers = isinstance(ids, list) and all(type(i) is int and 0 <= i < 256 + len(entries) for i in ids)
    expect.true(numbers, "`encode` must return a list of ids below 256 + len(vocabulary)", text=text, got=ids)
    return ids


def comes_back(student: Student, text: str, entries: list[str], what: str) -> None:
    """Encoded by the answer, and decoded by it: the same text."""
    ids = encoded(student, text, entries)
    same = student.call("decode", ids, entries)
    expect.true(isinstance(same, str), "`decode` must return a text", ids=ids, got=same)
    if same != text:
        raise expect.Failed(f"{what}: {text!r} came back as {same!r}", got=same, expected=text, inputs={"ids": ids})


@graded(points=2, levels=3, claim="C35")
def the_longest_entry_that_fits(student: Student, case: Case) -> None:
    """At each place the longest entry of the vocabulary is taken, also inside words and across a space."""
    entries = vocabulary(case)
    text = "under the door" if case.level == 0 else sentence(case, WORDS) + " singing und the Haus"
    got = encoded(student, text, entries)
    expect.equal(got, reference(text, entries), "the ids", text=text, vocabulary=entries)


@graded(points=2, levels=3)
def white_space_comes_back(student: Student, case: Case) -> None:
    """Two spaces, a tab, a line break and spaces at the ends come back."""
    spaces = ("  ", "\t", "\n", "\r\n", " \u00a0", "   ")
    text = " a  b\n" if case.level == 0 else " " + sentence(case, ("7", "x", "un"), spaces) + "\n"
    comes_back(student, text, vocabulary(case), "white space")


@graded(points=2, levels=3)
def every_character_comes_back(student: Student, case: Case) -> None:
    """Umlauts, emoji and characters of other alphabets come back as they were."""
    text = "ü" if case.level == 0 else sentence(case, CHARACTERS) + case.choice(["🍵", "\ufeff", "ñ"]) + "u\u0308"
    comes_back(student, text, vocabulary(case), "a rare character")


@graded(points=1, levels=3)
def marks_are_text(student: Student, case: Case) -> None:
    """Text that looks like a mark of the tokenizer comes back as it was."""
    text = "a@@ b <unk> ▁c" if case.level == 0 else sentence(case, MARKS) + " @@ <unk> ▁"
    comes_back(student, text, vocabulary(case), "a mark in the text")


@graded(points=2, levels=3)
def ids_that_break_a_character(student: Student, case: Case) -> None:
    """Ids from a model: bytes of one character are put together, and broken ones become U+FFFD."""
    entries, whole = vocabulary(case), case.choice(["é", "漢", "🍵"])
    data = list(whole.encode())
    k = case.between(0, len(entries) - 1)
    for ids, expected in (
        ([*data, 256 + k, *data], whole + entries[k] + whole),
        ([97, data[0], 98], "a\ufffdb"),
        ([97, 255, 98], "a\ufffdb"),
    ):
        got = student.call("decode", ids, entries)
        expect.true(isinstance(got, str), "`decode` must return a text", ids=ids, got=got)
        if got != expected:
            message = f"decode({ids}): expected {expected!r}, got {got!r}"
            raise expect.Failed(message, got=got, expected=expected, inputs={"vocabulary": entries})

"""Small tasks that a script can make: pairs of lines of a dozen kinds, from a seed.

Nearly every target has four words or more, because BLEU counts runs of four.
"""

from __future__ import annotations

import datetime
import itertools
import random
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from annotated.classroom import classroom_pairs
from annotated.data.corpora import read_pairs

Pair = tuple[str, str]
REAL_TEXT = Path("../shared/data/en-de/train.tsv.zst")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_EINS = (
    "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn "
    "achtzehn neunzehn"
).split()
_ZEHN = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()


def english(number: int) -> str:
    """A number below a million in English words."""
    if number < 20:
        return _ONES[number]
    if number < 100:
        return _TENS[number // 10 - 2] + (f" {_ONES[number % 10]}" if number % 10 else "")
    size, name = (100, "hundred") if number < 1000 else (1000, "thousand")
    rest = f" {english(number % size)}" if number % size else ""
    return f"{english(number // size)} {name}{rest}"


def german(number: int) -> str:
    """A number below a million in German words, with a space between its parts."""
    if number < 20:
        return "eins" if number == 1 else _EINS[number]
    if number < 100:
        ones = f"{_EINS[number % 10]} und " if number % 10 else ""
        return ones + _ZEHN[number // 10 - 2]
    size, name = (100, "hundert") if number < 1000 else (1000, "tausend")
    rest = f" {german(number % size)}" if number % size else ""
    return f"{re.sub('eins$', 'ein', german(number // size))} {name}{rest}"


def plural(noun: str) -> str:
    """The regular plural of an English noun."""
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    if noun.endswith("f"):
        return noun[:-1] + "ves"
    return noun + "s"


def swapped(word: str) -> str:
    """The letters of a word, each two neighbours exchanged."""
    return "".join(word[at : at + 2][::-1] for at in range(0, len(word), 2))


def _letters(rng: random.Random, least: int, most: int) -> str:
    return "".join(rng.choices(_LETTERS, k=rng.randint(least, most)))


def _noun(rng: random.Random) -> str:
    parts = ["".join((rng.choice("bdfglmnprst"), rng.choice("aeiou"))) for _ in range(rng.randint(1, 2))]
    return "".join(parts) + rng.choice(("x", "ss", "ch", "sh", "ry", "ay", "f", "n", "t", "k", "g", "lo"))


def _copy(rng: random.Random) -> Pair:
    text = " ".join(_letters(rng, 1, 3) for _ in range(rng.randint(4, 8)))
    return text, text


def _reverse(rng: random.Random) -> Pair:
    letters = _letters(rng, 4, 10)
    return " ".join(letters), " ".join(reversed(letters))


def _date(rng: random.Random) -> Pair:
    day = datetime.date(1900, 1, 1) + datetime.timedelta(days=rng.randrange(60_000))
    forms = ("%B {d}, %Y", "{d} %B %Y", "%b {d} %Y", "%A, {d} %B %Y", "%m/%d/%Y", "{d}. %m. %Y", "the {d} of %B, %Y")
    return day.strftime(rng.choice(forms).replace("{d}", str(day.day))), day.isoformat()


def _number(rng: random.Random) -> Pair:
    number = rng.randrange(1000, 1_000_000)
    return f"{number:,}", english(number)


def _german_number(rng: random.Random) -> Pair:
    number = rng.randrange(1000, 1_000_000)
    return english(number), german(number)


def _plurals(rng: random.Random) -> Pair:
    nouns = [_noun(rng) for _ in range(rng.randint(4, 6))]
    return " ".join(nouns), " ".join(map(plural, nouns))


def _sort(rng: random.Random) -> Pair:
    letters = _letters(rng, 4, 9)
    return " ".join(letters), " ".join(sorted(letters))


def _sum(rng: random.Random) -> Pair:
    one, other = rng.randrange(1000), rng.randrange(1000)
    return f"{one} + {other}", f"{one} + {other} = {' '.join(str(one + other))}"


def _case(rng: random.Random) -> Pair:
    words = [_noun(rng) for _ in range(rng.randint(4, 7))]
    return " ".join(words), " ".join(word.title() if at % 2 == 0 else word.upper() for at, word in enumerate(words))


def _swap(rng: random.Random) -> Pair:
    words = [_letters(rng, 2, 5) for _ in range(rng.randint(4, 6))]
    return " ".join(words), " ".join(map(swapped, words))


class Task(NamedTuple):
    """A kind of pairs, and how many of them are for training."""

    pairs: int
    one: Callable[[random.Random], Pair] | None = None
    """None for text that is read."""


TASKS = {
    "plurals": Task(1000, _plurals),
    "copying": Task(2000, _copy),
    "numbers": Task(3000, _number),
    "dates": Task(5000, _date),
    "german numbers": Task(5000, _german_number),
    "casing": Task(5000, _case),
    "real text": Task(5000),
    "reversing": Task(10_000, _reverse),
    "swapping": Task(10_000, _swap),
    "sorting": Task(20_000, _sort),
    "sums": Task(50_000, _sum),
    "classroom": Task(50_000),
}
"""By name, the smallest first."""
HELD_OUT = 200
"""Pairs for validation, none of which is in the training text."""


def make(name: str, seed: int, folder: Path) -> tuple[Path, Path] | None:
    """Write `train.tsv` and `valid.tsv` of a task; None, said loudly, where its text is not there."""
    task = TASKS[name]
    if name == "real text" and not REAL_TEXT.is_file():
        print(f"SKIPPED: {name} needs {REAL_TEXT}", file=sys.stderr)
        return None
    found: dict[str, str] = {}
    for source, target in _endless(name, task, seed):
        found.setdefault(source, target)
        if len(found) == task.pairs + HELD_OUT:
            break
    lines = [f"{source}\t{target}\n" for source, target in found.items()]
    files = folder / "train.tsv", folder / "valid.tsv"
    for file, part in zip(files, (lines[HELD_OUT:], lines[:HELD_OUT]), strict=True):
        file.write_text("".join(part), encoding="utf-8")
    return files


def _endless(name: str, task: Task, seed: int) -> Iterator[Pair]:
    if task.one is not None:
        rng = random.Random(f"{name} {seed}")
        return (task.one(rng) for _ in itertools.count())
    if name == "classroom":
        return ((one.source, one.target) for one in classroom_pairs("train", task.pairs + HELD_OUT, seed))
    return itertools.islice(read_pairs(str(REAL_TEXT)), seed * 20_000, None)

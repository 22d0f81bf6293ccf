"""Faults of web text, planted and counted: what a careful preparation has to find again."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields

Pair = tuple[str, str]

SENTENCES_OF_A_LONG_LINE = 60


@dataclass(frozen=True)
class Planted:
    """How many pairs of each kind a corpus holds.

    The first group is sound as it stands, the second can be made sound, the third is to be thrown away.
    """

    clean: int = 0
    """Sound pairs, each once."""

    crlf: int = 0
    r"""Sound pairs whose lines end in "\r\n"."""
    control: int = 0
    """Sound but for a control character or an invisible one (U+0002, U+001F, U+200B, U+FEFF) within a word."""
    separator: int = 0
    """Sound but for a line separator (U+2028), paragraph separator (U+2029) or next line (U+0085) for a space."""
    decomposed: int = 0
    """Sound, but with accents as characters of their own (NFD instead of NFC)."""
    spaces: int = 0
    """Sound but for spaces at the ends, doubled spaces, tabs, and spaces that do not break (U+00A0)."""

    empty: int = 0
    """One side, or both, empty or only spaces."""
    duplicate: int = 0
    """Pairs that were there before, in this part or an earlier one."""
    leaked: int = 0
    """Pairs of the test set."""
    too_long: int = 0
    """Over 300 words on both sides."""
    mismatched: int = 0
    """One side at least eight times as long as the other."""
    copied: int = 0
    """The source stands on the target side too."""
    wrong_language: int = 0
    """Another English sentence on the target side."""
    markup: int = 0
    """Tags of HTML on both sides."""

    @property
    def repairable(self) -> int:
        """Pairs that become sound."""
        return self.crlf + self.control + self.separator + self.decomposed + self.spaces

    @property
    def lines(self) -> int:
        """All pairs."""
        return sum(vars(self).values())

    def __add__(self, other: Planted) -> Planted:
        return Planted(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


def planted_training(
    clean: Iterator[Pair], wanted: int, test: Sequence[Pair], earlier: Sequence[Pair], chance: random.Random, crlf: bool
) -> tuple[list[Pair], list[Pair], Planted]:
    """The lines of a training part, faults among them; its sound pairs; and how many there are of each kind.

    Parameters
    ----------
    clean
        Sound pairs, all different; as many as needed are taken.
    wanted
        Sound pairs to have, those that first have to be repaired included.
    test
        The test set, for what leaks.
    earlier
        Sound pairs of earlier parts, for duplicates across parts.
    chance
        Where the faults come to stand.
    crlf
        Whether some lines end as Windows ends them.
    """
    few = max(2, wanted // 200)
    repaired: dict[str, list[Pair]] = {
        kind: [spoil(next(clean), number) for number in range(few)] for kind, spoil in _SPOILERS.items()
    }
    repaired["decomposed"] = [_decomposed(_accented(clean)) for _ in range(few)]
    repaired["crlf"] = [(f"{a}\r", f"{b}\r") for a, b in (next(clean) for _ in range(4 * few))] if crlf else []
    sound = [next(clean) for _ in range(wanted - sum(map(len, repaired.values())))]
    bad = {
        "empty": [_emptied(next(clean), number) for number in range(few)],
        "leaked": [test[number % len(test)] for number in range(min(2, few))] if not earlier else [],
        "too_long": [_long(clean) for _ in range(2)],
        "mismatched": [_mismatched(clean, number) for number in range(few)],
        "copied": [(source, source) for source, _ in (next(clean) for _ in range(few))],
        "wrong_language": [(next(clean)[0], next(clean)[0]) for _ in range(few)],
        "markup": [_marked_up(next(clean), number) for number in range(few)],
    }
    bad["duplicate"] = chance.sample(sound, few) + (chance.sample(earlier, few) if earlier else [])
    lines = sound + [pair for kind in (*repaired.values(), *bad.values()) for pair in kind]
    chance.shuffle(lines)
    counts = {kind: len(pairs) for kind, pairs in (repaired | bad).items()}
    return lines, sound, Planted(clean=len(sound), **counts)


def _spaced(pair: Pair, number: int) -> Pair:
    space = ("  ", "\t", "\u00a0", " \u00a0 ")[number % 4]
    return f" {pair[0].replace(' ', space, 1)}", f"{pair[1].replace(' ', space, 1)}  "


def _controlled(pair: Pair, number: int) -> Pair:
    mark = ("\x02", "\x1f", "\u200b", "\ufeff")[number % 4]
    return pair[0][:2] + mark + pair[0][2:], pair[1][:2] + mark + pair[1][2:]


def _separated(pair: Pair, number: int) -> Pair:
    mark = ("\u2028", "\u2029", "\x85")[number % 3]
    return pair[0].replace(" ", mark, 1), pair[1].replace(" ", mark, 1)


_SPOILERS: dict[str, Callable[[Pair, int], Pair]] = {
    "control": _controlled,
    "separator": _separated,
    "spaces": _spaced,
}


def _accented(clean: Iterator[Pair]) -> Pair:
    """The next pair that has an accent on its target side."""
    return next(pair for pair in clean if unicodedata.normalize("NFD", pair[1]) != pair[1])


def _decomposed(pair: Pair) -> Pair:
    return pair[0], unicodedata.normalize("NFD", pair[1])


def _emptied(pair: Pair, number: int) -> Pair:
    return (("", pair[1]), (pair[0], ""), (pair[0], "  "), ("", ""))[number % 4]


def _long(clean: Iterator[Pair]) -> Pair:
    pairs = [next(clean) for _ in range(SENTENCES_OF_A_LONG_LINE)]
    return " ".join(source for source, _ in pairs), " ".join(target for _, target in pairs)


def _mismatched(clean: Iterator[Pair], number: int) -> Pair:
    pairs = [next(clean) for _ in range(8)]
    short = (pairs[0][0].split()[0], pairs[0][1].split()[0])
    long = tuple(" ".join(pair[side] for pair in pairs) for side in range(2))
    return (long[0], short[1]) if number % 2 else (short[0], long[1])


def _marked_up(pair: Pair, number: int) -> Pair:
    before, after = (('<p class="text">', "</p>"), ('<a href="index.html">', "</a>"), ("<b>", "</b><br />"))[number % 3]
    return f"{before}{pair[0]}{after}", f"{before}{pair[1]}{after}"

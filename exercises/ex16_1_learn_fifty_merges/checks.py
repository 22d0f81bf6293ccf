"""Checks of ex16-1: learn byte-pair merges from word counts.

Paper: section 5.1
"""

import re
from collections import Counter
from typing import Any

from annotated_grader import Case, Student, expect, graded


def reference(word_counts: dict[str, int], count: int, of_ties: int = 0) -> list[list[str]]:
    """The same on strings: a word is its pieces with spaces between, and a merge is a substitution of whole pieces."""
    spaced = {" ".join(word): n for word, n in word_counts.items()}
    merges: list[list[str]] = []
    while len(merges) < count:
        found: Counter[tuple[str, str]] = Counter()
        for text, n in spaced.items():
            for match in re.finditer(r"(?<!\S)(\S+)(?= (\S+))", text):
                found[match.groups()] += n  # type: ignore[index]
        top = max(found.values(), default=0)
        if top < 2:
            break
        left, right = sorted(pair for pair in found if found[pair] == top)[of_ties]
        merges.append([left, right])
        pattern = re.compile(rf"(?<!\S){re.escape(left)} {re.escape(right)}(?!\S)")
        spaced = {pattern.sub(left + right, text): n for text, n in spaced.items()}
    return merges


def asked(student: Student, words: dict[str, int], count: int) -> list[Any]:
    """The answer's merges, as lists."""
    got = student.call("learn_merges", words, count)
    pairs = isinstance(got, list) and all(isinstance(p, list | tuple) and len(p) == 2 for p in got)
    expect.true(pairs, "`learn_merges` must return a list of pairs", words=words, got=got)
    return [list(pair) for pair in got]


def draw(case: Case) -> dict[str, int]:
    """Random words without a letter twice, in which each of the first six merges is more frequent than all others."""
    while True:
        words: dict[str, int] = {}
        for _ in range(9):
            letters = case.permutation(8)[: 3 + int(case.integers(0, 3, 1))].tolist()
            words["".join("abcdefgh"[i] for i in letters)] = int(case.integers(5, 400, 1))
        merges = reference(words, 6)
        if merges == reference(words, 6, of_ties=-1) and any(len(a + b) > 2 for a, b in merges):
            return words


@graded(points=2, levels=3)
def words_count_as_often_as_they_occur(student: Student, case: Case) -> None:
    """A pair counts as often as it stands in the text, not once for each word."""
    if case.level == 0:
        words = {"ab": 7, "cd": 2, "cde": 2, "cdf": 2}
    else:  # one frequent word against many rare ones with a common pair
        low = case.between(2, 4)
        words = {"mn": 5 * low + case.between(1, 9)} | {f"pq{x}": low for x in "abcd"}
    expect.equal(asked(student, words, 1), reference(words, 1), "the first merge", words=words)


@graded(points=1, levels=3)
def a_pair_may_occur_twice_in_a_word(student: Student, case: Case) -> None:
    """A pair that stands twice in a word counts twice there."""
    n = case.between(3, 9)
    words = {"xyzxywxy": n, "ab": 2 * n, "cde": 2 * n + 1}
    expect.equal(asked(student, words, 1), [["x", "y"]], "the first merge", words=words)


@graded(points=3, levels=3)
def later_merges_build_on_earlier_ones(student: Student, case: Case) -> None:
    """After a merge the new pieces are counted, so pieces grow into words."""
    if case.level == 0:
        words = {"abc": 9, "bcd": 3}
        expect.equal(asked(student, words, 3), [["b", "c"], ["a", "bc"], ["bc", "d"]], "three merges", words=words)
        return
    words = draw(case)
    expect.equal(asked(student, words, 6), reference(words, 6), "six merges", words=words)


@graded(points=2, levels=3)
def only_whole_pieces_are_merged(student: Student, case: Case) -> None:
    """A merge joins whole pieces: a + n does not touch the end of a longer piece."""
    # "ba" is made first. Then the pair a + n must leave "ba", "n" alone.
    k = case.between(2, 9)
    words = {"bax": 20 * k, "an": 8 * k, "ban": 4 * k}
    expected = [["b", "a"], ["ba", "x"], ["a", "n"], ["ba", "n"]]
    expect.equal(asked(student, words, 4), expected, "four merges", words=words)


@graded(points=1, levels=3)
def ties(student: Student, case: Case) -> None:
    """Of equally frequent pairs the first in order is merged."""
    n = case.between(3, 9)
    pairs = ["fg", "cd", "ce", "hk"] if case.level == 0 else ["qr", "mz", "op", "mn", "xy", "st"]
    order = [pairs[int(i)] for i in case.permutation(len(pairs))] if case.level else pairs
    order = order[::-1] if order == sorted(order) else order
    words = {word: n for word in order}
    expect.equal(asked(student, words, 3), [list(w) for w in sorted(pairs)[:3]], "three merges", words=words)


@graded(points=1, levels=3)
def runs_of_one_letter(student: Student, case: Case) -> None:
    """In a run such as aaa pieces are joined from left to right, each of them once."""
    n, (a, b), run = case.between(3, 9), case.choice(["ab", "xy", "mn"]), case.choice([5, 7])
    words = {a * run + b: n, a + a: 5 * n, a + b: (run - 3) // 2 * n - 1}
    expect.equal(asked(student, words, 2), [[a, a], [a, b]], "two merges", words=words)


@graded(points=1, levels=2)
def stops_when_nothing_repeats(student: Student, case: Case) -> None:
    """A pair that occurs once is not merged, however many merges are asked for."""
    words = {"xy": 2, "uvw": 1, "st": 3 + case.between(0, 5)}
    expect.equal(asked(student, words, 50), [["s", "t"], ["x", "y"]], "fifty merges at most", words=words)
    for few, merges in (({"abc": 1}, []), ({"ab": 3, "c": 9}, [["a", "b"]]), ({}, [])):  # then no pair is left
        expect.equal(asked(student, few, 50), merges, "fifty merges at most", words=few)

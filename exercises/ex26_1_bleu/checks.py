"""Checks of ex26-1: BLEU beside sacreBLEU, and its parts counted by hand.

Paper: section 6.1, Table 2
"""

import math
from typing import Any

from annotated_grader import Case, Student, expect, graded

WORDS = "der die das Hund Katze Garten sieht findet große kleine und nicht in auf . ,".split()


def sentence(case: Case, length: int) -> list[str]:
    """Words, some of which are likely to come again."""
    return [WORDS[min(case.between(0, 15), case.between(0, 15))] for _ in range(length)]


def changed(case: Case, words: list[str]) -> list[str]:
    """A translation: the reference with a word changed, left out or said twice, in its second half."""
    words = list(words)
    place = case.between(5, len(words) - 1)
    kind = case.between(0, 2)
    if kind == 0:
        words[place] = case.choice(WORDS)
    elif kind == 1:
        del words[place]
    else:
        words.insert(place, words[place])
    return words


def corpus(case: Case, size: int, cut: int = 0) -> tuple[list[str], list[str]]:
    """Hypotheses and references of quite different lengths; `cut` words are missing at each hypothesis' end."""
    references = [sentence(case, case.between(8, 9) + 5 * (k % 3)) for k in range(size)]
    hypotheses = [changed(case, words) for words in references]
    hypotheses = [words[: len(words) - cut * (1 + k % 2)] for k, words in enumerate(hypotheses)]
    references[0][0], hypotheses[0][0] = "die", "Die"  # two tokens
    return [" ".join(x) for x in hypotheses], [" ".join(x) for x in references]


def by_counting(hypothesis: str, reference: str, n: int) -> tuple[int, int]:
    """Clipped matches: each n-gram of the reference is used up by the first that matches it."""
    grams = [[words[i : i + n] for i in range(len(words) - n + 1)] for words in (hypothesis.split(), reference.split())]
    ours, left = grams
    found = 0
    for gram in ours:
        if gram in left:
            left.remove(gram)
            found += 1
    return found, len(ours)


def official(hypotheses: list[str], references: list[str]) -> float:
    """sacreBLEU's."""
    from sacrebleu.metrics import BLEU

    return BLEU(tokenize="none", smooth_method="none").corpus_score(hypotheses, [references]).score


@graded(points=2, levels=3)
def clipped_counts(student: Student, case: Case) -> None:
    """Matches are clipped, and n-grams are counted in the hypothesis."""
    pairs = [("die die die", "die Katze die"), ("die Katze", "die kleine Katze sieht die")]
    pairs.append(("Die die Katze", "die Katze die"))  # Die and die are two tokens
    longer = sentence(case, 9 + case.between(0, 3))
    pairs.append((" ".join([*changed(case, longer), longer[0], longer[0]]), " ".join(longer)))
    for hypothesis, reference in pairs:
        for n in (1, 2, 4):
            got: Any = student.call("matches", hypothesis, reference, n)
            expect.true(isinstance(got, (tuple, list)) and len(got) == 2, "matches returns two integers")
            expected = list(by_counting(hypothesis, reference, n))
            expect.equal(list(got), expected, f"matches, n = {n}", hypothesis=hypothesis, reference=reference)


@graded(points=2, levels=2)
def too_short_costs(student: Student, case: Case) -> None:
    """The penalty is 1 for long translations, and falls for short ones."""
    reference = 20 + case.between(0, 60)
    for hypothesis in (reference + 7, reference, reference - 1, reference // 2, 1):
        expected = 1.0 if hypothesis >= reference else math.exp(1 - reference / hypothesis)
        got = student.call("brevity_penalty", hypothesis, reference)
        expect.number(got, expected, "the brevity penalty", hypothesis_length=hypothesis, reference_length=reference)
    expect.number(student.call("brevity_penalty", 0, reference), 0.0, "the penalty of an empty translation")


def check(student: Student, hypotheses: list[str], references: list[str]) -> None:
    """BLEU to four decimals."""
    got = student.call("bleu", hypotheses, references)
    expected = official(hypotheses, references)
    expect.number(got, expected, "BLEU", atol=5e-5, rtol=0.0, hypotheses=hypotheses, references=references)


@graded(points=2, levels=2)
def one_sentence(student: Student, case: Case) -> None:
    """BLEU of one sentence that is not too short: the geometric mean of four precisions, in percent."""
    words = sentence(case, 12 + case.between(0, 4))
    check(student, [" ".join([*words[:8], "aber", *words[8:]])], [" ".join(words)])


@graded(points=3, levels=3, claim="A1")
def a_corpus(student: Student, case: Case) -> None:
    """BLEU of a corpus: counts and lengths are summed over sentences before anything is divided."""
    check(student, *corpus(case, 3 + case.between(0, 4), cut=1))


@graded(points=1, levels=2)
def nothing_in_common(student: Student, case: Case) -> None:
    """A precision of zero makes BLEU zero; one hopeless sentence does not."""
    first, second = sentence(case, 9), sentence(case, 7)
    expect.number(student.call("bleu", ["a b c d e"], [" ".join(first)]), 0.0, "BLEU without a common word")
    shuffled = " ".join(second[::-1][:3])
    expect.number(student.call("bleu", [shuffled], [" ".join(second)]), 0.0, "BLEU of three words: no 4-gram")
    check(student, [" ".join(first), "a b c d e f g"], [" ".join(first), " ".join(second)])

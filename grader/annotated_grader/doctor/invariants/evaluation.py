"""Evaluation: perplexity per token, BLEU of words over a corpus, and of translations."""

from __future__ import annotations

import math
from collections.abc import Sequence

from annotated_grader.doctor.finding import Mistake
from annotated_grader.doctor.invariants.registry import invariant, require
from annotated_grader.doctor.probe import Probe

SMOOTHED = Mistake("The smoothed loss is exponentiated.", 19, "C43")
OF_MEANS = Mistake("Perplexities of sentences or batches are averaged.", 26)
ENDS_OUT = Mistake("The end of the sentence is not counted, or padding is.", 26)
OF_SENTENCES = Mistake("BLEU of single sentences is averaged.", 26, "A1")


@invariant(
    "perplexity",
    SMOOTHED,
    OF_MEANS,
    ENDS_OUT,
    paper="section 6.2",
    needs=("perplexity",),
)
def perplexity(probe: Probe) -> str:
    """exp of the mean negative log-probability over all target tokens, eos included, unsmoothed."""
    subject = probe.subject
    sources = [probe.tokens(1, n)[0].tolist() for n in probe.lengths(3, 5, 2)]
    targets = [probe.tokens(1, n)[0].tolist() for n in probe.lengths(6, 1, 3)]
    lines: list[list[float]] = []
    for source, target in zip(sources, targets, strict=True):
        read, write = [subject.bos, *target], [*target, subject.eos]
        log_probabilities = probe.log_probabilities(probe.rectangle([[*source, subject.eos]]), probe.rectangle([read]))
        lines.append([-float(log_probabilities[0, t, token]) for t, token in enumerate(write)])
    count = sum(map(len, lines))
    expected, got = math.exp(_mean(sum(lines, []))), subject.perplexity(sources, targets)
    said = f"The perplexity of {count} tokens is given as {got:.3f}; their log-probabilities make it {expected:.3f}."
    require(math.isclose(got, expected, rel_tol=1e-3), said, *_other_mean(lines, got))
    return said


def _other_mean(lines: Sequence[list[float]], got: float) -> list[Mistake]:
    """The other mean of these negative log-probabilities, a list for each sentence, that was given; none if unknown."""
    means = [_mean(line) for line in lines]
    known = {
        math.exp(_mean(sum((line[:-1] for line in lines), []))): ENDS_OUT,
        math.exp(_mean(means)): OF_MEANS,
        _mean([math.exp(mean) for mean in means]): OF_MEANS,
    }
    return [mistake for value, mistake in known.items() if math.isclose(got, value, rel_tol=1e-3)][:1]


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers)


SENTENCE = "walking quietly through the old town park"


@invariant(
    "bleu-words",
    Mistake("A string or a list of words is taken where sentences are expected: n-grams of characters.", 26, "A1"),
    Mistake("BLEU is not given in percent, n-grams are not clipped, or the text was lower-cased before.", 26),
    paper="section 6.1",
    needs=("bleu",),
)
def bleu_words(probe: Probe) -> str:
    """BLEU counts n-grams of words as they are written; identical texts get 100, disjoint ones 0."""
    bleu = probe.subject.bleu
    same = bleu([SENTENCE], [SENTENCE])
    require(abs(same - 100) < 0.1, f"A text gets {same:.2f} against itself.")
    disjoint = bleu(["seven green bottles hanging on that wall"], [SENTENCE])
    require(disjoint < 5, f"A text without a word in common gets {disjoint:.2f}.")
    # Six of seven words right, the last one wrong: (6/7 * 5/6 * 4/5 * 3/4) ** (1/4).
    close, expected = bleu([SENTENCE.replace("park", "parks")], [SENTENCE]), 100 * (3 / 7) ** 0.25
    said = f"'parks' for the last of seven words, 'park', gives {close:.2f}; n-grams of words give {expected:.2f}."
    require(abs(close - expected) < 0.5, said)
    capital = bleu([SENTENCE.capitalize()], [SENTENCE])
    require(capital < 99, f"A capital letter that does not belong there costs nothing: {capital:.2f}.")
    clipped = bleu(["the the the the the the the"], [SENTENCE])
    require(clipped < 20, f"'the' seven times gets {clipped:.2f}.")
    return said


@invariant(
    "bleu-corpus",
    OF_SENTENCES,
    Mistake("There is no brevity penalty, or hypotheses and references have changed places.", 26),
    paper="section 6.1",
    needs=("bleu",),
)
def bleu_corpus(probe: Probe) -> str:
    """BLEU pools counts over the corpus instead of averaging sentences, and punishes short output."""
    bleu, long = probe.subject.bleu, "one two three four five six seven eight nine ten"
    # n-grams found of n-grams written, for n = 1 to 4.
    expected = 100 * (10 / 16 * 9 / 14 * 8 / 12 * 7 / 10) ** 0.25
    pooled = bleu([long, "alpha beta gamma delta epsilon zeta"], [long, "red blue green black white brown"])
    said = f"A perfect and a wrong sentence get {pooled:.2f} together; pooled counts give {expected:.2f}."
    require(abs(pooled - expected) < 0.5, said)
    # Five words of ten: six would get nearly the same with hypothesis and reference exchanged.
    short = bleu([" ".join(long.split()[:5])], [long])
    expected = 100 * math.exp(1 - 10 / 5)
    require(
        abs(short - expected) < 0.5, f"Five of ten words, all right, get {short:.2f}; brevity makes it {expected:.2f}."
    )
    return said + f" Five of ten words get {short:.2f}."


@invariant(
    "bleu-of-translations",
    Mistake(
        "The texts scored are the most probable tokens after the reference's own: no translation at all.", 26, "A1"
    ),
    Mistake("The length of the reference steers the search.", 26),
    paper="section 6.1",
    needs=("evaluated",),
)
def bleu_of_translations(probe: Probe) -> str:
    """What is scored does not depend on the references."""
    probe.sharpen_weights()
    sources = [probe.tokens(1, n)[0].tolist() for n in (3, 5, 4)]
    references = [[probe.tokens(1, n)[0].tolist() for n in lengths] for lengths in ((4, 2, 7), (1, 6, 3))]
    first, second = (probe.subject.evaluated(sources, chosen) for chosen in references)
    moved = sum(a != b for a, b in zip(first, second, strict=True))
    require(moved == 0, f"With other references, {moved} of {len(first)} texts that are scored are other ones.")
    return f"With other references the same {len(first)} texts are scored."

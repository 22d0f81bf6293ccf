"""F1 of labelled brackets, counted as EVALB counts with the parameters of Collins that all results of Table 4 used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from annotated.parsing.penn import ROOTS
from annotated.parsing.tree import Tree

if TYPE_CHECKING:
    import pandas as pd

PUNCTUATION = frozenset((",", ":", "``", "''", "."))
"""Parts of speech whose words are taken out before brackets are compared."""
SAME_LABEL = {"PRT": "ADVP"}
"""Labels that count as another."""

Bracket = tuple[str, int, int]


@dataclass(frozen=True)
class BracketScore:
    """How many brackets of the predicted trees are those of the gold trees, over all sentences together."""

    matched: int
    in_gold: int
    in_predicted: int
    sentences: int
    exact: int
    """Sentences with all of the gold brackets and no others."""
    unparsable: int
    """Sentences without a predicted tree: all their gold brackets are missed."""

    @property
    def precision(self) -> float:
        """Predicted brackets that are right, in percent; 0 if there are none."""
        return 100 * self.matched / self.in_predicted if self.in_predicted else 0.0

    @property
    def recall(self) -> float:
        """Gold brackets that are found, in percent; 0 if there are none."""
        return 100 * self.matched / self.in_gold if self.in_gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall, in percent."""
        both = self.in_predicted + self.in_gold
        return 200 * self.matched / both if both else 0.0

    @property
    def exact_match(self) -> float:
        """Sentences that are wholly right, in percent."""
        return 100 * self.exact / self.sentences if self.sentences else 0.0


def counted_brackets(tree: Tree, tags: Sequence[str]) -> Counter[Bracket]:
    """The brackets that count, each with how often it occurs: (label, first word, end) among the words that count.

    Parameters
    ----------
    tree
        Its own parts of speech are not looked at.
    tags
        The gold part of speech of each word: punctuation goes before the words are numbered.

    Notes
    -----
    Root labels do not count, nor do constituents that hold only punctuation.
    """
    before = [0]
    for tag in tags:
        before.append(before[-1] + (tag not in PUNCTUATION))
    spans = ((SAME_LABEL.get(label, label), before[start], before[end]) for label, start, end in tree.spans())
    return Counter((label, start, end) for label, start, end in spans if label not in ROOTS and start < end)


def _compared(gold: Sequence[Tree], predicted: Sequence[Tree | None]) -> Iterator[tuple[Counter[Bracket], ...]]:
    """For each sentence the brackets of both trees."""
    if len(gold) != len(predicted):
        raise ValueError(f"there are {len(predicted)} predicted trees for {len(gold)} gold ones: None marks a lack")
    for number, (right, guess) in enumerate(zip(gold, predicted, strict=True), start=1):
        tags = [tag for _, tag in right.tagged()]
        if guess is not None and len(guess.words()) != len(tags):
            raise ValueError(f"sentence {number}: the predicted tree has {len(guess.words())} words, not {len(tags)}")
        yield counted_brackets(right, tags), counted_brackets(guess, tags) if guess is not None else Counter()


def bracket_score(gold: Sequence[Tree], predicted: Sequence[Tree | None]) -> BracketScore:
    """Score predicted trees against gold ones.

    Parameters
    ----------
    gold
        Trees with their parts of speech, which decide what is punctuation.
    predicted
        A tree for each of the same words; None where a parser gave none.

    Raises
    ------
    ValueError
        If the two differ in number, or two trees of one sentence in their number of words.

    Notes
    -----
    Brackets are counted with their multiplicity, so of two equal ones both must be found; words of punctuation are
    taken out; the root's label does not count, and ADVP and PRT are one. That is EVALB with its file COLLINS.prm,
    for sentences of all lengths.

    Paper: section 6.3, Table 4
    """
    pairs = list(_compared(gold, predicted))
    return BracketScore(
        matched=sum((right & guess).total() for right, guess in pairs),
        in_gold=sum(right.total() for right, _ in pairs),
        in_predicted=sum(guess.total() for _, guess in pairs),
        sentences=len(pairs),
        exact=sum(tree is not None and right == guess for tree, (right, guess) in zip(predicted, pairs, strict=True)),
        unparsable=sum(tree is None for tree in predicted),
    )


def score_by_label(gold: Sequence[Tree], predicted: Sequence[Tree | None]) -> pd.DataFrame:
    """Brackets of each label, the commonest first.

    Returns
    -------
    DataFrame
        Indexed by label; columns in_gold, in_predicted and matched (brackets), precision, recall and f1 (percent).

    Raises
    ------
    ValueError
        As `bracket_score`.
    """
    totals: tuple[Counter[str], ...] = (Counter(), Counter(), Counter())
    for right, guess in _compared(gold, predicted):
        for total, brackets in zip(totals, (right, guess, right & guess), strict=True):
            for (label, _, _), count in brackets.items():
                total[label] += count
    labels = sorted(totals[0] | totals[1], key=lambda label: (-totals[0][label], label))
    scores = [BracketScore(totals[2][one], totals[0][one], totals[1][one], 0, 0, 0) for one in labels]
    return _table(scores, labels, "label")


def score_by_length(gold: Sequence[Tree], predicted: Sequence[Tree | None], step: int = 10) -> pd.DataFrame:
    """Scores of short and long sentences: up to `step` words (punctuation too), up to twice as many, and so on.

    Returns
    -------
    DataFrame
        Indexed by the most words of each class; columns sentences, exact and unparsable (sentences), and those of
        `score_by_label`.

    Raises
    ------
    ValueError
        As `bracket_score`, and if `step` is not positive.
    """
    if step < 1:
        raise ValueError(f"step must be positive, not {step}")
    if len(gold) != len(predicted):
        raise ValueError(f"there are {len(predicted)} predicted trees for {len(gold)} gold ones: None marks a lack")
    classes: dict[int, list[tuple[Tree, Tree | None]]] = {}
    for pair in zip(gold, predicted, strict=True):
        classes.setdefault(-(-len(pair[0].words()) // step) * step, []).append(pair)
    most = sorted(classes)
    scores = [bracket_score([right for right, _ in classes[n]], [guess for _, guess in classes[n]]) for n in most]
    table = _table(scores, most, "words")
    for place, name in enumerate(("sentences", "exact", "unparsable")):
        table.insert(place, name, [getattr(score, name) for score in scores])
    return table


def _table(scores: Sequence[BracketScore], index: Sequence[str] | Sequence[int], name: str) -> pd.DataFrame:
    import pandas as pd  # here: scoring needs no tables

    columns = ("in_gold", "in_predicted", "matched", "precision", "recall", "f1")
    rows = [[getattr(score, column) for column in columns] for score in scores]
    return pd.DataFrame(rows, columns=list(columns), index=pd.Index(index, name=name))

"""F1 of brackets: by hand, against an independent count over nltk's trees, and against EVALB where it is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter

import nltk
import pytest

from annotated.parsing import Tree, bracket_score, linear_form, read_tree, score_by_label, score_by_length
from annotated.parsing import tree_from_linear as from_linear
from annotated.parsing.score import BracketScore
from tests.parsing.random_trees import random_pairs


def score(gold: str, predicted: str) -> BracketScore:
    return bracket_score([read_tree(gold)], [read_tree(predicted)])


BY_HAND = [
    # (gold, predicted, matched, in gold, in predicted)
    ("(S (NP (DT a) (NN b)) (VP (VB c)))", "(S (NP (DT a)) (VP (NN b) (VB c)))", 1, 3, 3),
    ("(S (NP (NN a)) (VP (VB b)))", "(S (NP (NN a)) (VP (VB b)))", 3, 3, 3),
    # Parts of speech do not count.
    ("(S (NP (NN a)) (VP (VB b)))", "(S (NP (XX a)) (VP (XX b)))", 3, 3, 3),
    # Multiplicity: two NPs over one word are two brackets, of which one is found.
    ("(S (NP (NP (NN a))) (VP (VB b)))", "(S (NP (NN a)) (VP (VB b)))", 3, 4, 3),
    ("(S (NP (NN a)) (VP (VB b)))", "(S (NP (NP (NP (NN a)))) (VP (VB b)))", 3, 3, 5),
    ("(S (NP (NP (NN a))) (VP (VB b)))", "(S (NP (NP (NN a))) (NP (VB b)))", 3, 4, 4),
    # Unary chains: their order does not matter, their labels do.
    ("(S (VP (VB a)))", "(VP (S (VB a)))", 2, 2, 2),
    ("(S (VP (VB a)))", "(S (NP (VB a)))", 1, 2, 2),
    # The root's label does not count, under any of its names.
    ("(TOP (S (NN a)))", "(ROOT (S (NN a)))", 1, 1, 1),
    ("(S1 (NN a) (NN b))", "(S (NN a) (NN b))", 0, 0, 1),
    # Words of punctuation are taken out: a comma inside or outside of a phrase is the same.
    ("(S (NP (NN a) (, ,)) (VP (VB b)) (. .))", "(S (NP (NN a)) (, ,) (VP (VB b) (. .)))", 3, 3, 3),
    # A constituent of punctuation alone is none.
    ("(S (NP (NN a)) (PRN (: :)))", "(S (NP (NN a)) (: :))", 2, 2, 2),
    # What is punctuation is the gold tree's word.
    ("(S (NP (NN a)) (, ,) (VP (VB b)))", "(S (NP (NN a) (XX ,)) (VP (XX b)))", 3, 3, 3),
    ("(S (NP (NN a)) (XX ,) (VP (VB b)))", "(S (NP (NN a) (, ,)) (VP (XX b)))", 2, 3, 3),
    # Brackets of the text itself are words.
    ("(S (PRN (-LRB- -LRB-) (NN a)) (VP (VB b)))", "(S (-LRB- -LRB-) (PRN (NN a)) (VP (VB b)))", 2, 3, 3),
    # ADVP and PRT are one label.
    ("(VP (VB a) (PRT (RP up)))", "(VP (VB a) (ADVP (RB up)))", 2, 2, 2),
    ("(VP (VB a) (PRT (ADVP (RP up))))", "(VP (VB a) (ADVP (RB up)))", 2, 3, 2),
]  # fmt: skip


@pytest.mark.parametrize(("gold", "predicted", "matched", "in_gold", "in_predicted"), BY_HAND)
def test_by_hand(gold, predicted, matched, in_gold, in_predicted):
    found = score(gold, predicted)
    assert (found.matched, found.in_gold, found.in_predicted) == (matched, in_gold, in_predicted)
    assert found.exact == (matched == in_gold == in_predicted)


def test_percentages():
    found = bracket_score(
        [read_tree(text) for text in ("(S (NP (NN a)) (VP (VB b)))", "(S (NN a))")],
        [read_tree(text) for text in ("(S (NP (NN a)) (QP (NP (VB b))))", "(S (NN a))")],
    )
    assert (found.matched, found.in_gold, found.in_predicted, found.sentences) == (3, 4, 5, 2)
    assert found.precision == pytest.approx(60) and found.recall == pytest.approx(75)
    assert found.f1 == pytest.approx(2 * 60 * 75 / 135) and found.exact_match == 50


def test_what_a_parser_does_not_parse_is_missed_and_counted():
    trees = [read_tree("(S (NP (NN a)) (VP (VB b)))"), read_tree("(S (NP (NN a)) (VP (VB b)))")]
    found = bracket_score(trees, [None, trees[1]])
    assert (found.matched, found.in_gold, found.in_predicted) == (3, 6, 3)
    assert (found.exact, found.unparsable, found.precision, found.recall) == (1, 1, 100, 50)
    nothing = bracket_score(trees, [None, None])
    assert (nothing.precision, nothing.recall, nothing.f1, nothing.unparsable) == (0, 0, 0, 2)
    assert bracket_score([], []).f1 == bracket_score([], []).exact_match == 0
    only_root = bracket_score([read_tree("(TOP (NN a))")], [None])
    assert only_root.exact == 0  # no bracket was missed, but there is no tree


def test_trees_that_do_not_belong_together():
    one, two = read_tree("(S (NN a))"), read_tree("(S (NN a) (NN b))")
    with pytest.raises(ValueError, match="sentence 2: the predicted tree has 2 words, not 1"):
        bracket_score([one, one], [one, two])
    with pytest.raises(ValueError, match="1 predicted trees for 2"):
        bracket_score([one, one], [one])
    with pytest.raises(ValueError, match="1 predicted trees for 2"):
        score_by_length([one, one], [one])


def test_the_linear_form_loses_nothing_that_counts():
    for gold, guess in random_pairs(5, 500):
        back = from_linear(linear_form(guess), gold.words())
        assert bracket_score([gold], [back]) == bracket_score([gold], [guess])


# An independent count: sets of leaves instead of numbered spans, on trees that nltk reads.


def leaf_sets(tree: nltk.Tree, first: int, found: list[tuple[str, frozenset[int]]]) -> frozenset[int]:
    """The places of a tree's leaves; the label and leaves of each constituent in it are added to `found`."""
    leaves: set[int] = set()
    for child in tree:
        at = first + len(leaves)
        leaves |= {at} if isinstance(child[0], str) else leaf_sets(child, at, found)
    found.append((tree.label(), frozenset(leaves)))
    return frozenset(leaves)


def independent(gold: str, predicted: str) -> tuple[int, int, int]:
    counts = []
    trees = nltk.Tree.fromstring(gold), nltk.Tree.fromstring(predicted)
    gone = {place for place, (_, tag) in enumerate(trees[0].pos()) if tag in {",", ".", ":", "``", "''"}}
    for tree in trees:
        found: list[tuple[str, frozenset[int]]] = []
        leaf_sets(tree, 0, found)
        renamed = [("ADVP" if label == "PRT" else label, leaves - gone) for label, leaves in found]
        counts.append(Counter((label, leaves) for label, leaves in renamed if leaves and label != "TOP"))
    return (counts[0] & counts[1]).total(), counts[0].total(), counts[1].total()


@pytest.mark.parametrize("count", [1_000, pytest.param(10_000, marks=pytest.mark.nightly)])
def test_random_pairs_count_as_independently(count):
    pairs = random_pairs(0, count)
    totals = Counter()
    for gold, guess in pairs:
        expected = independent(str(gold), str(guess))
        found = bracket_score([gold], [guess])
        assert (found.matched, found.in_gold, found.in_predicted) == expected, f"{gold}\n{guess}"
        totals.update(dict(zip(("matched", "in_gold", "in_predicted"), expected, strict=True)), sentences=1)
        totals["exact"] += len(set(expected)) == 1
    whole = bracket_score([gold for gold, _ in pairs], [guess for _, guess in pairs])
    assert {name: getattr(whole, name) for name in totals} == dict(totals)
    # The pairs are neither all alike nor all unlike.
    assert 30 < whole.f1 < 90 and 0.03 * count < whole.exact < 0.9 * count


def test_tables_add_up():
    pairs = random_pairs(1, 400)
    gold, guesses = [gold for gold, _ in pairs], [guess if n % 20 else None for n, (_, guess) in enumerate(pairs)]
    whole = bracket_score(gold, guesses)
    labels, lengths = score_by_label(gold, guesses), score_by_length(gold, guesses, 5)
    for table in (labels, lengths):
        for name in ("matched", "in_gold", "in_predicted"):
            assert table[name].sum() == getattr(whole, name)
    assert labels.index.name == "label" and not {"PRT", "TOP"} & set(labels.index)
    assert labels["in_gold"].is_monotonic_decreasing
    assert lengths.index.tolist() == [5, 10, 15, 20, 25]
    assert lengths["sentences"].sum() == 400 and lengths["unparsable"].sum() == 20 == whole.unparsable
    short = [n for n, tree in enumerate(gold) if len(tree.words()) <= 5]
    assert lengths.loc[5, "f1"] == bracket_score([gold[n] for n in short], [guesses[n] for n in short]).f1
    np = labels.loc["NP"]
    assert np["f1"] == pytest.approx(2 * np["precision"] * np["recall"] / (np["precision"] + np["recall"]))
    with pytest.raises(ValueError, match="positive"):
        score_by_length(gold, guesses, 0)


COLLINS = """LABELED 1
CUTOFF_LEN 40
DELETE_LABEL TOP
DELETE_LABEL -NONE-
DELETE_LABEL ,
DELETE_LABEL :
DELETE_LABEL ``
DELETE_LABEL ''
DELETE_LABEL .
DELETE_LABEL_FOR_LENGTH -NONE-
EQ_LABEL ADVP PRT
"""


@pytest.mark.skipif(not shutil.which("evalb"), reason="no program evalb (nlp.cs.nyu.edu/evalb) on the path")
def test_evalb_counts_the_same(tmp_path):
    def counts_something(tree: Tree) -> bool:
        return any(tag not in {",", ".", ":", "``", "''"} for _, tag in tree.tagged())

    pairs = [pair for pair in random_pairs(2, 3000) if counts_something(pair[0])]
    for name, trees in (("gold", [gold for gold, _ in pairs]), ("test", [guess for _, guess in pairs])):
        (tmp_path / name).write_text("\n".join(map(str, trees)) + "\n", encoding="utf-8")
    (tmp_path / "collins.prm").write_text(COLLINS, encoding="utf-8")
    call = ["evalb", "-p", "collins.prm", "gold", "test"]
    report = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in report.splitlines() if re.fullmatch(r"\s*\d+\s+\d+\s+0\s.*", line)]
    assert len(rows) == len(pairs)
    for row, (gold, guess) in zip(rows, pairs, strict=True):
        found = bracket_score([gold], [guess])
        assert [int(number) for number in row[5:8]] == [found.matched, found.in_gold, found.in_predicted], row
    whole = bracket_score([gold for gold, _ in pairs], [guess for _, guess in pairs])
    summary = report[report.index("-- All --") :]
    for name, value in (("Recall", whole.recall), ("Precision", whole.precision), ("FMeasure", whole.f1)):
        assert float(re.search(rf"Bracketing {name}\s*=\s*([\d.]+)", summary)[1]) == pytest.approx(value, abs=0.006)

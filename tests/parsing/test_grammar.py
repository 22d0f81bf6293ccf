"""Grammars read off trees: shares of rules and words, unknown words, and the probability of a whole tree."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from fractions import Fraction

import pytest

from annotated.parsing import Grammar, Lexicon, Tree, classroom_trees, read_grammar, read_lexicon, read_tree
from tests.parsing.random_trees import random_pairs

THREE = [
    read_tree("(S (NP (NNP Anna)) (VP (VBZ sleeps)))"),
    read_tree("(S (NP (DT the) (JJ old) (NN dog)) (VP (VBZ sleeps)))"),
    read_tree("(S (NP (DT the) (JJ old) (JJ red) (NN dog)) (VP (VBZ sees) (NP (NNP Anna))))"),
]


def test_each_rule_has_its_share() -> None:
    grammar = read_grammar(THREE)
    assert grammar.start == {"S": 1.0}
    assert grammar.binary == {
        ("S", "NP", "VP"): 1.0, ("NP", "DT", "@NP@DT"): 2 / 4, ("@NP@DT", "JJ", "NN"): 1 / 2,
        ("@NP@DT", "JJ", "@NP@DT@JJ"): 1 / 2, ("@NP@DT@JJ", "JJ", "NN"): 1.0, ("VP", "VBZ", "NP"): 1 / 3,
    }  # fmt: skip
    assert grammar.unary == {("NP", "NNP"): 2 / 4, ("VP", "VBZ"): 2 / 3}


def test_parents_tell_subjects_from_objects() -> None:
    grammar = read_grammar(THREE, vertical=2)
    assert grammar.unary == {("NP^S", "NNP"): 1 / 3, ("NP^VP", "NNP"): 1.0, ("VP^S", "VBZ"): 2 / 3}


def by_counting(trees: list[Tree], tree: Tree) -> Fraction:
    """The probability of a tree from the rules of the treebank as they stand, of any length, as a fraction."""
    rules, sides = Counter[tuple[str, ...]](), Counter[str]()
    for one in trees:
        for node in one.subtrees():
            right = [str(c) for c in node.children] if node.is_tag else [p.label for p in node.parts()]
            rules[(node.label, *right)] += 1
            sides[node.label] += 1
    result = Fraction(sum(one.label == tree.label for one in trees), len(trees))
    for node in tree.subtrees():
        right = [str(c) for c in node.children] if node.is_tag else [p.label for p in node.parts()]
        result *= Fraction(rules[(node.label, *right)], sides[node.label])
    return result


def test_with_all_parts_remembered_binary_rules_multiply_to_the_rules_of_the_tree() -> None:
    trees = classroom_trees("train", 200)
    grammar = read_grammar(trees, known_from=1)
    for tree in trees[:50]:
        exact = by_counting(trees, tree)
        expected = math.log(exact.numerator) - math.log(exact.denominator)
        assert grammar.log_probability(tree) == pytest.approx(expected, abs=1e-9)


def test_shares_of_one_left_side_add_up() -> None:
    trees = [gold for gold, _ in random_pairs(3, 200)]
    for vertical, horizontal in ((1, None), (2, 1)):
        grammar = read_grammar(trees, vertical, horizontal)
        sums: defaultdict[str, float] = defaultdict(float)
        for rule, probability in (*grammar.binary.items(), *grammar.unary.items()):
            sums[rule[0]] += probability
        assert all(total == pytest.approx(1) for total in sums.values())
        assert sum(grammar.start.values()) == pytest.approx(1)


def test_a_tree_with_another_rule_has_no_probability() -> None:
    grammar = read_grammar(THREE, known_from=1)
    assert grammar.log_probability(read_tree("(S (VP (VBZ sleeps)) (NP (NNP Anna)))")) == -math.inf
    assert grammar.log_probability(read_tree("(NP (NNP Anna))")) == -math.inf
    assert grammar.log_probability(read_tree("(S (NP (NNP Berta)) (VP (VBZ sleeps)))")) == -math.inf


WORDS = [
    "(S (NP (NNP Anna)) (VP (VBZ sees) (NP (CD 20) (NNS dogs))))",
    "(S (NP (NNP Bert)) (VP (VBZ sees) (NP (CD 30) (NNS dogs))))",
    "(S (NP (NNP Cara)) (VP (VBZ hides) (NP (JJ red) (NNS logs))))",
]


def test_rare_words_stand_for_unknown_ones_of_their_class() -> None:
    lexicon = read_lexicon(map(read_tree, WORDS))
    shares = {
        "sees": {"VBZ": 2 / 3},  # known: seen twice
        "Dora": {"NNP": 3 / 3},  # a capital: Anna, Bert and Cara were seen once each
        "7": {"CD": 2 / 2},
        "runs": {"NNS": 0.0},  # the class '-ns' has no rare word: all rare words together
        "rides": {"VBZ": 1 / 3},  # '-es': hides
        "frogs": {"NNS": 1 / 3},  # '-gs': logs
        "Anna": {"NNP": 3 / 3},  # seen once: not known
    }
    all_rare = {"NNP": 3 / 3, "CD": 2 / 2, "VBZ": 1 / 3, "JJ": 1 / 1, "NNS": 1 / 3}
    for word, expected in shares.items():
        got = {tag: math.exp(score) for tag, score in lexicon.tags(word).items()}
        assert got == pytest.approx(all_rare if word == "runs" else expected), word


def test_the_first_word_may_have_its_capital_from_its_place() -> None:
    lexicon = read_lexicon(map(read_tree, WORDS))
    assert lexicon.tags("Dogs", first=True) == lexicon.tags("dogs") != lexicon.tags("Dogs")
    assert lexicon.tags("Dora", first=True) == lexicon.tags("Dora")


def test_without_rare_words_an_unknown_one_has_no_part_of_speech() -> None:
    assert read_lexicon(THREE, known_from=1).tags("cat") == {}


def test_chains_of_unary_rules_are_the_most_probable_ones() -> None:
    unary = {("A", "B"): 0.5, ("B", "C"): 0.5, ("A", "C"): 0.2, ("C", "A"): 1.0, ("B", "B"): 0.5, ("C", "t"): 0.1}
    chains = Grammar({"A": 1.0}, {}, unary, Lexicon({"w": {"t": 0.0}})).chains
    assert chains[("A", "C")] == (pytest.approx(math.log(0.25)), ("A", "B", "C"))
    assert chains[("A", "t")] == (pytest.approx(math.log(0.025)), ("A", "B", "C", "t"))
    assert ("B", "B") not in chains and ("A", "A") not in chains


@pytest.mark.parametrize("rule", [{("A", "B"): 0.0}, {("A", "B"): 1.5}, {("A", "B"): math.nan}])
def test_a_probability_that_is_none_is_refused(rule: dict[tuple[str, str], float]) -> None:
    with pytest.raises(ValueError, match="has probability"):
        Grammar({"A": 1.0}, {}, rule, Lexicon({}))


def test_what_is_no_treebank_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one tree"):
        read_grammar([])
    with pytest.raises(ValueError, match="part of speech"):
        read_grammar([read_tree("(NN dog)")])
    with pytest.raises(ValueError, match="known_from"):
        read_lexicon(THREE, known_from=0)
    with pytest.raises(ValueError, match="vertical"):
        read_grammar(THREE, vertical=0)

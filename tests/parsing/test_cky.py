"""CKY: the best tree is the best of all trees, by enumeration and by nltk; what has no tree has none."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import nltk
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotated.parsing import Grammar, Lexicon, Tree, bracket_score, classroom_trees, parse, read_grammar, read_tree

ATTACHMENT = Grammar(
    start={"S": 1.0},
    binary={
        ("S", "NP", "VP"): 1.0, ("VP", "V", "NP"): 0.7, ("VP", "VP", "PP"): 0.3,
        ("NP", "NP", "PP"): 0.2, ("PP", "P", "NP"): 1.0,
    },
    unary={("NP", "N"): 0.8},
    lexicon=Lexicon({word: {tag: math.log(0.5)} for word, tag in
                     {"Anna": "N", "sees": "V", "Tom": "N", "with": "P", "glasses": "N"}.items()}),
)  # fmt: skip


def test_a_phrase_goes_where_its_rule_is_more_probable() -> None:
    words = "Anna sees Tom with glasses".split()
    found = parse(ATTACHMENT, words)
    on_verb = "(S (NP (N Anna)) (VP (VP (V sees) (NP (N Tom))) (PP (P with) (NP (N glasses)))))"
    on_noun = "(S (NP (N Anna)) (VP (V sees) (NP (NP (N Tom)) (PP (P with) (NP (N glasses))))))"
    assert str(found) == on_verb
    alike = 0.7 * 0.8**3 * 0.5**5
    assert ATTACHMENT.log_probability(read_tree(on_verb)) == pytest.approx(math.log(0.3 * alike))
    assert ATTACHMENT.log_probability(read_tree(on_noun)) == pytest.approx(math.log(0.2 * alike))


@pytest.mark.parametrize("text", ["", "Anna", "sees Anna", "Anna sees Tom with", "Anna sees Berta"])
def test_what_has_no_tree_has_none(text: str) -> None:
    assert parse(ATTACHMENT, text.split()) is None


def test_a_cycle_of_unary_rules_is_no_trap() -> None:
    lexicon = Lexicon({"w": {"t": 0.0}})
    unary = {("A", "B"): 1.0, ("B", "A"): 0.9, ("B", "B"): 0.05, ("B", "t"): 0.05}
    grammar = Grammar({"A": 0.5, "B": 0.5}, {("A", "B", "B"): 1.0}, unary, lexicon)
    assert str(parse(grammar, ["w"])) in ("(A (B (t w)))", "(B (t w))")  # both have 0.5 * 0.05
    assert str(parse(grammar, ["w", "w"])) == "(A (B (t w)) (B (t w)))"


SYMBOLS, TAGS, WORDS = "ABC", "tu", "xyz"
shares = st.floats(0.05, 1.0)
every = [*SYMBOLS, *TAGS]
tops = st.sampled_from(SYMBOLS)
grammars = st.builds(
    Grammar,
    st.dictionaries(tops, shares, min_size=1),
    st.dictionaries(st.tuples(tops, st.sampled_from(every), st.sampled_from(every)), shares, min_size=3, max_size=8),
    st.dictionaries(st.tuples(tops, st.sampled_from(every)), shares, max_size=6),
    st.dictionaries(
        st.sampled_from(WORDS), st.dictionaries(st.sampled_from(TAGS), shares.map(math.log), min_size=1), min_size=2
    ).map(Lexicon),
)


def all_trees(
    grammar: Grammar, symbol: str, words: Sequence[str], above: frozenset[str] = frozenset()
) -> Iterator[tuple[Tree, float]]:
    """Every tree of a symbol over some words with its probability; no chain of unary rules meets a symbol twice."""
    if len(words) == 1 and symbol in (tags := grammar.lexicon.known.get(words[0], {})):
        yield Tree(symbol, (words[0],)), math.exp(tags[symbol])
    for (parent, child), p in grammar.unary.items():
        if parent == symbol and child not in above | {symbol}:
            for tree, q in all_trees(grammar, child, words, above | {symbol}):
                yield Tree(symbol, (tree,)), p * q
    for (parent, left, right), p in grammar.binary.items():
        for cut in range(1, len(words)) if parent == symbol else ():
            rights = list(all_trees(grammar, right, words[cut:]))
            for a, q in all_trees(grammar, left, words[:cut]) if rights else ():
                yield from ((Tree(symbol, (a, b)), p * q * r) for b, r in rights)


@settings(max_examples=100)
@given(grammars, st.lists(st.sampled_from(WORDS), min_size=1, max_size=4))
def test_the_best_tree_is_the_best_of_all(grammar: Grammar, words: list[str]) -> None:
    trees = {t: share * p for top, share in grammar.start.items() for t, p in all_trees(grammar, top, words)}
    found = parse(grammar, words)
    if not trees:
        assert found is None
        return
    assert found is not None and trees[found] == pytest.approx(max(trees.values()))
    assert grammar.log_probability(found) == pytest.approx(math.log(trees[found]))


def test_nltk_finds_trees_of_the_same_probability() -> None:
    """Their grammar is read from the trees as they stand, with rules of any length, and their parser is another."""
    trees = classroom_trees("train", 150)
    ours = read_grammar(trees, known_from=1)
    productions = [p for tree in trees for p in nltk.Tree("TOP", [nltk.Tree.fromstring(str(tree))]).productions()]
    theirs = nltk.ViterbiParser(nltk.induce_pcfg(nltk.Nonterminal("TOP"), productions))
    theirs._max_time = None  # or newer ones give up after five seconds by the clock, on a busy machine
    short = [tree.words() for tree in trees if len(tree.words()) < 10][:25]
    for words in short:
        best = next(iter(theirs.parse(words)))
        found = parse(ours, words)
        assert found is not None
        assert ours.log_probability(found) == pytest.approx(math.log(best.prob()), abs=1e-9)
    assert len(short) == 25


@pytest.mark.parametrize(("vertical", "horizontal"), [(1, None), (2, 1)])
def test_held_out_sentences_of_the_classroom_are_parsed(vertical: int, horizontal: int | None) -> None:
    grammar = read_grammar(classroom_trees("train", 800), vertical, horizontal)
    gold = classroom_trees("test", 60)
    found = [parse(grammar, tree.words()) for tree in gold]
    for tree, guess in zip(gold, found, strict=True):
        assert guess is None or guess.words() == tree.words()
        if guess is not None:  # the best tree is at least as probable as the true one, and has the treebank's labels
            assert grammar.log_probability(guess) >= grammar.log_probability(tree) - 1e-9
            assert not any(mark in node.label for node in guess.subtrees() for mark in "^@")
    assert bracket_score(gold, found).f1 > 90

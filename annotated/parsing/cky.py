"""CKY: the most probable tree of a sentence, from its shortest spans to its longest (Cocke, Kasami, Younger)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from annotated.parsing.binarise import restored
from annotated.parsing.grammar import Grammar
from annotated.parsing.tree import Tree

Scores = NDArray[np.float64]


def parse(grammar: Grammar, words: Sequence[str]) -> Tree | None:
    """The tree that a grammar holds for the most probable one, with the labels of the treebank.

    Parameters
    ----------
    grammar
        As `read_grammar` gives it.
    words
        The sentence, punctuation as words of its own.

    Returns
    -------
    Tree
        None if the grammar has no tree for these words; an empty sentence has none.

    Paper: Table 4 (the algorithm of its Berkeley parser)
    """
    if not words:
        return None
    chart = _Chart(grammar, words)
    totals = grammar.start_scores + chart.whole[0, len(words)]
    top = int(totals.argmax())
    return restored(chart.tree(top, 0, len(words))) if totals[top] > -np.inf else None


class _Chart:
    """For each span and symbol the log-probability of the best tree; N words, V symbols.

    Attributes
    ----------
    built, whole
        [N, N + 1, V]: the best tree over the words from `first` to `end` whose top is a word's or a binary rule, and
        the best of all, with chains of unary rules at its top.
    """

    def __init__(self, grammar: Grammar, words: Sequence[str]) -> None:
        self.grammar, self.words, n = grammar, words, len(words)
        self.built = np.full((n, n + 1, len(grammar.symbols)), -np.inf)
        self.whole = self.built.copy()
        self._groups = _groups(grammar.chain_rules.left_side)
        for first, word in enumerate(words):
            for tag, score in grammar.lexicon.tags(word, first=first == 0).items():
                self.built[first, first + 1, grammar.index[tag]] = score
            self._close(first, first + 1)
        for length in range(2, n + 1):
            for first in range(n - length + 1):
                self._combine(first, first + length)
                self._close(first, first + length)

    def _combine(self, first: int, end: int) -> None:
        """Fill a span from all pairs of shorter ones."""
        rules = self.grammar.binary_rules
        left, right = self._halves(first, end)
        has_left, has_right = (half.max(axis=0) > -np.inf for half in (left, right))
        chosen = np.flatnonzero(has_left[rules.right_side[0]] & has_right[rules.right_side[1]])
        if len(chosen):
            a, b = rules.right_side[:, chosen]
            scores = (left[:, a] + right[:, b]).max(axis=0) + rules.log_probability[chosen]
            sides = rules.left_side[chosen]
            starts = _groups(sides)
            self.built[first, end, sides[starts]] = np.maximum.reduceat(scores, starts)

    def _halves(self, first: int, end: int) -> tuple[Scores, Scores]:
        """The scores of what ends, and of what begins, at each place inside a span: [end - first - 1, V] each."""
        return self.whole[first, first + 1 : end], self.whole[first + 1 : end, end]

    def _close(self, first: int, end: int) -> None:
        """Put chains of unary rules on top of what a span has."""
        chains, built, whole = self.grammar.chain_rules, self.built[first, end], self.whole[first, end]
        whole[:] = built
        if len(self._groups):
            scores = built[chains.right_side[0]] + chains.log_probability
            sides = chains.left_side[self._groups]
            whole[sides] = np.maximum(built[sides], np.maximum.reduceat(scores, self._groups))

    def tree(self, symbol: int, first: int, end: int) -> Tree:
        """The best tree of a symbol over a span, found again by asking what its score came from."""
        grammar, chains = self.grammar, self.grammar.chain_rules
        if self.whole[first, end, symbol] > self.built[first, end, symbol]:
            own = chains.of(symbol)
            scores = self.built[first, end, chains.right_side[0][own]] + chains.log_probability[own]
            below = int(chains.right_side[0][own][scores.argmax()])
            chain = grammar.chains[grammar.symbols[symbol], grammar.symbols[below]][1]
            tree = self._built_tree(below, first, end)
            for label, _ in reversed(list(pairwise(chain))):
                tree = Tree(label, (tree,))
            return tree
        return self._built_tree(symbol, first, end)

    def _built_tree(self, symbol: int, first: int, end: int) -> Tree:
        """The best tree whose top is a word's or a binary rule."""
        label = self.grammar.symbols[symbol]
        if end - first == 1:
            return Tree(label, (self.words[first],))
        rules = self.grammar.binary_rules
        own = rules.of(symbol)
        left, right = self._halves(first, end)
        a, b = rules.right_side[:, own]
        scores = left[:, a] + right[:, b] + rules.log_probability[own]
        split, rule = np.unravel_index(int(scores.argmax()), scores.shape)
        middle = first + 1 + int(split)
        return Tree(label, (self.tree(int(a[rule]), first, middle), self.tree(int(b[rule]), middle, end)))


def _groups(sorted_values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each run of equal values begins."""
    changes = np.flatnonzero(sorted_values[1:] != sorted_values[:-1]) + 1
    return np.concatenate(([0], changes)) if len(sorted_values) else changes

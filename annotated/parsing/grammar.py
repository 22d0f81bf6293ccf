"""Probabilistic context-free grammars: read off a treebank by relative frequency, or given rule by rule.

The Berkeley parser of Table 4 (Petrov et al. 2006) refines the labels of such a grammar by itself.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotated.parsing.binarise import binarised, check_memory
from annotated.parsing.lexicon import Lexicon, read_lexicon
from annotated.parsing.tree import Tree

BinaryRule = tuple[str, str, str]
UnaryRule = tuple[str, str]


class Rules(NamedTuple):
    """Rules of one kind as arrays, sorted by their left sides; R rules.

    `left_side` [R] and `right_side` [children, R] hold indices of symbols, `log_probability` [R].
    """

    left_side: NDArray[np.int64]
    right_side: NDArray[np.int64]
    log_probability: NDArray[np.float64]

    def of(self, symbol: int) -> slice:
        """Where the rules of one symbol stand."""
        start, stop = np.searchsorted(self.left_side, (symbol, symbol + 1))
        return slice(int(start), int(stop))


@dataclass(frozen=True)
class Grammar:
    """Rules with one or two symbols on their right sides, each with its probability.

    Parameters
    ----------
    start
        For each symbol that a tree may have at its top, the probability that it has it.
    binary, unary
        For each rule its probability, between 0 and 1: ('NP', 'DT', 'NN'), and ('NP', 'PRP').
    lexicon
        Probabilities of words, given their parts of speech.
    vertical, horizontal
        How trees are made binary, as in `binarised`.

    Raises
    ------
    ValueError
        If a probability is not above 0 and at most 1.
    """

    start: Mapping[str, float]
    binary: Mapping[BinaryRule, float]
    unary: Mapping[UnaryRule, float]
    lexicon: Lexicon
    vertical: int = 1
    horizontal: int | None = None

    def __post_init__(self) -> None:
        check_memory(self.vertical, self.horizontal)
        for what, probability in (*self.start.items(), *self.binary.items(), *self.unary.items()):
            if not 0 < probability <= 1 + 1e-9:
                raise ValueError(f"{what} has probability {probability}; it must be above 0 and at most 1")

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """All symbols, parts of speech too, sorted."""
        tags = (tag for scores in (self.lexicon.known, self.lexicon.unknown) for one in scores.values() for tag in one)
        return tuple(sorted({*self.start, *tags, *(s for rule in (*self.binary, *self.unary) for s in rule)}))

    @cached_property
    def index(self) -> dict[str, int]:
        """The place of each symbol in `symbols`."""
        return {symbol: place for place, symbol in enumerate(self.symbols)}

    @cached_property
    def start_scores(self) -> NDArray[np.float64]:
        """Logarithms of `start`, [symbols]; minus infinity where there is none."""
        scores = np.full(len(self.symbols), -np.inf)
        for symbol, probability in self.start.items():
            scores[self.index[symbol]] = math.log(probability)
        return scores

    @cached_property
    def binary_rules(self) -> Rules:
        """The binary rules as arrays."""
        return self._arrays({rule: math.log(p) for rule, p in self.binary.items()}, children=2)

    @cached_property
    def chains(self) -> dict[UnaryRule, tuple[float, tuple[str, ...]]]:
        """The best chain of unary rules from one symbol down to another: its log-probability, and its symbols.

        A chain has at least one rule and meets no symbol twice: probabilities are at most 1, so a cycle improves
        nothing.
        """
        above: dict[str, list[tuple[str, float]]] = {}
        for (parent, child), probability in self.unary.items():
            above.setdefault(child, []).append((parent, -math.log(probability)))
        found: dict[UnaryRule, tuple[float, tuple[str, ...]]] = {}
        for bottom in above:  # the cheapest way from a symbol to all above it (Dijkstra 1959)
            waiting: list[tuple[float, tuple[str, ...]]] = [(0.0, (bottom,))]
            done: set[str] = set()
            while waiting:
                cost, chain = heapq.heappop(waiting)
                if chain[0] in done:
                    continue
                done.add(chain[0])
                if len(chain) > 1:
                    found[chain[0], bottom] = (-cost, chain)
                for parent, more in above.get(chain[0], ()):
                    if parent not in done:
                        heapq.heappush(waiting, (cost + more, (parent, *chain)))
        return found

    @cached_property
    def chain_rules(self) -> Rules:
        """`chains` as arrays."""
        return self._arrays({ends: score for ends, (score, _) in self.chains.items()}, children=1)

    def _arrays(self, scores: Mapping[tuple[str, ...], float], children: int) -> Rules:
        """Rules sorted by their left sides."""
        rows = sorted(tuple(self.index[symbol] for symbol in rule) for rule in scores)
        sides = np.array(rows, dtype=np.int64).reshape(len(rows), 1 + children).T
        values = [scores[tuple(self.symbols[place] for place in row)] for row in rows]
        return Rules(sides[0], np.ascontiguousarray(sides[1:]), np.array(values, dtype=np.float64))

    def log_probability(self, tree: Tree) -> float:
        """Logarithm of the probability of a tree with its words; minus infinity if a rule is missing."""
        tree = binarised(tree, self.vertical, self.horizontal)
        total, first = _log(self.start.get(tree.label, 0.0)), True
        for node in tree.subtrees():
            if node.is_tag:
                total += self.lexicon.tags(str(node.children[0]), first).get(node.label, -math.inf)
                first = False
            else:
                total += _log(_rule_probability(self, node))
        return total


def _log(probability: float) -> float:
    return math.log(probability) if probability else -math.inf


def _rule_probability(grammar: Grammar, node: Tree) -> float:
    """Of the rule that is at the top of a binarised tree; 0 if there is none."""
    labels = [part.label for part in node.parts()]
    if len(labels) == 1:
        return grammar.unary.get((node.label, labels[0]), 0.0)
    return grammar.binary.get((node.label, labels[0], labels[1]), 0.0)


def read_grammar(
    trees: Iterable[Tree], vertical: int = 1, horizontal: int | None = None, known_from: int = 2
) -> Grammar:
    """The grammar of a treebank: each rule with its share among the rules of its left side.

    Parameters
    ----------
    trees
        The treebank. Its grammar with neither parameter set is the plain treebank grammar (Charniak 1996).
    vertical, horizontal
        What a constituent knows of its place and of its parts, as in `binarised`.
    known_from
        How often a word must occur to be known, as in `read_lexicon`.

    Raises
    ------
    ValueError
        If there are no trees, or one is a part of speech alone; and as `binarised` and `read_lexicon`.
    """
    trees = list(trees)
    tops: Counter[str] = Counter()
    rules: Counter[tuple[str, ...]] = Counter()
    for tree in trees:
        if tree.is_tag:
            raise ValueError(f"{tree} is a part of speech, not a constituent")
        binary = binarised(tree, vertical, horizontal)
        tops[binary.label] += 1
        rules.update((node.label, *(p.label for p in node.parts())) for node in binary.subtrees() if not node.is_tag)
    if not trees:
        raise ValueError("a grammar needs at least one tree")
    totals: Counter[str] = Counter()
    for rule, count in rules.items():
        totals[rule[0]] += count
    return Grammar(
        start={symbol: count / len(trees) for symbol, count in tops.items()},
        binary={(r[0], r[1], r[2]): count / totals[r[0]] for r, count in rules.items() if len(r) == 3},
        unary={(r[0], r[1]): count / totals[r[0]] for r, count in rules.items() if len(r) == 2},
        lexicon=read_lexicon(trees, known_from),
        vertical=vertical,
        horizontal=horizontal,
    )

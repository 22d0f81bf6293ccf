"""Random trees for tests: for hypothesis, and in great number from a seed."""

from __future__ import annotations

import random

from hypothesis import strategies as st

from annotated.parsing import Tree

LABELS = ("S", "NP", "VP", "PP", "ADVP", "PRT", "SBAR", "WHNP")
TAGS = ("NN", "VB", "IN", "-LRB-", "PRP$", ",", ".", "``", ":")
WORDS = ("dog", "o'clock", "1/2", "-LRB-", ",", "XX", "Zürich")

leaves = st.builds(lambda tag, word: Tree(tag, (word,)), st.sampled_from(TAGS), st.sampled_from(WORDS))
nodes = st.recursive(
    leaves,
    lambda below: st.builds(
        lambda label, parts: Tree(label, tuple(parts)), st.sampled_from(LABELS), st.lists(below, min_size=1, max_size=4)
    ),
    max_leaves=25,
)
constituents = st.builds(
    lambda label, parts: Tree(label, tuple(parts)), st.sampled_from(LABELS), st.lists(nodes, min_size=1, max_size=4)
)


def random_tree(chance: random.Random, tagged: list[tuple[str, str]]) -> Tree:
    """A tree over the given words; unary chains, also of one label over itself, are common."""
    if len(tagged) == 1 and chance.random() < 0.6:
        return Tree(tagged[0][1], (tagged[0][0],))
    cuts = sorted(chance.sample(range(1, len(tagged)), min(len(tagged) - 1, chance.choice((0, 1, 1, 2, 3)))))
    pieces = [tagged[a:b] for a, b in zip([0, *cuts], [*cuts, len(tagged)], strict=True)]
    return Tree(chance.choice(LABELS), tuple(random_tree(chance, piece) for piece in pieces))


def changed_tree(chance: random.Random, tree: Tree) -> Tree:
    """The same words under brackets of which some have gone, come, or changed their label."""
    if tree.is_tag:
        return tree
    parts: list[Tree] = []
    for part in (changed_tree(chance, part) for part in tree.parts()):
        parts += part.parts() if not part.is_tag and chance.random() < 0.1 else [part]
    label = chance.choice(LABELS) if chance.random() < 0.1 else tree.label
    made = Tree(label, tuple(parts))
    return Tree(chance.choice(LABELS), (made,)) if chance.random() < 0.1 else made


def random_pairs(seed: int, count: int) -> list[tuple[Tree, Tree]]:
    """Gold and predicted trees of the same words, from nearly equal to unrelated."""
    chance = random.Random(seed)
    pairs = []
    for _ in range(count):
        words = [(f"w{n}", chance.choice(TAGS)) for n in range(chance.randint(1, 25))]
        gold = Tree("TOP", (Tree("S", (random_tree(chance, words),)),))
        guess = changed_tree(chance, gold) if chance.random() < 0.7 else random_tree(chance, words)
        pairs.append((gold, Tree("TOP", (guess,))))
    return pairs

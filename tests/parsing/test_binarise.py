"""Binarisation: two children at most, the memory that was asked for, and back without a change."""

from __future__ import annotations

from typing import Any

import nltk
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotated.parsing import Tree, binarised, read_tree, restored
from tests.parsing.random_trees import constituents, random_pairs

FLAT = read_tree("(S (NP (DT the) (JJ big) (JJ red) (NN dog)) (VP (VBZ sleeps)))")


@pytest.mark.parametrize(
    ("vertical", "horizontal", "noun_phrase"),
    [
        (1, None, "(NP (DT the) (@NP@DT (JJ big) (@NP@DT@JJ (JJ red) (NN dog))))"),
        (2, 1, "(NP^S (DT the) (@NP^S@DT (JJ big) (@NP^S@JJ (JJ red) (NN dog))))"),
        (9, 0, "(NP^S (DT the) (@NP^S (JJ big) (@NP^S (JJ red) (NN dog))))"),
    ],
)
def test_a_chain_remembers_what_it_is_told_to(vertical: int, horizontal: int | None, noun_phrase: str) -> None:
    assert str(binarised(FLAT, vertical, horizontal).parts()[0]) == noun_phrase


def test_labels_from_above_reach_as_far_as_asked() -> None:
    tree = read_tree("(S (VP (VB go) (PP (IN to) (NP (NN bed)))))")
    assert [label for label, _, _ in binarised(tree, 3).spans()] == ["NP^PP^VP", "PP^VP^S", "VP^S", "S"]


@pytest.mark.parametrize("pairs", [200, pytest.param(1_000, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("memory", [(1, None), (3, 1)])
def test_hundreds_of_trees_come_back(memory: tuple[int, int | None], pairs: int) -> None:
    for tree in (tree for pair in random_pairs(7, pairs) for tree in pair):
        binary = binarised(tree, *memory)
        assert all(len(node.children) <= 2 for node in binary.subtrees())
        assert binary.tagged() == tree.tagged()
        assert restored(binary) == tree


@given(constituents, st.integers(1, 4), st.none() | st.integers(0, 3))
def test_any_tree_comes_back(tree: Tree, vertical: int, horizontal: int | None) -> None:
    assert restored(binarised(tree, vertical, horizontal)) == tree


def shape(tree: Any) -> Any:
    """A tree of nltk or ours without its labels."""
    if isinstance(tree, str) or (isinstance(tree, Tree) and tree.is_tag):
        return "."
    parts = tree.parts() if isinstance(tree, Tree) else list(tree)
    return "." if len(parts) == 1 and isinstance(parts[0], str) else [shape(part) for part in parts]


def test_the_shape_is_that_of_nltk() -> None:
    for tree, _ in random_pairs(8, 300):
        theirs = nltk.Tree.fromstring(str(tree))
        theirs.chomsky_normal_form(factor="right")
        assert shape(binarised(tree)) == shape(theirs)


@pytest.mark.parametrize("label", ["NP^S", "@NP", "A@B"])
def test_marks_in_labels_are_refused(label: str) -> None:
    with pytest.raises(ValueError, match="which mark what binarisation adds"):
        binarised(Tree("S", (Tree(label, (Tree("NN", ("dog",)),)),)))


@pytest.mark.parametrize("memory", [(0, None), (1, -1)])
def test_a_memory_that_is_none_is_refused(memory: tuple[int, int | None]) -> None:
    with pytest.raises(ValueError, match="must"):
        binarised(FLAT, *memory)

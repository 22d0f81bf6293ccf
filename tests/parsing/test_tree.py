"""Trees and Penn brackets: reading, writing, and the place of what is malformed."""

from __future__ import annotations

import dataclasses

import nltk
import pytest
from hypothesis import given

from annotated.parsing import BracketError, Tree, read_tree, read_trees
from tests.parsing.random_trees import constituents, nodes

TEXT = "(S (NP (DT the) (NN dog)) (VP (VBZ is) (ADJP (JJ old))) (. .))"


def test_a_tree_tells_its_words_spans_and_depth():
    tree = read_tree(TEXT)
    assert tree.label == "S" and tree.words() == ("the", "dog", "is", "old", ".")
    assert tree.tagged()[1:3] == (("dog", "NN"), ("is", "VBZ"))
    assert tree.spans() == [("NP", 0, 2), ("ADJP", 3, 4), ("VP", 2, 4), ("S", 0, 5)]
    assert tree.depth() == 3
    assert [part.label for part in tree.subtrees()] == "S NP DT NN VP VBZ ADJP JJ .".split()


def test_a_tree_cannot_change_and_can_be_a_key():
    tree = read_tree(TEXT)
    with pytest.raises(dataclasses.FrozenInstanceError):
        tree.label = "X"  # type: ignore[misc]
    assert {tree: 1}[read_tree(TEXT)] == 1


@given(nodes)
def test_brackets_are_read_as_they_were_written(tree):
    assert read_tree(str(tree)) == tree
    assert read_tree(tree.indented(30)) == tree
    assert "\n" not in str(tree)


@given(constituents)
def test_another_reader_sees_the_same_tree(tree):
    other = nltk.Tree.fromstring(str(tree))
    assert other.label() == tree.label and tuple(other.leaves()) == tree.words()
    assert " ".join(str(other).split()) == str(tree)


def test_long_trees_are_indented():
    assert read_tree(TEXT).indented(30) == (
        "(S\n  (NP (DT the) (NN dog))\n  (VP\n    (VBZ is)\n    (ADJP (JJ old)))\n  (. .))"
    )
    assert read_tree(TEXT).indented() == TEXT


def test_several_trees_and_the_nameless_bracket():
    first, second = read_trees("( (NP (NN dog)) )\n\n(NP\n (NN cat))\n")
    assert first == Tree("", (Tree("NP", (Tree("NN", ("dog",)),)),)) and str(first) == "( (NP (NN dog)))"
    assert second.words() == ("cat",)
    assert list(read_trees(" \n ")) == []


@pytest.mark.parametrize(
    ("text", "line", "column", "fault"),
    [
        ("(S (NP (NN dog))", 1, 1, "'\\(S' is never closed"),
        ("(S\n  (NP (NN dog)", 2, 3, "'\\(NP' is never closed"),
        ("(NP (NN dog)))", 1, 14, "never opened"),
        ("(NP (NN dog))\n  cat", 2, 3, "'cat' stands outside"),
        ("(NP (NN dog)) (NP)", 1, 15, "'NP' has nothing in it"),
        ("()", 1, 1, "nothing in it"),
        ("(NP\n\n the\n (NN dog))", 1, 1, "word 'the' has no part of speech"),
        ("(NP (NN big dog))", 1, 5, "word 'big' has no part of speech"),
    ],
)
def test_what_is_malformed_and_where(text, line, column, fault):
    with pytest.raises(BracketError, match=fault) as caught:
        list(read_trees(text, "wsj_0001.mrg"))
    assert (caught.value.line, caught.value.column) == (line, column)
    assert str(caught.value).startswith(f"wsj_0001.mrg, line {line}, column {column}: ")


@pytest.mark.parametrize("text", ["", TEXT + TEXT])
def test_one_tree_is_neither_none_nor_two(text):
    with pytest.raises(BracketError, match="one tree, not [02]"):
        read_tree(text)


@pytest.mark.parametrize(
    ("label", "children", "message"),
    [
        ("NP", (), "nothing in it"),
        ("NP", ("a", Tree("NN", ("b",))), "no part of speech"),
        ("N P", ("a",), "white space"),
        ("NN", ("a(",), "-LRB-"),
        ("NN", ("",), "empty"),
        ("", ("dog",), "empty"),
    ],
)
def test_what_is_no_tree(label, children, message):
    with pytest.raises(ValueError, match=message):
        Tree(label, children)


def test_a_chain_of_ten_thousand_brackets():
    """A model may write one: nothing that scores a tree may fail on its depth."""
    tree = Tree("NN", ("dog",))
    for _ in range(10_000):
        tree = Tree("NP", (tree,))
    assert tree.depth() == len(tree.spans()) == 10_000
    assert len(str(tree)) == len("(NP )") * 10_000 + len("(NN dog)")

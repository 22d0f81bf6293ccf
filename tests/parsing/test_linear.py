"""Linear form of trees: there and back, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotated.parsing import LinearFormError, Tree, classroom_trees, linear_form, read_tree, tree_from_linear
from tests.parsing.random_trees import constituents

TREE = read_tree("(S (NP (NNP John)) (VP (VBZ has) (NP (DT a) (NN dog))) (. .))")


@pytest.mark.parametrize(
    ("leaves", "expected"),
    [
        ("XX", "(S (NP XX )NP (VP XX (NP XX XX )NP )VP XX )S"),
        ("tag", "(S (NP NNP )NP (VP VBZ (NP DT NN )NP )VP . )S"),  # figure 2 of Vinyals et al.
        ("word", "(S (NP John )NP (VP has (NP a dog )NP )VP . )S"),
    ],
)
def test_the_three_forms(leaves, expected):
    assert " ".join(linear_form(TREE, leaves)) == expected


@given(constituents)
def test_with_parts_of_speech_and_words_the_tree_comes_back_whole(tree):
    assert tree_from_linear(linear_form(tree, "tag"), tree.words(), "tag") == tree


@given(constituents)
def test_without_them_all_brackets_come_back(tree):
    for words, leaves in ((tree.words(), "XX"), (None, "word"), (None, "XX")):
        back = tree_from_linear(linear_form(tree, leaves), words, leaves)
        assert back.spans() == tree.spans()
        assert {tag for _, tag in back.tagged()} == {"XX"}
        assert linear_form(back, leaves) == linear_form(tree, leaves)
        assert back.words() == (tree.words() if words or leaves == "word" else ("XX",) * len(tree.words()))


def test_the_classroom_comes_back():
    for tree in classroom_trees("train", 300):
        assert tree_from_linear(linear_form(tree, "tag"), tree.words(), "tag") == tree


@pytest.mark.parametrize(
    ("text", "fault", "position"),
    [
        ("", "empty", 0),
        ("XX", "no bracket", 0),
        (")S", "unopened", 0),
        ("(S (NP XX )VP )S", "mismatched", 3),
        ("(S (NP )NP )S", "nothing inside", 2),
        ("(S XX )S XX", "after the end", 3),
        ("(S XX )S )S", "after the end", 3),
        ("(S XX )S (S XX )S", "after the end", 3),
        ("(S (NP XX )NP", "unclosed", 4),
        ("(S ( XX )S", "no label", 1),
        ("(S XX )", "no label", 2),
        ("(S XX XX XX )S", "words", 3),
        ("(S XX )S", "words", 3),
    ],
)
def test_what_is_malformed_and_where(text, fault, position):
    with pytest.raises(LinearFormError) as caught:
        tree_from_linear(text.split(), ["two", "words"])
    assert (caught.value.fault, caught.value.position) == (fault, position)
    assert str(caught.value).startswith(f"token {position + 1}: "), "readers count from 1"


@pytest.mark.parametrize(("text", "said"), [("(S XX", "one bracket is open, 'S'"),
                                            ("(S (NP XX", "2 brackets are open, the last is 'NP'")])  # fmt: skip
def test_open_brackets_are_counted(text, said):
    with pytest.raises(LinearFormError, match=said):
        tree_from_linear(text.split())


@given(st.lists(st.sampled_from(["(S", ")S", "(NP", ")NP", "XX", "(", ")"]), max_size=12))
def test_nothing_malformed_is_mended(tokens):
    """Whatever is accepted is the form of the tree that comes out: nothing was added or left out."""
    try:
        tree = tree_from_linear(tokens)
    except LinearFormError as error:
        assert 0 <= error.position <= len(tokens)
    else:
        assert linear_form(tree) == tokens


def test_one_change_of_a_bracket_is_always_refused():
    tokens = linear_form(TREE)
    for at, token in enumerate(tokens):
        for wrong in ([], [token[0] + "QP"]) if token != "XX" else ():
            with pytest.raises(LinearFormError):
                tree_from_linear([*tokens[:at], *wrong, *tokens[at + 1 :]], TREE.words())


def test_a_part_of_speech_is_no_constituent_and_forms_have_names():
    with pytest.raises(ValueError, match="not a constituent"):
        linear_form(Tree("NN", ("dog",)))
    with pytest.raises(ValueError, match="XX, tag, word, not 'pos'"):
        linear_form(TREE, "pos")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="XX, tag, word, not 'pos'"):
        tree_from_linear(["(S", "XX", ")S"], leaves="pos")  # type: ignore[arg-type]

"""Attachments that only meaning decides: both kinds alike on the surface, combinations held out, trees right."""

from __future__ import annotations

import hashlib
from collections import Counter

import pytest

from annotated.parsing import Tree, classroom_trees, penn_words, sentence
from annotated.parsing.attachments import COMBINATIONS, HELD_OUT_COMBINATIONS, attachment_sentences

NOUNS = {form: one.noun for one in COMBINATIONS for form in (one.noun, one.noun + "s", one.noun + "es")}
NOUNS |= {"knives": "knife", "cherries": "cherry"}


@pytest.fixture(scope="module")
def train() -> list[Tree]:
    return classroom_trees("train", 4000)[4::5]


@pytest.fixture(scope="module")
def held_out() -> list[Tree]:
    return classroom_trees("attachments", 300)


def attached(tree: Tree) -> tuple[str, Tree]:
    """The constituent around the first prepositional phrase: its label, and that phrase."""
    phrase = next(part for part in tree.subtrees() if part.label == "PP")
    return next(part.label for part in tree.subtrees() if any(child is phrase for child in part.parts())), phrase


def decided_by(tree: Tree) -> tuple[str, str]:
    """Preposition and noun of the first prepositional phrase."""
    words = attached(tree)[1].words()
    return words[0], NOUNS[words[-1]]


def test_the_noun_decides_and_both_are_equally_frequent(train: list[Tree]) -> None:
    kinds = Counter(attached(tree)[0] for tree in train)
    assert set(kinds) == {"VP", "NP"} and abs(kinds["VP"] - kinds["NP"]) < 0.1 * len(train)
    by_hand = {"Tom eats the soup with the spoon.": "VP", "Tom eats the soup with the carrots.": "NP"}
    for one in COMBINATIONS:
        if one.verb == "eat" and one.preposition == "with":
            for text, kind in by_hand.items():
                assert one.attachment == kind or one.noun not in text


def test_parts_of_speech_do_not_tell(train: list[Tree]) -> None:
    """From the verb on, sequences of tags that stand for one attachment stand for the other as well."""

    def from_the_verb(tree: Tree) -> tuple[str, ...]:
        tags = [tag for _, tag in tree.tagged()]
        return tuple(tags[next(n for n, tag in enumerate(tags) if tag.startswith(("VB", "MD"))) :])

    kinds: dict[tuple[str, ...], set[str]] = {}
    for tree in train:
        kinds.setdefault(from_the_verb(tree), set()).add(attached(tree)[0])
    both = sum(len(kinds[from_the_verb(tree)]) == 2 for tree in train)
    assert both > 0.6 * len(train)


def test_held_out_combinations_are_never_trained_on_but_their_parts_are(train, held_out) -> None:
    shown = {(one.verb, one.preposition, one.noun) for one in COMBINATIONS if one not in HELD_OUT_COMBINATIONS}
    hidden = {(one.verb, one.preposition, one.noun) for one in HELD_OUT_COMBINATIONS}
    assert not shown & hidden and len(shown | hidden) == len(COMBINATIONS), "no combination has two attachments"
    for one in HELD_OUT_COMBINATIONS:
        others = [other for other in COMBINATIONS if other not in HELD_OUT_COMBINATIONS]
        assert any((o.verb, o.preposition, o.attachment) == (one.verb, one.preposition, one.attachment) for o in others)
        assert any((o.noun, o.preposition) == (one.noun, one.preposition) for o in others)
    verbs = {one.verb for one in HELD_OUT_COMBINATIONS}
    assert {decided_by(tree) for tree in held_out} <= {(p, n) for _, p, n in hidden} and len(verbs) > 10
    drawn = {attached(tree)[0] for tree in held_out}
    assert drawn == {"VP", "NP"}
    for seed, held in (("train 0", False), ("attachments 0", True)):
        stream = attachment_sentences(held, seed)
        assert all((next(stream)[1] in HELD_OUT_COMBINATIONS) == held for _ in range(200))


def test_splits_share_no_sentence(train: list[Tree]) -> None:
    splits = [{sentence(t.words()) for t in train}]
    splits += [{sentence(t.words()) for t in classroom_trees(s, 1000)[4::5]} for s in ("valid", "test")]
    splits.append({sentence(tree.words()) for tree in classroom_trees("attachments", 200)})
    assert [len(split) for split in splits[1:]] == [200, 200, 200], "no sentence twice"
    assert not any(a & b for n, a in enumerate(splits) for b in splits[n + 1 :])


def test_the_words_can_be_told_from_the_text(train: list[Tree], held_out: list[Tree]) -> None:
    for tree in train + held_out:
        assert penn_words(sentence(tree.words())) == tree.words()


def test_the_treebank_is_the_one_that_the_records_were_made_with() -> None:
    digest = hashlib.sha256(
        "\n".join(map(str, classroom_trees("train", 200) + classroom_trees("attachments", 50))).encode()
    )
    assert digest.hexdigest()[:16] == "46452f6891b5f757"

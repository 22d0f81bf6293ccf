"""Trees of the classroom's sentences: their words, their form, and trees written by hand."""

from __future__ import annotations

import hashlib
from collections import Counter

import pytest

from annotated.classroom import bracketed_pairs, classroom_pairs
from annotated.classroom.constituents import brackets, constituent, extended, inside, possessive, shaped, word
from annotated.classroom.corpus import ClassroomPair
from annotated.parsing import Tree, classroom_trees, penn_words, read_tree, sentence

FIRST = {"train": 3000, "valid": 300, "test": 300, "constructions": 300}
SPLITS = tuple(FIRST)
CLAUSES = {"S", "SQ", "SBARQ", "SBAR"}
PHRASES = CLAUSES | set("NP VP PP ADJP ADVP PRT INTJ WHNP WHADVP WHADJP".split())
TAGS = set("DT NN NNS NNP PRP PRP$ VB VBZ VBP VBD MD TO IN JJ JJR RB RBR RP CD CC WP WRB WDT EX UH POS , .".split())


@pytest.fixture(scope="module")
def bracketed() -> dict[str, list[tuple[ClassroomPair, Tree]]]:
    return {
        split: [(pair, read_tree(text)) for pair, text in bracketed_pairs(split, count)]
        for split, count in FIRST.items()
    }


@pytest.fixture(scope="module")
def trees(bracketed) -> dict[str, Tree]:
    return {pair.source: tree for split in SPLITS for pair, tree in bracketed[split]}


PINNED = {
    "train": "73dfa2c5e4841244aa4452f3423ac6b02ad5162ba447f04ed951a7a274adf5d2",
    "valid": "50f032f391a729483e106c147e68ab6c2afb6907196a39bc253be2f0b2694988",
    "test": "22a8c2e1ad48c533c10dd07897da314264ae82a62e16f27d1a27eea5fa69fa81",
    "constructions": "66bb0581d8767700b7c748cb01fd1db69190724f07bda2a79b778c547b8e7189",
}
"""Digests of text, alignment and features of the first pairs; train's from the grammar before it made trees."""


@pytest.mark.parametrize("split", SPLITS)
def test_the_corpus_is_the_one_from_before_there_were_trees(bracketed, split):
    digest = hashlib.sha256()
    for pair, _ in bracketed[split]:
        fields = (pair.source, pair.target, pair.alignment, pair.source_words, pair.target_words)
        digest.update(repr((*fields, sorted(pair.features))).encode())
    assert digest.hexdigest() == PINNED[split]


@pytest.mark.parametrize("split", SPLITS)
def test_the_leaves_are_the_sentence(bracketed, split):
    for pair, tree in bracketed[split]:
        assert sentence(tree.words()) == pair.source
        assert penn_words(pair.source) == tree.words()


def test_trees_come_in_the_order_of_the_pairs_with_every_fifth_an_attachment():
    pairs = list(classroom_pairs("train", 40, seed=7))
    trees = classroom_trees("train", 50, seed=7)
    assert [sentence(t.words()) for n, t in enumerate(trees, 1) if n % 5] == [pair.source for pair in pairs]
    assert trees == classroom_trees("train", 50, seed=7) != classroom_trees("train", 50, seed=8)
    assert trees[:33] == classroom_trees("train", 33, seed=7)
    pairs = list(classroom_pairs("constructions", 20))
    assert [sentence(tree.words()) for tree in classroom_trees("constructions", 20)] == [p.source for p in pairs]


def test_every_tree_has_one_clause_at_its_root_and_known_labels(bracketed):
    for split in SPLITS:
        for pair, tree in bracketed[split]:
            assert tree.label in CLAUSES - {"SBAR"}
            assert (tree.label == "S") == (not pair.source.endswith("?"))
            for part in tree.subtrees():
                assert part.label in (TAGS if part.is_tag else PHRASES), part
                assert [child.label for child in part.parts()] != [part.label], part


def test_each_phrase_has_the_parts_that_its_label_asks_for(bracketed):
    heads = {
        "VP": {"VB", "VBZ", "VBP", "VBD", "MD", "TO", "VP"},
        "NP": {"NN", "NNS", "NNP", "PRP", "CD", "EX", "NP", "POS"},
        "PP": {"IN", "TO"},
        "ADJP": {"JJ", "JJR", "ADJP"},
        "ADVP": {"RB", "JJ"},
        "S": {"VP", "S"},
        "SQ": {"VP", "VBZ", "VBP", "VBD", "MD"},
        "SBARQ": {"SQ"},
        "SBAR": {"S"},
        "PRT": {"RP"},
    }
    for split in SPLITS:
        for _, tree in bracketed[split]:
            for part in tree.subtrees():
                if part.label in heads and not part.is_tag:
                    assert heads[part.label] & {child.label for child in part.parts()}, str(part)


def test_a_word_has_few_parts_of_speech(trees):
    """Besides forms of the verb that look alike, only these have two, and the sentence decides which."""
    found: dict[str, set[str]] = {}
    for tree in trees.values():
        for text, tag in tree.tagged():
            found.setdefault(text.lower(), set()).add(tag)
    plain_forms = {"VB", "VBP", "VBD"}
    assert {text: tags for text, tags in found.items() if len(tags) > 1 and not tags <= plain_forms} == {
        "that": {"IN", "WDT"}, "her": {"PRP", "PRP$"}, "may": {"MD", "NNP"}, "as": {"RB", "IN"}, "on": {"IN", "RP"},
        "out": {"IN", "RB"}, "back": {"RB", "RP"}, "away": {"RB", "RP"}, "answer": {"VB", "VBP", "NN"},
        "answers": {"VBZ", "NNS"},
    }  # fmt: skip


def test_capitals_begin_the_sentence_in_the_tree_too(trees):
    assert all(tree.words()[0][0].isupper() for tree in trees.values())


BY_HAND = [
    "(S (NP (EX There)) (VP (VBD was) (NP (NP (DT a) (JJ red) (NN knife)) (PP (IN under) (NP (DT the) (JJ small) "
    "(NN table))))) (. .))",
    "(S (NP (PRP I)) (VP (VBP put) (NP (DT these) (NNS lamps)) (PP (IN on) (NP (DT the) (NN office) (NN chair)))) "
    "(. .))",
    "(SBARQ (WHADVP (WRB Where)) (SQ (VBP do) (NP (DT these) (NNS neighbours)) (VP (VB find) (NP (DT a) (NN dog)) "
    "(NP (DT every) (NN morning)))) (. ?))",
    "(SQ (MD Will) (NP (DT this) (NN student)) (VP (VB look) (PP (IN at) (NP (PRP him))) (NP (DT this) (NN evening))) "
    "(. ?))",
    "(S (NP (NP (DT The) (NN spoon)) (SBAR (WHNP (WDT that)) (S (NP (DT the) (NN rabbit)) (VP (MD should) (VP "
    "(VB look) (PP (IN for))))))) (VP (VBZ is) (ADJP (JJ new))) (. .))",
    "(SBARQ (WHNP (WP Who)) (SQ (VP (VBD did) (RB not) (VP (VB laugh) (PP (IN at) (NP (DT an) (JJ interesting) "
    "(NN answer)))))) (. ?))",
    "(SBARQ (WHNP (WHADJP (WRB How) (JJ many)) (NNS carrots)) (SQ (VBD did) (NP (DT the) (NNS brothers)) "
    "(VP (VB eat))) (. ?))",
    "(SBARQ (WHNP (WP Whom)) (SQ (VBD did) (NP (PRP$ their) (JJ rich) (NN aunt)) (VP (VB visit) (ADVP (NP (CD two) "
    "(NNS days)) (RB ago)))) (. ?))",
    "(SQ (NP (NNP Mrs.) (NNP Fischer)) (, ,) (VBD did) (NP (PRP you)) (VP (VB pick) (NP (PRP him)) (PRT (RP up))) "
    "(. ?))",
    "(S (NP (NNP Julia) (CC and) (NNP Greta)) (, ,) (INTJ (UH please)) (VP (VB talk) (PP (IN about) (NP (DT these) "
    "(NNS cars)))) (. !))",
    "(S (NP (NP (DT A) (NN hotel) (NN guest)) (SBAR (WHNP (WP whom)) (S (NP (DT the) (NNS cats)) (VP (MD could) "
    "(VP (VB find) (PP (IN at) (NP (CD six) (RB o'clock)))))))) (VP (VBD was) (RB not) (ADJP (JJ nervous))) (. .))",
    "(S (NP (DT The) (NN school) (NN child)) (VP (VBZ picks) (PRT (RP up)) (NP (NP (DT the) (JJ old) (NN baker)) "
    "(SBAR (WHNP (WP who)) (S (VP (VBD thanked) (NP (PRP us))))))) (. .))",
    "(S (NP (DT The) (NN frog)) (VP (MD can) (RB not) (VP (VB cross) (NP (DT the) (JJ old) (NN street)) "
    "(SBAR (IN because) (S (NP (PRP it)) (VP (VBZ is) (ADJP (RB too) (JJ weak))))))) (. .))",
    "(S (SBAR (IN If) (S (NP (PRP it)) (VP (VBZ snows)))) (, ,) (NP (PRP$ his) (NN aunt)) (VP (VBZ cries)) (. .))",
    "(S (S (NP (PRP$ Our) (NNS bicycles)) (VP (VBP are) (ADJP (JJ old)))) (, ,) (CC but) (S (NP (DT the) (NN king)) "
    "(VP (VBZ likes) (NP (PRP them)))) (. .))",
    "(S (NP (DT The) (JJ small) (NNS princesses)) (VP (VP (VBP see) (NP (DT a) (NN boat))) (CC and) (VP (VBP go) "
    "(PP (TO to) (NP (DT the) (NN bank))))) (. .))",
    "(S (NP (PRP$ My) (NN friend)) (VP (VBZ begins) (S (VP (TO to) (VP (VB read) (NP (NP (PRP$ our) (NN doctor) "
    "(POS 's)) (JJ yellow) (NNS newspapers)) (PP (IN at) (NP (DT the) (NN river))))))) (. .))",
    "(S (NP (PRP$ Their) (NN friend)) (VP (VBD went) (PP (IN into) (NP (DT the) (NN city))) (S (VP (TO to) "
    "(VP (VB pick) (PRT (RP up)) (NP (DT the) (NN office) (NN colleague)))))) (. .))",
    "(S (NP (DT This) (NN village) (NN street)) (VP (VBZ is) (ADJP (ADJP (RBR more) (JJ quiet)) (PP (IN than) "
    "(NP (DT the) (NN field))))) (. .))",
    "(S (NP (DT The) (NN square)) (VP (VBD was) (ADJP (ADJP (RB as) (JJ beautiful)) (PP (IN as) (NP (DT this) "
    "(NN street))))) (. .))",
    "(S (NP (DT The) (JJ young) (NN uncle)) (VP (VBD met) (NP (DT a) (NN village) (NN teacher)) (PP (IN in) (NP "
    "(NP (NN front)) (PP (IN of) (NP (DT a) (JJ big) (NN village) (NN shop))))) (PP (IN at) (NP (CD 22:10)))) (. .))",
    "(S (PP (IN In) (NP (CD 1989))) (NP (NNP Simon)) (VP (VBD waited)) (. .))",
    "(S (ADVP (JJ Next) (PP (TO to) (NP (DT an) (NN orange) (NN tree)))) (NP (PRP he)) (VP (VBZ loses) (NP (DT a) "
    "(NN school) (NN book))) (. .))",
    "(SBARQ (WHNP (WP Who)) (SQ (ADVP (RB never)) (VP (VBZ greets) (NP (PRP$ my) (NN brother)))) (. ?))",
    "(S (NP (NNP Clara)) (ADVP (RB rarely)) (VP (VBD fell) (ADJP (JJ asleep))) (. .))",
    "(S (NP (DT The) (NN brother)) (VP (VBZ thinks) (SBAR (IN that) (S (NP (NNP Anna)) (VP (VBZ comes) (PP (IN out) "
    "(PP (IN of) (NP (DT an) (JJ old) (NN room)))))))) (. .))",
    "(S (NP (DT This) (NN library)) (VP (VBZ has) (NP (CD 514) (NNS pictures))) (. .))",
    "(S (NP (DT The) (NN mother)) (VP (VBZ runs) (PP (IN into) (NP (DT the) (NN garden))) (S (VP (TO to) (VP "
    "(VB show) (NP (NNS shirts)) (PP (TO to) (NP (PRP$ her) (NN aunt))))))) (. .))",
]  # fmt: skip
"""Derived from the Treebank's guidelines for sentences of every kind."""


@pytest.mark.parametrize("text", BY_HAND)
def test_trees_by_hand(text, bracketed):
    by_hand = read_tree(text)
    source = sentence(by_hand.words())
    found = [tree for split in SPLITS for pair, tree in bracketed[split] if pair.source == source]
    assert found == [by_hand]


def test_a_phrase_hangs_on_what_it_belongs_to(trees):
    """'on the table' belongs to the verb after *put* and to the noun after *there is*."""
    seen: Counter[str] = Counter()
    for source, tree in trees.items():
        for part in tree.subtrees():
            children = [child.label for child in part.parts()]
            verb = part.parts()[0].children[0] if part.label == "VP" and not part.is_tag else ""
            if source.startswith("There") and part.label == "VP":
                assert len(children) == 2 and part.parts()[1].parts()[1].label in ("PP", "ADVP"), source
                seen["noun"] += 1
            elif verb in ("put", "puts") and "PRT" not in children:
                assert children[1] == "NP" and children[2] in ("PP", "ADVP"), source
                seen["verb"] += 1
    assert seen["noun"] > 30 and seen["verb"] > 30


def test_brackets_of_hand_made_tokens():
    dog = constituent("NP", [word("the", 1, "DT"), word("dog", 2, "NN")])
    owned = constituent("NP", [*possessive(dog), word("bed", 4, "NN")])
    assert owned == [("the", 1), ("dog's", 2), ("bed", 4)]  # tokens as before: a word and its key
    clause = constituent("S", [*owned, *shaped("(VP VBZ (PP IN _))", [("is", 8), ("in", 16)], dog)])
    whole = extended(clause, [word(".", 32, ".")])
    assert brackets(whole, [text for text, _ in whole]) == (
        "(S (NP (NP (DT the) (NN dog) (POS 's)) (NN bed)) (VP (VBZ is) (PP (IN in) (NP (DT the) (NN dog)))) (. .))"
    )
    assert brackets(constituent("X", inside(dog)), ["The", "dog"]) == "(X (DT The) (NN dog))"
    assert brackets(dog, ["the", "dog"]) == "(NP (DT the) (NN dog))"  # nothing above has changed it


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ([*constituent("NP", [word("the", 1, "DT"), ("dog", 2)])], "'dog' .* no part of speech"),
        ([*shaped("(NP NN)", [("dog", 1)]), *shaped("(VP VB)", [("sleep", 2)])], "ends before 'sleep'"),
        (constituent("NP", [word("the", 1, "DT"), word("dog", 2, "NN")])[:1], "leaves 1 brackets open"),
    ],
)
def test_tokens_that_are_no_tree(tokens, message):
    with pytest.raises(ValueError, match=message):
        brackets(tokens, [text for text, _ in tokens])


def test_unknown_split_and_negative_count():
    with pytest.raises(ValueError, match="train, valid, test, constructions"):
        classroom_trees("dev", 1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="negative"):
        bracketed_pairs("train", -1)
    assert classroom_trees("train", 0) == []

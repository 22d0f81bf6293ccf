"""Well-formed brackets: whatever a model would rather write, every output is one tree over the sentence's words."""

from __future__ import annotations

import itertools
import random

import pytest
import torch

from annotated import Transformer, tiny
from annotated.config import EOS, DecodingConfig
from annotated.data.tokenizer import Tokenizer
from annotated.parsing import (
    LinearFormError,
    Parser,
    WellFormed,
    classroom_trees,
    linear_form,
    read_written,
    training_line,
    tree_from_linear,
    written,
)
from annotated.parsing.penn import TAGS
from annotated.parsing.well_formed import labels_of, may_follow
from tests.parsing.random_trees import random_tree

LEAVES = ("XX", "PRP$")


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    """Of few merges: the brackets of frequent labels are one piece, those of rare ones several."""
    return Tokenizer.train((training_line(tree) for tree in classroom_trees("train", 150)), 420)


@pytest.mark.parametrize(
    ("filled", "missing", "allowed"),
    [
        ([False], 2, (False, True, True)),  # (S
        ([True], 1, (False, True, True)),  # (S (NP Anna )NP: the root stays open while a word is missing
        ([True], 0, (True, False, False)),  # (S (NP Anna )NP (VP sleeps )VP
        ([True, True], 1, (True, True, True)),  # (S (NP Anna
        ([True, False, False], 1, (False, False, True)),  # two brackets in a row are the most here
    ],
)
def test_what_may_be_written_next(filled: list[bool], missing: int, allowed: tuple[bool, bool, bool]) -> None:
    assert may_follow(filled, missing, nested=2) == allowed


def test_forms_written_as_text_come_back() -> None:
    chance = random.Random(0)
    for _ in range(200):
        tree = random_tree(chance, [(f"w{n}", chance.choice(("NN", "PRP$", ",", "."))) for n in range(1, 9)])
        for leaves in ("XX", "tag") if not tree.is_tag else ():
            tokens = linear_form(tree, leaves)
            assert read_written(written(tokens)) == tokens


def test_a_bracket_of_the_treebank_is_one_piece(tokenizer: Tokenizer) -> None:
    """That is what the letters for brackets are for: '(NP' as it stands would be two."""
    labels = labels_of(tokenizer)
    assert (
        {"S", "NP", "VP", "PP"}
        <= set(labels)
        <= set("ADJP ADVP INTJ NP PP PRT S SBAR SBARQ SQ VP WHADJP WHADVP WHNP".split())
    )
    for label in ("NP", "VP", "PP"):
        for token in ("(" + label, ")" + label):
            assert len(tokenizer.encode(" " + written([token]))) == 1
    assert len(tokenizer.encode(" (NP")) > 1


@pytest.mark.parametrize("words", [1, 2])
def test_the_mask_allows_what_trying_everything_finds(tokenizer: Tokenizer, words: int) -> None:
    """All linear forms over two labels and one leaf that fit the cap, found by enumeration: the mask leads to them."""
    tokens = ["(S", ")S", "(NP", ")NP", "XX"]
    longest = words + 4
    valid = set()
    for length in range(1, longest + 1):
        for form in itertools.product(tokens, repeat=length):
            try:
                tree_from_linear(form, ["w"] * words)
            except LinearFormError:
                continue
            valid.add(form)
    spelled = {form: tuple(tokenizer.encode(written(list(form)))) + (EOS,) for form in valid}
    cap = max(map(len, spelled.values())) + 3
    allowed = WellFormed(tokenizer, ("S", "NP"), [[("XX",)] * words], [cap])
    for ids in spelled.values():
        for t, token in enumerate(ids):
            assert allowed(torch.tensor([ids[:t]], dtype=torch.long).reshape(1, t), [0])[0, token], (ids, t)
        assert not allowed(torch.tensor([ids]), [0]).any()
    reached: set[tuple[int, ...]] = set()
    waiting: list[tuple[int, ...]] = [()]
    while waiting:  # whatever the mask leads to is one of them, if it is no longer
        ids = waiting.pop()
        for token in allowed(torch.tensor([ids], dtype=torch.long).reshape(1, -1), [0])[0].nonzero().flatten().tolist():
            if token == EOS:
                reached.add((*ids, EOS))
            else:
                waiting.append((*ids, token))
    forms = [tuple(read_written(tokenizer.decode(ids[:-1]))) for ids in reached]
    assert all(len(ids) <= cap for ids in reached) and len(set(forms)) == len(forms)
    assert {form for form in forms if len(form) <= longest} == valid
    for form in forms:
        tree_from_linear(form, ["w"] * words)


@pytest.mark.parametrize("beam_size", [1, 5])
@pytest.mark.parametrize("leaves", ["XX", "tag", "word"])
def test_an_untrained_model_writes_nothing_but_trees(tokenizer: Tokenizer, beam_size: int, leaves: str) -> None:
    """Random weights, large ones, in a batch of all lengths, under a cap that leaves little room."""
    torch.manual_seed(beam_size)
    model = Transformer(tiny(vocab_size=tokenizer.vocab_size, d_model=16, d_ff=32, num_heads=2, d_k=8, d_v=8))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2)
    parser = Parser(model, tokenizer, leaves=leaves)  # type: ignore[arg-type]
    sentences = [tree.words() for tree in classroom_trees("test", 8)]
    most = 60
    decoding = DecodingConfig(beam_size=beam_size, alpha=0.3, max_new_tokens=most)
    for words, parse in zip(sentences, parser.parse(sentences, decoding), strict=True):
        assert parse.tree is not None and parse.fault == "" and parse.hypothesis.finished
        assert parse.tree.words() == words and parse.hypothesis.steps <= most
        assert tree_from_linear(parse.tokens, words, leaves) == parse.tree  # type: ignore[arg-type]
        assert leaves != "word" or tuple(token for token in parse.tokens if token[0] not in "()") == words
        assert {part.label for part in parse.tree.subtrees() if part.is_tag} <= (TAGS if leaves == "tag" else {"XX"})
    free = parser.parse(sentences, decoding, well_formed=False)
    assert all(one.tree is None and one.fault for one in free), "random weights write no trees by themselves"


def test_the_mask_depends_on_the_beginning_alone(tokenizer: Tokenizer) -> None:
    """Not on what was asked before: the memory of the step before only saves time."""
    form = tokenizer.encode(written("(S (NP XX XX )NP XX )S".split()))
    allowed = WellFormed(tokenizer, ("S", "NP"), [[LEAVES] * 3, [LEAVES] * 4], [40, 40])
    stepwise = [allowed(torch.tensor([form[:t]] * 2, dtype=torch.long).reshape(2, t), [0, 1]) for t in range(len(form))]
    for t in reversed(range(len(form))):
        fresh = WellFormed(tokenizer, ("S", "NP"), [[LEAVES] * 3, [LEAVES] * 4], [40, 40])
        assert torch.equal(fresh(torch.tensor([form[:t]] * 2, dtype=torch.long).reshape(2, t), [0, 1]), stepwise[t])
    end = tokenizer.encode(" " + written([")S"]))[0]
    assert stepwise[-1][0, end] and not stepwise[-1][1, end], "the second sentence lacks a word"


def test_no_more_brackets_are_opened_in_a_row_than_agreed(tokenizer: Tokenizer) -> None:
    opening = {tokenizer.encode(" " + written(["(" + label]))[0] for label in ("S", "NP")}
    allowed = WellFormed(tokenizer, ("S", "NP"), [[("XX",)] * 3], [60], nested=3)
    for form, may_open in (
        ("(S (NP", True),
        ("(S (NP (NP", False),
        ("(S (NP (NP XX", True),
        ("(S (NP XX )NP (NP (S (NP", False),
    ):
        ids = torch.tensor([tokenizer.encode(written(form.split()))])
        found = set(allowed(ids, [0])[0].nonzero().flatten().tolist())
        leaf = tokenizer.encode(" " + written(["XX"]))[0]
        assert leaf in found and bool(found & (opening - {leaf})) == may_open, form


def test_sentences_without_words_or_room_are_refused(tokenizer: Tokenizer) -> None:
    for labels, leaves, limit, message in (
        ((), [LEAVES], 9, "no labels"),
        (("S",), [], 9, "no words"),
        (("S",), [LEAVES, ()], 9, "nothing may stand for"),
        (("S",), [("XX",)] * 4, 6, "no room"),
    ):
        with pytest.raises(ValueError, match=message):
            WellFormed(tokenizer, labels, [leaves], [limit])

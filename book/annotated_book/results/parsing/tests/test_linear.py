"""Bracket strings in the page: the library's trees, faults and messages on thousands of edits; its words and F1."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any, get_args

import pytest

from annotated.classroom import classroom_pairs
from annotated.parsing import (
    LinearFormError,
    Tree,
    bracket_score,
    classroom_trees,
    linear_form,
    penn_words,
    tree_from_linear,
)
from annotated.parsing.linear import LinearFault
from annotated.parsing.score import PUNCTUATION
from annotated_book.pages import page_folder
from book.tests.javascript import evaluate

LINEAR = page_folder("parsing") / "linear.js"
STRINGS = 6_000
SENTENCES = [250, pytest.param(1_000, marks=pytest.mark.nightly)]  # of a split
READ = """({ readLinear }, jobs) => jobs.map(([tokens, words]) => {
  const { fault, root, nodes } = readLinear(tokens, words);
  return fault ?? nodes.map(({ label, start, end }) => [label, start, end]);
})"""


def spans(tree: Tree) -> list[list[Any]]:
    """Label and words of each constituent, outer ones first, as their brackets open."""
    found: list[list[Any]] = []

    def walk(node: Tree, start: int) -> int:
        if node.is_tag:
            return start + 1
        found.append([node.label, start, -1])
        own, end = found[-1], start
        for part in node.parts():
            end = walk(part, end)
        own[2] = end
        return end

    walk(tree, 0)
    return found


def edited(tokens: list[str], draw: random.Random) -> list[str]:
    """The tokens after one to three edits, of the kind that a reader or a model makes."""
    tokens = list(tokens)
    for _ in range(draw.randint(1, 3)):
        at, kind = draw.randrange(len(tokens) + 1), draw.randrange(6)
        if kind == 0:
            del tokens[at : at + draw.randint(1, 3)]
        elif kind == 1:
            tokens.insert(at, draw.choice(["(NP", ")NP", "XX", "(", ")", ")S", "(S", "(VP", ")VP", "XX"]))
        elif kind == 2 and len(tokens) > 1:
            i, j = draw.randrange(len(tokens)), draw.randrange(len(tokens))
            tokens[i], tokens[j] = tokens[j], tokens[i]
        elif kind == 3:
            tokens = tokens[:at]
        elif kind == 4:
            tokens[at : at + 1] = [token.replace("NP", "PP").replace("VP", "NP") for token in tokens[at : at + 1]]
        else:
            tokens += tokens[:at]
        if not tokens:
            break
    return tokens


def judged(tokens: list[str], words: list[str] | None) -> Any:
    try:
        return spans(tree_from_linear(tokens, words))
    except LinearFormError as error:
        return {"fault": error.fault, "position": error.position, "message": str(error)}


def test_faults_and_trees_are_those_of_the_library() -> None:
    draw, trees = random.Random(29), classroom_trees("valid", STRINGS // 3)
    jobs: list[tuple[list[str], list[str] | None]] = [([], None), ([], ["a"]), (["XX"], None), ([")S"], ["a"])]
    for number in range(STRINGS):
        tree = trees[number // 3]
        tokens, words = linear_form(tree), list(tree.words())
        jobs.append((edited(tokens, draw) if number % 6 else tokens, words if number % 2 else None))
    found = evaluate(LINEAR, READ, jobs)
    expected = [judged(*job) for job in jobs]
    assert found == expected
    faults = Counter(one["fault"] for one in expected if isinstance(one, dict))
    assert set(faults) == set(get_args(LinearFault)) and sum(isinstance(one, list) for one in expected) > STRINGS // 6
    assert min(faults.values()) >= 2, faults


@pytest.mark.parametrize("sentences", SENTENCES)
def test_words_are_cut_as_in_the_trees(sentences: int) -> None:
    texts = [pair.source for split in ("test", "constructions") for pair in classroom_pairs(split, sentences)]
    texts += ["Anna's dog cannot sleep.", "Cannot he?", " The  cat sleeps. ", "No, no!", "", "a,b", "It's 11:05."]
    found = evaluate(LINEAR, "({ pennWords }, texts) => texts.map(pennWords)", texts)
    assert found == [list(penn_words(text)) for text in texts]


def test_shared_brackets_are_those_of_the_library() -> None:
    draw, trees = random.Random(7), classroom_trees("valid", 300)
    jobs, expected = [], []
    for tree in trees:
        for _ in range(8):
            guess = [token if draw.random() < 0.9 else token.replace("NP", "VP") for token in linear_form(tree)]
            try:
                predicted = tree_from_linear(guess, tree.words())
            except LinearFormError:
                guess = linear_form(tree)
                start = draw.randrange(len(guess))  # one bracket more, around a leaf
                start = next((i for i in range(start, len(guess)) if guess[i] == "XX"), guess.index("XX"))
                guess[start : start + 1] = ["(PRT", "XX", ")PRT"]
                predicted = tree_from_linear(guess, tree.words())
            score = bracket_score([tree], [predicted])
            jobs.append([linear_form(tree), guess, [tag in PUNCTUATION for _, tag in tree.tagged()]])
            expected.append([score.matched, score.in_gold, score.in_predicted])
    code = """({ countShared, readLinear }, jobs) => jobs.map(([gold, guess, marks]) =>
      countShared(readLinear(gold), readLinear(guess), marks))"""
    assert evaluate(LINEAR, code, jobs) == expected
    assert sum(matched < guessed for matched, _, guessed in expected) > 100


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("(S(NP XX)NP )S", ["(S", "(NP", "XX", ")NP", ")S"]), (" () ", ["(", ")"]), ("", []), ("XX)S", ["XX", ")S"])],
)
def test_a_readers_text_is_cut_at_parentheses(text: str, tokens: list[str]) -> None:
    assert evaluate(LINEAR, "({ tokensOf }, text) => tokensOf(text)", text) == tokens

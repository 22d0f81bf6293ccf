"""What the panels work out: faults on demand, the places of a drawing, the trees of the examples."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from annotated.parsing import Tree, classroom_trees, linear_form, penn_words, sentence, tree_from_linear
from annotated.parsing.linear import LinearFault
from annotated_book.pages import page_folder
from book.tests.javascript import evaluate

FOLDER = page_folder("parsing")


@pytest.fixture(scope="module")
def examples() -> list[dict[str, str]]:
    return evaluate(FOLDER / "examples.js", "({ TREES }) => TREES")


def test_trees_of_the_examples_are_right(examples: list[dict[str, str]]) -> None:
    known = {sentence(tree.words()): " ".join(linear_form(tree, "word")) for tree in classroom_trees("valid", 400)}
    for one in examples:
        tree_from_linear(one["form"].split(), penn_words(one["sentence"]), "word")
        assert known.get(one["sentence"], one["form"]) == one["form"]
    assert sum(one["sentence"] in known for one in examples) >= 2


def test_the_examples_trees_have_the_treebanks_rules(examples: list[dict[str, str]]) -> None:
    def rules(tree: Tree) -> set[tuple[str, ...]]:  # what each constituent is made of, words aside
        return {(one.label, *("" if part.is_tag else part.label for part in one.parts()))
                for one in tree.subtrees() if not one.is_tag}  # fmt: skip

    seen = set().union(*map(rules, classroom_trees("train", 4_000)))
    for one in examples:
        tree = tree_from_linear(one["form"].split(), penn_words(one["sentence"]), "word")
        assert [token for token in one["form"].split() if token[0] not in "()"] == list(tree.words())
        assert rules(tree) <= seen, one["sentence"]


def test_each_edit_makes_the_fault_that_it_is_named_after(examples: list[dict[str, str]]) -> None:
    trees = classroom_trees("valid", 100)
    strings = [one["form"].split() for one in examples] + [linear_form(tree, "word") for tree in trees]
    words = [list(penn_words(one["sentence"])) for one in examples] + [list(tree.words()) for tree in trees]
    code = """({ EDITS, verdictOn }, jobs) => jobs.map(([tokens, words]) =>
      EDITS.map(([fault, , edit]) => [fault, verdictOn(edit(tokens), words, tokens).read.fault?.fault]))"""
    for made in evaluate(FOLDER / "inspector.js", code, list(zip(strings, words, strict=True))):
        assert {fault for fault, _ in made} == set(get_args(LinearFault))
        assert all(fault == found for fault, found in made), made


def test_the_verdict_on_a_tree_is_the_librarys_score() -> None:
    gold = "(S (NP XX XX )NP (VP XX (NP XX XX )NP (PP XX (NP XX XX )NP )PP )VP XX )S".split()
    wrong = "(S (NP XX XX )NP (VP XX (NP (NP XX XX )NP (PP XX (NP XX XX )NP )PP )NP )VP XX )S".split()
    words = list(penn_words("The girl washes the cup with the brush."))
    code = "({ verdictOn }, [tokens, words, gold]) => verdictOn(tokens, words, gold).text"
    # Six gold brackets: S, NP, VP, NP, PP, NP. The wrong tree has these and one noun phrase more: 2 * 6 / (6 + 7).
    said = evaluate(FOLDER / "inspector.js", code, [wrong, words, gold])
    assert "6 of 7" in said and "6 of 6" in said and "85.7 %" in said and said.endswith("F1 92.3.")
    assert evaluate(FOLDER / "inspector.js", code, [gold, words, gold]).endswith("F1 100.0.")
    penn = "(S (NP Anna ) (VP sleeps ) )".split()
    assert "Penn Treebank" in evaluate(FOLDER / "inspector.js", code, [penn, ["Anna", "sleeps"], gold])
    assert "Penn Treebank" not in evaluate(FOLDER / "inspector.js", code, [["(S", "("], ["Anna", "sleeps"], gold])


def test_the_inspector_marks_what_the_right_tree_has_not_and_says_what_is_lacking() -> None:
    gold = "(S (NP The girl )NP (VP washes (NP the cup )NP (PP with (NP the brush )NP )PP )VP . )S".split()
    # The cup alone and the brush alone stay noun phrases; the noun phrase around both is new, and the PP became an NP.
    wrong = "(S (NP The girl )NP (VP washes (NP (NP the cup )NP (NP with (NP the brush )NP )NP )NP )VP . )S".split()
    words = list(penn_words("The girl washes the cup with the brush."))
    code = """async ({ differencesOf }, [linear, tokens, words, gold]) => {
      const { readLinear } = await import(linear), read = readLinear(tokens, words);
      const { wrong, lacks } = differencesOf(read, words, gold);
      return [[...wrong].map(k => read.nodes[k].from), lacks];
    }"""
    linear = (FOLDER / "linear.js").as_uri()
    marked, lacks = evaluate(FOLDER / "inspector.js", code, [linear, wrong, words, gold])
    assert marked == [7, 12] and [wrong[at] for at in marked] == ["(NP", "(NP"]
    assert lacks == "It lacks PP “with the brush”."
    assert evaluate(FOLDER / "inspector.js", code, [linear, gold, words, gold]) == [[], ""]
    assert evaluate(FOLDER / "inspector.js", code, [linear, gold[:-1], words, gold]) == [[], ""]


def test_a_tree_is_drawn_in_its_order_and_lies_down_where_it_is_too_wide() -> None:
    code = """async ({ placesOf, neighbour }, [linear, forms, rooms]) => {
      const { readLinear } = await import(linear);
      return forms.flatMap(([tokens, words]) => rooms.map(room => {
        const read = readLinear(tokens, words), places = placesOf(read, words, room), walked = new Set([0]);
        for (const k of walked) {
          for (const key of ["ArrowDown", "ArrowRight"]) walked.add(neighbour(read, k, key, places.sideways));
        }
        const { sideways, width, height } = places;
        return { sideways, width, height, walked: walked.size, words: words.map((_, i) => places.word(i)),
          nodes: read.nodes.map(({ start, end }, k) => ({ ...places.node(k), start, end })) };
      }));
    }"""
    trees = classroom_trees("valid", 60)
    forms = [[linear_form(tree), list(tree.words())] for tree in trees]
    found = evaluate(FOLDER / "places.js", code, [(FOLDER / "linear.js").as_uri(), forms, [2000, 250]])
    assert {one["sideways"] for one in found} == {True, False}
    for number, one in enumerate(found):
        along, across = ("y", "x") if one["sideways"] else ("x", "y")
        room: dict[str, Any] = {"x": one["width"], "y": one["height"]}
        line = [word[along] for word in one["words"]]
        assert line == sorted(line) and len({word[across] for word in one["words"]}) == 1
        assert one["walked"] == len(one["nodes"]), "arrow keys lead to every constituent"
        for node in one["nodes"]:
            assert line[node["start"]] <= node[along] <= line[node["end"] - 1]
            assert 0 < node[across] < one["words"][0][across] <= room[across]
        assert (one["width"] <= 250) or one["sideways"] or number % 2 == 0

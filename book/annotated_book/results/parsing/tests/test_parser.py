"""The parser in the page is the library's, token for token: greedily, with the rule, and with beams."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch

from annotated.config import DecodingConfig
from annotated.parsing import LinearFormError, linear_form, sentence, tree_from_linear
from annotated.parsing.parser import PAPERS, Parser, load_parser
from annotated.parsing.penn import TAGS
from annotated.parsing.well_formed import WellFormed
from annotated.parsing.written import read_written, written
from annotated_book.pages import page_folder
from annotated_book.results.parsing.data import held_out_trees, training_trees
from annotated_book.viz.engine.script import model_data, page_translator
from book.tests.javascript import PACKAGE, evaluate

FOLDER = page_folder("parsing")
LOADER = PACKAGE / "viz" / "engine" / "loader.js"
SENTENCES, IN_BEAMS = 200, 12
WORK = """async ({ Parser }, { model, jobs, loader }) => {
  const { bytesOfBase64 } = await import(loader), { finish } = await import(new URL("engine.js", loader));
  const parser = new Parser({ ...model, bytes: bytesOfBase64(model.bytes) });
  return jobs.map(([text, options]) => {
    const { ids, tokens, words, tree, ended, logProbability } = finish(parser.parse(text, options));
    const spans = tree.nodes.map(({ label, start, end }) => [label, start, end]);
    return { ids, tokens, words, spans, fault: tree.fault?.fault ?? "", ended, logProbability };
  });
}"""


@pytest.fixture(scope="module")
def model() -> dict[str, Any]:
    """What the page loads."""
    return model_data("parsing")


@pytest.fixture(scope="module")
def parser() -> Parser:
    """The library's parser with the weights as the page rounds them."""
    translator, shipped = page_translator("parsing"), load_parser()
    return Parser(translator.model, translator.tokenizer, shipped.leaves)


@pytest.fixture(scope="module")
def sentences() -> list[tuple[str, ...]]:
    return [tree.words() for kind in held_out_trees().values() for tree in kind[: SENTENCES // 2]][:SENTENCES]


def parsed(model: dict[str, Any], sentences: list[tuple[str, ...]], options: dict[str, Any]) -> list[dict[str, Any]]:
    jobs = [[sentence(words), options] for words in sentences]
    given = {"model": model, "jobs": jobs, "loader": LOADER.as_uri()}
    return evaluate(FOLDER / "parser.js", WORK, given)


@pytest.mark.parametrize("each", [8, pytest.param(1, marks=pytest.mark.nightly)], ids=["every eighth", "all"])
@pytest.mark.parametrize(("size", "rule"), [(1, False), (1, True), (4, False), (4, True), (21, True)])
def test_parses_are_those_of_the_library(
    model: dict[str, Any], parser: Parser, sentences: list[tuple[str, ...]], size: int, rule: bool, each: int
) -> None:
    some = sentences[::each] if size == 1 else sentences[:: each * (SENTENCES // IN_BEAMS)]
    decoding = DecodingConfig(beam_size=size, alpha=PAPERS.alpha, extra_tokens=PAPERS.extra_tokens)
    expected = parser.parse(some, decoding, well_formed=rule)
    for words, one, right in zip(some, parsed(model, some, {"size": size, "rule": rule}), expected, strict=True):
        assert (one["ids"], one["tokens"]) == (right.hypothesis.tokens, right.tokens), sentence(words)
        assert one["words"] == list(words) and one["ended"] == right.hypothesis.finished
        assert one["logProbability"] == pytest.approx(right.hypothesis.log_probability, abs=2e-3)
        if right.tree is not None:
            assert one["fault"] == ""
            assert sorted(map(tuple, one["spans"])) == sorted(right.tree.spans())
        elif right.fault != "unfinished":
            assert one["fault"] == right.fault
    assert not rule or all(right.tree is not None for right in expected)


def test_the_rule_is_the_librarys(model: dict[str, Any], parser: Parser) -> None:
    """The same tokens after every beginning of trees, of broken ones, and close to the cap."""
    draw, jobs, labels, tokenizer = random.Random(3), [], parser.labels, parser.tokenizer
    for number, tree in enumerate(held_out_trees(60)["sentences"]):
        form = linear_form(tree, "tag" if number % 2 else "word")
        leaves = [sorted(TAGS) if number % 2 else [word] for word in tree.words()]
        ids = tokenizer.encode(written(form))
        for limit in (len(ids) + 4, len(ids) + 9, len(ids) + 300):
            cut = ids[: draw.randrange(len(ids) + 1)]
            jobs.append((cut, leaves, limit))
            jobs.append(([*cut, draw.choice(ids)], leaves, limit))
    for depth in range(5, 11):  # so many brackets opened in a row
        jobs.append((tokenizer.encode(written(["(S", *["(NP"] * (depth - 1)])), [["dog"]], 300))
    expected = []
    for ids, leaves, limit in jobs:
        rule = WellFormed(tokenizer, labels, [leaves], [limit])
        expected.append(rule(torch.tensor([ids], dtype=torch.long).view(1, -1), [0])[0].nonzero().flatten().tolist())
    code = """async ({ WellFormed }, { model, jobs, tokenizers }) => {
      const { Tokenizer } = await import(tokenizers), rule = new WellFormed(new Tokenizer(model.tokenizer));
      const next = ([ids, leaves, limit]) => [...rule.of(leaves, limit).next(ids)].sort((a, b) => a - b);
      return [rule.labels, jobs.map(next)];
    }"""
    given = {"model": {"tokenizer": model["tokenizer"]}, "jobs": jobs}
    given["tokenizers"] = LOADER.with_name("tokenizer.js").as_uri()
    found_labels, found = evaluate(FOLDER / "rule.js", code, given)
    assert found_labels == labels and found == expected
    assert any(len(ids) > 3 for ids in expected) and [] in expected


def test_texts_of_linear_forms_are_those_of_the_library() -> None:
    forms = [linear_form(tree, "tag") for tree in held_out_trees(100)["sentences"]]
    code = "({ writtenForm, readForm }, forms) => forms.map(form => [writtenForm(form), readForm(writtenForm(form))])"
    for form, (text, back) in zip(forms, evaluate(FOLDER / "rule.js", code, forms), strict=True):
        assert text == written(form) and back == form == read_written(text)


def test_known_words_are_those_of_the_training_trees() -> None:
    words = {word for kind in held_out_trees(500).values() for tree in kind for word in tree.words()}
    seen = {word for tree in training_trees(4_000) for word in tree.words()}
    strange = ["xylophone", "Xylophone", "catt", "3:4:5", "Übergrößen", "-"]
    code = "({ isKnown, TRAINING_WORDS }, words) => words.filter(word => !isKnown(word))"
    assert evaluate(FOLDER / "parser.js", code, sorted(words | seen) + strange) == strange


def test_doubt_is_said_of_few_sentences_of_the_test_set(parser: Parser, sentences: list[tuple[str, ...]]) -> None:
    doubt = evaluate(FOLDER / "parser.js", "({ DOUBT }) => DOUBT")
    parses = parser.parse(sentences[: SENTENCES // 3], DecodingConfig(beam_size=1), well_formed=False)
    below = [one.hypothesis.log_probability / one.hypothesis.steps < doubt for one in parses]
    assert sum(below) <= len(below) / 10 and not all(below)


def test_what_is_said_of_a_parse() -> None:
    code = """async ({ sayParse }, [linear, jobs]) => {
      const { readLinear } = await import(linear);
      return jobs.map(([tokens, ended, logProbability, unknown, gold = null]) => {
        const words = ["a", "b"], ids = tokens, tree = readLinear(tokens, words);
        return sayParse({ tree, tokens, ids, words, logProbability, ended }, unknown, x => x.toFixed(1), gold);
      });
    }"""
    good, bad = "(NP XX XX )NP".split(), "(NP XX XX )VP".split()
    jobs = [(good, True, -0.1, []), (bad, True, -0.1, []), (bad, False, -9, ["b"]), (good, True, -4, [])]
    jobs += [(good, True, -0.1, ["b"], good), (good, True, -0.1, [], "(S (NP XX )NP (VP XX )VP )S".split())]
    jobs += [
        ("(NP a c )NP".split(), True, -0.1, []),
        ("(NP a c )VP".split(), True, -0.1, []),
        ("(NP a b )NP".split(), True, -0.1, []),
    ]
    plain, malformed, unfinished, unsure, guess, wrong, swapped, swapped_in_vain, copied = evaluate(
        FOLDER / "parser.js", code, [(FOLDER / "linear.js").as_uri(), [list(job) for job in jobs]]
    )
    assert plain == "1 constituent over 2 words, in 4 tokens; log-probability -0.1 nats."
    with pytest.raises(LinearFormError) as fault:
        tree_from_linear(bad, ["a", "b"])
    assert (
        malformed
        == f"Malformed, mismatched: {fault.value}. The string is no tree; the drawing shows what was built up to there."
    )
    assert "“b”" in unfinished and "Unfinished" in unfinished and unsure.endswith("of the test set.")
    assert guess.endswith("The tree is a guess. It is the right tree.") and "guess" not in unfinished
    assert wrong.endswith("It is not the right tree: 0 of 1 brackets are right, F1 0.0.")
    other = " In 1 of its leaves the string has another word than the sentence; the drawing has the sentence's own."
    assert swapped == plain + other and swapped_in_vain == malformed + other and copied == plain

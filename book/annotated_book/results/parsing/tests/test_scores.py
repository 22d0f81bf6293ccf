"""Scores of the chapter's parsers: counts by hand, attachments, attention to brackets, and the experiment in little."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import torch

from annotated.config import BOS, EOS
from annotated.parsing import (
    Parse,
    classroom_trees,
    linear_form,
    load_parser,
    parse,
    read_grammar,
    read_tree,
    training_line,
)
from annotated.parsing.parser import PAPERS
from annotated_book.results.parsing import experiment
from annotated_book.results.parsing.attention import bracket_attention, bracket_pairs
from annotated_book.results.parsing.experiment import PLANS, Experiment, Plan, kept, run, training
from annotated_book.results.parsing.scores import GREEDY, attached_to, attachments, measured

SPOON = read_tree("(S (NP (NNP Tom)) (VP (VBZ eats) (NP (DT the) (NN soup)) (PP (IN with) (NP (DT a) (NN spoon)))))")
CARROTS = read_tree(
    "(S (NP (NNP Tom)) (VP (VBZ eats) (NP (NP (DT the) (NN soup)) (PP (IN with) (NP (DT a) (NN carrot)))) "
    "(PP (IN at) (NP (CD 2:15)))))"
)


class Scripted:
    """A parser that answers what it is told, and counts how it was asked."""

    def __init__(self, free: list[Parse], bound: list[Parse]) -> None:
        self.answers = {False: free, True: bound}

    def parse(self, sentences, decoding, well_formed):  # noqa: ANN001, ANN201
        assert len(sentences) == len(self.answers[well_formed]) and decoding == GREEDY
        return self.answers[well_formed]


def test_malformed_outputs_count_as_missed_and_their_faults_are_named() -> None:
    free = [Parse([], None, "words", None), Parse([], SPOON, "", None)]  # type: ignore[arg-type]
    bound = [Parse([], SPOON, "", None), Parse([], SPOON, "", None)]  # type: ignore[arg-type]
    found = measured([SPOON, SPOON], Scripted(free, bound), GREEDY)  # type: ignore[arg-type]
    assert found["sentences"] == 2
    assert found["well_formed"] == {
        "f1": 100.0, "precision": 100.0, "recall": 100.0, "exact": 100.0, "malformed": 0.0, "faults": {}
    }  # fmt: skip
    # Six brackets a tree; of twelve in gold six are found, and all that are written are right: 2 * 6 / (12 + 6).
    assert found["free"]["f1"] == pytest.approx(66.67) and found["free"]["recall"] == 50.0
    assert (found["free"]["malformed"], found["free"]["exact"], found["free"]["faults"]) == (50.0, 50.0, {"words": 1})
    assert {row["label"]: row["in_gold"] for row in found["by_label"]} == {"NP": 6, "PP": 2, "S": 2, "VP": 2}
    assert [row["words"] for row in found["by_length"]] == [8]


def test_a_phrase_hangs_on_what_the_first_preposition_is_in() -> None:
    assert (attached_to(SPOON), attached_to(CARROTS)) == ("VP", "NP")
    assert attached_to(read_tree("(S (NP (NNP Tom)) (VP (VBZ sleeps)))")) == ""
    assert attachments([SPOON, CARROTS, CARROTS], [SPOON, SPOON, None]) == {"NP": 0.0, "VP": 100.0}
    assert attachments([SPOON, CARROTS, CARROTS], [CARROTS, CARROTS, SPOON]) == {"NP": 50.0, "VP": 0.0}


def test_brackets_are_paired_as_they_nest() -> None:
    tokens = linear_form(SPOON, "word")
    pairs = bracket_pairs(tokens)
    assert len(pairs) == sum(token.startswith("(") for token in tokens)
    for opening, closing in pairs:
        assert tokens[opening][1:] == tokens[closing][1:]
        inside = tokens[opening + 1 : closing]
        assert sum(t.startswith("(") for t in inside) == sum(t.startswith(")") for t in inside)
    assert [closing for _, closing in pairs] == sorted(closing for _, closing in pairs)


def test_attention_is_looked_up_where_the_brackets_are() -> None:
    """Against maps of the whole model, one weight at a time."""
    parser, tree = load_parser(), classroom_trees("test", 1)[0]
    tokens = linear_form(tree, "word")
    ids = parser.tokenizer.encode(" ".join(written_tokens(tokens)))
    source = torch.tensor([[*parser.tokenizer.encode(" ".join(tree.words())), EOS]])
    with torch.no_grad():
        _, maps = parser.model(source, torch.tensor([[BOS, *ids]]), return_attention=True)
    pairs = [pair for pair in bracket_pairs(tokens) if pair[1] - pair[0] > 3]
    for row in bracket_attention(parser, [tree]):
        weights = maps.decoder[row["layer"] - 1][0, row["head"] - 1]
        writing = sum(float(weights[closing, opening + 1]) for opening, closing in pairs) / len(pairs)
        reading = sum(float(weights[closing + 1, opening + 1]) for opening, closing in pairs) / len(pairs)
        assert row["writing"] == pytest.approx(writing, abs=1e-4) and row["pairs"] == len(pairs)
        assert row["reading"] == pytest.approx(reading, abs=1e-4)
        assert row["chance"] == pytest.approx(sum(1 / (c + 1) for _, c in pairs) / len(pairs), abs=1e-4)


def written_tokens(tokens: list[str]) -> list[str]:
    return [("ʿ" + t[1:] if t[0] == "(" else t[1:] + "ʾ" if t[0] == ")" else t) for t in tokens]


def test_the_settings_are_the_papers_where_they_are_not_sizes() -> None:
    settings = training(PLANS[-1], 0)
    assert (settings.label_smoothing, settings.adam_betas, settings.clip_norm) == (0.1, (0.9, 0.98), None)
    assert (PAPERS.beam_size, PAPERS.alpha, PAPERS.extra_tokens) == (21, 0.3, 300)
    assert dataclasses.replace(PAPERS, beam_size=1) == GREEDY
    assert [plan.trees for plan in PLANS] == [500, 2_000, 8_000, 40_000]


@pytest.mark.slow
def test_the_experiment_in_little_and_its_pieces_are_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A model of three updates writes up to the bound, so that its layers are what the test would take long for.
    monkeypatch.setattr(experiment, "MODEL", experiment.MODEL.replace(num_encoder_layers=1, num_decoder_layers=1))
    monkeypatch.setattr(experiment, "VALIDATION", 20)
    plans = Plan(30, 0.1, updates=3), Plan(40, 0.0, updates=3)
    held_out = {"sentences": classroom_trees("test", 2), "attachments": classroom_trees("attachments", 2)}
    little = Experiment(plans, plans[0], plans[1], Plan(30, 0.1, updates=6), 1, tmp_path, held_out)
    results = run(little)
    assert list(results["runs"]) == ["gold30-0", "gold40-0", "silver40-0", "longer30-0"]
    assert "beam" in results["runs"]["gold40-0"] and "beam" not in results["runs"]["gold30-0"]
    for name, one in results["runs"].items():
        assert one["greedy"]["sentences"]["well_formed"]["malformed"] == 0.0
        assert one["updates"] == (6 if name == "longer30-0" else 3)
    gold = (tmp_path / "gold40.tsv").read_text(encoding="utf-8").splitlines()
    silver = (tmp_path / "silver40.tsv").read_text(encoding="utf-8").splitlines()
    assert len(gold) == 40 and silver[:30] == gold[:30]
    trees = classroom_trees("train", 40)
    made = [parse(read_grammar(trees[:30]), tree.words()) for tree in trees[30:]]
    assert silver[30:] == [training_line(tree).rstrip("\n") for tree in made if tree]
    assert results["runs"]["silver40-0"]["trees"] == len(silver) < 40, "some sentences have words that 30 trees lack"

    def never() -> dict:
        raise AssertionError("a piece that is finished is read")

    assert kept("silver40-0", never, tmp_path)["trees"] == len(silver)
    assert run(little) == run(little, so_far=True) == results
    (tmp_path / "pieces" / "gold30-0.json").unlink()
    assert list(run(little, so_far=True)["runs"]) == ["gold40-0", "silver40-0", "longer30-0"]

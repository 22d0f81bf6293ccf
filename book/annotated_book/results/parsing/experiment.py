"""A Transformer as a parser: F1 from 500 to 40,000 trees, malformed outputs, silver trees, attention to brackets.

Each training is a *piece* with a file of its own under build/parsing: a run that is stopped goes on with what is left.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch

from annotated.config import DataConfig, TrainingConfig, tiny
from annotated.parsing import Parser, Tree, classroom_trees, load_parser, parse, read_grammar, training_line
from annotated.runs import read_log, train
from annotated.runs.hardware import describe_machine
from annotated.storage import atomic_write
from annotated_book.record import make
from annotated_book.results.parsing.attention import bracket_attention
from annotated_book.results.parsing.data import held_out_trees, training_trees
from annotated_book.results.parsing.scores import scored

WORK = Path("build/parsing")
MODEL = tiny(d_model=64, d_ff=256, num_heads=4, d_k=16, d_v=16, num_encoder_layers=4, num_decoder_layers=4)
"""The paper's four layers, a sixteenth of its width: 64 in place of 1024."""
VOCABULARY = 2000
"""The paper's is 16,000, for the words of newspapers."""
VALIDATION = 300
BATCH_TOKENS = 1000
"""Target tokens of an update: about 40 sentences."""
Piece = dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """How many trees are learned from, with which dropout, in how many trainings, and how long each is."""

    trees: int
    dropout: float
    seeds: int = 1
    updates: int = 2_400
    """The same for all, so that they differ by what they learn from."""


PLANS = (Plan(500, 0.1, 3), Plan(2_000, 0.1, 3), Plan(8_000, 0.1), Plan(40_000, 0.0))
GOLD, SILVER = PLANS[1], PLANS[3]
"""The plain grammar of the `GOLD` trees parses sentences whose trees it is not shown, until there are `SILVER`
sentences in all. A Transformer is trained on both, exactly as the one of as many gold trees is. Teacher and student are
different kinds of parsers, as in the paper."""
LONGER = Plan(500, 0.1, updates=9_600)
"""The fewest trees with four times the updates: whether trees or updates are missing."""


@dataclass(frozen=True)
class Experiment:
    """What is trained and measured: all of it, or so little that a minute shows whether it works."""

    plans: Sequence[Plan] = PLANS
    gold: Plan = GOLD
    silver: Plan = SILVER
    longer: Plan = LONGER
    beam_sentences: int = 1000
    """Of each held-out set, for the paper's beam of 21, with which the first parser of most trees searches too."""
    work: Path = WORK
    held_out: Mapping[str, Sequence[Tree]] = field(default_factory=held_out_trees)

    def pieces(self) -> dict[str, Callable[[], Piece]]:
        """All trainings by name: first seeds of all sizes, silver trees, the longer one, then further seeds."""
        found: dict[str, Callable[[], Piece]] = {}
        for seed in range(max(plan.seeds for plan in (*self.plans, self.silver, self.longer))):
            for plan in (plan for plan in self.plans if seed < plan.seeds):
                found[f"gold{plan.trees}-{seed}"] = partial(self.gold_piece, plan, seed)
            if seed < self.silver.seeds:
                found[f"silver{self.silver.trees}-{seed}"] = partial(self.silver_piece, seed)
            if seed < self.longer.seeds:
                found[f"longer{self.longer.trees}-{seed}"] = partial(self.longer_piece, seed)
        return found

    def gold_piece(self, plan: Plan, seed: int) -> Piece:
        """A parser of gold trees, measured on all held-out sets."""
        parser, about = self.train(f"gold{plan.trees}", seed, plan, partial(training_trees, plan.trees))
        largest = plan == self.plans[-1] and seed == 0
        return {**about, **scored(parser, self.held_out, self.beam_sentences if largest else 0)}

    def longer_piece(self, seed: int) -> Piece:
        """A parser that is trained longer than the others, measured likewise."""
        plan = self.longer
        parser, about = self.train(f"longer{plan.trees}", seed, plan, partial(training_trees, plan.trees))
        return {**about, **scored(parser, self.held_out)}

    def silver_piece(self, seed: int) -> Piece:
        """A parser of gold and silver trees together, measured likewise; `trees` counts both."""
        name = f"silver{self.silver.trees}"
        parser, about = self.train(name, seed, self.silver, self.with_silver)
        lines = (self.work / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
        return {**about, "trees": len(lines), "gold": self.gold.trees, **scored(parser, self.held_out)}

    def with_silver(self) -> list[Tree]:
        """The gold trees, and what their grammar makes of further sentences, without those that it cannot parse."""
        trees = training_trees(self.silver.trees)
        gold, others = trees[: self.gold.trees], trees[self.gold.trees :]
        grammar = read_grammar(gold)
        return [*gold, *(made for tree in others if (made := parse(grammar, tree.words())))]

    def train(self, name: str, seed: int, plan: Plan, trees: Callable[[], Sequence[Tree]]) -> tuple[Parser, Piece]:
        """A parser, and what its training took; a training that was stopped goes on.

        Parameters
        ----------
        name
            Of the text; the run has the seed behind it.
        trees
            Makes the training trees; asked only if their text is not there yet.
        """
        text = pairs_file(self.work / f"{name}.tsv", trees)
        valid = pairs_file(self.work / "valid.tsv", partial(classroom_trees, "valid", VALIDATION))
        data, folder = DataConfig(train=text, valid=valid, vocab_size=VOCABULARY), self.work / f"{name}-{seed}"
        result = train(MODEL.replace(dropout=plan.dropout), training(plan, seed), data, folder, quiet=True)
        if result.model_folder is None:
            raise SystemExit(
                f"{folder.name}: stopped after update {result.update}; the same command goes on from there"
            )
        log, parser = read_log(folder), load_parser(result.model_folder)
        curve = log.dropna(subset="validation_loss")[["update", "validation_loss"]].round(4)
        return parser, {
            "trees": plan.trees,
            "seed": seed,
            "updates": plan.updates,
            "dropout": plan.dropout,
            "vocabulary": parser.tokenizer.vocab_size,
            "parameters": parser.model.num_parameters(),
            "curve": curve.to_dict("records"),
            "training_seconds": round(float(log["elapsed"].max()), 1),
        }


def training(plan: Plan, seed: int) -> TrainingConfig:
    """How a parser is trained: the paper's optimiser, schedule and label smoothing, our sizes."""
    return TrainingConfig(
        updates=plan.updates, batch_tokens=BATCH_TOKENS, warmup=250, learning_rate_scale=0.5, seed=seed, log_every=50,
        validate_every=200, validate_bleu=0, checkpoint_every=max(plan.updates // 30, 1),
        device="cpu",
    )  # fmt: skip


def pairs_file(path: Path, trees: Callable[[], Sequence[Tree]]) -> str:
    """The path of a file of training lines, which is written if it is not there."""
    if not path.is_file():
        lines = list(map(training_line, trees()))
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            file.writelines(lines)
    return str(path)


def piece_file(name: str, work: Path) -> Path:
    """Where the result of a finished piece lies."""
    return work / "pieces" / f"{name}.json"


def kept(name: str, produce: Callable[[], Piece], work: Path) -> Piece:
    """The result of a piece: from its file if it is finished, else made and written."""
    path = piece_file(name, work)
    if not path.is_file():
        began = time.process_time()
        result = {**produce(), "cpu_seconds": round(time.process_time() - began, 1), "machine": describe_machine()}
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            file.write(json.dumps(result, indent=1) + "\n")
    return json.loads(path.read_text(encoding="utf-8"))


def smoke(work: Path) -> Experiment:
    """A fraction of everything, in a folder of its own."""
    plans = Plan(30, 0.1, updates=6), Plan(60, 0.1, updates=6)
    return Experiment(plans, plans[0], plans[1], Plan(30, 0.1, updates=12), 2, work / "smoke", held_out_trees(5))


def run(experiment: Experiment | None = None, so_far: bool = False) -> Piece:
    """All pieces, and where the heads of the parser of most trees look when they close a bracket.

    Parameters
    ----------
    experiment
        None for the whole one.
    so_far
        Train nothing: only what is finished.
    """
    torch.set_num_threads(1)
    experiment = experiment or Experiment()
    pieces = experiment.pieces()
    if so_far:
        pieces = {name: produce for name, produce in pieces.items() if piece_file(name, experiment.work).is_file()}
    runs = {name: kept(name, produce, experiment.work) for name, produce in pieces.items()}
    largest = experiment.work / f"gold{max(plan.trees for plan in experiment.plans)}-0" / "model"
    some = experiment.held_out["sentences"][:200]
    heads = kept("attention", lambda: {"heads": bracket_attention(load_parser(largest), some)}, experiment.work)
    return {
        "settings": {
            "model": MODEL.to_dict(),
            "training": training(experiment.plans[-1], 0).to_dict(),
            "vocabulary": VOCABULARY,
            "held_out": {name: len(trees) for name, trees in experiment.held_out.items()},
            "beam_sentences": experiment.beam_sentences,
        },
        "runs": runs,
        "attention": heads,
        "cpu_seconds": round(sum(one["cpu_seconds"] for one in (*runs.values(), heads)), 1),
    }


def main() -> None:
    """`--smoke`: everything once, in little, and nothing recorded. `--so-far`: the record of what is finished."""
    options = argparse.ArgumentParser(description=main.__doc__)
    chosen = options.add_mutually_exclusive_group(required=True)
    chosen.add_argument("--smoke", action="store_true")
    chosen.add_argument("--so-far", action="store_true")
    if options.parse_args().so_far:
        print(make("parsing", partial(run, so_far=True)))
        return
    for name, piece in run(smoke(WORK))["runs"].items():
        print(f"{name}: F1 {piece['greedy']['sentences']['well_formed']['f1']} after {piece['updates']} updates")


if __name__ == "__main__":
    main()

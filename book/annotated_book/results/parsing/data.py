"""Trees that every parser of the chapter learns from and is measured on."""

from __future__ import annotations

from annotated.parsing import Tree, classroom_trees
from annotated.parsing.classroom import TreeSplit

SIZES = (500, 2_000, 8_000, 40_000)
"""Numbers of training trees; 40,000 is about what the Wall Street Journal has."""
HELD_OUT = 1_000
"""Trees of each held-out set."""
SPLITS: dict[str, TreeSplit] = {"sentences": "test", "combinations": "constructions", "attachments": "attachments"}
"""Held-out sets: new sentences of the training's kind, new combinations of constructions, and new combinations of a
verb, a preposition and a noun, of which only meaning decides where the phrase belongs."""


def training_trees(count: int) -> list[Tree]:
    """The first `count` training trees: those of a smaller number are the beginning of those of a larger one."""
    return classroom_trees("train", count)


def held_out_trees(count: int = HELD_OUT) -> dict[str, list[Tree]]:
    """The trees of each held-out set, the same for every parser."""
    return {name: classroom_trees(split, count) for name, split in SPLITS.items()}

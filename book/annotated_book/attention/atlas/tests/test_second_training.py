"""The second training: its record is of another seed and the same recipe, and the findings find the first model's."""

from __future__ import annotations

import shutil
from importlib.resources import files
from pathlib import Path

import pytest

import annotated
from annotated.analysis.ablation import all_heads
from annotated.classroom import classroom_pairs
from annotated.recipes import recipe
from annotated_book import recorded
from annotated_book.attention.atlas.second_training import SEED, findings, trained


def test_the_record_is_of_the_recipe_with_another_seed() -> None:
    results = recorded("atlas/second_training").results
    wanted = recipe("classroom").training
    assert results["training"]["updates"] == wanted.updates and results["training"]["seed"] == SEED != wanted.seed
    heads = [(row["kind"], row["layer"], row["head"]) for row in results["heads"]]
    assert heads == all_heads(annotated.load("classroom").model)


def test_a_run_of_the_first_seed_is_refused(tmp_path: Path) -> None:
    shutil.copy(str(files("annotated") / "assets" / "classroom" / "log.jsonl"), tmp_path)
    with pytest.raises(ValueError, match=r"has seed 0; train: annotated train classroom --training\.seed 1"):
        trained(tmp_path)


def test_without_a_run_the_command_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no run in .*; train: annotated train classroom --training\.seed 1"):
        trained(tmp_path)


def test_the_findings_of_the_first_model_name_its_heads() -> None:
    found = findings(annotated.load("classroom"), list(classroom_pairs("test", 30)))
    aligner = max(found["aligners"], key=lambda row: row["hits"])
    assert [(row["kind"], row["layer"], row["head"]) for row in found["article_heads"]] == [("cross", 2, 0)]
    assert (aligner["layer"], aligner["head"]) == (2, 2)
    articles, others = found["right"]["zero"]
    assert articles < 0.7 < 0.95 < others
    first, second, both = found["two_aligners"]
    assert both > 2 * (first + second)

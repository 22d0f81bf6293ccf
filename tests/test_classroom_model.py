"""The model inside the package: what it must be able to do, and how it came about."""

from importlib.resources import files

import pytest

import annotated
from annotated.classroom import classroom_pairs
from annotated.recipes import recipe
from annotated.runs import read_records

FOLDER = files("annotated") / "assets" / "classroom"


@pytest.fixture(scope="module")
def translator():
    return annotated.load("classroom")


def exact_share(translator, split, count):
    pairs = list(classroom_pairs(split, count, seed=1))
    found = translator.translate([pair.source for pair in pairs], beam_size=4)
    return sum(text == pair.target for text, pair in zip(found, pairs, strict=True)) / count


def test_unseen_sentences(translator):
    assert exact_share(translator, "test", 120) >= 0.97


def test_unseen_combinations_of_constructions(translator):
    assert exact_share(translator, "constructions", 90) >= 0.8


def test_it_reads_in_context(translator):
    assert "zur Bank" in translator("The policeman needs the account and goes to the bank.")
    assert "zum Ufer" in translator("Laura saw a boat and went to the bank.")


def test_it_is_small_and_ships_its_log():
    assert (FOLDER / "model.safetensors").stat().st_size <= 8_000_000
    log = read_records(FOLDER / "log.jsonl")
    assert log[0]["kind"] == "start" and log[-1]["kind"] == "end" and log[-1]["finished"]
    assert log[0]["configuration"]["data"]["train"] == "classroom"


def test_the_makefile_has_the_command_that_trained_it(repository):
    configuration = read_records(FOLDER / "log.jsonl")[0]["configuration"]
    command = (repository / "Makefile").read_text().split("annotated train build/classroom")[1].splitlines()[0]
    assert command.split() == ["--preset", "classroom"]
    wanted = recipe("classroom")
    model = annotated.ModelConfig.from_dict(configuration["model"])
    assert model.replace(vocab_size=wanted.model.vocab_size) == wanted.model
    assert annotated.TrainingConfig.from_dict(configuration["training"]) == wanted.training
    assert annotated.DataConfig.from_dict(configuration["data"]) == wanted.data

"""The model of everyday English inside the package: how it came about, its size, and what everybody types first."""

from __future__ import annotations

from importlib.resources import files

import pytest

import annotated
from annotated.classroom.wide import wide_pairs
from annotated.recipes import recipe
from annotated.runs import read_records

FOLDER = files("annotated") / "assets" / "classroom-wide"


@pytest.fixture(scope="module")
def translator() -> annotated.Translator:
    return annotated.load("classroom-wide")


def test_it_is_the_recipe_s_and_ships_its_log() -> None:
    log = read_records(FOLDER / "log.jsonl")
    wanted = recipe("classroom-wide")
    started = [record["configuration"] for record in log if record["kind"] == "start"][-1]
    model = annotated.ModelConfig.from_dict(started["model"])
    assert model.replace(vocab_size=wanted.model.vocab_size) == wanted.model
    assert annotated.TrainingConfig.from_dict(started["training"]) == wanted.training
    assert annotated.DataConfig.from_dict(started["data"]) == wanted.data
    assert log[-1]["kind"] == "end" and log[-1]["finished"]


def test_it_has_one_byte_a_number() -> None:
    assert (FOLDER / "model.safetensors").stat().st_size < 6_100_000


@pytest.mark.parametrize(
    ("english", "german"),
    [
        ("Hello, how are you?", "Hallo, wie geht es dir?"),
        ("hello how are you", "Hallo, wie geht es dir?"),
        ("Thank you very much!", "Vielen Dank!"),
        ("I don't know.", "Ich weiß es nicht."),
        ("I am tired.", "Ich bin müde."),
        ("Where is the station?", "Wo ist der Bahnhof?"),
    ],
)
def test_what_everybody_types_first(translator: annotated.Translator, english: str, german: str) -> None:
    assert translator(english) == german


def test_unseen_sentences(translator: annotated.Translator) -> None:
    pairs = list(wide_pairs("test", 60, seed=3))
    found = translator.translate([pair.source for pair in pairs], beam_size=4)
    assert sum(text == pair.target for text, pair in zip(found, pairs, strict=True)) / len(pairs) >= 0.6

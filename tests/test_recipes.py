"""The paper's trainings, value by value as printed there, and their names on the command line."""

from __future__ import annotations

import itertools
from pathlib import Path
from types import SimpleNamespace

import pytest

from annotated.cli.program import _command
from annotated.cli.train import check_pair, train_defaults, with_folder
from annotated.config import DataConfig, TrainingConfig
from annotated.recipes import LARGEST_TEXT, RECIPES, fitted_training, fitted_vocabulary, recipe
from annotated.runs import train_command
from annotated.training.schedule import learning_rate
from annotated.wmt14 import PreparedCorpus


def test_base_as_the_paper_has_it() -> None:
    base = recipe("wmt14-base")
    model, training = base.model, base.training
    assert (model.num_encoder_layers, model.d_model, model.d_ff, model.num_heads, model.d_k, model.dropout) == (
        6, 512, 2048, 8, 64, 0.1
    )  # fmt: skip
    assert (training.updates, training.batch_tokens, training.warmup, training.label_smoothing) == (
        100_000, 25_000, 4000, 0.1
    )  # fmt: skip
    assert (training.adam_betas, training.adam_epsilon, training.average_last) == ((0.9, 0.98), 1e-9, 5)
    assert training.checkpoint_every == 10 * 60 / 0.4, "every 10 minutes, at 0.4 seconds a step"
    assert (base.decoding.beam_size, base.decoding.alpha, base.decoding.extra_tokens) == (4, 0.6, 50)


def test_big_as_the_paper_has_it() -> None:
    big = recipe("wmt14-big")
    model, training = big.model, big.training
    assert (model.num_encoder_layers, model.d_model, model.d_ff, model.num_heads, model.d_k, model.dropout) == (
        6, 1024, 4096, 16, 64, 0.3
    )  # fmt: skip
    assert (training.updates, training.average_last, training.checkpoint_every) == (300_000, 20, 10 * 60 / 1.0)
    assert training.keep_checkpoints >= 20
    french = recipe("wmt14-big-en-fr")
    assert french.model == model.replace(dropout=0.1) and french.training == training
    assert recipe("wmt14-base-en-fr").model == recipe("wmt14-base").model


def test_the_evening_is_the_beginning_of_base() -> None:
    base, evening = recipe("wmt14-base"), recipe("wmt14-evening")
    assert evening.training.updates == 30_000 and evening.training.warmup == base.training.warmup == 4000
    assert evening.replace(name=base.name, about=base.about, training=base.training) == base
    assert evening.training.replace(updates=100_000) == base.training
    assert evening.training.updates % evening.training.checkpoint_every == 0  # the last of the averaged five


def test_the_talks_as_their_example_has_them() -> None:
    """512 wide, 4 heads, 1,024 in the feed-forward network, dropout 0.3; 4,096 tokens; the rate peaks at 0.0005."""
    talks = recipe("iwslt14-de-en")
    model, training = talks.model, talks.training
    assert (model.num_encoder_layers, model.num_decoder_layers, model.d_model, model.d_ff, model.num_heads) == (
        6, 6, 512, 1024, 4
    )  # fmt: skip
    assert model.num_heads * model.d_k == model.num_heads * model.d_v == model.d_model and model.dropout == 0.3
    peak = learning_rate(4000, model.d_model, training.warmup, training.learning_rate_scale)
    assert training.batch_tokens == 4096 and peak == pytest.approx(0.0005, rel=1e-3)
    assert (talks.data.prepared, talks.decoding.beam_size) == ("data/iwslt14-de-en", 5)
    assert training.precision == "auto"  # fp16 on a GPU without bf16


@pytest.mark.parametrize("name", [name for name in RECIPES if name.startswith("wmt14-") and name != "wmt14-tiny"])
def test_validation_is_rare_and_still_finds_a_divergence_in_time(name: str) -> None:
    """2.5 s a validation are at most 2 % of the updates between two, at 35 ms; a checkpoint from before is kept."""
    training = recipe(name).training
    assert training.validate_every == 5000 and 2.5 / (training.validate_every * 0.035) < 0.02
    assert training.validate_every < training.keep_checkpoints * training.checkpoint_every
    assert training.updates % training.validate_every == 0


@pytest.mark.parametrize("name", RECIPES)
def test_each_is_a_preset_and_a_short_command(name: str) -> None:
    wanted = recipe(name)
    for words in (["train", name], ["train", f"runs/{name}", "--preset", name]):
        asked = _command(words)
        assert (asked.model, asked.training, asked.data) == (wanted.model, wanted.training, wanted.data)
        assert asked.out == Path("runs") / name and asked.preset == name
    # The nearest beginning is the recipe itself, so there is nothing to add.
    command = train_command("x", wanted.model, wanted.training, wanted.data)
    assert command == ["annotated", "train", "x", "--preset", name]
    on_plain_files = name in ("wsj", "classroom-wide")
    elsewhere = {"train": "elsewhere.tsv"} if on_plain_files else {"prepared": "elsewhere"}
    changed = wanted.data.replace(**elsewhere)
    command = train_command("x", wanted.model.replace(dropout=0.25), wanted.training, changed)
    assert _command(command[1:]).data == changed and len(command) == 9


def test_a_folder_may_have_the_name_of_a_recipe() -> None:
    assert with_folder(["train", "wmt14-base", "--preset=tiny"]) == ["train", "wmt14-base", "--preset=tiny"]
    assert with_folder(["translate", "wmt14-base"]) == ["translate", "wmt14-base"]
    assert with_folder(["train", "mine"]) == ["train", "mine"]
    assert _command(["train", "wmt14-base", "--training.seed", "3"]).training.seed == 3
    for command in ("dry-run", "rehearse", "preflight"):
        asked = _command([command, "wmt14-big", "--training.device", "cpu"])
        assert asked.run_folder == Path("runs/wmt14-big") and asked.model == recipe("wmt14-big").model
        assert asked.text == recipe("wmt14-big").data
        with pytest.raises(ValueError, match=f"did you mean annotated {command} wmt14-big"):
            with_folder([command, "wmt14-bgi"])
    with pytest.raises(ValueError, match="no recipe 'wmt15'; there are wmt14-base, "):
        recipe("wmt15")


def test_a_slip_of_the_finger_does_not_start_another_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="no recipe 'wmt14-bse'; did you mean annotated train wmt14-base"):
        with_folder(["train", "wmt14-bse"])
    for words in (["train", "./wmt14-bse"], ["train", "wmt14-bse", "--preset", "tiny"], ["train", "run"]):
        assert with_folder(words) == words
    for name in ("wmt14-mine", "tabel3-A1"):
        (tmp_path / name).mkdir()
        assert with_folder(["train", name]) == ["train", name]  # a run of that name goes on
    for name in ("wmt14-bse", "wmt14-small", "multi30k2", "wsj-mine", "table3-Z9", "classroom-large"):
        for command in ("train", "dry-run", "preflight"):
            with pytest.raises(
                ValueError, match=f"no recipe '{name}'; did you mean annotated {command} .*{command} ./{name}"
            ):
                with_folder([command, name])


def test_the_paper_has_another_training_for_the_other_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    french = SimpleNamespace(manifest={"corpus": {"pair": "en-fr"}})
    monkeypatch.setattr(PreparedCorpus, "open", lambda folder: french)
    data = DataConfig(prepared="texts")
    with pytest.raises(ValueError, match="texts is en-fr, but wmt14-big is a training on en-de: take wmt14-big-en-fr"):
        check_pair("wmt14-big", data)
    with pytest.raises(ValueError, match="texts is en-fr, but wmt14-evening is on en-de: prepare the data: annotated"):
        check_pair("wmt14-evening", data)
    for right in ("wmt14-big-en-fr", "wmt14-tiny", "tiny"):
        check_pair(right, data)


def test_the_training_of_tiny_fits_the_text(tmp_path: Path) -> None:
    """1,200 characters on the longer side of each of 100 pairs: 30,000 tokens."""
    text = tmp_path / "own.tsv"
    text.write_text(f"{'abc ' * 75}\t{'abcde ' * 200}\n" * 100, encoding="utf-8")
    small = train_defaults(["train", "x", "--data.train", str(text)])
    assert (small.training, small.data.vocab_size) == (fitted_training(30_000), fitted_vocabulary(30_000))
    assert small.training.updates == 2000 and small.training.warmup == 400 and small.training.batch_tokens == 1000
    assert small.data.vocab_size == 700  # 4 x sqrt(30,000) = 693
    # sqrt(400 x 1000 / 6,400,000) = 0.25, and 0.25 / sqrt(128 x 400) = 0.0011; at 0.0044, dates fell from BLEU 98 to 8
    assert small.training.learning_rate_scale == 0.25
    assert learning_rate(400, small.model.d_model, 400, 0.25) == pytest.approx(0.0011, abs=1e-5)
    default = train_defaults(["train", "x"])
    assert default.training == fitted_training(2_500_000)  # 200,000 pairs of 50 characters
    assert _command(["train", "x", "--training.updates", "7"]).training == default.training.replace(updates=7)
    assert train_defaults(["train", "x", "--preset", "base", "--data.train", str(text)]).training == TrainingConfig()
    prepared = _command(["data", "prepare", "x", f"--data.train={text}", "--data.valid", str(text)])
    assert prepared.data.vocab_size == small.data.vocab_size  # so that train finds it ready
    absent = train_defaults(["train", "x", "--data.train", str(tmp_path / "absent.tsv")])
    assert absent.training == default.training  # the command itself says what is missing


def test_a_fitted_training_grows_with_the_text_up_to_a_bound() -> None:
    sizes = [fitted_training(tokens) for tokens in (1, 10_000, 1_000_000, 4_000_000, LARGEST_TEXT, 10**12)]
    for smaller, larger in itertools.pairwise(sizes):
        assert smaller.updates <= larger.updates and smaller.batch_tokens <= larger.batch_tokens
    assert sizes[-1] == sizes[-2] and sizes[-1].batch_tokens == 4000 and sizes[-1].updates == 12_000
    assert [(one.warmup, one.learning_rate_scale) for one in sizes] == [
        (400, 0.25), (400, 0.25), (800, 0.43), (1600, 0.87), (2400, 1.0), (2400, 1.0)
    ]  # fmt: skip
    assert [fitted_vocabulary(tokens) for tokens in (1, 10**12)] == [500, 11_300]


def test_the_command_of_a_fitted_training_says_every_number(tmp_path: Path) -> None:
    """The text may be gone, or another, when it is typed."""
    asked = _command(["train", "x"])
    words = train_command("x", asked.model, asked.training, asked.data)
    assert words[:5] == ["annotated", "train", "x", "--preset", "tiny"] and "--training.batch-tokens" in words
    again = _command([*words[1:], "--data.train", str(tmp_path / "other.tsv")])
    assert again.training == asked.training and again.data.vocab_size == asked.data.vocab_size

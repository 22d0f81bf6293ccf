"""cuDNN's attention is left out wherever the library computes on a GPU: before the first compilation and attention.

There is no GPU here. PyTorch has the switch all the same, and `emulated` lets a CPU count as a device with cuDNN. So
the tests prove that the switch is off in time, and not what a GPU does then.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn import functional as F

import annotated
from annotated.cli.program import _command
from annotated.config import TrainingConfig
from annotated.data.batch import collate_ids
from annotated.decoding import Ensemble
from annotated.evaluation import perplexity
from annotated.model import Transformer
from annotated.runs.dry_run import dry_run
from annotated.runs.validation_callbacks import validation_bleu
from annotated.speed.kernels import cudnn
from annotated.speed.steps import FastStep
from annotated.training.update import fit
from tests.runs.conftest import SmallRun

if not hasattr(torch.backends.cuda, "cudnn_sdp_enabled"):
    pytest.skip("torch has no such switch before 2.5", allow_module_level=True)
is_on = torch.backends.cuda.cudnn_sdp_enabled
Calls = list[tuple[str, bool]]


@pytest.fixture
def emulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cudnn, "_KINDS", {"cuda", "cpu"})


@pytest.fixture
def seen(emulated: None, monkeypatch: pytest.MonkeyPatch) -> Calls:
    """Each compilation and each attention from now on, in order, and whether cuDNN was allowed then."""
    found: Calls = []

    def watched(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            found.append((name, is_on()))
            return function(*arguments, **options)

        return call

    monkeypatch.setattr(F, "scaled_dot_product_attention", watched("attention", F.scaled_dot_product_attention))
    monkeypatch.setattr(torch, "compile", watched("compile", lambda model, **_: model))
    return found


def nowhere(found: Calls) -> bool:
    """Attention was computed, cuDNN was allowed in no call, and is allowed again."""
    return ("attention", False) in found and not any(allowed for _, allowed in found) and is_on()


@pytest.mark.parametrize("layout", ["packed", "padded", "static"])
def test_a_training_never_lets_cudnn_attend(small: SmallRun, seen: Calls, layout: str) -> None:
    result = small.train(
        updates=2, validate_every=1, validate_bleu=2, compile=True, layout=layout, bleu=validation_bleu
    )
    assert result.finished and seen[0] == ("compile", False) and nowhere(seen)


def test_a_training_in_memory_never_lets_cudnn_attend(small: SmallRun, seen: Calls) -> None:
    batches = [collate_ids([([5, 6, 7], [7, 6]), ([5], [8, 9, 10])])] * 2
    fit(FastStep(Transformer(small.model.replace(vocab_size=20)), TrainingConfig()), batches, 2, lambda _: 1e-3)
    assert nowhere(seen)


def test_a_dry_run_never_lets_cudnn_attend(small: SmallRun, seen: Calls) -> None:
    training = small.training.replace(compile=True)
    assert dry_run(small.model, training, small.data, updates=2, warm_up=1, folder=small.folder / "run")
    assert seen[0] == ("compile", False) and nowhere(seen)


def test_finish_never_lets_cudnn_attend(small: SmallRun, seen: Calls, capsys: pytest.CaptureFixture[str]) -> None:
    data = small.data.replace(test=small.data.valid)
    SmallRun(small.folder, data, small.model, small.training).train(updates=8)
    seen.clear()
    assert _command(["finish", str(small.folder / "run"), "--quiet", "--device", "cpu"]).run() == 0
    assert nowhere(seen) and "BLEU" in capsys.readouterr().out


def test_search_scores_and_perplexity(seen: Calls) -> None:
    translator = annotated.load("classroom")
    assert translator("The cat sleeps.") == "Die Katze schläft."
    assert nowhere(seen)
    for measure in (
        lambda: annotated.greedy_decode(translator.model, torch.tensor([[5, 6, 2]])),
        lambda: annotated.beam_search(Ensemble([translator.model] * 2), torch.tensor([[5, 6, 2]])),
        lambda: perplexity(translator.model, translator.tokenizer, [("The cat sleeps.", "Die Katze schläft.")]),
    ):
        seen.clear()
        measure()
        assert nowhere(seen)


def test_the_commands(seen: Calls, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text").write_text("The cat sleeps.\n", encoding="utf-8")
    for words in (
        ["translate", str(tmp_path / "text"), "--device", "cpu"],
        ["evaluate", "--corpus", "classroom", "--limit", "2", "--device", "cpu"],
    ):
        seen.clear()
        assert _command(words).run() == 0
        assert nowhere(seen), words
    assert "Die Katze" in capsys.readouterr().out


def test_scores_and_attention_maps_use_no_kernel_at_all(seen: Calls) -> None:
    translator = annotated.load("classroom")
    translator.score("The cat sleeps.", "Die Katze schläft.")
    translator.attention("The cat sleeps.", "Die Katze schläft.")
    assert not seen, "equation 1 as written, for the weights are asked for"

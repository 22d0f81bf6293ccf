"""Exports by the command line: the lines that are printed work in the real programs, and nothing half written stays."""

from __future__ import annotations

import re
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import annotated
from annotated import Transformer, Translator, tiny
from annotated.cli import main
from annotated.data import Tokenizer
from annotated.interop import export_marian

NEEDS = {"marian": "transformers", "ctranslate2": "ctranslate2", "onnx": "onnxscript"}
FORMATS = sorted(NEEDS)
SENTENCE = "The cat sleeps."


@pytest.fixture(params=FORMATS)
def kind(request: pytest.FixtureRequest) -> str:
    """A format whose package is installed."""
    pytest.importorskip(NEEDS[request.param], reason=f"{request.param} needs the extra `export`")
    return request.param


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model that nobody trained."""
    tokenizer = Tokenizer.train([SENTENCE] * 3, 275)
    torch.manual_seed(0)
    shape = dict(d_model=32, d_ff=48, num_heads=2, d_k=16, d_v=16, num_encoder_layers=1, num_decoder_layers=1)
    model = Transformer(tiny(vocab_size=tokenizer.vocab_size, **shape)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.5)
    folder = tmp_path_factory.mktemp("small") / "model"
    Translator(model, tokenizer).save_pretrained(folder)
    return str(folder)


@pytest.mark.parametrize("kind", ["ctranslate2", "marian"], indirect=True)  # onnx: tests/interop/test_onnx.py
def test_the_lines_that_are_printed_translate(kind: str, tmp_path: Path, capsys) -> None:
    """End tokens included: a model that reads a sentence without its end translates it otherwise."""
    expected = annotated.load("classroom", beam_size=1)(SENTENCE)
    assert main(["export", kind, "classroom", str(tmp_path / "out")]) == 0
    shown = capsys.readouterr()
    assert shown.out == f"{tmp_path / 'out'}\n"
    code = shown.err.partition("To load it in Python:")[2]
    assert code.count(SENTENCE) == 1
    exec(compile(code, kind, "exec"), {})
    assert capsys.readouterr().out == expected + "\n"


def test_a_marian_tokenizer_reads_as_our_models_do(tmp_path: Path) -> None:
    """Each sentence of a batch with its end, padded on the right; and back to the same text."""
    transformers = pytest.importorskip("transformers", reason="Marian needs the extra `export`")
    translator = annotated.load("classroom")
    export_marian(translator.model, translator.tokenizer, tmp_path / "out")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "out")
    texts = [SENTENCE, "Ähm, a  longer one, which sees the big dog!", ""]
    ids = tokenizer(texts, return_tensors="pt", padding=True)["input_ids"]
    assert torch.equal(ids, translator.encode(texts))
    assert tokenizer.batch_decode(ids, skip_special_tokens=True) == texts
    assert tokenizer.model_max_length == 1024
    typed = ["a </s> b", "<s>", "<pad><pad>", "<unk>", "</s></s>", "x <pad> y</s>"]
    assert torch.equal(tokenizer(typed, return_tensors="pt", padding=True)["input_ids"], translator.encode(typed))
    model = transformers.MarianMTModel.from_pretrained(tmp_path / "out")
    assert model.generation_config.max_length == 1024  # not the 20 tokens of a model that says nothing


@pytest.fixture
def small_files() -> Iterator[None]:
    """Files of at most 20 kB: a larger one ends as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_leaves_nothing_half_written(
    kind: str, small: str, tmp_path: Path, small_files, capsys, monkeypatch
) -> None:
    # torch's exporter takes seconds; what matters here is that a graph does not fit.
    monkeypatch.setattr("annotated.interop.onnx._export", lambda *rest: rest[3].write_bytes(bytes(30_000)))
    assert main(["export", kind, small, str(tmp_path / "out")]) == 1
    message = capsys.readouterr().err
    assert re.fullmatch(r"annotated: (\[Errno \d+\] )?the disk is full: .*/out\b.* could not be saved .*\n", message), (
        message
    )
    assert not list(tmp_path.iterdir())


def test_a_folder_with_something_else_is_refused_before_the_work(kind: str, small: str, tmp_path: Path, capsys) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert main(["export", kind, small, str(tmp_path)]) == 1
    assert "not replaced, for it holds notes.txt" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]

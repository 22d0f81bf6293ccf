"""The commands: what they write where, their exit status, and one clear line for each error."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from annotated import Transformer, Translator, tiny
from annotated.cli import main
from annotated.cli.train import train_defaults
from annotated.cli.translate import read_batches
from annotated.data import Tokenizer
from annotated.saving import load_model, save_pretrained

TEXTS = ["The cat sleeps.", "Yes.", "A big dog sees the cat."]
SHAPE = {"d_model": 16, "d_ff": 24, "num_heads": 2, "d_k": 8, "d_v": 8}
SMALL = [f"--model.{name.replace('_', '-')}={value}" for name, value in SHAPE.items()]
SMALL += ["--model.num-encoder-layers=1", "--model.num-decoder-layers=1"]


@pytest.fixture(scope="module")
def translator() -> Translator:
    tokenizer = Tokenizer.train(TEXTS * 2, 280)
    torch.manual_seed(3)
    return Translator(Transformer(tiny(vocab_size=tokenizer.vocab_size, **SHAPE)).eval(), tokenizer)


@pytest.fixture(scope="module")
def folder(translator: Translator, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("cli") / "model"
    save_pretrained(path, translator.model, translator.tokenizer)
    return str(path)


def feed(monkeypatch: pytest.MonkeyPatch, raw: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))


def lines(*texts: str) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode()


@pytest.mark.parametrize(
    "command",
    [[], ["data"], ["train"], ["evaluate"], ["translate"], ["average"], ["export"]]
    + [["preflight"], ["rehearse"], ["finish"], ["ledger"]],
)
def test_every_command_explains_itself(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command, "--help"]) == 0
    assert "usage: annotated" in capsys.readouterr().out


def test_translate_gives_a_line_for_a_line(translator, folder, monkeypatch, capsys) -> None:
    feed(monkeypatch, lines(TEXTS[0], "", TEXTS[1]).replace(b"\n", b"\r\n"))
    assert main(["translate", "--model", folder, "--beam-size", "2"]) == 0
    expected = [" ".join(t.splitlines()) for t in translator.translate([TEXTS[0], "", TEXTS[1]], beam_size=2)]
    assert capsys.readouterr().out.split("\n") == [*expected, ""]


def test_translate_numbers_and_scores_several(translator, folder, monkeypatch, capsys) -> None:
    feed(monkeypatch, lines(*TEXTS[:2]))
    assert main(["translate", "--model", folder, "--num-return", "2", "--max-new-tokens", "4"]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [row[0] for row in rows] == ["1", "1", "2", "2"]
    found = translator.hypotheses(TEXTS[:2], 2, max_new_tokens=4)
    expected = [t.hypothesis.score for translations in found for t in translations]
    assert [float(row[1]) for row in rows] == pytest.approx(expected, abs=1e-3)


def test_translate_writes_what_came_before_a_bad_line(folder, monkeypatch, capsys) -> None:
    feed(monkeypatch, lines(TEXTS[0]) + b"Stra\xdfe\n" + lines(TEXTS[1]))
    assert main(["translate", "--model", folder]) == 2
    shown = capsys.readouterr()
    assert len(shown.out.splitlines()) == 1
    assert shown.err.count("\n") == 1 and "line 2: not UTF-8 (byte 0xdf at 5)" in shown.err


def test_translate_names_or_cuts_an_overlong_line(folder, monkeypatch, capsys) -> None:
    long = "cat " * 1100
    feed(monkeypatch, lines(TEXTS[1], long))
    assert main(["translate", "--model", folder, "--max-new-tokens", "3"]) == 2
    shown = capsys.readouterr()
    assert len(shown.out.splitlines()) == 1 and "line 2 has" in shown.err and "--overlong truncate" in shown.err
    feed(monkeypatch, lines(TEXTS[1], long))
    assert main(["translate", "--model", folder, "--max-new-tokens", "3", "--overlong", "truncate"]) == 0
    shown = capsys.readouterr()
    assert len(shown.out.splitlines()) == 2 and "warning: cut to 1024 tokens" in shown.err


def test_lines_are_given_out_as_they_come_and_in_order() -> None:
    class Slow(io.RawIOBase):
        """Two lines at once, and one later."""

        def __iter__(self):
            yield from (b"\xef\xbb\xbfone\n", b"two\n")
            time.sleep(0.2)
            yield b"three"

    batches = list(read_batches(Slow()))  # type: ignore[arg-type]
    assert [line for batch in batches for line in batch] == ["one", "two", "three"]
    assert batches[-1] == ["three"]
    assert max(map(len, read_batches(io.BytesIO(b"x\n" * 50), most=7))) <= 7


def test_a_real_pipe(translator, folder: str, repository: Path) -> None:
    program = [sys.executable, "-m", "annotated", "translate", "--model", folder]
    done = subprocess.run(program, input=lines(*TEXTS), capture_output=True, cwd=repository)
    assert done.returncode == 0 and done.stderr == b""
    expected = [" ".join(text.splitlines()) for text in translator.translate(TEXTS)]
    assert done.stdout.decode().split("\n")[:-1] == expected


@pytest.mark.skipif(os.name != "posix", reason="pipes of other systems break otherwise")
def test_a_reader_that_leaves_breaks_nothing(folder: str, repository: Path) -> None:
    program = [sys.executable, "-m", "annotated", "translate", "--model", folder]
    with subprocess.Popen(program, stdin=-1, stdout=-1, stderr=-1, cwd=repository) as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdout.close()
        process.stdin.write(lines(*TEXTS))
        process.stdin.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_evaluate_as_text_and_as_json(translator, folder, tmp_path: Path, capsys) -> None:
    corpus, output = tmp_path / "test.tsv", tmp_path / "out.txt"
    targets = [" ".join(text.splitlines()) or "x" for text in translator.translate(TEXTS)]
    corpus.write_text("".join(f"{s}\t{t}\n" for s, t in zip(TEXTS, targets, strict=True)), encoding="utf-8")
    arguments = ["evaluate", folder, "--corpus", str(corpus)]
    assert main([*arguments, "--json", "--output", str(output)]) == 0
    numbers = json.loads(capsys.readouterr().out)
    assert numbers["sentences"] == 3 and numbers["decoding"]["beam_size"] == 4
    assert "version:" in numbers["signature"] and numbers["word_perplexity"] >= numbers["token_perplexity"] > 1
    assert len(output.read_text(encoding="utf-8").splitlines()) == 3
    assert main([*arguments, "--limit", "2"]) == 0
    shown = capsys.readouterr().out
    assert "2 sentences" in shown and "BLEU" in shown and "tok:13a" in shown and "word perplexity" in shown


def write_corpus(path: Path, pairs: int) -> str:
    words = "cat dog house tree sees likes big red".split()
    rows = [" ".join(words[(i * k) % 8] for k in range(1, 3 + i % 5)) for i in range(pairs)]
    path.write_text("".join(f"{row}\t{row.upper()}\n" for row in rows), encoding="utf-8")
    return str(path)


def test_from_a_file_to_a_model(tmp_path: Path, monkeypatch, capsys) -> None:
    """Prepare, train, stop, go on, average, look, export is left to its own tests, translate."""
    data = ["--data.train", write_corpus(tmp_path / "train.tsv", 80)]
    data += ["--data.valid", write_corpus(tmp_path / "valid.tsv", 8), "--data.vocab-size", "280"]
    run = str(tmp_path / "run")
    assert main(["data", "prepare", run, *data]) == 0
    prepared = capsys.readouterr().out
    assert "80 pairs" in prepared and "longest" in prepared and "packed 100 %" in prepared
    written = (tmp_path / "run" / "tokenizer.json").stat().st_mtime_ns
    training = ["--training.updates=4", "--training.batch-tokens=200", "--training.checkpoint-every=2"]
    training += ["--training.device=cpu", "--training.validate-bleu=2"]
    train = ["train", run, "--quiet", *SMALL, *training, *data]
    assert main(train) == 0
    shown = capsys.readouterr()
    assert shown.out.strip() == str(tmp_path / "run" / "model") and "BLEU" in shown.err
    assert (tmp_path / "run" / "tokenizer.json").stat().st_mtime_ns == written  # found ready
    assert main([*train, "--new"]) == 1
    assert "already holds a training run" in capsys.readouterr().err
    assert main(["average", run, str(tmp_path / "mean"), "--last", "2"]) == 0
    mean, _ = load_model(tmp_path / "mean")
    last, _ = load_model(tmp_path / "run" / "model")
    assert all(torch.equal(a, b) for a, b in zip(mean.state_dict().values(), last.state_dict().values(), strict=True))
    capsys.readouterr()
    assert main(["info", run]) == 0
    assert f"{last.num_parameters():,}" in capsys.readouterr().out
    feed(monkeypatch, lines("cat dog"))
    assert main(["translate", "--model", run]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_the_preset_sets_what_the_command_line_does_not() -> None:
    assert train_defaults(["train", "x", "--preset", "D4"]).training.label_smoothing == 0.2
    assert train_defaults(["train", "x", "--preset=B1"]).model.d_k == 16
    assert train_defaults(["translate"]).model == tiny()


def test_show_and_write_corpora(tmp_path: Path, capsys) -> None:
    corpus = write_corpus(tmp_path / "some.tsv", 9)
    assert main(["data", "show", corpus, "--pairs", "2"]) == 0
    shown = capsys.readouterr().out
    assert shown == "".join(Path(corpus).read_text().splitlines(keepends=True)[:2])
    assert main(["data", "classroom", str(tmp_path / "room"), "--classroom-pairs", "20"]) == 0
    counts = {path.stem: len(path.read_text(encoding="utf-8").splitlines()) for path in (tmp_path / "room").iterdir()}
    assert counts == {"train": 20, "valid": 1000, "test": 1000, "constructions": 1000}


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["translate", "--model", "nowhere"], 2, "no model 'nowhere'"),
        (["train", "run", "--preset", "B9"], 2, "no preset 'B9'"),
        (["train", "run", "--data.train", "mine.tsv"], 2, "--data.valid"),
        (["data", "show", "absent.tsv"], 2, "absent.tsv: no such file"),
        (["export", "onnx", "nowhere", "out", "--quantization", "int8"], 2, "ctranslate2 only"),
        (["average", "nowhere", "out"], 1, "nowhere"),
    ],
)
def test_errors_are_one_line(arguments, status, message, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == status
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1 and "Traceback" not in error
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_option_is_an_error_of_usage(capsys) -> None:
    assert main(["translate", "--beam-size", "many"]) == 2
    assert main(["translate", "--beam-size", "0"]) == 2
    assert main(["dance"]) == 2
    assert main([]) == 2


def test_debug_shows_where_an_error_comes_from(capsys, monkeypatch) -> None:
    assert main(["info", "nowhere", "--debug"]) == 2
    assert "Traceback" in capsys.readouterr().err
    monkeypatch.setenv("ANNOTATED_DEBUG", "1")
    assert main(["info", "nowhere"]) == 2
    assert "Traceback" in capsys.readouterr().err


def test_info_without_a_model(capsys) -> None:
    assert main(["info"]) == 0
    assert torch.__version__ in capsys.readouterr().out

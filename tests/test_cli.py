"""The commands: what they write where, their exit status, and one clear line for each error."""

from __future__ import annotations

import errno
import gzip
import io
import json
import os
import platform
import re
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

import annotated
from annotated import Transformer, Translator, tiny
from annotated.cli import main, scored_text
from annotated.cli.errors import explain
from annotated.cli.scored_text import text_to_score
from annotated.cli.train import train_defaults
from annotated.cli.translate import read_batches
from annotated.config import DataConfig
from annotated.data import Tokenizer, corpora
from annotated.evaluation import has_moses, paper_style_bleu
from annotated.runs import read_records
from annotated.saving import load_model, save_pretrained
from annotated.text.text_files import decoded_lines
from annotated.wmt14 import PreparedCorpus

pytestmark = pytest.mark.process

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
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8"))


def lines(*texts: str) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode()


@pytest.mark.parametrize(
    "command",
    [[], ["data"], ["train"], ["evaluate"], ["translate"], ["average"], ["export"]]
    + [["preflight"], ["dry-run"], ["rehearse"], ["finish"], ["table3"]],
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


def test_translate_and_evaluate_by_another_engine(folder, tmp_path: Path, monkeypatch, capsys) -> None:
    pytest.importorskip("ctranslate2", reason="CTranslate2 needs the extra `export`")
    monkeypatch.setenv("ANNOTATED_CACHE", str(tmp_path / "cache"))
    for engine in ("torch", "ctranslate2"):
        feed(monkeypatch, lines(TEXTS[0], "", TEXTS[1]))
        assert main(["translate", "--engine", engine]) == 0
    shown = capsys.readouterr().out.split("\n")
    assert shown[:3] == shown[3:6] and shown[1] == "" and all(shown[:3:2])
    assert list((tmp_path / "cache" / "ctranslate2").glob("*-float32"))
    assert main(["evaluate", folder, "--corpus", "classroom", "--limit", "2", "--engine", "ctranslate2", "--json"]) == 0
    numbers = json.loads(capsys.readouterr().out)
    assert (numbers["engine"], numbers["compute_type"]) == ("ctranslate2", "float32")
    assert (Path(folder) / "ctranslate2" / "float32" / "model.bin").is_file()


def test_translate_writes_what_came_before_a_bad_line(folder, monkeypatch, capsys) -> None:
    feed(monkeypatch, lines(TEXTS[0]) + b"Stra\xdfe\n" + lines(TEXTS[1]))
    assert main(["translate", "--model", folder]) == 2
    shown = capsys.readouterr()
    assert len(shown.out.splitlines()) == 1
    assert shown.err.count("\n") == 1 and "line 2: byte 0xdf at position 5 of the line is not UTF-8" in shown.err


FOREIGN = {
    "utf_16.txt": ("one\ntwo\n".encode("utf-16-le"), "it looks like UTF-16LE"),
    "page.pdf": (b"%PDF-1.4\n", "a PDF, not text"),
    "sheet.xlsx": (b"PK\x03\x04", "a zip archive or a spreadsheet"),
    "mac.txt": (b"one\rtwo\rthree", "old Macs"),
    "packed.txt": (gzip.compress(b"one\n"), "gzip data, not text"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_translate_refuses_what_is_no_text_as_other_commands_do(name, folder, tmp_path, monkeypatch, capsys) -> None:
    content, message = FOREIGN[name]
    (tmp_path / name).write_bytes(content)
    assert main(["translate", str(tmp_path / name), "--model", folder, "--max-new-tokens", "3"]) == 2
    feed(monkeypatch, content)
    assert main(["translate", "--model", folder, "--max-new-tokens", "3"]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert message in first and name in first and message in second and "standard input" in second


@pytest.mark.skipif(os.name != "posix", reason="named pipes")
def test_translate_reads_packed_files_and_pipes(folder, tmp_path, capsys) -> None:
    (tmp_path / "x.gz").write_bytes(gzip.compress(lines(*TEXTS)))
    (tmp_path / "x").write_bytes(lines(*TEXTS))
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_bytes(lines(*TEXTS)))
    writer.start()
    found = set()
    for name in ("x", "x.gz", "pipe"):
        assert main(["translate", str(tmp_path / name), "--model", folder, "--max-new-tokens", "3"]) == 0
        found.add(capsys.readouterr().out)
    writer.join()
    assert len(found) == 1 and found.pop().count("\n") == len(TEXTS)


def test_translate_names_or_cuts_an_overlong_line(folder, monkeypatch, capsys) -> None:
    long = "cat " * 1100
    feed(monkeypatch, lines(TEXTS[1], long))
    assert main(["translate", "--model", folder, "--max-new-tokens", "3"]) == 2
    shown = capsys.readouterr()
    assert len(shown.out.splitlines()) == 1 and "line 2 has" in shown.err and "--overlong truncate" in shown.err
    feed(monkeypatch, lines(TEXTS[1], long))
    assert main(["translate", "--model", folder, "--max-new-tokens", "3", "--overlong", "truncate"]) == 0
    shown = capsys.readouterr()
    assert len(shown.out.splitlines()) == 2 and "warning: cut to 1024 tokens: line 2" in shown.err
    monkeypatch.setattr(read_batches, "__defaults__", (1,))  # a call for each line
    feed(monkeypatch, lines(TEXTS[1], TEXTS[0], long))
    assert main(["translate", "--model", folder, "--max-new-tokens", "3", "--overlong", "truncate"]) == 0
    assert "cut to 1024 tokens: line 3" in capsys.readouterr().err


def test_translate_takes_no_folder_for_a_file(folder, capsys) -> None:
    assert main(["translate", folder, "--model", folder]) == 2
    assert "a folder, not a file" in capsys.readouterr().err


def test_lines_are_given_out_as_they_come_and_in_order() -> None:
    given = threading.Event()

    class Slow(io.RawIOBase):
        """Two lines at once, and one when they have been given out."""

        def __iter__(self):
            yield from (b"\xef\xbb\xbfone\n", b"two\n")
            assert given.wait(600)
            yield b"three"

    batches: list[list[str]] = []
    for batch in read_batches(decoded_lines(Slow(), "a pipe")):
        batches.append(batch)
        if batch[-1] == "two":
            given.set()
    assert [line for batch in batches for line in batch] == ["one", "two", "three"]
    assert batches[-1] == ["three"]
    assert max(map(len, read_batches(["x"] * 50, most=7))) <= 7


def test_a_real_pipe(translator, folder: str, repository: Path) -> None:
    program = [sys.executable, "-m", "annotated", "translate", "--model", folder]
    done = subprocess.run(program, input=lines(*TEXTS), capture_output=True, cwd=repository)
    assert done.returncode == 0 and done.stderr == b""
    expected = [" ".join(text.splitlines()) for text in translator.translate(TEXTS)]
    assert done.stdout.decode().split("\n")[:-1] == expected


@pytest.mark.parametrize("command", ["translate", "data show"])
def test_text_comes_out_in_utf_8_in_every_locale(command: str, folder, tmp_path, monkeypatch) -> None:
    """Python's output is ASCII in the locale C, and in a code page where it goes into a file on Windows."""
    (tmp_path / "x.tsv").write_text("猫\tein Kätzchen\n", encoding="utf-8")
    monkeypatch.setattr("annotated.translator.Translator.hypotheses", lambda *_, **__: [[("ein Kätzchen", None)]])
    for errors in ("strict", "surrogateescape"):
        raw = io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii", errors=errors))
        arguments = ["--model", folder] if command == "translate" else []
        assert main([*command.split(), str(tmp_path / "x.tsv"), *arguments]) == 0
        sys.stdout.flush()
        assert "ein Kätzchen\n" in raw.getvalue().decode("utf-8")


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
    said, wanted = output.read_text(encoding="utf-8").splitlines(), targets
    assert numbers["paper_bleu"] == pytest.approx(paper_style_bleu(said, wanted).bleu)
    assert ("moses_bleu" in numbers) is has_moses() and "the paper's way" in shown and "tok:none" in shown
    assert main([*arguments, "--json", "--moses", "no"]) == 0
    assert "moses_bleu" not in json.loads(capsys.readouterr().out)
    if not has_moses():
        assert main([*arguments, "--moses", "yes"]) != 0
        assert "sacremoses, which is not installed" in " ".join(capsys.readouterr().err.split())


def test_each_line_of_a_test_file_has_its_translation(folder, tmp_path: Path, capsys) -> None:
    corpus, output = tmp_path / "test.tsv", tmp_path / "out.txt"
    corpus.write_text(f"{TEXTS[0]}\tx\n\tx\n\n{TEXTS[1]}\t \n{TEXTS[1]}\tx\n", encoding="utf-8")
    assert main(["evaluate", folder, "--corpus", str(corpus), "--json", "--output", str(output)]) == 0
    assert json.loads(capsys.readouterr().out)["sentences"] == 5
    written = output.read_text(encoding="utf-8").split("\n")
    assert len(written) == 6 and written[1] == written[2] == "" and written[3] == written[4]


def test_evaluate_counts_a_language_without_spaces_by_its_own_tokeniser(folder, tmp_path: Path, capsys) -> None:
    corpus = tmp_path / "test.tsv"
    corpus.write_text("The cat sleeps.\t猫在睡觉。\n", encoding="utf-8")
    arguments = ["evaluate", folder, "--corpus", str(corpus)]
    assert main(arguments) == 0
    shown = capsys.readouterr().out
    assert "tok:zh" in shown and "word perplexity" not in shown and "moses:" not in shown
    assert main([*arguments, "--tokenize", "char"]) == 0
    assert "tok:char" in capsys.readouterr().out
    assert main([*arguments, "--language", "de"]) == 0
    assert "tok:13a" in capsys.readouterr().out


@pytest.mark.skipif(not has_moses(), reason="sacremoses is not installed: pip install sacremoses")
def test_moses_language_is_the_runs_target_unless_given(folder, tmp_path: Path, capsys, monkeypatch) -> None:
    """By the prepared data of the training run; German where nothing is known, or the data are gone."""
    corpus, prepared = tmp_path / "test.tsv", DataConfig(prepared=str(tmp_path / "prepared"))
    corpus.write_text("a\tb\n", encoding="utf-8")

    def language(*further: str) -> str:
        assert main(["evaluate", folder, "--corpus", str(corpus), "--json", *further]) == 0
        return json.loads(capsys.readouterr().out)["moses_language"]

    assert language() == "de" and language("--language", "EN") == "en"
    monkeypatch.setattr(scored_text, "trained_on", lambda model: prepared)
    assert language() == "de"
    monkeypatch.setattr(PreparedCorpus, "open", lambda folder: SimpleNamespace(target_language="fr"))
    assert language() == "fr" and language("--language", "de") == "de"
    assert main(["evaluate", folder, "--corpus", str(corpus)]) == 0
    assert capsys.readouterr().out.count("|moses:fr\n") == 1
    assert main(["evaluate", folder, "--corpus", str(corpus), "--language", "french"]) != 0
    assert "two letters, such as de or fr, and not 'french'" in " ".join(capsys.readouterr().err.split())


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
    training += ["--training.device=cpu", "--training.validate-bleu=2", "--training.average-last=1"]
    train = ["train", run, "--quiet", *SMALL, *training, *data]
    assert main(train) == 0
    shown = capsys.readouterr()
    assert shown.out.strip() == str(tmp_path / "run" / "model") and "BLEU" in shown.err
    assert (tmp_path / "run" / "tokenizer.json").stat().st_mtime_ns == written  # found ready
    assert main([*train, "--new"]) == 1
    assert "already holds a training run" in capsys.readouterr().err
    assert main(["average", run, str(tmp_path / "mean")]) == 0, "of as many as the training's own"
    mean, _ = load_model(tmp_path / "mean")
    last, _ = load_model(tmp_path / "run" / "model")
    assert all(torch.equal(a, b) for a, b in zip(mean.state_dict().values(), last.state_dict().values(), strict=True))
    capsys.readouterr()
    assert main(["info", run]) == 0
    about = capsys.readouterr().out
    assert f"{last.num_parameters():,}" in about and re.search(r"^log, line \d+ +valid .*'perplexity': ", about, re.M)
    assert "cat" not in about, "a report of a fault has no text of the user's"
    feed(monkeypatch, lines("cat dog"))
    assert main(["translate", "--model", run]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1
    check_scores(run, str(tmp_path / "valid.tsv"), capsys)
    check_damage(tmp_path / "run", train, monkeypatch, capsys)


def check_scores(run: str, valid: str, capsys) -> None:
    """A run on files of one's own is scored on those, and never on the classroom corpus."""
    for words, message in (
        (["evaluate", run], "no test text of its kind is named"),
        (["evaluate", f"{run}/model", "--corpus", "classroom"], "a score on the classroom corpus would say nothing"),
        (["evaluate", f"{run}/checkpoints/update-000000004", "--split", "constructions"], "would say nothing"),
        (["evaluate", run, "--corpus", valid, "--limit", "0"], "--limit must be at least 1, not 0"),
        (["finish", run, "--quiet"], "--test FILE"),
    ):
        assert main(words) == 2
        error = capsys.readouterr().err
        assert message in error and error.count("\n") == 1, error
    Path(valid).rename(f"{valid}.away")
    assert main(["evaluate", run, "--split", "valid"]) == 2
    assert "the path counts from the folder in which the training was started" in capsys.readouterr().err
    Path(f"{valid}.away").rename(valid)
    assert main(["evaluate", run, "--split", "valid", "--limit", "2", "--max-new-tokens", "3"]) == 0
    assert capsys.readouterr().out.startswith(f"{valid}: 2 sentences")
    assert text_to_score("classroom", None) == "classroom" and text_to_score("classroom", "mine.tsv") == "mine.tsv"


def check_damage(run: Path, train: list[str], monkeypatch, capsys) -> None:
    """A line of the log that is no record, and a damaged checkpoint, are said and stop nothing."""
    with (run / "log.jsonl").open("a", encoding="utf-8") as log:
        log.write("%% garbage\n")
    assert main([*train, "--training.updates=6"]) == 0
    said = capsys.readouterr().err
    assert "line" in said and "garbage" in said and "left out" in said
    assert "garbage" not in (run / "log.jsonl").read_text(encoding="utf-8")
    (run / "checkpoints" / "update-000000006" / "model.safetensors").write_bytes(b"cut")
    (run / "model").rename(run / "elsewhere")
    feed(monkeypatch, lines("cat dog"))
    assert main(["translate", "--model", str(run), "--max-new-tokens", "3"]) == 0
    said = capsys.readouterr().err
    assert "update-000000006 is damaged" in said and "update-000000004 is used instead" in said


def test_the_preset_sets_what_the_command_line_does_not() -> None:
    assert train_defaults(["train", "x", "--preset", "D4"]).training.label_smoothing == 0.2
    assert train_defaults(["train", "x", "--preset=B1"]).model.d_k == 16
    assert train_defaults(["translate"]).model == tiny()


@pytest.fixture
def small_classroom(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each split but the training data 30 pairs: 1,000 sentences of held-out constructions take seconds."""
    assert corpora.CLASSROOM_EVALUATION_PAIRS == 1000
    monkeypatch.setattr(corpora, "CLASSROOM_EVALUATION_PAIRS", 30)


def test_show_and_write_corpora(tmp_path: Path, small_classroom: None, capsys) -> None:
    corpus = write_corpus(tmp_path / "some.tsv", 9)
    assert main(["data", "show", corpus, "--pairs", "2"]) == 0
    shown = capsys.readouterr().out
    assert shown == "".join(Path(corpus).read_text(encoding="utf-8").splitlines(keepends=True)[:2])
    assert main(["data", "classroom", str(tmp_path / "room"), "--classroom-pairs", "20"]) == 0
    counts = {path.stem: len(path.read_text(encoding="utf-8").splitlines()) for path in (tmp_path / "room").iterdir()}
    assert counts == {"train": 20, "valid": 30, "test": 30, "constructions": 30}
    assert main(["data", "classroom", str(tmp_path / "room"), "--classroom-pairs", "20"]) == 0  # the same again


def test_the_classroom_corpus_replaces_no_file(tmp_path: Path, small_classroom: None, capsys) -> None:
    (tmp_path / "test.tsv").write_text("my precious\tdata\n")
    assert main(["data", "classroom", str(tmp_path), "--classroom-pairs", "20"]) == 1
    shown = capsys.readouterr()
    assert f"{tmp_path / 'test.tsv'} is there already" in shown.err and shown.out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["test.tsv"]
    assert (tmp_path / "test.tsv").read_text() == "my precious\tdata\n"


def test_the_classroom_corpus_on_a_full_disk_leaves_nothing(
    tmp_path: Path, small_classroom: None, monkeypatch, capsys
) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert main(["data", "classroom", str(tmp_path), "--classroom-pairs", "20"]) == 1
    assert "the disk is full" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_show_says_how_much_there_is_and_what_is_damaged(tmp_path: Path, capsys) -> None:
    text = "".join(f"one {n}\teins {n}\n" for n in range(30))
    whole, cut = tmp_path / "whole.tsv.gz", tmp_path / "cut.tsv.gz"
    whole.write_bytes(gzip.compress(text.encode()))
    cut.write_bytes(whole.read_bytes()[:-20])
    assert main(["data", "show", str(whole), "--pairs", "2"]) == 0
    shown = capsys.readouterr()
    assert shown.out == "one 0\teins 0\none 1\teins 1\n" and "2 of 30 pairs" in shown.err
    (tmp_path / "short").write_text("a\n")
    (tmp_path / "long").write_text("a\nb\n")
    for corpus, message in ((str(cut), "break off"), (f"{tmp_path / 'short'},{tmp_path / 'long'}", "goes on")):
        assert main(["data", "show", corpus, "--pairs", "1"]) == 2
        shown = capsys.readouterr()
        assert shown.out == "" and message in shown.err
    assert main(["data", "show", str(whole), "--pairs", "-1"]) == 2


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_named(encoding: str, tmp_path: Path, folder, monkeypatch, capsys) -> None:
    (tmp_path / "x.tsv").write_bytes("Grüße\tgreetings\n".encode(encoding))
    assert main(["data", "show", str(tmp_path / "x.tsv")]) == 2
    assert f"iconv -f {encoding.replace('16-', '16')} -t utf-8 x.tsv" in capsys.readouterr().err
    (tmp_path / "x.tsv").write_bytes("Gr\xfc\xdfe\tgreetings\n".encode("latin-1"))
    assert main(["data", "show", str(tmp_path / "x.tsv")]) == 2
    assert "iconv -f latin1" in capsys.readouterr().err


def test_translate_takes_a_file(translator, folder, tmp_path: Path, capsys) -> None:
    (tmp_path / "x.txt").write_bytes(lines(*TEXTS[:2]))
    assert main(["translate", str(tmp_path / "x.txt"), "--model", folder, "--beam-size", "1"]) == 0
    expected = [" ".join(text.splitlines()) for text in translator.translate(TEXTS[:2], beam_size=1)]
    assert capsys.readouterr().out.splitlines() == expected
    assert main(["translate", "The cat sleeps.", "--model", folder]) == 2
    assert 'echo "The cat sleeps." | annotated translate' in capsys.readouterr().err


def test_memory_that_does_not_suffice_names_the_options() -> None:
    error = RuntimeError("[enforce fail at alloc_cpu.cpp:113] DefaultCPUAllocator: can't allocate memory: you tried")
    assert "--beam-size or --batch-tokens" in explain(error, ["translate"])
    assert "--training.micro-batch-tokens" in explain(torch.OutOfMemoryError("CUDA out of memory."), ["train"])
    assert explain(RuntimeError("else"), ["train"]) == "RuntimeError: else (--debug shows where)"


def test_pairs_that_are_left_out_are_said(tmp_path: Path, capsys) -> None:
    """Sides of 1 to 5 words: two of five lengths fit 'at most 3 tokens and the end'; and a blank line."""
    text = "".join(f"{'cat ' * n}\t{'cat ' * n}\n" for n in (1, 2, 5, 6, 7)) * 20 + "\n"
    (tmp_path / "x.tsv").write_text(text)
    data = [f"--data.{name}={tmp_path / 'x.tsv'}" for name in ("train", "valid")]
    train = ["train", str(tmp_path / "run"), *SMALL, *data, "--data.max-length=4", "--training.updates=1"]
    assert main([*train, "--training.validate-bleu=0", "--training.device=cpu"]) == 0
    said = capsys.readouterr().err
    assert "60 of 101 training pairs are left out: a side has more than 4 tokens (--data.max-length)" in said
    assert "60 of 101 validation pairs are left out" in said
    assert "1 of 101 training pairs are left out: a side is empty" in said
    assert "fewer than the 500 wanted" in said
    start = read_records(tmp_path / "run")[0]
    assert start["left_out"] == {"train": {"too_long": 60, "empty": 1}, "valid": {"too_long": 60, "empty": 1}}


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["train", "run", "--preset", "B9"], 2, "no preset 'B9'"),
        (["train", "run", "--data.train", "mine.tsv"], 2, "--data.valid"),
        (["export", "onnx", "nowhere", "out", "--quantization", "int8"], 2, "ctranslate2 only"),
        (["average", "nowhere", "out"], 1, "nowhere"),
        (["train", "run", "--data.vocab-size", "100"], 2, "annotated: --data.vocab-size must exceed 260"),
        (["train", "run", "--training.updates", "0"], 2, "annotated: --training.updates must be positive, not 0"),
        (["exercise", "grade", ".", "--out", "../grades"], 2, "is empty: no submissions to grade"),
        (["translate", "x.txt"], 2, "x.txt: no such file"),
        (["translate", "--compute-type", "int8"], 2, "--compute-type int8 is for the engine ctranslate2"),
        (["translate", "--compute-type", "int4"], 2, "--compute-type must be one of float32"),
        (["evaluate", "--device", "gpu"], 2, "no device 'gpu': take 'auto', 'cpu', 'cuda'"),
        (["translte"], 2, "no command 'translte' of annotated; did you mean annotated translate?"),
        (["report"], 2, "no command 'report' of annotated; did you mean annotated info?"),
        (["data", "shw"], 2, "did you mean annotated data show?"),
        (["--verson"], 2, "did you mean annotated --version?"),
        (["data"], 2, "annotated data needs one of classroom, prepare, show"),
        (["train"], 2, "annotated train needs PATH (folder of the run)"),
        (["train", "run", "--training.update", "3"], 2, "did you mean --training.updates?"),
        (["train", "run", "--training.updates", "1e3"], 2, "--training.updates: '1e3' is no whole number; write 1000"),
        (["train", "run", "--training.adam-betas", "0.9"], 2, "--training.adam-betas: 2 values are wanted"),
        (["train", "run", "--training.adam-betas", "0.9", "1.0"], 2, "--training.adam-betas must be two numbers in"),
        (["train", "run", "--data.train", "a.tsv", "b.tsv"], 2, "one word too many after --data.train: 'b.tsv'"),
        (
            ["train", "run", "--training.average-last", "9"],
            2,
            "--training.average-last must not exceed keep_checkpoints",
        ),
        (["train", "run", "--data.train", "a.tsv", "--data.format", "x"], 2, "--data.format must be one of auto, tsv"),
        (["preflight", "run", "--data.train", "mine.tsv"], 2, "give a validation file with --data.valid"),
        (["dry-run", "run", "--data.train", "mine.tsv"], 2, "give a validation file with --data.valid"),
        (["data", "show", "wmt15"], 2, "wmt15: no such file, and no corpus of the package, which has 'classroom'"),
        (["exercise", "start", "ex99-1"], 2, "did you mean ex29-1?"),
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


def test_alone_it_lists_the_commands(capsys) -> None:
    assert main([]) == 2
    shown = capsys.readouterr()
    assert "translate" in shown.out and "usage: annotated" in shown.out and shown.err == ""
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"annotated {annotated.__version__}\n"


def test_the_commands_fit_a_screen(capsys) -> None:
    """A line for each, on a terminal of 80 columns and 24 lines; `help` is as good as --help."""
    for group in ([], ["data"], ["exercise"], ["exercise", "export"], ["table3"]):
        assert main([*group, "--help"]) == 0
        usage, *lines = capsys.readouterr().out.splitlines()
        assert len(lines) < 22 and max(map(len, lines)) <= 80
        for name in usage.partition("{")[2].strip("}").split(","):
            assert sum(line.startswith(f"  {name} ") for line in lines) == 1
        assert main(["help", *group]) == 0
        assert capsys.readouterr().out.splitlines() == [usage, *lines]


def test_the_help_of_train_begins_with_what_matters(capsys) -> None:
    assert main(["help", "train"]) == 0
    begins = capsys.readouterr().out.splitlines()[:15]
    for option in ("--data.train", "--data.valid", "--data.test", "--training.updates", "--preset"):
        assert any(line.startswith(option) or f", {option}" in line for line in begins)


def test_a_file_in_the_place_of_a_folder_is_named(tmp_path: Path, capsys) -> None:
    (tmp_path / "run").write_text("")
    assert main(["train", str(tmp_path / "run"), "--quiet"]) == 1
    assert f"annotated: {tmp_path / 'run'}: a file stands where a folder is needed" in capsys.readouterr().err


def test_info_on_a_training_that_has_little_to_show(tmp_path: Path, capsys) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / "training.lock").write_text("")
    assert main(["info", str(run)]) == 0
    assert "it has not logged anything yet" in capsys.readouterr().out
    (run / "log.jsonl").write_text('{"broken": \n')
    assert main(["info", str(run)]) == 2
    assert "no line of it can be read" in capsys.readouterr().err
    (run / "log.jsonl").write_text(
        '{"x": 1}\n{"kind": "train", "update": 3}\n{"kind": "end", "stopped_by": "SIGTERM"}\n'
    )
    assert main(["info", str(run)]) == 0
    about = capsys.readouterr().out
    assert "train {'update': 3}" in about and "end {'stopped_by': 'SIGTERM'}" in about and "none can be read" in about


def test_info_without_a_model(capsys) -> None:
    assert main(["info"]) == 0
    about = capsys.readouterr().out
    assert torch.__version__ in about and f"annotated-attention     {annotated.__version__}" in about
    assert platform.python_version() in about and " cores of " in about

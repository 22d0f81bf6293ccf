"""Text as people have it, by every command that reads it: what plain TSV gives, any format gives, and says so."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

import annotated
from annotated.cli import main
from annotated.config import DataConfig, DecodingConfig
from annotated.data import Tokenizer
from annotated.runs.dataset import prepare_data
from annotated.runs.report.translating import translate_once
from annotated.saving import longest_source
from annotated.speed.machine.distributed import Processes
from annotated.text.recognition import FormatNotice
from annotated.wmt14 import PreparationError, PreparationOptions, PreparedCorpus, prepare_files

pytestmark = pytest.mark.process

WORDS = "cat dog house tree sees likes big red".split()
PAIRS = [(" ".join(WORDS[(i * k) % 8] for k in range(1, 3 + i % 5)), f"Satz, {i % 11}.") for i in range(60)]
SHAPE = ["--model.d-model=16", "--model.d-ff=24", "--model.num-heads=2", "--model.d-k=8", "--model.d-v=8"]
SHAPE += ["--model.num-encoder-layers=1", "--model.num-decoder-layers=1"]
DATA = ["--data.train", "{train}", "--data.valid", "{valid}", "--data.vocab-size=280"]
TRAINING = ["--training.updates=2", "--training.batch-tokens=200", "--training.checkpoint-every=1"]
TRAIN = ["train", "{out}", "--quiet", *SHAPE, *TRAINING, "--training.device=cpu", *DATA]

COMMANDS: dict[str, list[str]] = {
    "data show": ["data", "show", "{train}"],
    "data prepare": ["data", "prepare", "{out}", *DATA],
    "data texts": ["data", "texts", "{out}", "--train", "{train}", "--valid", "{valid}", "--test", "{test}"],
    "train": TRAIN,
    "evaluate": ["evaluate", "{run}", "--corpus", "{test}", "--json", "--max-new-tokens=3"],
    "finish": ["finish", "{out}", "--quiet", "--test", "{test}", "--beam=1"],
    "preflight": ["preflight", "{out}", *SHAPE, "--training.device=cpu", *DATA, "--data.test", "{test}"],
}
"""Those that read files of pairs."""
RESULTS: dict[str, tuple[str, ...]] = {
    "data prepare": ("tokenizer.json", "data/train/source.tokens.*", "data/valid/target.tokens.*"),
    "data texts": ("train.tsv", "valid.tsv", "test.tsv", "tokenizer.json"),
    "train": ("tokenizer.json", "model/model.safetensors"),
    "finish": ("hypotheses.txt",),
}
"""Files that do not depend on how the text was written; of the other commands it is what they print."""


def tsv(pairs: list[tuple[str, str]]) -> str:
    return "".join(f"{source}\t{target}\n" for source, target in pairs)


def with_header(pairs: list[tuple[str, str]]) -> str:
    file = io.StringIO()
    csv.writer(file).writerows([("en", "de"), *pairs])
    return file.getvalue()


def objects(pairs: list[tuple[str, str]]) -> str:
    return "".join(json.dumps({"tgt": target, "src": source}) + "\n" for source, target in pairs)


FORMATS: dict[str, Callable[[list[tuple[str, str]]], str]] = {"csv": with_header, "jsonl": objects}


def texts(folder: Path, ending: str, write: Callable[[list[tuple[str, str]]], str]) -> dict[str, Path]:
    """The files of the three sets, in a folder that every format may have."""
    folder.mkdir(exist_ok=True)
    sets = {"train": PAIRS, "valid": PAIRS[3:11], "test": PAIRS[20:28]}
    paths = {name: folder / f"{name}.{ending}" for name in sets}
    for name, path in paths.items():
        path.write_text(write(sets[name]), encoding="utf-8")
    return paths


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that has made all its updates, on plain TSV."""
    folder = tmp_path_factory.mktemp("run")
    places = {**texts(folder / "text", "tsv", tsv), "out": folder / "out"}
    assert main([part.format(**places) for part in TRAIN]) == 0
    return folder / "out"


def result(command: str, places: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> tuple[object, list[str]]:
    """What a command makes of text, and the notices of how it was read."""
    if command == "finish":
        shutil.copytree(places["run"], places["out"])
    capsys.readouterr()
    status = main([part.format(**places) for part in COMMANDS[command]])
    shown = capsys.readouterr()
    assert status == 0 or command == "preflight", shown.err
    said = [line for line in shown.err.splitlines() if ": read as " in line]
    if command in RESULTS:
        found = [sorted(places["out"].rglob(pattern)) for pattern in RESULTS[command]]
        assert all(found), found
        return [path.read_bytes() for paths in found for path in paths], said
    if command == "evaluate":
        return {name: value for name, value in json.loads(shown.out).items() if name != "corpus"}, said
    if command == "preflight":
        return "is there" in shown.out, said
    return shown.out, said


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_format_changes_nothing_and_is_said_once(
    command: str, format: str, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expected, nothing = result(
        command, {**texts(tmp_path / "text", "tsv", tsv), "run": run, "out": tmp_path / "plain"}, capsys
    )
    assert not nothing
    places = texts(tmp_path / "text", format, FORMATS[format])
    got, said = result(command, {**places, "run": run, "out": tmp_path / "out"}, capsys)
    assert got == expected
    named = [str(path) for name, path in places.items() if f"{{{name}}}" in COMMANDS[command]]
    assert sorted(line.split(": ")[2] for line in said) == sorted(named), said
    assert all(line.startswith("annotated: warning: ") for line in said)


@pytest.mark.parametrize("command", ["data show", "data prepare", "data texts", "train", "evaluate", "preflight"])
def test_a_refusal_names_the_option_of_its_command(command: str, run: Path, tmp_path: Path, capsys) -> None:
    """Three columns are refused by every command, and with the option that the message names it reads them."""
    places = {**texts(tmp_path / "text", "tsv", lambda pairs: tsv([(f"7\t{s}", t) for s, t in pairs])), "run": run}
    places["out"] = tmp_path / "out"
    arguments = [part.format(**places) for part in COMMANDS[command]]
    status = main(arguments)
    shown = capsys.readouterr()
    message = shown.out if command == "preflight" else shown.err
    option = "--data.format" if any("--data.train" in part for part in arguments) else "--format"
    assert status and f"cut -f2,3 < {places['test' if command == 'evaluate' else 'train']}" in message
    assert f"or name them: {option} tsv:2,3" in " ".join(message.split())
    status = main([*arguments, option, "tsv:2,3"])
    shown = capsys.readouterr()
    assert status == 0 or (command == "preflight" and "is there" in shown.out), shown.err
    assert ": read as " not in shown.err, "what is asked for need not be said"


def test_only_the_main_process_of_a_run_says_how_text_is_read(tmp_path: Path) -> None:
    places = texts(tmp_path / "text", "csv", with_header)
    data = DataConfig(train=str(places["train"]), valid=str(places["valid"]), vocab_size=280)
    (tmp_path / "out").mkdir()
    with pytest.warns(FormatNotice) as said:
        prepare_data(data, tmp_path / "out", Processes(device=torch.device("cpu")), None)
    assert len(said) == 2
    other = SimpleNamespace(is_main=False, wait_for_main=lambda what: None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(prepare_data(data, tmp_path / "out", other, None).train) == len(PAIRS)  # type: ignore[arg-type]


def test_a_run_is_scored_on_its_own_text_in_its_own_format(tmp_path: Path, capsys) -> None:
    places = texts(tmp_path / "text", "tsv", lambda pairs: tsv([(f"7\t{s}", t) for s, t in pairs]))
    data = ["--data.format", "tsv:2,3", "--data.test", str(places["test"])]
    assert main([part.format(**places, out=tmp_path / "out") for part in [*TRAIN, *data]]) == 0
    capsys.readouterr()
    assert main(["evaluate", str(tmp_path / "out"), "--json", "--max-new-tokens=3"]) == 0
    assert json.loads(capsys.readouterr().out)["sentences"] == 8
    assert main(["finish", str(tmp_path / "out"), "--quiet", "--beam=1"]) == 0


def test_a_prepared_folder_knows_the_formats_that_it_was_made_of(tmp_path: Path) -> None:
    """With other ones the stages that read text are not taken for done; plain TSV leaves no word in the manifest."""
    there, options = texts(tmp_path / "text", "tsv", tsv), PreparationOptions(vocab_size=280)

    def prepared(out: str, format: str) -> PreparedCorpus:
        train, valid, test = {"a": there["train"]}, there["valid"], there["test"]
        return prepare_files(train, valid, test, tmp_path / out, options, format=format, jobs=1, quiet=True)

    made = prepared("out", "auto")
    assert not any("formats" in made.manifest["stages"][name]["options"] for name in ("clean", "split"))
    with pytest.raises(PreparationError, match=r"formats was null and is .*tsv\|1\|0"):
        prepared("out", "tsv:2,1")
    turned = prepared("other", "tsv:2,1")
    first = [corpus.test.read_text(encoding="utf-8").splitlines()[0].split("\t") for corpus in (made, turned)]
    assert first[0] == first[1][::-1] == list(PAIRS[20])


def test_every_model_of_a_run_knows_the_longest_source_in_training(run: Path, tmp_path: Path) -> None:
    tokenizer = Tokenizer.load(run / "tokenizer.json")
    expected = max(len(tokenizer.encode(source)) + 1 for source, _ in PAIRS)  # with eos
    checkpoint = run / "checkpoints" / "update-000000002"
    assert main(["average", str(run), str(tmp_path / "mean"), "--last", "2"]) == 0
    assert [longest_source(folder) for folder in (run / "model", checkpoint, tmp_path / "mean")] == [expected] * 3
    short = tmp_path / "short"
    data = [part.format(**texts(tmp_path / "text", "tsv", tsv), out=short) for part in TRAIN]
    lengths = sorted({len(tokenizer.encode(source)) + 1 for source, _ in PAIRS})
    assert (
        main([*data, "--data.max-length", str(lengths[-1] - 1), "--data.tokenizer", str(run / "tokenizer.json")]) == 0
    )
    assert longest_source(short / "model") == lengths[-2], "what was left out of training does not count"


def test_lines_longer_than_any_in_training_are_warned_of_in_one_line(run: Path, tmp_path: Path, capsys, monkeypatch):
    longest = longest_source(run / "model")
    text = ["cat dog", "cat dog house tree " * 5, ""] + ["big red " * 20] * 8
    sizes = [len(Tokenizer.load(run / "tokenizer.json").encode(line.strip())) + 1 for line in text]
    assert sizes[0] <= longest < sizes[1] <= sizes[3]
    said = (
        f"annotated: warning: {{}} 2, 4, 5, 6, 7 and 4 more: longer than the longest source in training ({longest} "
        "tokens), so parts may be left out of the translation; give one sentence a line"
    )
    for most in (2000, 1):  # lines of a call
        monkeypatch.setattr("annotated.cli.translate.read_batches.__defaults__", (most,))
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("\n".join(text).encode()), encoding="utf-8"))
        assert main(["translate", "--model", str(run), "--max-new-tokens=2"]) == 0
        shown = capsys.readouterr()
        assert shown.err.splitlines() == [said.format("line")] and len(shown.out.splitlines()) == len(text)
    corpus = tmp_path / "test.tsv"
    corpus.write_text("".join(f"{line}\tx\n" for line in text))
    assert main(["evaluate", str(run), "--corpus", str(corpus), "--max-new-tokens=2"]) == 0
    assert said.format("sentence") in capsys.readouterr().err.splitlines()
    finished = tmp_path / "finished"
    shutil.copytree(run, finished)
    assert main(["finish", str(finished), "--quiet", "--test", str(corpus), "--beam=1"]) == 0
    shown = [line for line in capsys.readouterr().err.splitlines() if "longest source" in line]
    assert shown == [said.format("sentence")], "once, though the last checkpoint translates them again"
    translator = annotated.load(run)
    translator.max_source_tokens = sizes[3] - 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a part of a test set has numbers of its own
        translate_once(translator, text, tmp_path / "journal", "", DecodingConfig(beam_size=1, max_new_tokens=2))
    old = tmp_path / "old"
    shutil.copytree(run / "model", old)
    about = json.loads((old / "config.json").read_text())
    del about["longest_source"]
    (old / "config.json").write_text(json.dumps(about))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("\n".join(text).encode()), encoding="utf-8"))
    assert main(["translate", "--model", str(old), "--max-new-tokens=2"]) == 0
    assert not capsys.readouterr().err, "a folder of an earlier version says nothing"

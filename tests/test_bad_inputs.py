"""Bad inputs: a command that reads a damaged file ends in one line that names it, and changes nothing of the user's.

Files that are missing, and wrong values of options, are in `test_bad_options.py`.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import resource
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from annotated import Transformer, Translator, tiny
from annotated.cli import main
from annotated.data import Tokenizer
from annotated.storage import PARTIAL

ERRORS = {1, 2}
"""The exit statuses of a command that failed, or whose input is wrong."""
NOBODY = 65534
TEXT = "The cat sleeps.\tDie Katze schläft.\nYes.\tJa.\n"

CORPORA: dict[str, Callable[[Path], object]] = {
    "empty.tsv": lambda path: path.write_bytes(b""),
    "one_column.tsv": lambda path: path.write_text("The cat sleeps.\nYes.\n"),
    "three_columns.tsv": lambda path: path.write_text("one\teins\tun\n"),
    "utf_16.tsv": lambda path: path.write_bytes(TEXT.encode("utf-16")),
    "latin_1.tsv": lambda path: path.write_bytes(TEXT.encode("latin-1")),
    "binary.tsv": lambda path: path.write_bytes(bytes(range(256)) * 40),
    "huge_line.tsv": lambda path: path.write_text("word " * 200_000),
    "no_gzip.tsv.gz": lambda path: path.write_text(TEXT),
    "cut_off.tsv.gz": lambda path: path.write_bytes(gzip.compress(os.urandom(3000).hex().encode())[:900]),
}
"""Texts that no command can read as pairs, by file name."""

MODELS: dict[str, Callable[[Path], object]] = {
    "empty": lambda model: [path.unlink() for path in model.iterdir()],
    "no_config": lambda model: (model / "config.json").unlink(),
    "bad_config": lambda model: (model / "config.json").write_text('{"format": 1, "mod'),
    "list_config": lambda model: (model / "config.json").write_text("[]"),
    "no_weights": lambda model: (model / "model.safetensors").unlink(),
    "cut_weights": lambda model: os.truncate(model / "model.safetensors", 1000),
    "flipped_weights": lambda model: flip(model / "model.safetensors"),
    "no_tokenizer": lambda model: (model / "tokenizer.json").unlink(),
    "bad_tokenizer": lambda model: (model / "tokenizer.json").write_text("{}"),
    "foreign_tokenizer": lambda model: Tokenizer.train(["abc"] * 3, 262).save(model / "tokenizer.json"),
}
"""What can be wrong with a model folder."""

READ_TEXT = {
    "data show": ["data", "show", "{text}"],
    "data prepare": ["data", "prepare", "{out}", "--data.train", "{text}", "--data.valid", "{text}"],
    "train": ["train", "{out}", "--data.train", "{text}", "--data.valid", "{text}", "--training.updates", "1"],
    "evaluate": ["evaluate", "{model}", "--corpus", "{text}"],
}
READ_MODEL = {
    "evaluate": ["evaluate", "{model}", "--corpus", "{good}"],
    "translate": ["translate", "--model", "{model}"],
    "info": ["info", "{model}"],
    "average": ["average", "{model}", "{out}"],
    "doctor": ["doctor", "{model}"],
    "finish": ["finish", "{model}"],
    "export onnx": ["export", "onnx", "{model}", "{out}"],
    "export marian": ["export", "marian", "{model}", "{out}"],
    "export ctranslate2": ["export", "ctranslate2", "{model}", "{out}"],
}
WITHOUT_TOKENIZER = {"no_tokenizer", "bad_tokenizer", "foreign_tokenizer"}
NOT_A_RUN = {"average", "finish"}
"""Commands that want a training run, which no model folder is."""


def flip(path: Path) -> None:
    """Turn two bytes in the middle of the weights round."""
    raw = bytearray(path.read_bytes())
    raw[-300:-298] = bytes(255 - byte for byte in raw[-300:-298])
    path.write_bytes(raw)


@pytest.fixture(scope="module")
def good_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tokenizer = Tokenizer.train([TEXT] * 2, 280)
    torch.manual_seed(0)
    shape = dict(d_model=16, d_ff=24, num_heads=2, d_k=8, d_v=8, num_encoder_layers=1, num_decoder_layers=1)
    folder = tmp_path_factory.mktemp("good") / "model"
    Translator(Transformer(tiny(vocab_size=tokenizer.vocab_size, **shape)), tokenizer).save_pretrained(folder)
    return folder


@pytest.fixture(autouse=True)
def small_classroom(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each split of the classroom but the training data 30 pairs: no error depends on their number."""
    monkeypatch.setattr("annotated.data.corpora.CLASSROOM_EVALUATION_PAIRS", 30)


@pytest.fixture
def mine(tmp_path: Path, good_model: Path) -> Path:
    """A user's folder: a good text, a good model, and something that is nobody's business."""
    folder = tmp_path / "mine"
    shutil.copytree(good_model, folder / "model")
    (folder / "good.tsv").write_text(TEXT, encoding="utf-8")
    (folder / "thesis.txt").write_text("years of work")
    return folder


def contents(folder: Path) -> dict[str, str]:
    """The checksum of each file below a folder, and each folder."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "/"
        for path in sorted(folder.rglob("*"))
    }


def fill(command: list[str], mine: Path, text: str = "good.tsv") -> list[str]:
    places = {"text": mine / text, "good": mine / "good.tsv", "model": mine / "model", "out": mine.parent / "out"}
    return [part.format(**places) for part in command]


def assert_refused(arguments: list[str], mine: Path, capsys: pytest.CaptureFixture[str], name: str) -> str:
    """The property: a status of an error, one line that names the input, and everything as it was.

    Before that line a command may say what it is about to do.
    """
    before = contents(mine)
    status = main(arguments)
    shown = capsys.readouterr()
    *_, last = lines = [line for line in shown.err.splitlines() if not line.startswith("annotated: warning:")]
    assert status in ERRORS, (status, shown)
    assert "Traceback" not in shown.err
    assert [line for line in lines if line.startswith("annotated: ")] == [last], shown.err
    assert name in last and len(last) < 1500, last
    assert contents(mine) == before, "the user's folder has changed"
    assert not list(mine.parent.rglob(f"{PARTIAL}*")), "half written files were left"
    out = mine.parent / "out"
    left = [path.name for path in out.rglob("*") if path.suffix in (".safetensors", ".bin", ".onnx", ".npy")]
    assert not left, f"{left} stand under their last names though the command failed"
    return last


@pytest.mark.parametrize("text", CORPORA)
@pytest.mark.parametrize("command", READ_TEXT)
def test_a_text_that_cannot_be_read(command: str, text: str, mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    CORPORA[text](mine / text)
    message = assert_refused(fill(READ_TEXT[command], mine, text), mine, capsys, text)
    if text == "utf_16.tsv":
        assert "UTF-16" in message.upper() or "utf16" in message.lower(), message


@pytest.mark.parametrize("damage", MODELS)
@pytest.mark.parametrize("command", READ_MODEL)
def test_a_model_that_cannot_be_read(
    command: str, damage: str, mine: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    MODELS[damage](mine / "model")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"The cat sleeps.\n"), encoding="utf-8"))
    assert_refused(fill(READ_MODEL[command], mine), mine, capsys, "model")


@pytest.mark.parametrize("newline", ["\r\n", "\n\n", "\n"])
def test_what_is_only_unusual_is_read(newline: str, mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """CRLF, empty lines and a byte order mark are no errors."""
    (mine / "text.tsv").write_bytes(b"\xef\xbb\xbf" + TEXT.replace("\n", newline).encode())
    assert main(["data", "show", str(mine / "text.tsv")]) == 0
    assert capsys.readouterr().out == TEXT


@pytest.mark.parametrize("raw, words", [(TEXT.encode("utf-16"), "UTF-16"), (b"Stra\xdfe\n", "not UTF-8")])
def test_standard_input_that_is_no_utf_8(raw: bytes, words: str, mine: Path, capsys, monkeypatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8"))
    assert words in assert_refused(fill(READ_MODEL["translate"], mine), mine, capsys, "standard input")


@pytest.fixture
def full_disk() -> Iterator[None]:
    """Files of at most 4 kB: what is longer ends as on a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize("command", ["data classroom", "data prepare", "export ctranslate2"])
def test_a_full_disk(command: str, mine: Path, capsys, full_disk: None) -> None:
    commands = {**READ_TEXT, **READ_MODEL, "data classroom": ["data", "classroom", "{out}", "--classroom-pairs", "500"]}
    assert "the disk is full" in assert_refused(fill(commands[command], mine), mine, capsys, "out")
    assert not list((mine.parent / "out").glob("*.tsv"))


@pytest.fixture
def nobody() -> Iterator[Callable[[], Path]]:
    """Call it to be somebody who is not root, who may read everything, with a folder that belongs to both."""
    folder = Path(tempfile.mkdtemp(prefix="annotated-permissions-"))
    folder.chmod(0o777)
    was_root = os.geteuid() == 0

    def become() -> Path:
        if was_root:
            os.seteuid(NOBODY)
        return folder

    yield become
    if was_root:
        os.seteuid(0)
    for path in (folder, *folder.iterdir()):
        path.chmod(0o777)
    shutil.rmtree(folder)


def denied(command: list[str], places: dict[str, Path], name: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([part.format(**places) for part in command]) in ERRORS
    message = capsys.readouterr().err.splitlines()[-1]
    assert message.startswith("annotated: ") and f"{name}" in message and "permission denied" in message.lower()


@pytest.mark.parametrize("command", READ_TEXT)
def test_a_text_without_permission(command: str, mine: Path, nobody: Callable[[], Path], capsys) -> None:
    main(fill(READ_TEXT[command], mine, "missing.tsv"))  # imports all that it needs while the modules can be read
    translator = Translator.from_pretrained(mine / "model")
    folder = nobody()
    text, model = folder / "locked.tsv", folder / "model"
    translator.save_pretrained(model)
    text.write_text(TEXT)
    text.chmod(0)
    denied(READ_TEXT[command], {"text": text, "model": model, "out": folder / "out"}, text, capsys)
    text.chmod(0o600)
    assert text.read_text() == TEXT


@pytest.mark.parametrize("command", ["data classroom", "data prepare"])
def test_a_folder_without_permission(command: str, mine: Path, nobody: Callable[[], Path], capsys) -> None:
    commands = {**READ_TEXT, "data classroom": ["data", "classroom", "{out}", "--classroom-pairs", "100"]}
    main(fill(READ_TEXT["data prepare"], mine, "missing.tsv"))
    folder = nobody()
    (folder / "text.tsv").write_text(TEXT)
    (folder / "closed").mkdir()
    (folder / "closed").chmod(0o555)
    out = folder / "closed" / "out"
    denied(commands[command], {"text": folder / "text.tsv", "out": out}, out.parent, capsys)
    assert not list(out.parent.iterdir())

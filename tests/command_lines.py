"""Command lines for tests: the commands by the help, a line for each as small as can be, and what the lines name."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator
from pathlib import Path

import torch

from annotated import Transformer, Translator, tiny
from annotated.cli import main
from annotated.data import Tokenizer

TEXT = "The cat sleeps.\tDie Katze schläft.\nYes.\tJa.\n"
SHAPE = dict(d_model=16, d_ff=24, num_heads=2, d_k=8, d_v=8, num_encoder_layers=1, num_decoder_layers=1)
DATA = ["--data.train", "{text}", "--data.valid", "{text}", "--data.vocab-size", "270"]
TRAINING = [
    *DATA, "--training.updates", "1", "--training.device", "cpu", "--quiet",
    *(word for name, value in SHAPE.items() for word in (f"--model.{name.replace('_', '-')}", str(value))),
]  # fmt: skip
MANY = ["--train", "{many}", "--valid", "{text}", "--test", "{text}", "--vocab-size", "270", "--jobs", "1"]

COMMANDS: dict[str, list[str]] = {
    "data classroom": ["data", "classroom", "{out}", "--classroom-pairs", "100"],
    "data prepare": ["data", "prepare", "{out}", *DATA],
    "data texts": ["data", "texts", "{out}", *MANY],
    "data wmt14": ["data", "wmt14", "{out}"],
    "data iwslt14": ["data", "iwslt14", "{out}"],
    "data multi30k": ["data", "multi30k", "{out}"],
    "data treebank": ["data", "treebank", "--out", "{out}", "--trees", "5"],
    "train": ["train", "{out}", *TRAINING],
    "preflight": ["preflight", "{out}", *(word for word in TRAINING if word != "--quiet")],
    "dry-run": ["dry-run", "{out}", "--updates", "2", "--warm-up", "0", *TRAINING],
    "finish": ["finish", "{run}", "--test", "{text}", "--quiet", "--average", "1"],
    "average": ["average", "{run}", "{out}", "--last", "1"],
    "evaluate": ["evaluate", "{model}", "--corpus", "{text}", "--output", "{out}", "--max-new-tokens", "2"],
    "export-log": ["export-log", "{run}", "--to", "tensorboard:{out}"],
    "export": ["export", "onnx", "{model}", "{out}"],
    "export marian": ["export", "marian", "{model}", "{out}"],
    "export ctranslate2": ["export", "ctranslate2", "{model}", "{out}"],
    "doctor": ["doctor", "ours", "--only", "leak-by-change", "--json", "{out}"],
    "doctor --html": ["doctor", "ours", "--only", "leak-by-change", "--html", "{out}"],
    "exercise start": ["exercise", "start", "ex05-1", "{out}"],
    "exercise new": ["exercise", "new", "ex99-1", "A mean", "{out}"],
    "exercise build": ["exercise", "build", "{out}", "--exercise", "ex05-1"],
    "exercise grade": ["exercise", "grade", "{class}", "--out", "{out}", "--trust", "--level", "none", "--jobs", "1"],
    "exercise export notebook": ["exercise", "export", "notebook", "nbgrader", "ex05-1", "{out}"],
    "exercise export gradescope": ["exercise", "export", "gradescope", "ex05-1", "{out}", "--wheel", "{wheels}"],
    "exercise export canvas": ["exercise", "export", "canvas", "{book}", "{canvas}", "{out}"],
    "exercise export moodle": ["exercise", "export", "moodle", "{book}", "{moodle}", "{out}"],
    "exercise export table": ["exercise", "export", "table", "{book}", "{roster}", "{out}"],
    "table3 run": ["table3", "run", "C1", "--seeds", "1", "--smoke", "--quiet", "--out", "{out}"],
}
"""A line for each command that writes to a path of the user's, as small as can be."""
READS: dict[str, list[str]] = {
    "data show": ["data", "show", "{text}"],
    "translate": ["translate", "{text}", "--model", "{model}"],
    "info": ["info", "{model}"],
    "exercise list": ["exercise", "list"],
    "exercise check": ["exercise", "check", "{answer}"],
    "exercise progress": ["exercise", "progress"],
    "exercise similarity": ["exercise", "similarity", "{class}"],
    "exercise verify": ["exercise", "verify", "ex05-1", "--no-sandbox", "--jobs", "1"],
    "table3 show": ["table3", "show", "{run}"],
}
"""The same for those that write to no path that they are given."""


def make_places(folder: Path) -> dict[str, Path]:
    """A text, a model, a run, and what graders have, in an empty folder."""
    found = {name: folder / name for name in ("text.tsv", "many.tsv", "model", "trained", "book.csv", "class")}
    found["text.tsv"].write_text(TEXT, encoding="utf-8")
    words = [
        f"{a} {b} sleeps." for a in ("The cat", "My dog", "A bird", "One cow") for b in "abcdefghijklmnopqrstuvwxyz"
    ]
    found["many.tsv"].write_text("".join(f"{one}\t{one.replace('sleeps', 'schläft')}\n" for one in words))
    tokenizer = Tokenizer.train([TEXT] * 2, 270)
    torch.manual_seed(0)
    Translator(Transformer(tiny(vocab_size=tokenizer.vocab_size, **SHAPE)), tokenizer).save_pretrained(found["model"])
    assert main(["train", str(found["trained"]), *(word.format(text=found["text.tsv"]) for word in TRAINING)]) == 0
    found["book.csv"].write_text("student,id,exercise,score,maximum,percent,status\nada,1,ex05-1,5,10,50.0,ok\n")
    (folder / "canvas.csv").write_text('Student,ID,SIS User ID,SIS Login ID,Section\n"Ada",1,1,ada,A\n')
    (folder / "moodle.csv").write_text(
        "Identifier,Full name,Email address,Grade,Maximum Grade\nParticipant 1,ada,ada,,10\n"
    )
    (folder / "roster.csv").write_text("Username\nada\n")
    (found["class"] / "ada").mkdir(parents=True)
    (found["class"] / "ada" / "ex05-1.py").write_text("x = 1\n")
    for package in ("annotated_attention", "annotated_grader"):
        (folder / f"{package}-0.1.0-py3-none-any.whl").write_bytes(b"")
    return found | {"folder": folder}


def filled(words: list[str], places: dict[str, Path], out: Path, run: Path) -> list[str]:
    folder = places["folder"]
    named = {name: folder / f"{name}.csv" for name in ("book", "canvas", "moodle", "roster")}
    named |= {"text": folder / "text.tsv", "many": folder / "many.tsv", "model": folder / "model"}
    named |= {"class": folder / "class", "answer": folder / "class" / "ada" / "ex05-1.py", "out": out, "run": run}
    wheels = [str(one) for one in sorted(folder.glob("*.whl"))]
    return [part for word in words for part in (wheels if word == "{wheels}" else [word.format(**named)])]


def contents(folder: Path) -> dict[str, bytes | None]:
    """The bytes of each file below a folder, and each folder."""
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def leaves(*command: str) -> Iterator[tuple[str, str]]:
    """The commands below one, by the help texts, and the help text of each. It must not be broken into lines."""
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        main([*command, "--help"])
    usage = re.match(r"usage: [^\n]*?\{([\w,-]+)\}\s*$", shown.getvalue(), re.MULTILINE)
    if usage is None:
        yield " ".join(command), shown.getvalue()
    for name in usage[1].split(",") if usage else ():
        yield from leaves(*command, name)

"""A training of half a second, a test set whose two settings differ, and a translator that knows the answers."""

from __future__ import annotations

import importlib.machinery
import re
import shutil
import sys
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from annotated.config import DataConfig, ModelConfig, TrainingConfig
from annotated.data import Tokenizer
from annotated.evaluation import has_moses, paper_bleu
from annotated.model import Transformer
from annotated.runs import train
from annotated.runs.report import RunReport, finish, report
from tests.runs.conftest import write_corpus

# Hyphenated words and typographic quotation marks: the paper's way takes both apart, and sacreBLEU's does not.
PAIRS = [
    ("the cat sees the big dog", "Die Katze sieht den grossen Hund an ."),
    ("the e-mail runs", "Die E-Mail läuft und läuft weiter ."),
    ("a dog sleeps in the house", "Ein Hund schläft im roten Haus ."),
    ("the red x-ray tree likes a dog", "Der rote Röntgen-Baum mag einen Hund ."),
    ("he says yes", "Er sagt „ja“ zu dem Hund ."),
    ("one cat and two dogs", "Eine Katze und zwei Hunde schlafen ."),
    ("the tree", "Der Baum steht hier ."),
    ("a big big big cat runs and sleeps", "Eine sehr , sehr grosse Katze rennt und schläft ."),
]
RIGHT = dict(PAIRS)


class Scripted:
    """Translates by heart, and leaves out the last words of every third sentence: more of them, the worse it is."""

    calls: list[list[str]] = []
    """The sentences of each call, over all translators."""
    made = 0
    die_after: int | None = None
    """Calls after which it is killed."""

    def __init__(self, model: Transformer, tokenizer: Tokenizer) -> None:
        self.model, self.tokenizer = model, tokenizer
        self.worse = Scripted.made % 2  # of two systems, the second
        Scripted.made += 1

    def translate(self, texts: Sequence[str], *, overlong: str = "error", **options: Any) -> list[str]:
        if Scripted.die_after is not None and len(Scripted.calls) == Scripted.die_after:
            raise KeyboardInterrupt
        Scripted.calls.append(list(texts))
        return [self.one(text) for text in texts]

    def one(self, text: str) -> str:
        return by_heart(text, self.worse)


def by_heart(text: str, worse: int) -> str:
    """What the scripted translator says."""
    words = RIGHT[text].split()
    return " ".join(words[: -1 - 2 * worse] if len(text) % 3 == 0 else words)


@pytest.fixture
def moses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Moses' tokeniser, or where it is not installed, one that takes commas and full stops off, by its name."""
    if has_moses():
        return

    class Tokenizer:
        def __init__(self, lang: str) -> None:
            self.lang = lang

        def tokenize(self, text: str, return_str: bool) -> str:
            return " ".join(re.sub("([.,„“])", r" \1 ", text).split())

    module = types.ModuleType("sacremoses")
    module.MosesTokenizer = Tokenizer  # type: ignore[attr-defined]
    module.__spec__ = importlib.machinery.ModuleSpec("sacremoses", None)
    monkeypatch.setitem(sys.modules, "sacremoses", module)
    known = report.version
    monkeypatch.setattr(report, "version", lambda name: "0" if name == "sacremoses" else known(name))
    monkeypatch.setattr(paper_bleu, "tokenizer", paper_bleu.tokenizer.__wrapped__)  # without the cache


@pytest.fixture(scope="session")
def _trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained")
    train_file = write_corpus(folder / "train.tsv", 200, seed=1)
    valid_file = write_corpus(folder / "valid.tsv", 20, seed=2)
    test_file = folder / "test.tsv"
    test_file.write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS), encoding="utf-8")
    model = ModelConfig(d_model=16, d_ff=16, num_heads=2, d_k=8, d_v=8, num_encoder_layers=1, num_decoder_layers=1)
    training = TrainingConfig(
        updates=12, batch_tokens=200, warmup=6, log_every=2, validate_every=6, checkpoint_every=3, device="cpu"
    )
    data = DataConfig(train=str(train_file), valid=str(valid_file), test=str(test_file), vocab_size=280)
    train(model, training, data, folder / "run", quiet=True)
    return folder / "run"


@pytest.fixture
def trained(_trained: Path, tmp_path: Path) -> Path:
    """The folder of a run of 12 updates, with 4 checkpoints, that nobody has finished."""
    Scripted.calls, Scripted.made, Scripted.die_after = [], 0, None
    return Path(shutil.copytree(_trained, tmp_path / "run"))


@pytest.fixture(scope="session")
def _finished(_trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = Path(shutil.copytree(_trained, tmp_path_factory.mktemp("finished") / "run"))
    Scripted.made = 0
    finish(run, Scripted)
    return run


@pytest.fixture
def finished(_finished: Path, tmp_path: Path) -> RunReport:
    """The report of such a run, by the translator that knows the answers."""
    Scripted.calls, Scripted.made, Scripted.die_after = [], 0, None
    return RunReport.read(shutil.copytree(_finished, tmp_path / "run"))

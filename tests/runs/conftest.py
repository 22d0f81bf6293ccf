"""A language of two words and a model to match: a training of a hundred updates takes a second."""

from __future__ import annotations

import random
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pytest

from annotated.config import DataConfig, ModelConfig, TrainingConfig
from annotated.runs import TrainingResult, train

ENGLISH = "the a big red cat dog sees likes runs sleeps house tree and one two three".split()
GERMAN = "der ein gross rot katze hund sieht mag rennt schlaeft haus baum und eins zwei drei".split()


def write_corpus(path: Path, pairs: int, seed: int) -> Path:
    """Word-for-word translations of random words."""
    rng = random.Random(seed)
    with path.open("w", encoding="utf-8") as file:
        for _ in range(pairs):
            words = [rng.randrange(len(ENGLISH)) for _ in range(rng.randint(2, 8))]
            file.write(" ".join(ENGLISH[w] for w in words) + "\t" + " ".join(GERMAN[w] for w in words) + "\n")
    return path


@dataclass
class SmallRun:
    """The three configurations of a small training, and a way to start it."""

    _trained: ClassVar[dict[str, Path]] = {}
    """Folders that `trained` copies, by their configurations."""

    folder: Path
    data: DataConfig
    model: ModelConfig = field(
        default_factory=lambda: ModelConfig(
            d_model=16, d_ff=32, num_heads=2, d_k=8, d_v=8, num_encoder_layers=1, num_decoder_layers=1
        )
    )
    training: TrainingConfig = field(
        default_factory=lambda: TrainingConfig(
            updates=24, batch_tokens=300, warmup=10, log_every=4, validate_every=12, checkpoint_every=8, device="cpu"
        )
    )

    def train(self, folder: str = "run", /, **changes: Any) -> TrainingResult:
        """Train in a sub-folder, with some fields of the training configuration changed."""
        options = {
            name: changes.pop(name) for name in ("resume", "bleu", "samples", "heads", "mirror_to") if name in changes
        }
        training = self.training.replace(**changes)
        return train(self.model, training, self.data, self.folder / folder, quiet=True, **options)

    def trained(self, folder: str = "run", /, **changes: Any) -> Path:
        """The folder that `train` would make, for a test of what comes after: made once for all tests, and copied."""
        wanted = repr((self.model, self.training.replace(**changes), self.data))
        if wanted not in self._trained:
            kept = self.folder.parent / f"trained-{len(self._trained)}"
            train(self.model, self.training.replace(**changes), self.data, kept, quiet=True)
            self._trained[wanted] = kept
        return Path(shutil.copytree(self._trained[wanted], self.folder / folder))


@pytest.fixture(scope="session")
def small_corpora(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("corpora")
    return write_corpus(folder / "train.tsv", 400, seed=1), write_corpus(folder / "valid.tsv", 40, seed=2)


@pytest.fixture
def small(tmp_path: Path, small_corpora: tuple[Path, Path]) -> SmallRun:
    train_file, valid_file = small_corpora
    # Pools of 100 of the 400 pairs: a training crosses pools and, after about 20 updates, epochs.
    data = DataConfig(train=str(train_file), valid=str(valid_file), vocab_size=300, pool_pairs=100)
    return SmallRun(tmp_path, data)

"""A training of some seconds that all tests of faults share, and its uninterrupted twin."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotated.config import DataConfig, ModelConfig, TrainingConfig
from tests.full_run.processes import Setting
from tests.runs.conftest import write_corpus

MODEL = ModelConfig(d_model=32, d_ff=64, num_heads=2, d_k=16, d_v=16, num_encoder_layers=1, num_decoder_layers=1)
# 60 updates are two epochs and a half of 400 pairs, in pools of 100; each update has its line in the log.
TRAINING = TrainingConfig(
    updates=60,
    batch_tokens=300,
    warmup=20,
    log_every=1,
    validate_every=20,
    validate_bleu=0,
    checkpoint_every=5,
    keep_checkpoints=4,
    average_last=4,
    device="cpu",
)


@pytest.fixture(scope="session")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> DataConfig:
    folder = tmp_path_factory.mktemp("corpora")
    train, valid = write_corpus(folder / "train.tsv", 400, seed=1), write_corpus(folder / "valid.tsv", 40, seed=2)
    return DataConfig(train=str(train), valid=str(valid), test=str(valid), vocab_size=300, pool_pairs=100)


@pytest.fixture
def setting(tmp_path: Path, corpora: DataConfig) -> Setting:
    return Setting(tmp_path, MODEL, TRAINING, corpora)


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory, corpora: DataConfig) -> Path:
    """The folder of a run that nothing disturbed."""
    folder = tmp_path_factory.mktemp("whole")
    Setting(folder, MODEL, TRAINING, corpora).finish("run")
    return folder / "run"

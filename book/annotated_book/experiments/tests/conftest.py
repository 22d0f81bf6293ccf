"""What the tests of the experiments share: a text of classroom sentences, and trainings of a few updates."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from annotated.classroom import classroom_pairs
from annotated.config import ModelConfig, TrainingConfig
from annotated.data import Tokenizer
from annotated.data.store import TokenStore
from annotated.model import Transformer
from annotated.training.optimizer import make_optimizer
from annotated_book.experiments.catalogue import ChapterTraining
from annotated_book.experiments.sentences import ShortSentences

MODEL = ModelConfig(
    vocab_size=300, d_model=16, d_ff=32, num_heads=4, num_encoder_layers=1, num_decoder_layers=2, dropout=0.0
)
TRAINING = TrainingConfig(updates=6, batch_tokens=120, label_smoothing=0.1, validate_every=3, device="cpu")


def _pairs(split: str, count: int) -> list[tuple[str, str]]:
    return [(pair.source, pair.target) for pair in classroom_pairs(split, count)]  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def text() -> ShortSentences:
    """80 pairs to train on, 12 to validate, 5 to translate, in pieces of a vocabulary of 300."""
    train, valid, test = _pairs("train", 80), _pairs("valid", 12), _pairs("test", 5)
    tokenizer = Tokenizer.train([side for pair in train for side in pair], 300)
    stores = [
        TokenStore.from_ids([(tokenizer.encode(s), tokenizer.encode(t)) for s, t in pairs], tokenizer.vocab_size)
        for pairs in (train, valid)
    ]
    return ShortSentences(*stores, tokenizer, test)


@pytest.fixture
def experiment(text: ShortSentences) -> Callable[..., ChapterTraining]:
    """A training; what is given changes its `TrainingConfig`."""
    config = MODEL.replace(vocab_size=text.tokenizer.vocab_size)

    def make(seed: int = 0, **changes: object) -> ChapterTraining:
        training = TRAINING.replace(seed=seed, **changes)
        return ChapterTraining(
            "chapter",
            "row",
            seed,
            training,
            lambda: Transformer(config),
            lambda model: make_optimizer(model, training),
            lambda update: 1e-3 * update,
            f"row-{seed}",
        )

    return make

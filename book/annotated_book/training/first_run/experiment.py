"""A first training run, recorded from its first update to its last; and a shorter one whose mask hides nothing."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from annotated.analysis.leaks import masked_by
from annotated.classroom import classroom_pairs
from annotated.config import DataConfig, ModelConfig, TrainingConfig, tiny
from annotated.data import Tokenizer
from annotated.model import Transformer
from annotated.runs import read_records, train
from annotated.runs.validation_callbacks import sample_translations, validation_bleu
from annotated.storage import atomic_write
from annotated.translator import Translator

SAMPLES = (
    "Does he wake up?",
    "The winter jacket is red.",
    "Tom does not help these children.",
    "The queen laughs at old stories.",
    "She sings if it snows.",
)
"""Of the corpus's test split: no training run saw them."""
WORDS, PAIRS = 7, 40_000
"""Longest source sentence, in words and marks; and sentence pairs to train on."""
LEAKY_WORDS, LEAKY_PAIRS = 5, 3000
TRANSLATED = 100
"""Validation sentences that are translated at each moment."""
_OFTEN: dict[str, Any] = {"validate_bleu": TRANSLATED, "average_last": 1, "keep_checkpoints": 1}


def short_pairs(split: str, count: int, words: int) -> list[tuple[str, str]]:
    """The first pairs of a split of the classroom corpus whose source has at most so many words and marks."""
    pairs = (p for p in classroom_pairs(split, 1_000_000) if len(p.source_words) <= words)  # type: ignore[arg-type]
    return [(p.source, p.target) for p in islice(pairs, count)]


def write_pairs(path: Path, pairs: Sequence[tuple[str, str]]) -> Path:
    """A TSV file as `DataConfig(train=...)` reads it: source, tab, target."""
    with atomic_write(path) as file:
        file.writelines(f"{source}\t{target}\n" for source, target in pairs)
    return path


def small_model(width: int = 64) -> ModelConfig:
    """Two layers on each side, four heads: small enough to learn something in a minute of one core."""
    layers = {"num_encoder_layers": 2, "num_decoder_layers": 2}
    return tiny(d_model=width, d_ff=4 * width, d_k=width // 4, d_v=width // 4, dropout=0.0, **layers)


def short_training() -> TrainingConfig:
    """The recipe of the short runs."""
    return TrainingConfig(
        updates=500, batch_tokens=1000, warmup=200, log_every=20, validate_every=50, checkpoint_every=500,
        layout="padded", **_OFTEN,
    )  # fmt: skip


def watched(model: ModelConfig, training: TrainingConfig, words: int, pairs: int) -> dict[str, Any]:
    """Train by `annotated.runs.train`; the log, and the share of unseen sentences that come out as in the corpus.

    Returns
    -------
    dict
        'log': records of the log, rounded, without checkpoints; 'exact': [update, share] at each validation.
    """
    exact: list[float] = []

    def scores(model: Transformer, tokenizer: Tokenizer, pairs: list[tuple[str, str]]) -> float:
        found = Translator(model, tokenizer).translate([source for source, _ in pairs], beam_size=1)
        exact.append(sum(one == wanted for one, (_, wanted) in zip(found, pairs, strict=True)) / len(pairs))
        return validation_bleu(model, tokenizer, pairs)

    with tempfile.TemporaryDirectory() as folder:
        files: dict[str, Any] = {
            split: str(write_pairs(Path(folder) / f"{split}.tsv", short_pairs(split, count, words)))
            for split, count in (("train", pairs), ("valid", 500))
        }
        data = DataConfig(**files, vocab_size=1000 if words > LEAKY_WORDS else 800)
        out = Path(folder) / "run"
        train(model, training, data, out, quiet=True, bleu=scores, samples=sample_translations(SAMPLES))
        log = [_short(record) for record in read_records(out) if record["kind"] != "checkpoint"]
    for record in log:
        if "configuration" in record:
            record["configuration"]["data"] |= {"train": "train.tsv", "valid": "valid.tsv"}
    moments = [r["update"] for r in log if r["kind"] == "valid"]
    return {"log": log, "exact": [list(pair) for pair in zip(moments, exact, strict=True)]}


def _short(record: dict[str, Any]) -> dict[str, Any]:
    """Without what charts do not need, and five digits of each number."""
    drop = {"gradient_norm", "seconds_left", "perplexity", "tokens_seen"}
    return {
        name: float(f"{value:.5g}") if isinstance(value, float) else value
        for name, value in record.items()
        if name not in drop
    }


def run() -> dict[str, Any]:
    """The long run; and twice a short one, with minus infinity and with -1e-12 for what the mask hides."""
    long = TrainingConfig(
        updates=2000, batch_tokens=2000, warmup=400, log_every=40, validate_every=80, checkpoint_every=2000, **_OFTEN
    )
    results: dict[str, Any] = {"samples": SAMPLES, "translated": TRANSLATED, "words": WORDS, "pairs": PAIRS}
    results["short"] = {"words": LEAKY_WORDS, "pairs": LEAKY_PAIRS}
    results["first"] = watched(small_model(96), long, WORDS, PAIRS)
    for name, fill in {"honest": None, "cheating": -1e-12}.items():
        with contextlib.nullcontext() if fill is None else masked_by(fill):
            results[name] = watched(small_model(), short_training(), LEAKY_WORDS, LEAKY_PAIRS)
    return results

"""Records of the trainings: one file each, with the settings, the curve and what was measured at the end."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import torch

from annotated.chapters.experiments.catalogue import ChapterTraining
from annotated.chapters.experiments.text import ShortSentences
from annotated.chapters.table_3.rows import update_flops
from annotated.evaluation import bleu, perplexity
from annotated.model import Transformer
from annotated.runs.hardware import describe_machine
from annotated.runs.validation_callbacks import validation_bleu
from annotated.storage import atomic_write

WEIGHTS = ".weights.pt"
"""Ending of a file with weights, beside the record of a training whose test set has not been translated yet."""


def described(one: ChapterTraining, model: Transformer, text: ShortSentences) -> dict[str, Any]:
    """What is known of a training without measuring anything."""
    config, store = model.config, text.train
    pairs, tokens = len(store), [int(side.sum()) for side in (store.source_lengths, store.target_lengths)]
    share = one.training.batch_tokens / tokens[1]  # of the text in one update
    lengths = [round(count / pairs) for count in tokens]
    return {
        "row": one.row,
        "seed": one.seed,
        "model": config.to_dict(),
        "parameters": model.num_parameters(),
        "training": one.training.replace(device=model.output_weight.device.type).to_dict(),
        "highest_rate": max(map(one.rate, range(1, one.training.updates + 1))),
        "text": {"pairs": pairs, "tokens": tokens, "valid_pairs": len(text.valid)},
        "gflop": round(one.training.updates * update_flops(config, share * pairs, *lengths) / 1e9),
        "starts": 1,
        "machine": describe_machine(),
        "date": date.today().isoformat(),
    }


def translated(model: Transformer, text: ShortSentences) -> dict[str, Any]:
    """Loss on the test set in nats a token, without smoothing, and BLEU of greedy translations of it."""
    model.eval()
    return {
        "test_loss": round(perplexity(model, text.tokenizer, text.test, layout="padded").loss, 5),
        "bleu": round(validation_bleu(model, text.tokenizer, text.test), 3),
        "bleu_signature": bleu(["a"], ["a"]).signature,
        "test_pairs": len(text.test),
    }


def write(path: Path, content: dict[str, Any]) -> None:
    """Write a record, whole or not at all; a loss that is no number becomes null."""
    known = json.loads(json.dumps(content), parse_constant=lambda name: None)
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        file.write(json.dumps(known, indent=1) + "\n")


def translate_later(one: ChapterTraining, text: ShortSentences, out: Path) -> None:
    """Complete a record whose weights lie beside it, and remove these."""
    path = out / one.record
    weights = path.with_suffix(WEIGHTS)
    if not weights.is_file():
        return
    content, model = json.loads(path.read_text(encoding="utf-8")), one.model()
    model.load_state_dict(torch.load(weights, weights_only=True))
    write(path, content if content["diverged"] else {**content, **translated(model, text)})
    weights.unlink()

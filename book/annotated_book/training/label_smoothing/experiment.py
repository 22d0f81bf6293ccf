"""Label smoothing at four strengths: the same small model, on many sentence pairs and on few."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from annotated.classroom import classroom_pairs
from annotated.config import TrainingConfig
from annotated.data import TokenBatches, TokenStore, evaluation_batches
from annotated.evaluation import bleu
from annotated.loading import load
from annotated.model import Transformer
from annotated.speed.steps import FastStep
from annotated.training.loss import label_smoothed_cross_entropy
from annotated.training.update import fit
from annotated.translator import Translator
from annotated_book.machine.residuals.experiment import CONFIG, rate
from annotated_book.machine.residuals.placements import placed

SMALL = CONFIG.replace(num_encoder_layers=2, num_decoder_layers=2, norm="pre", dropout=0.1)
STRENGTHS = (0.0, 0.1, 0.2, 0.4)
PAIRS = {"many": 25_000, "few": 1000}
UPDATES, BATCH_TOKENS, RATE, WARMUP = 400, 600, 3e-3, 40
TESTED, BEAMS, BINS, SEEDS = 300, (1, 4), 10, 2


def sentences(split: str, count: int) -> list[tuple[str, str]]:
    """Classroom pairs, source and target as text."""
    return [(p.source, p.target) for p in classroom_pairs(split, count)]  # type: ignore[arg-type]


def store(pairs: list[tuple[str, str]]) -> TokenStore:
    """The pairs encoded with the shipped tokenizer."""
    encode = load("classroom").tokenizer.encode
    return TokenStore.from_ids([(encode(source), encode(target)) for source, target in pairs], SMALL.vocab_size)


def train(data: TokenStore, smoothing: float, seed: int = 0, updates: int = UPDATES) -> Transformer:
    """A small pre-norm model, trained with label smoothing of this strength; all else is equal."""
    model = placed(SMALL, "pre-norm", seed)
    batches = TokenBatches(data, BATCH_TOKENS, seed=seed, pool_pairs=25_000)
    training = TrainingConfig(label_smoothing=smoothing)
    fit(FastStep(model, training), batches, updates, lambda update: rate(update, RATE, WARMUP))
    return model.eval()


@torch.no_grad()
def predictions(model: Transformer, data: TokenStore) -> tuple[Tensor, Tensor]:
    """Logits `[N, V]` at every real target position of a corpus, with teacher forcing, and the right tokens `[N]`."""
    logits, gold = [], []
    for batch in evaluation_batches(data, 2000):
        real = batch.target_out != 0
        logits.append(model(batch.source, batch.target_in)[real])
        gold.append(batch.target_out[real])
    return torch.cat(logits), torch.cat(gold)


def calibration(logits: Tensor, gold: Tensor, bins: int = BINS) -> dict[str, Any]:
    """How often the most probable token is right, beside how probable the model called it.

    Returns
    -------
    dict
        `bins`: for each tenth of the confidences that holds tokens, [mean confidence, share right, tokens].
        `ece`: the expected calibration error, the mean distance of the two over all tokens, bin by bin.
    """
    confidence, best = logits.softmax(dim=-1).max(dim=-1)
    right = (best == gold).float()
    index = (confidence * bins).long().clamp(max=bins - 1)
    rows, error = [], 0.0
    for i in range(bins):
        inside = index == i
        if count := int(inside.sum()):
            said, was = float(confidence[inside].mean()), float(right[inside].mean())
            rows.append([round(said, 4), round(was, 4), count])
            error += count / len(gold) * abs(said - was)
    return {"bins": rows, "ece": round(error, 4)}


def measures(model: Transformer, smoothing: float, pairs: list[tuple[str, str]]) -> dict[str, Any]:
    """Everything that is compared: losses, accuracy, calibration, the logits' gap, translations."""
    logits, gold = predictions(model, store(pairs))
    plain, count = label_smoothed_cross_entropy(logits, gold, 0.0)
    smoothed, _ = label_smoothed_cross_entropy(logits, gold, smoothing)
    log_p = logits.log_softmax(dim=-1)
    top = log_p.max(dim=-1).values
    entropy = -(log_p.exp() * log_p).sum(dim=-1).mean()
    found = {
        "loss": round(plain.item() / count, 4),
        "smoothed_loss": round(smoothed.item() / count, 4),
        "accuracy": round((logits.argmax(-1) == gold).float().mean().item(), 4),
        "entropy": round(entropy.item(), 4),
        "gap": round((top - log_p.median(dim=-1).values).median().item(), 2),
        **calibration(logits, gold),
    }
    translator, references = Translator(model, load("classroom").tokenizer), [target for _, target in pairs]
    for beam in BEAMS:
        score = bleu(translator.translate([source for source, _ in pairs], beam_size=beam), references)
        found[f"beam_{beam}"] = {"bleu": round(score.bleu, 2), "exact": round(score.exact_match, 1)}
        found["signature"] = score.signature
    return found


def run() -> dict[str, Any]:
    """Every strength, with many pairs and with few, for each seed."""
    torch.set_num_threads(1)
    tested, runs = sentences("valid", TESTED), []
    for size, pairs in PAIRS.items():
        data = store(sentences("train", pairs))
        for seed in range(SEEDS):
            for smoothing in STRENGTHS:
                model = train(data, smoothing, seed)
                runs.append({"data": size, "smoothing": smoothing, "seed": seed, **measures(model, smoothing, tested)})
    return {
        "config": SMALL.to_dict(),
        "pairs": PAIRS,
        "updates": UPDATES,
        "batch_tokens": BATCH_TOKENS,
        "tested": TESTED,
        "runs": runs,
    }

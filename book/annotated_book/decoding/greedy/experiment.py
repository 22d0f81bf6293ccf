"""Greedy search against the most probable translation: how often they differ, and at which word greedy leaves it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from annotated.analysis.real_text import real_pairs, run_folder
from annotated.classroom import ClassroomPair, classroom_pairs
from annotated.config import BOS, EOS, PAD, TrainingConfig, tiny
from annotated.data import TokenBatches, TokenStore, pad
from annotated.decoding import Hypothesis, beam_search, greedy_decode
from annotated.decoding.search import decoding_mode
from annotated.loading import load
from annotated.model import Transformer
from annotated.speed.steps import FastStep
from annotated.training.schedule import learning_rate
from annotated.training.update import fit
from annotated_book.decoding.greedy.exact import exact_search

CONFIG = tiny(
    vocab_size=2000, d_model=64, d_ff=256, num_heads=4, d_k=16, d_v=16, num_encoder_layers=2, num_decoder_layers=2
)
"""Half as wide as the shipped model, and trained for a fraction of its time: a model that is often in doubt."""
UPDATES, BATCH_TOKENS, WARMUP, SMOOTHING = (250, 500, 1000, 2000), 1500, 400, 0.1
TRAINING_PAIRS, SENTENCES, REAL_SENTENCES = 30_000, 300, 200
CHOICES, LOST, KEPT = 10, 7, 3
LARGEST = 1_000
"""Beginnings that an exact search may hold at once before it gives up."""


def _most_probable(model: Transformer, source: Sequence[int], start: Hypothesis) -> Hypothesis | None:
    """The most probable translation of ids with eos, breadth-first; None if it cannot be proven."""
    found = exact_search(model, torch.tensor([list(source)]), width=LARGEST, max_open=LARGEST, start=start)
    return found.hypothesis if found.proven else None


def compare(model: Transformer, sources: Sequence[Sequence[int]], exact: bool = True) -> dict[str, Any]:
    """Greedy search, a beam of four and the most probable translation on the same sentences, all by log-probability.

    Returns
    -------
    dict
        Counts: `differ`, sentences where greedy and beam write different translations; of those, `beam_higher` and
        `greedy_higher`: whose is the more probable; `at_cap`, greedy searches that never wrote eos; `greedy_lost` and
        `beam_lost`, where the translation is not the most probable one, of the `proven` sentences. `gaps`: by how much
        the beam's log-probability is higher, where they differ.
    """
    greedy, beam = _search(model, sources)
    pairs = [(g, b) for g, b in zip(greedy, beam, strict=True) if g.tokens != b.tokens]
    counts: dict[str, Any] = {
        "sentences": len(sources),
        "differ": len(pairs),
        "beam_higher": sum(b.log_probability > g.log_probability for g, b in pairs),
        "greedy_higher": sum(b.log_probability < g.log_probability for g, b in pairs),
        "at_cap": sum(not g.finished for g in greedy),
        "gaps": [round(b.log_probability - g.log_probability, 3) for g, b in pairs],
    }
    if exact:
        best = [_most_probable(model, s, max(g, b, key=_value)) for s, g, b in zip(sources, greedy, beam, strict=True)]
        proven = [(g, b, x) for g, b, x in zip(greedy, beam, best, strict=True) if x is not None]
        counts["proven"] = len(proven)
        counts["greedy_lost"] = sum(g.tokens != x.tokens for g, _, x in proven)
        counts["beam_lost"] = sum(b.tokens != x.tokens for _, b, x in proven)
    return counts


def _value(hypothesis: Hypothesis) -> float:
    return hypothesis.log_probability if hypothesis.finished else -math.inf


def _search(model: Transformer, sources: Sequence[Sequence[int]]) -> tuple[list[Hypothesis], list[Hypothesis]]:
    greedy, beam = [], []
    for start in range(0, len(sources), 50):
        source = pad(sources[start : start + 50])
        greedy += greedy_decode(model, source)
        beam += [found[0] for found in beam_search(model, source, beam_size=4, alpha=0.0)]
    return greedy, beam


def walk(model: Transformer, source: Sequence[int], best: Hypothesis | None = None) -> dict[str, Any]:
    """A greedy search step by step: what was to choose from, how sure the model was, and where it looked.

    Parameters
    ----------
    model
        Any Transformer.
    source
        Ids of one sentence with eos.
    best
        The most probable translation; None lets `exact_search` find it.

    Returns
    -------
    dict
        `source`: ids. `steps`: for each step the `tokens` and `probabilities` of the ten best choices, the `entropy` in
        bits, `attention` over the source (mean of the last layer's heads). `greedy` and `best`: `tokens` with eos and
        the `log_probability` of each. `leaves`: the step at which greedy parts from `best`, from 0, or None.
    """
    one = torch.tensor([list(source)])
    greedy = greedy_decode(model, one, return_attention=True)[0]
    best = best or _most_probable(model, source, max(greedy, beam_search(model, one, alpha=0.0)[0][0], key=_value))
    if best is None or greedy.attention is None:
        raise ValueError("no most probable translation can be proven for this sentence")
    written, logs = _read(model, one, greedy)
    probabilities = logs.exp()
    shown = logs.clone()
    shown[:, [PAD, BOS]] = -math.inf
    top = shown.topk(CHOICES, dim=1)
    attention = greedy.attention.cross[-1].mean(dim=0)
    entropy = -(probabilities * logs).sum(dim=1) / math.log(2)
    steps = [
        {
            "tokens": ids.tolist(),
            "probabilities": [round(p, 4) for p in values.exp().tolist()],
            "entropy": round(float(bits), 3),
            "attention": [round(a, 3) for a in weights.tolist()],
        }
        for ids, values, bits, weights in zip(top.indices, top.values, entropy, attention, strict=True)
    ]
    other, other_logs = _read(model, one, best)
    leaves = next((t for t, (a, b) in enumerate(zip(written, other, strict=False)) if a != b), None)
    return {
        "source": list(source),
        "steps": steps,
        "greedy": {"tokens": written, "log_probability": _of(logs, written)},
        "best": {"tokens": other, "log_probability": _of(other_logs, other)},
        "leaves": leaves,
    }


def _read(model: Transformer, source: Tensor, hypothesis: Hypothesis) -> tuple[list[int], Tensor]:
    """The symbols written, and the model's log-probabilities `[T, V]` at each of them."""
    written = [*hypothesis.tokens, EOS][: hypothesis.steps]
    with decoding_mode(model):
        logits = model(source, torch.tensor([[BOS, *written[:-1]]]))
    return written, logits[0].log_softmax(dim=-1)


def _of(logs: Tensor, written: list[int]) -> list[float]:
    return [round(float(row[token]), 4) for row, token in zip(logs, written, strict=True)]


def walks(model: Transformer, pairs: Sequence[ClassroomPair], sources: Sequence[Sequence[int]]) -> list[dict[str, Any]]:
    """Short sentences to show: those where greedy loses most, each with another word to part at, then some it keeps."""
    greedy, beam = _search(model, sources)
    lost: list[tuple[float, int, Hypothesis]] = []
    kept: list[tuple[float, int, Hypothesis]] = []
    for n, (g, b) in enumerate(zip(greedy, beam, strict=True)):
        best = _most_probable(model, sources[n], max(g, b, key=_value)) if g.finished and g.steps <= 12 else None
        if best is not None and best.steps <= 12:
            (kept if best.tokens == g.tokens else lost).append((g.log_probability - best.log_probability, n, best))
    shown: list[dict[str, Any]] = []
    seen: set[int] = set()
    for _, n, best in sorted(lost, key=lambda entry: entry[:2]):
        found = walk(model, sources[n], best)
        word = found["greedy"]["tokens"][found["leaves"]]
        if word not in seen and len(shown) < LOST:
            seen.add(word)
            shown.append({"text": pairs[n].source, "reference": pairs[n].target, **found})
    for _, n, best in kept[:KEPT]:
        shown.append({"text": pairs[n].source, "reference": pairs[n].target, **walk(model, sources[n], best)})
    return shown


def run(seed: int = 0) -> dict[str, Any]:
    """Train a weak model; compare it at four stages, the shipped model, and the model of real text if it is there."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    shipped = load("classroom")
    encode = shipped.tokenizer.encode
    training = [(encode(p.source), encode(p.target)) for p in classroom_pairs("train", TRAINING_PAIRS)]
    batches = TokenBatches(
        TokenStore.from_ids(training, CONFIG.vocab_size), BATCH_TOKENS, seed=seed, pool_pairs=TRAINING_PAIRS
    )
    pairs = list(classroom_pairs("test", SENTENCES))
    sources = [[*encode(p.source), EOS] for p in pairs]
    model = Transformer(CONFIG)
    stages: list[dict[str, Any]] = []
    losses: list[float] = []

    def look(update: int, loss: float) -> None:
        losses.append(loss)
        if update in UPDATES:
            recent = losses[-50:]
            mean = round(sum(recent) / len(recent), 3)
            stages.append({"updates": update, "training_loss": mean, **compare(model, sources)})

    def rate(update: int) -> float:
        return learning_rate(update, CONFIG.d_model, WARMUP)

    fit(FastStep(model, TrainingConfig(label_smoothing=SMOOTHING)), batches, UPDATES[-1], rate, look)
    return {
        "config": CONFIG.to_dict(),
        "training": {"pairs": TRAINING_PAIRS, "batch_tokens": BATCH_TOKENS, "warmup": WARMUP, "smoothing": SMOOTHING},
        "stages": stages,
        "shipped": compare(shipped.model, sources),
        "real_text": _real_text(),
        "walks": walks(model, pairs, sources),
    }


def _real_text() -> dict[str, Any] | None:
    """Counts on real sentences; None where there is no such model. Without the exact search: it would not end."""
    try:
        folder: Path = run_folder() / "model"
        pairs = real_pairs("test", REAL_SENTENCES)
    except FileNotFoundError:
        return None
    translator = load(str(folder))
    sources = [[*translator.tokenizer.encode(english), EOS] for english, _ in pairs]
    return compare(translator.model, sources, exact=False)

"""Beam sizes from 1 to 40 on two models: BLEU, length, probability, very short outputs; and exact search.

Needs the model trained on real text (`annotated.analysis.real_text`); trains the unsure classroom model itself.
"""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor

from annotated.analysis.real_text import real_pairs, run_folder
from annotated.classroom import classroom_pairs
from annotated.config import BOS, EOS
from annotated.data.batch import pad
from annotated.decoding import BeamSearch, Hypothesis, beam_search, length_penalty
from annotated.decoding.beam import Candidates
from annotated.decoding.search import decoding_mode, max_lengths
from annotated.evaluation import bleu
from annotated.evaluation.ngrams import bleu_statistics
from annotated.loading import load
from annotated.translator import Translator
from annotated_book.decoding.beam_search.weak_model import uncertain_translator
from annotated_book.decoding.bleu.experiment import pack
from annotated_book.decoding.greedy.exact import exact_search

BEAMS, ALPHAS = (1, 2, 4, 8, 16, 40), (0.0, 0.6, 1.0)
EXTRA = 20
"""The paper's cap of 50 more than the source would triple the work for alpha = 1."""
SENTENCES, LONGEST, BATCH = 160, 26, 8
SHORT, MAX_PREFIXES = 40, 20_000
"""Exact search: so many sentences, the shortest, each given up after so many beginnings."""


class ManyAlphas(BeamSearch):
    """One search, ranked by several alphas at once: which beginnings are alive does not depend on alpha."""

    def __init__(self, model: Any, source: Tensor, limits: list[int], beam_size: int) -> None:
        super().__init__(model, source, limits, beam_size, 0.0, 1)
        self.pools = [copy.deepcopy(self.finished) for _ in ALPHAS]
        self.best: list[list[Hypothesis]] = [[] for _ in limits]

    def finish(self, candidates: Candidates, ends: Tensor) -> Tensor:
        """Let the ends compete once for each alpha."""
        for pool, alpha in zip(self.pools, ALPHAS, strict=True):
            self.finished, self.alpha = pool, alpha
            placed = super().finish(candidates, ends)
        return placed

    def is_done(self) -> list[bool]:
        """A sentence is done when it is for every alpha."""
        limits = [self.active.max_lengths[s] for s in self.active.sentences]
        every = []
        for pool, alpha in zip(self.pools, ALPHAS, strict=True):
            self.finished = pool
            self.penalty_at_cap = torch.tensor([length_penalty(limit, alpha) for limit in limits])
            every.append(super().is_done())
        return [all(row) for row in zip(*every, strict=True)]

    def results(self, row: int, unfinished: bool) -> list[Hypothesis]:
        """The best for each alpha."""
        found = []
        for pool, alpha in zip(self.pools, ALPHAS, strict=True):
            self.finished, self.alpha = pool, alpha
            found.append(super().results(row, unfinished)[0])
        return found

    def compact(self) -> None:
        """Drop the sentences that are done, from every pool."""
        if (keep := self.active.compact()) is not None:
            rows = torch.tensor(keep)
            self.alive.select(rows)
            for pool in self.pools:
                pool.select(rows)


def sizes(translator: Translator, pairs: list[tuple[str, str]], beams: tuple[int, ...] = BEAMS) -> list[dict[str, Any]]:
    """One row of numbers for each beam size and alpha; 'statistics' are those of `bleu_statistics`, packed."""
    encode, decode = translator.tokenizer.encode, translator.tokenizer.decode
    sources = [[*encode(source), EOS] for source, _ in pairs]
    references = [reference for _, reference in pairs]
    target_tokens = sum(len(encode(reference)) for reference in references)
    order = sorted(range(len(sources)), key=lambda s: len(sources[s]))
    rows = []
    for beam in beams:
        found: dict[int, list[Hypothesis]] = {}
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            source = pad([sources[s] for s in batch])
            with decoding_mode(translator.model):
                limits = max_lengths(translator.model, source, None, EXTRA)
                found.update(zip(batch, ManyAlphas(translator.model, source, limits, beam).run(), strict=True))
        for number, alpha in enumerate(ALPHAS):
            best = [found[s][number] for s in range(len(sources))]
            texts = [decode(h.tokens) for h in best]
            score = bleu(texts, references)
            rows.append(
                {
                    "beam": beam,
                    "alpha": alpha,
                    "bleu": round(score.bleu, 2),
                    "length_ratio": round(sum(len(h.tokens) for h in best) / target_tokens, 4),
                    "log_probability": round(sum(h.log_probability for h in best) / len(best), 4),
                    "score": round(sum(h.score for h in best) / len(best), 5),
                    "empty": sum(not h.tokens for h in best),
                    "very_short": sum(
                        2 * len(h.tokens) < len(encode(r)) for h, r in zip(best, references, strict=True)
                    ),
                    "unfinished": sum(not h.finished for h in best),
                    "statistics": pack(bleu_statistics(texts, references)),
                }
            )
    return rows


def exact(translator: Translator, pairs: list[tuple[str, str]]) -> list[dict[str, Any]]:
    """For each sentence the log-probabilities of the reference, of nothing at all, of beams, of the best there is."""
    encode, rows = translator.tokenizer.encode, []
    for text, reference in pairs:
        source, target = torch.tensor([[*encode(text), EOS]]), [*encode(reference), EOS]
        with torch.inference_mode():
            steps = translator.model(source, torch.tensor([[BOS, *target[:-1]]]))[0].log_softmax(dim=-1)
        found = exact_search(translator.model, source, extra_tokens=EXTRA, max_prefixes=MAX_PREFIXES)
        beams = {k: beam_search(translator.model, source, k, 0.0, extra_tokens=EXTRA)[0][0] for k in (1, 4)}
        rows.append(
            {
                "reference": round(float(steps.gather(1, torch.tensor(target)[:, None]).sum()), 4),
                "empty": round(float(steps[0, EOS]), 4),
                **{f"beam_{k}": round(h.log_probability, 4) for k, h in beams.items()},
                "exact": round(found.hypothesis.log_probability, 4),
                "lengths": [len(target) - 1, len(beams[4].tokens), len(found.hypothesis.tokens)],
                "prefixes": found.prefixes,
                "proven": found.proven,
            }
        )
    return rows


def fitting(translator: Translator, pairs: list[tuple[str, str]], count: int) -> list[tuple[str, str]]:
    """The first pairs whose source has at most LONGEST tokens, eos included."""
    return [p for p in pairs if len(translator.tokenizer.encode(p[0])) < LONGEST][:count]


def run() -> dict[str, Any]:
    """Both models, all sizes; exact search on the shortest sentences."""
    torch.set_num_threads(1)
    results: dict[str, Any] = {"extra_tokens": EXTRA, "sentences": SENTENCES, "longest": LONGEST}
    models = {
        "real": (load(run_folder() / "model"), real_pairs("test")),
        "classroom": (uncertain_translator(), [(p.source, p.target) for p in classroom_pairs("test", 400)]),
    }
    for name, (translator, pairs) in models.items():
        some = fitting(translator, pairs, SENTENCES)
        short = sorted(some, key=lambda p: len(translator.tokenizer.encode(p[0])))[:SHORT]
        results[name] = {"sizes": sizes(translator, some), "exact": exact(translator, short)}
    return results

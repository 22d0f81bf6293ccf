"""Draft and verify on the classroom: passes, kept guesses and seconds of several drafts, in one run."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from annotated.classroom import classroom_pairs
from annotated.config import EOS, ModelConfig, tiny
from annotated.data import TokenBatches, TokenStore, pad
from annotated.decoding import greedy_decode
from annotated.loading import load
from annotated.model import Transformer
from annotated_book.results.plans.drafting import KnownDraft, ModelDraft, TripleDraft, copy_draft
from annotated_book.results.plans.training import inverse_root, train
from annotated_book.results.plans.verifying import Draft, Passes, draft_and_verify

SMALL = tiny(
    vocab_size=2000,
    d_model=64,
    d_ff=128,
    num_heads=2,
    d_k=32,
    d_v=32,
    num_encoder_layers=1,
    num_decoder_layers=1,
    dropout=0.0,
    norm="pre",
)
PAIRS, UPDATES, BATCH_TOKENS, RATE, WARMUP = 30_000, 1_000, 1_500, 3e-3, 150
SENTENCES, BLOCKS = 300, (1, 2, 4, 8)
TIMED, PASSES, TOGETHER = 60, 4, 10
"""Sentences that are timed, how often, and how many at a time before the next row has its turn."""


def small_model(updates: int = UPDATES, config: ModelConfig = SMALL, pairs: int = PAIRS) -> Transformer:
    """The draft with one layer on each side, trained on the classroom with the tokens of the shipped model."""
    torch.manual_seed(0)
    encode = load("classroom").tokenizer.encode
    rows = [(encode(p.source), encode(p.target)) for p in classroom_pairs("train", pairs)]
    batches = TokenBatches(TokenStore.from_ids(rows, config.vocab_size), BATCH_TOKENS, seed=0, pool_pairs=16_384)
    model = Transformer(config)
    pairs_of = (((batch.source, batch.target_in), batch.target_out) for batch in batches)
    train(model, pairs_of, updates, inverse_root(RATE, WARMUP))
    return model


def run(smoke: bool = False) -> dict[str, Any]:
    """Every draft with every block size on the test sentences; `smoke` takes a few and hardly trains."""
    torch.set_num_threads(1)
    count, blocks = (10, BLOCKS[:2]) if smoke else (SENTENCES, BLOCKS)
    shipped = load("classroom")
    model, encode = shipped.model, shipped.tokenizer.encode
    small = small_model(3, pairs=300) if smoke else small_model()
    sources = [[*encode(p.source), EOS] for p in classroom_pairs("test", count)]
    greedy = [greedy_decode(model, pad([source]))[0] for source in sources]
    answers = {tuple(s): h.tokens for s, h in zip(sources, greedy, strict=True)}
    triples = TripleDraft(encode(p.target) for p in classroom_pairs("train", 300 if smoke else PAIRS))
    drafts: dict[str, Draft] = {
        "small model": ModelDraft(small),
        "triples": triples,
        "copies": copy_draft,
        "always right": KnownDraft(answers),
        "always wrong": KnownDraft(answers, 1, model.config.vocab_size),
    }
    rows = [_row(model, sources, greedy, name, draft, block) for name, draft in drafts.items() for block in blocks]
    rows.append(_row(model, sources, greedy, "none", lambda *_: [], 0))
    _time(rows, model, sources[: 5 if smoke else TIMED], drafts, 1 if smoke else PASSES)
    alone = [h.tokens for h in greedy_decode(small, pad(sources))]
    return {
        "config": SMALL.to_dict(),
        "parameters": {"target": model.num_parameters(), "small model": small.num_parameters()},
        "settings": {"sentences": count, "updates": UPDATES, "timed": TIMED, "passes": PASSES, "pairs": PAIRS},
        "small_model_agrees": sum(a == h.tokens for a, h in zip(alone, greedy, strict=True)) / count,
        "rows": rows,
        "example": _example(model, sources[0], drafts["small model"], shipped.tokenizer.tokens),
    }


def _row(model: Transformer, sources: Any, greedy: Any, name: str, draft: Draft, block: int) -> dict[str, Any]:
    """Counts of one draft at one block size, over all sentences; the texts must be greedy search's."""
    found = [draft_and_verify(model, source, draft, block) for source in sources]
    return {
        "draft": name,
        "block": block,
        "same": sum(a.tokens == b.tokens and a.finished == b.finished for a, b in zip(found, greedy, strict=True)),
        "steps": sum(one.steps for one in found),
        "passes": sum(len(one.kept) for one in found),
        "drafted": sum(sum(one.drafted) for one in found),
        "kept": sum(sum(one.kept) for one in found),
        "chains": _chains(found),
    }


def _chains(found: Sequence[Passes]) -> list[int]:
    """Passes with a guess, and how many first guesses were right: what one guess alone is worth."""
    first = [kept > 0 for one in found for kept, made in zip(one.kept, one.drafted, strict=True) if made]
    return [len(first), sum(first)]


def _time(rows: list[dict[str, Any]], model: Transformer, sources: Any, drafts: dict[str, Draft], passes: int) -> None:
    """Add the time of each row, and of the library's greedy search, for a sentence.

    All rows take turns after a few sentences, so that a slow moment of the machine meets them alike. Of each few
    sentences the least time counts: of all passes, and for `halves` of every second pass, from the first and from the
    second on. How far the halves differ says how much a time can be trusted.
    """
    groups = [sources[start : start + TOGETHER] for start in range(0, len(sources), TOGETHER)]

    def greedily(source: list[int]) -> None:
        greedy_decode(model, pad([source]))

    def drafting(row: dict[str, Any]) -> Callable[[list[int]], object]:
        draft = drafts.get(row["draft"], lambda *_: [])
        return lambda source: draft_and_verify(model, source, draft, row["block"])

    ways = [greedily, *map(drafting, rows)]
    spent = [[[_milliseconds(way, group) for way in ways] for group in groups] for _ in range(passes)]

    def least(place: int, some: list[list[list[float]]]) -> float:
        groupwise = (min(one[group][place] for one in some) for group in range(len(groups)))
        return round(sum(groupwise) / len(sources), 3)

    for place, row in enumerate(rows, start=1):
        for name, way in (("ms", place), ("greedy_ms", 0)):
            row[name] = least(way, spent)
            row[f"{name}_halves"] = [least(way, spent[half::2] or spent) for half in (0, 1)]


def _milliseconds(way: Callable[[list[int]], object], sources: Any) -> float:
    start = time.process_time()
    for source in sources:
        way(source)
    return 1000 * (time.process_time() - start)


def _example(model: Transformer, source: list[int], draft: Draft, tokens: Any) -> list[dict[str, Any]]:
    """One sentence, pass by pass: what was guessed, kept and corrected."""
    rows: list[dict[str, Any]] = []

    def watched(s: Sequence[int], written: Sequence[int], count: int) -> Sequence[int]:
        guesses = draft(s, written, count)
        rows.append({"written": tokens(list(written)), "guesses": tokens(list(guesses))})
        return guesses

    found = draft_and_verify(model, source, watched, 4)
    row = [*found.tokens, EOS]
    end = 0
    for one, kept in zip(rows, found.kept, strict=False):
        one["kept"] = kept
        end = len(one["written"]) + kept
        one["own"] = tokens(row[end : end + 1])
    return rows

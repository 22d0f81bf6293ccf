"""Recorded searches of an unsure model, thirty of them, for a page that runs them again with any beam and alpha.

Also: how often greedy and beam search differ, and where the reference's own path leaves the beam.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch

from annotated.classroom import classroom_pairs
from annotated.config import BOS, EOS
from annotated.decoding import Hypothesis, beam_search, greedy_decode, length_penalty
from annotated.translator import Translator
from annotated_book.decoding.beam_search.playback import Playback
from annotated_book.decoding.beam_search.search_record import Continuations, Forced, SearchRecord, pack
from annotated_book.decoding.beam_search.search_tree import SearchTree, record_search
from annotated_book.decoding.beam_search.weak_model import uncertain_translator

BEAMS, TOP_ALPHA, BEAM, ALPHA = range(1, 9), 2.0, 4, 0.6
EXTRA = 8
"""Tokens that a translation may be longer than its source; the paper's 50 would make long trees of junk."""
SENTENCES, LONGEST = 400, 12
"""The first so many test sentences, and of them those with at most so many source tokens."""
WANTED = {"greedy": 7, "beam": 3, "length": 6, "close": 4, "calm": 4, "reference": 6, "missed": 0}


class StudiedSentence(NamedTuple):
    """A sentence with the results of its searches."""

    text: str
    reference: str
    source: list[int]
    target: list[int]
    greedy: Hypothesis
    found: list[Hypothesis]
    """By a beam of 4 with alpha 0.6, best first."""
    others: list[list[int]]
    """The best of a beam of 4 with alpha 0 and with alpha 2."""
    reference_score: float
    kinds: list[str]


def tensor(ids: list[int]) -> torch.Tensor:
    """One sentence as a batch."""
    return torch.tensor([ids])


def search(translator: Translator, source: list[int], k: int = BEAM, alpha: float = ALPHA) -> list[Hypothesis]:
    """All that a beam returns for one sentence."""
    return beam_search(translator.model, tensor(source), k, alpha, num_return=k, extra_tokens=EXTRA)[0]


def steps_of(translator: Translator, source: list[int], target: list[int]) -> list[tuple[float, int]]:
    """Log-probability and rank (from 1) of each token of a given translation, after the tokens before it."""
    with torch.inference_mode():
        logits = translator.model(tensor(source), tensor([BOS, *target[:-1]]))[0]
    steps = logits.log_softmax(dim=-1)
    own = steps.gather(1, torch.tensor(target)[:, None])
    ranks = 1 + (steps > own).sum(dim=1)
    return list(zip(own.squeeze(1).tolist(), ranks.tolist(), strict=True))


def study(translator: Translator, text: str, reference: str) -> StudiedSentence:
    """Search for one sentence in four ways, and name what happened."""
    encode = translator.tokenizer.encode
    source, target = [*encode(text), EOS], [*encode(reference), EOS]
    greedy = greedy_decode(translator.model, tensor(source), extra_tokens=EXTRA)[0]
    found = search(translator, source)
    others = [search(translator, source, alpha=alpha)[0].tokens for alpha in (0.0, TOP_ALPHA)]
    total = sum(step for step, _ in steps_of(translator, source, target))
    score = total / length_penalty(len(target), ALPHA)
    best, gold = found[0], target[:-1]
    rules = {
        "greedy": greedy.tokens != best.tokens == gold,
        "beam": greedy.tokens == gold != best.tokens,
        "missed": score > best.score + 1e-4,
        "length": others[0] != others[1],
        "close": len(found) > 1 and best.score - found[1].score < 0.03,
        "calm": greedy.tokens == best.tokens == gold and others == [gold, gold],
        "reference": best.tokens != gold,
    }
    kinds = [name for name, holds in rules.items() if holds]
    return StudiedSentence(text, reference, source, target, greedy, found, others, score, kinds)


def choose(cases: list[StudiedSentence]) -> list[tuple[str, StudiedSentence]]:
    """For each kind the first cases that are of it, rarest kind first, none twice; filled up with 'reference'."""
    chosen: dict[int, str] = {}
    for kind in sorted(WANTED, key=lambda kind: sum(kind in case.kinds for case in cases)):
        fitting = [i for i, case in enumerate(cases) if kind in case.kinds and i not in chosen]
        chosen.update(dict.fromkeys(fitting[: WANTED[kind]], kind))
    spare = [i for i, case in enumerate(cases) if "reference" in case.kinds and i not in chosen]
    chosen.update(dict.fromkeys(spare[: sum(WANTED.values()) - len(chosen)], "reference"))
    order = list(WANTED)
    return sorted(((kind, cases[i]) for i, kind in chosen.items()), key=lambda pair: order.index(pair[0]))


def trees(translator: Translator, source: list[int]) -> Iterator[SearchTree]:
    """The longest search of each beam size, widest first: a larger alpha or more to return only searches on."""
    for k in reversed(BEAMS):
        yield record_search(translator.model, tensor(source), k, TOP_ALPHA, num_return=k, extra_tokens=EXTRA)


def forced(translator: Translator, source: list[int], prefixes: list[list[int]]) -> list[Hypothesis | None]:
    """The best translation that begins with each prefix, by a beam of 4 with alpha 0.6."""
    found: list[Hypothesis | None] = []
    for start in range(0, len(prefixes), 64):
        batch = prefixes[start : start + 64]
        rows = tensor(source).expand(len(batch), -1)
        results = beam_search(translator.model, rows, BEAM, ALPHA, extra_tokens=EXTRA, prefix=batch)
        found += [hypotheses[0] if hypotheses else None for hypotheses in results]
    return found


def largest_difference(translator: Translator, source: list[int], tree: Continuations) -> float:
    """Between the record played back and the model itself, over beam sizes and alphas.

    Raises
    ------
    RuntimeError
        If the two find different translations.
    """
    playback, worst = Playback([(source, tree)], translator.tokenizer.vocab_size), 0.0
    for k, alpha in itertools.product((1, 2, 4, 5, 8), (0.0, 0.6, 1.0, 2.0)):
        runs = [
            beam_search(m, tensor(source), k, alpha, num_return=k, extra_tokens=EXTRA)[0]
            for m in (translator.model, playback)
        ]
        if [h.tokens for h in runs[0]] != [h.tokens for h in runs[1]]:
            raise RuntimeError(f"beam {k}, alpha {alpha}: the record finds other translations than the model")
        worst = max(worst, *(abs(a.log_probability - b.log_probability) for a, b in zip(*runs, strict=True)))
    return worst


def record(translator: Translator, case: StudiedSentence) -> SearchRecord:
    """One sentence's searches, what comes of forcing each beginning, and the reference's own path."""
    tree = Continuations()
    for one in trees(translator, case.source):
        tree.add(one)
    going_on = [n for n in range(len(tree.tokens)) if tree.tokens[n] != EOS]
    results: list[Forced | None] = [None] * len(tree.tokens)
    found = forced(translator, case.source, [tree.path(n) for n in going_on])
    for node, hypothesis in zip(going_on, found, strict=True):
        if hypothesis is not None:
            tokens = [*hypothesis.tokens, EOS][: hypothesis.steps]
            known = next(t for t in range(len(tokens), -1, -1) if tree.find(tokens[:t]) is not None)
            results[node] = Forced(tree.find(tokens[:known]) or 0, tokens[known:], hypothesis.log_probability)
    steps, ranks = zip(*steps_of(translator, case.source, case.target), strict=True)
    return SearchRecord(tree, results, case.target, list(steps), list(ranks))


def counts(cases: list[StudiedSentence]) -> dict[str, int]:
    """How often greedy and beam search differ, and which scores higher."""
    differ = [c for c in cases if c.greedy.tokens != c.found[0].tokens]
    return {
        "sentences": len(cases),
        "differ": len(differ),
        "beam_scores_higher": sum(c.found[0].score > c.greedy.score for c in differ),
        "greedy_scores_higher": sum(c.found[0].score < c.greedy.score for c in differ),
        "greedy_is_reference": sum(c.greedy.tokens == c.target[:-1] for c in cases),
        "beam_is_reference": sum(c.found[0].tokens == c.target[:-1] for c in cases),
        **{f"kind_{kind}": sum(kind in c.kinds for c in cases) for kind in WANTED},
    }


def run(sentences: int = SENTENCES) -> dict[str, Any]:
    """Study the test sentences, choose thirty, record their searches."""
    translator = uncertain_translator()
    pairs = [(p.source, p.target) for p in classroom_pairs("test", sentences)]
    encode = translator.tokenizer.encode
    cases = [study(translator, *pair) for pair in pairs if len(encode(pair[0])) < LONGEST]
    records, about, worst = [], [], 0.0
    for kind, case in choose(cases):
        records.append(record(translator, case))
        worst = max(worst, largest_difference(translator, case.source, records[-1].tree))
        about.append({"kind": kind, "text": case.text, "reference": case.reference, "source": case.source})
    return {
        "counts": counts(cases),
        "extra_tokens": EXTRA,
        "vocab_size": translator.tokenizer.vocab_size,
        "largest_difference": worst,
        "sentences": about,
        "searches": pack(records),
    }

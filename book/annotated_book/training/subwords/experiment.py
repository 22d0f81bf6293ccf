"""Vocabulary sizes compared on real text: tokens per sentence, whole words, rare entries.

The text is English-German text of free software: manuals, messages, dictionaries. Only numbers are recorded.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from annotated.analysis.real_text import DATA, real_pairs
from annotated.classroom import classroom_pairs
from annotated.data import Tokenizer, read_pairs
from annotated_book.training.subwords.merges import bare, first_entries, is_word, pieces, token_counts, word_counts

SIZES = (300, 500, 1000, 2000, 4000, 8000, 16_000, 32_000, 37_000)
PAIRS = (1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000)
MEASURED = 1000  # held-out pairs
RARE = 100  # an entry seen less often than this in the training text counts as rare
MULTI30K = 29_000  # training pairs of the corpus of The Annotated Transformer, for the leak
WORDS = ("Haus", "Häuser", "Rechtschreibung", "Rechtschreibprüfung", "Rechtschreibprüfungsfehler",
         "Fahrradschlüssel", "Donaudampfschifffahrtsgesellschaft", "spelling", "spellchecker")  # fmt: skip

Pair = tuple[str, str]


def measure(tokenizer: Tokenizer, held_out: Sequence[Pair], seen: Mapping[str, int]) -> dict[str, Any]:
    """One size: lengths of the held-out sentences, and what the entries are.

    Parameters
    ----------
    tokenizer
        Of the size to measure.
    held_out
        Pairs (English, German) that the tokenizer was not trained on.
    seen
        `word_counts` of the text that it was trained on.
    """
    row: dict[str, Any] = {"vocab_size": tokenizer.vocab_size}
    whole = tokens = words = 0
    for side, name in enumerate(("english", "german")):
        texts = [pair[side] for pair in held_out]
        lengths = [len(ids) for ids in tokenizer.encode_batch(texts)]
        row[name] = round(sum(lengths) / len(lengths), 3)
        counts = {word: n for word, n in word_counts(texts).items() if is_word(word)}
        cut = pieces(tokenizer, counts)
        single = sum(n for n, ids in zip(counts.values(), cut, strict=True) if len(ids) == 1)
        whole, tokens, words = whole + single, tokens + sum(lengths), words + sum(counts.values())
    row["tokens_whole"] = round(whole / tokens, 4)
    row["words_whole"] = round(whole / words, 4)
    used: Counter[int] = Counter()
    alone = set()
    for (word, n), ids in zip(seen.items(), pieces(tokenizer, seen), strict=True):
        for index in ids:
            used[index] += n
        if len(ids) == 1 and is_word(word):
            alone.add(ids[0])
    row["entries_whole"] = round(len(alone) / tokenizer.vocab_size, 4)
    row["entries_rare"] = round(sum(used[i] < RARE for i in range(tokenizer.vocab_size)) / tokenizer.vocab_size, 4)
    return row


def growth(pairs: Sequence[Pair], held_out: Sequence[Pair]) -> dict[str, dict[str, list[float]]]:
    """Different words in the first 1,000, 2,000, ... pairs, and the share of held-out words that are not among them."""
    result: dict[str, dict[str, list[float]]] = {}
    for side, name in enumerate(("english", "german")):
        asked = bare(word_counts(pair[side] for pair in held_out))
        known: Counter[str] = Counter()
        rows: dict[str, list[float]] = {"running": [], "different": [], "unseen": []}
        for start, stop in zip((0, *PAIRS), PAIRS, strict=False):
            known.update(bare(word_counts(pair[side] for pair in pairs[start:stop])))
            rows["running"].append(sum(known.values()))
            rows["different"].append(len(known))
            rows["unseen"].append(round(sum(n for w, n in asked.items() if w not in known) / sum(asked.values()), 4))
        result[name] = rows
    return result


def languages(tokenizer: Tokenizer, pairs: Sequence[Pair]) -> dict[str, Any]:
    """Who uses the entries of a shared vocabulary: a language counts if it has a tenth of an entry's uses, at least."""
    english, german = (token_counts(tokenizer, word_counts(pair[side] for pair in pairs)) for side in (0, 1))
    totals = sum(english.values()), sum(german.values())
    kinds: Counter[str] = Counter()
    uses: Counter[str] = Counter()
    for index in range(tokenizer.vocab_size):
        a, b = english[index] / totals[0], german[index] / totals[1]
        share = a / (a + b) if a + b else None
        kind = "neither" if share is None else "English" if share > 0.9 else "German" if share < 0.1 else "both"
        kinds[kind] += 1
        uses[kind] += english[index] + german[index]
    return {
        "entries": dict(kinds),
        "uses": {kind: round(n / sum(totals), 4) for kind, n in uses.items()},
    }


def by_frequency(tokenizer: Tokenizer, held_out: Sequence[Pair], seen: Mapping[str, int]) -> list[dict[str, Any]]:
    """Held-out words by how often the training text has them: their share, and their mean number of pieces."""
    counts = {w: n for w, n in word_counts(text for pair in held_out for text in pair).items() if is_word(w)}
    cut = dict(zip(counts, map(len, pieces(tokenizer, counts)), strict=True))
    rows = []
    for low, high in ((0, 1), (1, 10), (10, 100), (100, 1000), (1000, 10**9)):
        group = {w: n for w, n in counts.items() if low <= seen.get(w, 0) < high}
        words = sum(group.values())
        total = sum(n * cut[w] for w, n in group.items())
        rows.append({"from": low, "words": words, "pieces": round(total / words, 3)})
    return rows


def leak(pairs: Sequence[Pair], test: Sequence[Pair]) -> dict[str, float]:
    """Unknown words of a test set, for a word vocabulary (words seen twice) built without it, and with it."""
    train, asked = (bare(word_counts(text for pair in some for text in pair)) for some in (pairs, test))
    both = train + asked
    share = {}
    for name, known in {"train": train, "train and test": both}.items():
        share[name] = round(sum(n for w, n in asked.items() if known[w] < 2) / sum(asked.values()), 4)
    untrained = sum(n for w, n in asked.items() if both[w] >= 2 and w not in train)
    return {**share, "known but untrained": round(untrained / sum(asked.values()), 4)}


def run() -> dict[str, Any]:
    """Real text and classroom text at nine sizes; words of real text; who shares the 37,000 entries."""
    path = Path(os.environ.get(DATA, "../shared/data/en-de")) / "train.tsv.zst"
    train, held_out = list(read_pairs(str(path))), real_pairs("valid", MEASURED)
    texts = [text for pair in train for text in pair]
    large, seen = Tokenizer.train(texts, max(SIZES)), word_counts(texts)
    small = [(p.source, p.target) for p in classroom_pairs("train", 20_000)]
    lessons = [(p.source, p.target) for p in classroom_pairs("test", MEASURED)]
    plain = [text for pair in small for text in pair]
    tiny, known = Tokenizer.train(plain, max(SIZES)), word_counts(plain)
    known_words = bare(seen).most_common(large.vocab_size)
    asked = bare(word_counts(text for pair in held_out for text in pair))
    outside = sum(asked.values()) - sum(asked[word] for word, _ in known_words)
    return {
        "settings": {"pairs": len(train), "held_out": MEASURED, "rare": RARE, "sizes": list(SIZES), "leak": MULTI30K},
        "real": [measure(first_entries(large, size), held_out, seen) for size in SIZES],
        "classroom": [measure(first_entries(tiny, s), lessons, known) for s in SIZES if s <= tiny.vocab_size],
        "classroom_largest": tiny.vocab_size,
        "growth": {"pairs": list(PAIRS), **growth(train, held_out)},
        "unknown_at_37000": round(outside / sum(asked.values()), 4),
        "languages": languages(large, train),
        "by_frequency": by_frequency(large, held_out, seen),
        "leak": leak(train[:MULTI30K], held_out),
        "cuts": {word: [len(piece) for piece in large.tokens(large.encode(word))] for word in WORDS},
    }

"""Four ways to build a vocabulary of one size from one real text, and what their entries are made of.

The text is English-German text of free software. Only numbers are recorded, and how sentences of our own are cut.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import models, pre_tokenizers, trainers

from annotated.analysis.real_text import DATA, real_pairs
from annotated.data import Tokenizer, read_pairs
from annotated_book.training.subwords.merges import bare, word_counts

PAIRS, ENTRIES, MEASURED, MERGES = 100_000, 8000, 1000, 32_000
UNKNOWN = "<unk>"
EXAMPLES = (
    "The grandmother sells apples.",
    "Der Großvater hat zehn Apfelbäume.",
    "Rechtschreibprüfungsfehler",
    "Tee um 17:30 🍵",
)


def end_of_word_bpe(texts: Iterable[str], entries: int) -> tokenizers.Tokenizer:
    """Byte-pair encoding as first published: over characters, with the end of a word marked."""
    inner = tokenizers.Tokenizer(models.BPE(unk_token=UNKNOWN, end_of_word_suffix="</w>"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.BpeTrainer(
        vocab_size=entries, special_tokens=[UNKNOWN], end_of_word_suffix="</w>", show_progress=False
    )
    inner.train_from_iterator(texts, trainer)
    return inner


def word_pieces(texts: Iterable[str], entries: int) -> tokenizers.Tokenizer:
    """Word pieces as BERT's tokenizer writes them: "##" where a word goes on."""
    inner = tokenizers.Tokenizer(models.WordPiece(unk_token=UNKNOWN))
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=entries, special_tokens=[UNKNOWN], show_progress=False)
    inner.train_from_iterator(texts, trainer)
    return inner


def unigram(texts: Iterable[str], entries: int) -> tokenizers.Tokenizer:
    """A unigram language model over pieces, the method of SentencePiece: begins large and throws entries out."""
    inner = tokenizers.Tokenizer(models.Unigram())
    inner.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=entries, special_tokens=[UNKNOWN], unk_token=UNKNOWN, show_progress=False
    )
    inner.train_from_iterator(texts, trainer)
    return inner


def compared(name: str, inner: tokenizers.Tokenizer | Tokenizer, held_out: Sequence[str]) -> dict[str, Any]:
    """One tokenizer: its size, tokens per held-out sentence, sentences with an unknown token, and our examples cut."""
    if isinstance(inner, Tokenizer):
        cut = [inner.tokens(ids) for ids in inner.encode_batch([*held_out, *EXAMPLES])]
        size = inner.vocab_size
    else:
        known, size = set(inner.get_vocab()), inner.get_vocab_size()
        # A unigram model writes a piece that it does not know as it stands.
        found = [encoding.tokens for encoding in inner.encode_batch([*held_out, *EXAMPLES])]
        cut = [[piece if piece in known else UNKNOWN for piece in pieces] for pieces in found]
    measured, examples = cut[: len(held_out)], cut[len(held_out) :]
    lost = sum(UNKNOWN in pieces for pieces in measured)
    return {
        "name": name,
        "entries": size,
        "tokens": round(sum(map(len, measured)) / len(measured), 2),
        "unknown": round(lost / len(measured), 4),
        "examples": dict(zip(EXAMPLES, examples, strict=True)),
    }


def alphabet(counts: Mapping[str, int]) -> int:
    """Entries of end-of-word byte-pair encoding before its first merge: characters inside words, and at their ends."""
    inside = {character for word in counts for character in word[:-1]}
    final = {word[-1] for word in counts}
    return len(inside) + len(final)


def rare_words(counts: Mapping[str, int]) -> dict[str, float]:
    """Of the different words of a text, the shares that occur once, and once or twice."""
    once = sum(n == 1 for n in counts.values())
    twice = sum(n == 2 for n in counts.values())
    return {"once": round(once / len(counts), 4), "once or twice": round((once + twice) / len(counts), 4)}


def plain_words(texts: Iterable[str]) -> dict[str, int]:
    """How often each word occurs, cut at white space and punctuation, in plain characters."""
    cutter = pre_tokenizers.Whitespace()
    counts: dict[str, int] = {}
    for text in texts:
        for word, _ in cutter.pre_tokenize_str(text):
            counts[word] = counts.get(word, 0) + 1
    return counts


def run() -> dict[str, Any]:
    """All four on one text; rare words and the alphabet of the whole text."""
    path = Path(os.environ.get(DATA, "../shared/data/en-de")) / "train.tsv.zst"
    pairs = list(read_pairs(str(path)))
    texts = [text for pair in pairs[:PAIRS] for text in pair]
    held_out = [text for pair in real_pairs("valid", MEASURED) for text in pair]
    rows = [
        compared("bytes and merges", Tokenizer.train(texts, ENTRIES), held_out),
        compared("characters and merges", end_of_word_bpe(texts, ENTRIES), held_out),
        compared("word pieces", word_pieces(texts, ENTRIES), held_out),
        compared("unigram", unigram(texts, ENTRIES), held_out),
    ]
    everything = plain_words(text for pair in pairs for text in pair)
    return {
        "settings": {"pairs": PAIRS, "all_pairs": len(pairs), "held_out": MEASURED, "merges": MERGES},
        "tokenizers": rows,
        "alphabet": alphabet(everything),
        "rare_words": {
            name: rare_words(bare(word_counts(pair[side] for pair in pairs)))
            for side, name in enumerate(("english", "german"))
        },
    }

"""Entries of a byte-pair vocabulary: whole words, pieces, rare ones, and the language that uses them."""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Iterable, Mapping

import tokenizers
from tokenizers import pre_tokenizers

from annotated.data import Tokenizer
from annotated.data.byte_level import byte_of, readable
from annotated.data.tokenizer import SMALLEST_VOCABULARY, TokenizerError

_SPLITTER = pre_tokenizers.ByteLevel(add_prefix_space=False)


def merges(tokenizer: Tokenizer) -> list[tuple[str, str]]:
    """The pairs that a tokenizer merges, in the order in which they were learned.

    Pieces are written in the byte-level alphabet, in which a space is "Ġ".
    """
    model = json.loads(tokenizer.__getstate__())["model"]
    pairs = [merge.split(" ") if isinstance(merge, str) else merge for merge in model["merges"]]
    return [(left, right) for left, right in pairs]


def first_entries(tokenizer: Tokenizer, vocab_size: int) -> Tokenizer:
    """The tokenizer that the same text would have given at a smaller size: merges are learned one after another.

    Parameters
    ----------
    tokenizer
        The larger one.
    vocab_size
        V of the smaller one, special tokens and bytes included.

    Raises
    ------
    TokenizerError
        If `vocab_size` is below 260, or above the size that the tokenizer has.
    """
    if not SMALLEST_VOCABULARY <= vocab_size <= tokenizer.vocab_size:
        raise TokenizerError(f"vocab_size must lie between {SMALLEST_VOCABULARY} and {tokenizer.vocab_size}")
    content = json.loads(tokenizer.__getstate__())
    vocabulary = {piece: index for piece, index in content["model"]["vocab"].items() if index < vocab_size}
    kept = [[a, b] for a, b in merges(tokenizer) if a in vocabulary and b in vocabulary and a + b in vocabulary]
    content["model"] |= {"vocab": vocabulary, "merges": kept}
    return Tokenizer(tokenizers.Tokenizer.from_str(json.dumps(content)))


def word_counts(texts: Iterable[str]) -> Counter[str]:
    """How often each word occurs, as the tokenizer cuts text before it merges: merges never cross these cuts.

    Words come in the byte-level alphabet. One that follows a space begins with "Ġ"; digits and punctuation are words
    of their own.
    """
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(word for word, _ in _SPLITTER.pre_tokenize_str(text))
    return counts


@functools.cache
def is_word(word: str) -> bool:
    """Whether a cut of `word_counts` has a letter in it, so is a word and no number or punctuation."""
    return any(character.isalpha() for character in readable(word))


def bare(counts: Mapping[str, int]) -> Counter[str]:
    """The words with letters, and without the space before them: "Ġhouse" and "house" are one word."""
    words: Counter[str] = Counter()
    for word, count in counts.items():
        if is_word(word):
            words[word.removeprefix("Ġ")] += count
    return words


def token_counts(tokenizer: Tokenizer, counts: Mapping[str, int]) -> Counter[int]:
    """How often each entry of the vocabulary is used in a text of which `word_counts` are given."""
    used: Counter[int] = Counter()
    words = list(counts)
    for word, ids in zip(words, pieces(tokenizer, words), strict=True):
        for index in ids:
            used[index] += counts[word]
    return used


def pieces(tokenizer: Tokenizer, words: Iterable[str]) -> list[list[int]]:
    """The ids of words in the byte-level alphabet, each cut by itself."""
    return tokenizer.encode_batch([_text(word) for word in words])


@functools.cache
def _text(word: str) -> str:
    """The text of a word in the byte-level alphabet."""
    table = byte_of()
    return bytes(table[character] for character in word).decode("utf-8", "replace")

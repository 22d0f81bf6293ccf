"""Scripts whose sentences are written without spaces between words, and how many words such a text has."""

from __future__ import annotations

import re

KANA = re.compile("[\u3040-\u30ff]")
"""Of Japanese."""
HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
"""Of Chinese, and of Japanese."""
SOUTH_EAST = re.compile("[\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff]")
"""Thai, Lao, Tibetan, Burmese, Khmer."""
WITHOUT_SPACES = re.compile(f"{KANA.pattern}|{HAN.pattern}|{SOUTH_EAST.pattern}")
_IN_A_WORD = ((KANA, 1.7), (HAN, 1.7), (SOUTH_EAST, 4.5))
"""Characters of a word, roughly: what makes a translation of an English sentence about as long in words."""


def count_words(text: str) -> int:
    """Words of a text without white space at its ends: between spaces, and by their characters where none are written.

    Examples
    --------
    >>> count_words("The cat sleeps."), count_words("猫正在花园里睡觉。")
    (3, 5)
    """
    words = text.count(" ") + 1
    if text.isascii() or not WITHOUT_SPACES.search(text):
        return words
    others = WITHOUT_SPACES.sub("", text).split()
    words = sum(any(map(str.isalnum, part)) for part in others)
    return max(1, words + round(sum(len(script.findall(text)) / size for script, size in _IN_A_WORD)))


def longest_word(text: str) -> int:
    """Characters of the longest run without a space, those of scripts left out that write none."""
    if not text.isascii():
        text = WITHOUT_SPACES.sub(" ", text)
    return max(map(len, text.split()), default=0)

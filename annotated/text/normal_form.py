"""One way to write a line of text, of the many that look the same.

Training text, and with a tokenizer that says so every text that a model reads, is written in this form. The patterns
are regular expressions that Python's `re` and the library `tokenizers` read alike: the function below is the readable
reference, and what a tokenizer's file carries is made of the same patterns.
"""

from __future__ import annotations

import re
import unicodedata

_JOINED = r"[^\x00-\u02ff\u1680\u1e00-\u1eff\u2000-\u206f\u3000]"
"""What the zero-width joiner and non-joiner change the look of: letters of Arabic, Indian and other scripts, emoji."""
INVISIBLE = r"[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]"
"""Characters without a glyph: soft hyphen, zero-width space, direction marks, byte-order mark."""
EARLIER_INVISIBLE = r"[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\ufeff]"
"""Those of tokenizers that were trained before the Arabic letter mark and directional isolates were among them."""
IDLE_JOINER = rf"(?<!{_JOINED})[\u200c\u200d]+|[\u200c\u200d]+(?![\u200c\u200d]|{_JOINED})"
"""A zero-width joiner or non-joiner that has nothing to join or to part."""
CONTROL = r"[\x00-\x08\x0e-\x1f\x7f]"
WHITE_SPACE = r"[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+"

_INVISIBLE, _IDLE_JOINER, _CONTROL = map(re.compile, (INVISIBLE, IDLE_JOINER, CONTROL))


def is_blank(text: str) -> bool:
    r"""Whether there is nothing to see: no character, white space, or characters without a glyph.

    Examples
    --------
    >>> is_blank("\u200b\u3000"), is_blank(".")
    (True, False)
    """
    return not text.strip() or (not text.isprintable() and not normalise(text))


def normalise(text: str) -> str:
    r"""One way to write a text: NFC, no control or invisible characters, one plain space for every white space.

    Nothing that a reader sees changes: quotation marks and dashes stay as they are, and so do zero-width joiners and
    non-joiners between characters that they join or part. The vocabulary is made of bytes, so it loses none of them.

    Examples
    --------
    >>> normalise("\ufeff Die  Ka\u0308lte\u200b.\r")
    'Die Kälte.'
    """
    if not text.isascii():
        text = unicodedata.normalize("NFC", _IDLE_JOINER.sub("", _INVISIBLE.sub("", text)))
    if not text.isprintable():
        text = _CONTROL.sub("", text)
    return " ".join(text.split())

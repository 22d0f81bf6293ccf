"""References that look tokenised, cut into pieces or escaped: a score on them is not that of plain text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from annotated.text.normal_form import INVISIBLE


def _is_decomposed(text: str) -> bool:
    return not unicodedata.is_normalized("NFC", text)


_SIGNS = (
    (re.compile("@@ ").search, "cut into subwords (`@@ `)", "join them: sed 's/@@ //g'"),
    (re.compile(r"▁\S").search, "cut into SentencePiece's pieces (`▁`)", "join them: sed 's/ //g; s/▁/ /g'"),
    (
        re.compile(r"&(?:apos|quot|amp|lt|gt|#\d+);").search,
        "escaped (`&apos;`)",
        "use Moses' deescape-special-chars.perl",
    ),
    (re.compile("##AT##-##AT##| @-@ ").search, "tokenised (`@-@`)", "use Moses' detokenizer.perl"),
    (
        re.compile(r"(?<!['\w])[cdjlmnst]' \w", re.I).search,
        "tokenised (`l' eau`)",
        'join them: sed "s/\\b\\([cdjlmnst]\'\\) /\\1/gI"',
    ),
    (
        re.compile(r"[^\W\d_] \.$").search,
        "tokenised (a space before the last full stop)",
        "use Moses' detokenizer.perl",
    ),
    (_is_decomposed, "written in another Unicode form than NFC", "put them into it: uconv -x any-nfc"),
    (
        re.compile(INVISIBLE).search,
        "written with signs that nobody sees, such as soft hyphens and direction marks",
        "take them out: perl -CSD -pe "
        r"'s/[\x{ad}\x{61c}\x{200b}\x{200e}\x{200f}\x{202a}-\x{202e}\x{2060}-\x{206f}\x{feff}]//g'",
    ),
)
_SHARE = 0.02
"""Of lines with a sign, from which on it is no accident."""


def looks_prepared(references: Sequence[str]) -> str:
    """One sentence on what was done to the text, and how to undo it; empty if it looks plain."""
    for sign, looks, advice in _SIGNS:
        lines = [number for number, text in enumerate(references, 1) if sign(text)]
        if len(lines) > 1 and len(lines) >= _SHARE * len(references):
            listed = ", ".join(map(str, lines[:3])) + (", ..." if len(lines) > 3 else "")
            share = f"{len(lines):,} of {len(references):,} references look {looks}, such as line {listed}"
            return f"{share}: scores are not comparable with those of plain text; {advice}"
    return ""

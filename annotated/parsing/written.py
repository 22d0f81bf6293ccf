"""Linear forms as text that a byte-pair tokenizer keeps whole: each bracket with its label is one word of letters.

A tokenizer that keeps letters together cuts '(NP' after the bracket, and every tree becomes half as long again. In the
text the bracket is a letter that looks like one half of a ring: 'ʿNP DT NN NPʾ' for '(NP DT NN )NP'. The dollar of
'PRP$' is a letter too, a small raised s.
"""

from __future__ import annotations

from collections.abc import Sequence

OPEN, CLOSE = "\N{MODIFIER LETTER LEFT HALF RING}", "\N{MODIFIER LETTER RIGHT HALF RING}"
"""What stands for a bracket: letters, by Unicode's categories."""
DOLLAR = "\N{MODIFIER LETTER SMALL S}"


def written(tokens: Sequence[str]) -> str:
    """The text of a linear form.

    Examples
    --------
    >>> written(["(S", "(NP", "XX", ")NP", ")S"])
    'ʿS ʿNP XX NPʾ Sʾ'
    """
    text = " ".join(
        OPEN + token[1:] if token.startswith("(") else token[1:] + CLOSE if token.startswith(")") else token
        for token in tokens
    )
    return text.replace("$", DOLLAR)


def read_written(text: str) -> list[str]:
    """The tokens of a text; inverse of `written` for whatever is a linear form."""
    return [
        "(" + word[1:] if word.startswith(OPEN) else ")" + word[:-1] if word.endswith(CLOSE) else word
        for word in text.replace(DOLLAR, "$").split()
    ]

"""Formulas of docstrings, which are plain text for `help()`, set as formulas on the pages of the reference.

A docstring writes `softmax(Q K^T / sqrt(d_k)) V` as a reader types it; `FORMULAS` has the TeX of each. A test holds the
table to the docstrings in both directions: each entry is used, and no power, root or product is left as plain text.
"""

from __future__ import annotations

import re

FORMULAS = {
    "softmax(Q K^T / sqrt(d_k)) V": r"\mathrm{softmax}\big(Q K^\top / \sqrt{d_k}\big)\, V",
    "FFN(x) = max(0, x W_1 + b_1) W_2 + b_2": r"\mathrm{FFN}(x) = \max(0,\, x W_1 + b_1)\, W_2 + b_2",
    "max(0, x W^T + b)": r"\max(0,\, x W^\top + b)",
    "max(0, x W + b)": r"\max(0,\, x W + b)",
    "PE(pos, 2i) = sin(pos / 10000^(2i / d_model))": r"PE_{(pos,\,2i)} = \sin\big(pos / 10000^{2i/d_\text{model}}\big)",
    "PE(pos, 2i + 1) = cos": r"PE_{(pos,\,2i+1)} = \cos",
    "sqrt(d_model)": r"\sqrt{d_\text{model}}",
    "N(0, 1 / d_model)": r"N(0,\, 1 / d_\text{model})",
    "d_model^-0.5 * min(update^-0.5, update * warmup^-1.5)": (
        r"d_\text{model}^{-0.5} \cdot \min(update^{-0.5},\; update \cdot warmup^{-1.5})"
    ),
    "((5 + length) / 6) ** alpha": r"\big((5 + length) / 6\big)^{\alpha}",
}
"""Each formula as docstrings have it, in one line, and its TeX."""
_POWER = r"(?<![\w^])(?:\d+|[A-Z])\^-?\d+"
_CODE = re.compile(r"(`[^`]*`)")
_KNOWN = [r"\s+".join(map(re.escape, text.split())) for text in sorted(FORMULAS, key=len)[::-1]]
_ANY = re.compile("|".join([*_KNOWN, _POWER]))


def with_formulas(text: str, before: str = "$", after: str = "$") -> str:
    """A text with its formulas in TeX between two marks; what stands between backquotes is code, and stays.

    Examples
    --------
    >>> with_formulas("Times sqrt(d_model), a multiple of 2^-16; `2^3`.")
    'Times $\\\\sqrt{d_\\\\text{model}}$, a multiple of $2^{-16}$; `2^3`.'
    """

    def tex(found: re.Match[str]) -> str:
        base, _, exponent = found[0].rpartition("^")
        return f"{before}{FORMULAS.get(' '.join(found[0].split())) or f'{base}^{{{exponent}}}'}{after}"

    parts = _CODE.split(text)
    parts[::2] = [_ANY.sub(tex, part) for part in parts[::2]]
    return "".join(parts)

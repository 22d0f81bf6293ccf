"""BLEU as the paper's authors' script computes it, as far as it can be told apart: quotes, compounds, and the rest.

The paper says "BLEU" and no more. Its released code has a script, `get_ende_bleu.sh`: Moses' tokeniser, then hyphenated
words taken apart (a habit of the papers before it), then Moses' `multi-bleu.perl`. Moses' tokeniser is not rebuilt
here: one of sacreBLEU's own stands in for it, so that the effect of each step can be measured by itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from annotated.evaluation.bleu import BleuScore, bleu

HYPHEN = "##AT##-##AT##"
"""What stands for the hyphen of a word that was taken apart."""
_BETWEEN = re.compile(r"(\S)-(\S)")
_PLAIN = str.maketrans(dict.fromkeys("„“”‟«»", '"') | dict.fromkeys("‚‘’‛‹›", "'"))


def split_compounds(tokenized: str) -> str:
    """Tokenised text with every hyphenated word taken apart: 'E-Mail' becomes 'E ##AT##-##AT## Mail'.

    One word becomes three tokens, and the middle one is easy to get right. The script replaces without overlap, so a
    part of one letter keeps its second hyphen: 'a-b-c' becomes 'a ##AT##-##AT## b-c'.
    """
    return _BETWEEN.sub(rf"\1 {HYPHEN} \2", tokenized)


def plain_quotes(text: str) -> str:
    """Text with typographic quotation marks made plain, as in the reference that the script's users were given."""
    return text.translate(_PLAIN)


def paper_style(text: str, tokenize: str = "13a", *, quotes: bool = True, compounds: bool = True) -> str:
    """Plain text tokenised in advance, as the script sees it.

    Parameters
    ----------
    tokenize
        sacreBLEU's tokeniser that stands in for Moses'.
    quotes, compounds
        Whether to make quotes plain, and to take hyphenated words apart.
    """
    from sacrebleu.metrics import BLEU  # here, because its import is slow

    tokenized = BLEU(tokenize=tokenize).tokenizer((plain_quotes(text) if quotes else text).rstrip())
    return split_compounds(tokenized) if compounds else tokenized


def paper_style_bleu(
    hypotheses: Sequence[str],
    references: Sequence[str],
    tokenize: str = "13a",
    *,
    quotes: bool = True,
    compounds: bool = True,
) -> BleuScore:
    """Score plain text after `paper_style`: sacreBLEU counts, with no tokeniser of its own.

    Its signature says `tok:none`; what was done before is not in it, which is why such numbers are not comparable.

    Raises
    ------
    ValueError
        As `annotated.evaluation.bleu`.

    Paper: section 6.1, Table 2
    """
    sides = (
        [paper_style(text, tokenize, quotes=quotes, compounds=compounds) for text in side]
        for side in (hypotheses, references)
    )
    return bleu(*sides, tokenize="none", tokenized=True)

"""BLEU as the paper's authors' script computes it, as far as it can be told apart: quotes, compounds, and the rest.

The paper says "BLEU" and no more. Its released code has a script, `get_ende_bleu.sh`. In its last form (April 2018) it

1. replaces punctuation in the *translation* by Moses' `replace-unicode-punctuation.perl` (before that, "forgotten"),
2. cuts the translation by Moses' `tokenizer.perl -l de`; the reference is expected to be cut already,
3. takes hyphenated words of both apart (a habit of the papers before it), and
4. counts by Moses' `multi-bleu.perl`.

The reference that the authors gave out had its quotes made plain, too, also „, which step 1 leaves alone
(tensor2tensor, issue 317). Here that is done on both sides.

For step 2 there is a choice. "moses" is Moses' tokeniser as the package `sacremoses` rebuilds it: token by token the
script of June 2017, the paper's month. (Since November 2018 Moses splits off the last full stop of a line in every
case.) Else a tokeniser of sacreBLEU stands in for it, which needs no further package. 13a differs from Moses in that it

- takes "..." for three tokens; Moses for one;
- splits a dash after a digit: "2014-2015" becomes "2014 - 2015"; Moses leaves it, and step 3 takes it apart;
- leaves an apostrophe in its word: "geht's"; Moses splits it off;
- splits abbreviations and ordinals: "z.B." becomes "z . B .", "4." becomes "4 ."; Moses knows those of the language.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

from annotated.evaluation.bleu import BleuScore, bleu

MOSES = "moses"
"""The name of Moses' own tokeniser, beside sacreBLEU's names."""
LANGUAGE = "de"
"""What the script's `-l` says: Moses knows abbreviations by language."""
HYPHEN = "##AT##-##AT##"
"""What stands for the hyphen of a word that was taken apart."""
_BETWEEN = re.compile(r"(\S)-(\S)")
_PLAIN = str.maketrans(dict.fromkeys("„“”‟«»", '"') | dict.fromkeys("‚‘’‛‹›", "'"))
_STOP = re.compile("[。．] *")
_ASCII = str.maketrans(
    dict.fromkeys("，、", ",") | dict.fromkeys("”“《》」「１", '"') | dict.fromkeys("∶：", ":")
    | dict(zip("？）！（；～’━〈〉【】％", "?)!(;~'-<>[]%", strict=True))
    | dict(zip("０２３４５６７８９", "023456789", strict=True)) | {"…": "..."}
)  # fmt: skip
"""What Moses' script replaces. That it makes a quotation mark of the full-width 1 is its own slip."""


class MosesMissing(ImportError):
    """The package with Moses' tokeniser is not installed; the message says how to get it."""


def split_compounds(tokenized: str) -> str:
    """Tokenised text with every hyphenated word taken apart: 'E-Mail' becomes 'E ##AT##-##AT## Mail'.

    One word becomes three tokens, and the middle one is easy to get right. The script replaces without overlap, so a
    part of one letter keeps its second hyphen: 'a-b-c' becomes 'a ##AT##-##AT## b-c'.
    """
    return _BETWEEN.sub(rf"\1 {HYPHEN} \2", tokenized)


def plain_quotes(text: str) -> str:
    """Text with typographic quotation marks made plain, as in the reference that the script's users were given."""
    return text.translate(_PLAIN)


def replace_punctuation(text: str) -> str:
    """Text with the punctuation that Moses' `replace-unicode-punctuation.perl` knows in ASCII: '…' becomes '...'."""
    return _STOP.sub(". ", text).translate(_ASCII)


def has_moses() -> bool:
    """Whether Moses' tokeniser is installed."""
    return importlib.util.find_spec("sacremoses") is not None


def moses_language(language: str) -> str:
    """A language as Moses' tokeniser takes it, in lower case; for one that it does not know it takes none's rules.

    Raises
    ------
    ValueError
        If it is not two letters.
    """
    if not re.fullmatch("[A-Za-z]{2}", language):
        raise ValueError(f"the language of Moses' tokeniser is two letters, such as de or fr, and not {language!r}")
    return language.lower()


@cache
def tokenizer(name: str = "13a", language: str = LANGUAGE) -> Callable[[str], str]:
    """A tokeniser: of one line, tokens with spaces between them.

    Parameters
    ----------
    name
        One of sacreBLEU's, or "moses".
    language
        Two letters, for Moses.

    Raises
    ------
    MosesMissing
        If it is Moses' that is wanted and it is not installed.
    ValueError
        If it is Moses' that is wanted and the language is not two letters.
    """
    if name == MOSES:
        language = moses_language(language)
        if not has_moses():
            raise MosesMissing(
                "Moses' tokeniser is in the package sacremoses, which is not installed: pip install sacremoses, or "
                "install this library with its extra `moses`. Without it sacreBLEU's 13a stands in"
            )
        from sacremoses import MosesTokenizer

        moses = MosesTokenizer(lang=language)
        return lambda text: moses.tokenize(text, return_str=True)
    from sacrebleu.metrics import BLEU  # here, because its import is slow

    return BLEU(tokenize=name).tokenizer


def paper_style(
    text: str,
    tokenize: str = "13a",
    *,
    quotes: bool = True,
    compounds: bool = True,
    translated: bool = False,
    language: str = LANGUAGE,
) -> str:
    """Plain text tokenised in advance, as the script sees it.

    Parameters
    ----------
    tokenize
        sacreBLEU's tokeniser that stands in for Moses', or "moses".
    quotes, compounds
        Whether to make quotes plain, and to take hyphenated words apart.
    translated
        Whether the text is the model's: there the script replaces other punctuation too, and not in the reference.
    language
        Of the text, for Moses.

    Raises
    ------
    MosesMissing
        As `tokenizer`.
    """
    text = replace_punctuation(text) if translated else text
    tokenized = tokenizer(tokenize, language)((plain_quotes(text) if quotes else text).rstrip())
    return split_compounds(tokenized) if compounds else tokenized


def paper_style_bleu(
    hypotheses: Sequence[str],
    references: Sequence[str],
    tokenize: str = "13a",
    *,
    quotes: bool = True,
    compounds: bool = True,
    language: str = LANGUAGE,
) -> BleuScore:
    """Score plain text after `paper_style`: sacreBLEU counts, with no tokeniser of its own.

    Its signature says `tok:none`, and after Moses' tokeniser `moses:` and the language. The other steps before are not
    in it, which is why such numbers are not comparable.

    Parameters
    ----------
    tokenize, compounds, language
        As for `paper_style`. With "moses" every step is the script's.
    quotes
        Whether to make quotes plain on both sides, and replace the translations' other punctuation.

    Raises
    ------
    ValueError
        As `annotated.evaluation.bleu` and `tokenizer`.
    MosesMissing
        As `tokenizer`.

    Paper: section 6.1, Table 2
    """
    sides = (
        [
            paper_style(text, tokenize, quotes=quotes, compounds=compounds, translated=translated, language=language)
            for text in side
        ]
        for side, translated in ((hypotheses, quotes), (references, False))
    )
    found = bleu(*sides, tokenize="none", tokenized=True)
    if tokenize != MOSES:
        return found
    return replace(found, signature=f"{found.signature}|{MOSES}:{moses_language(language)}")

"""Choice of sacreBLEU's tokeniser: by the language where it is known, else by the script of the references.

13a, sacreBLEU's default, divides words at spaces. A sentence of a language that writes none is one word to it, and BLEU
of translations that are not perfect is 0.00.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from itertools import islice

from annotated.text.scripts import HAN, KANA, SOUTH_EAST

DEFAULT = "13a"
_OF_LANGUAGES = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"} | dict.fromkeys(("th", "lo", "km", "my", "bo"), "char")
_PACKAGES = {"ja-mecab": ("MeCab", "char"), "ko-mecab": ("mecab_ko", DEFAULT)}
"""What a tokeniser needs, and the one that takes its place where that is not installed."""
_LOOKED_AT = 1000


def tokeniser_of(references: Iterable[str], language: str | None = None) -> str:
    """sacreBLEU's name of the tokeniser for a text.

    Parameters
    ----------
    references
        The first thousand are looked at, where the language is not known.
    language
        Of the references, two letters; None lets their script decide: Chinese, Japanese, Thai, Lao, Khmer, Burmese and
        Tibetan are told by their letters.

    Returns
    -------
    str
        Where a package that it needs is not installed (Japanese: MeCab), "char", which counts characters.
    """
    if language is not None:
        name = _OF_LANGUAGES.get(language.lower(), DEFAULT)
    else:
        text = "".join(islice(references, _LOOKED_AT))
        letters = max(1, sum(map(str.isalpha, text)))
        kana, han, others = (len(script.findall(text)) for script in (KANA, HAN, SOUTH_EAST))
        most = max(han + kana, others) > letters / 2
        name = DEFAULT if not most else "char" if others > han + kana else "ja-mecab" if kana > 0.05 * han else "zh"
    package, instead = _PACKAGES.get(name, ("", ""))
    return instead if package and importlib.util.find_spec(package) is None else name


def divides_words(tokeniser: str) -> bool:
    """Whether a tokeniser is for text whose words are divided by spaces."""
    return tokeniser not in ("char", "zh", "ja-mecab")

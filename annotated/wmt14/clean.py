"""Cleaning of crawled text: one way to write a sentence, and named rules for pairs not worth training on.

Every rule is one that the field uses, is counted by its name, and can be left off (`PreparationOptions.without`).
Where a script writes no spaces, words are counted by characters.

The rules are mild on purpose: the paper trained on "about 4.5 million sentence pairs", and English-German of WMT14 has
4,508,785, so it cannot have taken many out.

A pair counts for the first rule that it breaks, in the order of `RULES`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from annotated.text.normal_form import normalise
from annotated.text.scripts import count_words, longest_word

SCRIPTS: Mapping[str, str] = dict.fromkeys(("en", "de", "fr", "es", "it", "nl", "cs", "pl", "pt", "sv", "da"), "Latin")
"""The script that a language is written in; a language that is not here has none, and rule `script` lets it pass."""

_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9]*(?:\s[^<>]*)?/?>|<!--")
_BROKEN = re.compile("[\ufffd\x80-\x84\x86-\x9f]")
_OTHER_SCRIPTS = re.compile(
    "[\u0370-\u1dff\u2c80-\ua71f\ua800-\uab2f\uabc0-\ud7ff\uf900-\ufaff\ufb1d-\ufdff\ufe70-\ufeff]"
)


@dataclass(frozen=True)
class CleaningLimits:
    """The numbers that the rules compare with, and the scripts of the two sides."""

    max_words: int
    max_ratio: float
    max_word_length: int
    scripts: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Rule:
    """One reason to leave a pair out."""

    name: str
    why: str
    breaks: Callable[[str, str, CleaningLimits], bool]
    """(source, target, limits): whether the pair breaks the rule."""


def _empty(source: str, target: str, _: CleaningLimits) -> bool:
    return not source or not target


def _broken(source: str, target: str, _: CleaningLimits) -> bool:
    return any(not side.isascii() and _BROKEN.search(side) for side in (source, target))


def _long(source: str, target: str, limits: CleaningLimits) -> bool:
    return max(count_words(source), count_words(target)) > limits.max_words


def _ratio(source: str, target: str, limits: CleaningLimits) -> bool:
    words = count_words(source), count_words(target)
    return max(words) > limits.max_ratio * min(words)


def _word(source: str, target: str, limits: CleaningLimits) -> bool:
    most = limits.max_word_length
    return any(len(side) > most and longest_word(side) > most for side in (source, target))


def _markup(source: str, target: str, _: CleaningLimits) -> bool:
    return any("<" in side and _TAG.search(side) for side in (source, target))


def _identical(source: str, target: str, _: CleaningLimits) -> bool:
    return source == target


def _script(source: str, target: str, limits: CleaningLimits) -> bool:
    for side, script in zip((source, target), limits.scripts, strict=True):
        if script == "Latin" and not side.isascii():
            others = len(_OTHER_SCRIPTS.findall(side))
            if others and 2 * others > sum(map(str.isalpha, side)):
                return True
    return False


# Changing the code of a rule means raising the version of stage `clean` in `steps.py`: that makes prepared folders
# notice. A rule that is added, removed or moved they notice without it, for the stage's options hold the rules' names.
RULES = (
    Rule("empty", "a side is empty; Moses' clean-corpus-n.perl drops them, and there is nothing to learn", _empty),
    Rule("broken", "a side holds U+FFFD or a C1 control character: its bytes were read in a wrong encoding", _broken),
    Rule("long", "a side has more than max_words words; Moses' and fairseq's recipes for WMT14 cut at 250", _long),
    Rule("ratio", "one side has more than max_ratio times the words of the other; Moses' default is 9", _ratio),
    Rule("word", "a word has more than max_word_length characters: an address or encoded data, no word", _word),
    Rule("markup", "a side holds a tag of HTML: not a sentence but a page; OpusFilter's HtmlTagFilter", _markup),
    Rule(
        "identical",
        "both sides are equal: not translated; Ott et al. (2018) trace bad wide beams to copies",
        _identical,
    ),
    Rule("script", "most letters of a side are not of its language's script: another language, in a crawl", _script),
)
"""The rules in the order in which they are tried."""

NOT_UTF8 = "not UTF-8"
"""Counted beside the rules, and cannot be left off: a line that is no text."""


@dataclass
class Cleaned:
    """A block of pairs after cleaning."""

    text: bytes = b""
    """The pairs kept: source, tab, target, line end; UTF-8."""
    read: int = 0
    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    """Pairs left out, by the name of the rule."""
    changed: int = 0
    """Pairs kept of which `normalise` changed a side."""


def clean_block(block: tuple[bytes, bytes], limits: CleaningLimits, without: tuple[str, ...] = ()) -> Cleaned:
    """Clean some lines of the two sides.

    Parameters
    ----------
    block
        Lines of the sources and as many of the targets, joined by line ends.
    without
        Rules to leave off. Without the rule `empty`, an empty side stays.
    """
    rules = [(rule.name, rule.breaks) for rule in RULES if rule.name not in without]
    result, kept = Cleaned(), []
    for source, target in zip(*map(_lines, block), strict=True):
        result.read += 1
        if source is None or target is None:
            result.dropped[NOT_UTF8] += 1
            continue
        left, right = normalise(source), normalise(target)
        for name, breaks in rules:
            if breaks(left, right, limits):
                result.dropped[name] += 1
                break
        else:
            result.changed += left != source or right != target
            kept.append(f"{left}\t{right}\n")
    result.kept, result.text = len(kept), "".join(kept).encode()
    return result


def _lines(side: bytes) -> list[str] | list[str | None]:
    """The lines of a block; None for one that is not UTF-8."""
    try:
        return side.decode().split("\n")
    except UnicodeDecodeError:
        return [_decoded(line) for line in side.split(b"\n")]


def _decoded(line: bytes) -> str | None:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return None

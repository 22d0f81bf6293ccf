"""Names in a class: of people, and of exercises in the names of files and folders, in the spellings that occur."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_ID = re.compile(r"(?:^|(?<=[\W_]))ex([0-9]{2})[-_]([0-9]{1,3})(?![0-9])", re.I)
_DASHES = r"[\s._\-\u2010-\u2015\u2212]"
_LOOSE = re.compile(
    rf"(?:^|(?<=[\W_]))ex(?:er|erc|ercise)?s?{_DASHES}*([0-9]{{1,4}})(?:{_DASHES}+([0-9]{{1,3}}))?(?![0-9])", re.I
)
_TRY = re.compile(r"(?:[ _]?\([0-9]+\)|-[0-9]+)?")
_COPY = re.compile(r"[ _-]?(?:\([0-9]+\)|Copy[0-9]*)$", re.I)
_NUMBERED = re.compile(r"[_-][0-9]{1,2}$")
_EDGES = " _-.,\u2010\u2011\u2012\u2013\u2014\u2015"
_FILLERS = frozenset(
    "answer answers assignment attempt backup checkpoint class classroom copia copie copy corrected course done "
    "download downloads draft drive early ex exercise exercises fertig file files final finished fixed handed "
    "homework hw kopie lab late lösung main master my neu new notebook of old on ontime part resubmission revised "
    "sheet solution solutions solved submission submissions submit submitted task tasks time try untitled "
    "updated v version von week work working works".split()
)
"""Words in names of files and folders that are no person's."""
_HOMEWORK = re.compile(r"(?:hw|homework)\d*", re.I)
"""Left out beside a name, as in `hw5_ada`."""
_ROUND_A_NAME = re.compile(
    r"(?:hw|homework|assignment|exercise|solutions?|submission|final|draft|notebook|answers?|copy|kopie)\d*", re.I
)
"""Left out beside a name that stands alone elsewhere, as in `ada_final` beside `ada`."""
_DAY = re.compile(r"\d{4}[-_.]\d\d[-_.]\d\d")
_DATE = re.compile(r"^\d{4}-\d\d-\d\d[\s_-]+")
_SECTION = re.compile(r"(?:sec|section|group|gruppe|class|klasse|tutorial|tutor|kurs|seminar|period|cohort)\b", re.I)
_DRIVE = re.compile(r"-\d{8}T\d{6}Z(?:-\d+)+$")
"""How Google Drive names the archive of a folder."""
_SUFFIXES = re.compile(
    r"(?:\.(?:ipynb|pyw?|zip|txt|pdf|html?|docx?|odt|md|json|csv|tar|t?gz|xz|bz2|rar|7z|png|jpe?g|gif|r|rmd))+$", re.I
)
_ONE_OF_MANY = re.compile(r"(?:submission|attempt|try|version|v)[\W_]*\d+", re.I)
_AFTER_A_COMMA = {"jr", "jr.", "sr", "sr.", "ii", "iii", "iv", "phd", "md"}


def display_name(text: str) -> str:
    """A person's name in one form of Unicode, first name first, with single spaces."""
    text = " ".join(unicodedata.normalize("NFC", text).split())
    last, comma, first = (part.strip() for part in text.partition(","))
    turned = comma and last and first and "," not in first and first.lower() not in _AFTER_A_COMMA
    return f"{first} {last}" if turned else text


def name_key(text: str) -> str:
    """A name for comparison with a list: its letters and digits alone, in small letters."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFC", display_name(text)).casefold())


def is_filler(text: str) -> bool:
    """Whether a part of a name says nothing of a person, such as `Homework`, `Copy of`, `final v2`."""
    words = re.findall(r"[^\W\d_]+", text.lower())
    return bool(words) and all(word in _FILLERS for word in words)


def has_filler(text: str) -> bool:
    """Whether a name has a word in it that says nothing of a person, such as `ada_hw5`."""
    return any(word in _FILLERS for word in re.findall(r"[^\W\d_]+", text.lower()))


def is_wrapper(text: str) -> bool:
    """Whether a folder or archive of this name holds a class: an exercise, or what all hand in."""
    stem = stem_of(text)
    if _ONE_OF_MANY.fullmatch(stem):
        return False
    if _DRIVE.search(stem) or _DAY.fullmatch(stem):
        return True
    named = exercise_in(stem)
    rest = f"{named.before} {named.after}".strip() if named.exercise else stem
    return not rest or is_filler(rest) or rest.casefold() == "student work"


def without_drive(text: str) -> str:
    """The name of a folder that became an archive, whoever made it."""
    return _DRIVE.sub("", stem_of(text))


def is_section(text: str) -> bool:
    """Whether a folder has the name of a part of a class."""
    return bool(_SECTION.match(text))


@dataclass(frozen=True)
class NamedExercise:
    """What a name says: the exercise, and what stands around it.

    Attributes
    ----------
    exact
        Whether it is spelled `ex05-1`, and nothing follows but the number of a further try.
    """

    exercise: str = ""
    before: str = ""
    after: str = ""
    exact: bool = False


def exercise_in(stem: str) -> NamedExercise:
    """The exercise in a name without suffix: `ex05-1`, or one that exists and is spelled like `Exercise 5.1`."""
    stem = unicodedata.normalize("NFC", stem)
    if match := _ID.search(stem):
        exercise, exact = f"ex{match[1]}-{int(match[2])}", bool(_TRY.fullmatch(stem[match.end() :]))
    elif (match := _LOOSE.search(stem)) and (exercise := _existing(match[1], match[2])):
        exact = False
    else:
        return NamedExercise()
    after = re.sub(r"^\s*\(\d+\)(?=\s*\S)", "", stem[match.end() :])  # `ex05-1 (1) - Ada`
    after = "" if _NUMBERED.fullmatch(after) or _COPY.fullmatch(after) else after.strip(_EDGES)
    return NamedExercise(exercise, _person(stem[: match.start()].rstrip(_EDGES)), _person(after), exact)


def _person(text: str) -> str:
    """A name without a date before it, and homework around it."""
    return _without(_HOMEWORK, _DATE.sub("", text))


def without_words(text: str) -> str:
    """A name without the words around it that may be no part of it, such as `ada` for `ada_final`."""
    return _without(_ROUND_A_NAME, text)


def _without(pattern: re.Pattern[str], text: str) -> str:
    words = re.split(r"([\s_-]+)", text)
    while len(words) > 2 and pattern.fullmatch(words[0]):
        del words[:2]
    while len(words) > 2 and pattern.fullmatch(words[-1]):
        del words[-2:]
    return "".join(words)


def stem_of(name: str) -> str:
    """A name without the suffixes of files, such as both in `ex05-1.ipynb.txt`; `Ada.Adler` has none."""
    return _SUFFIXES.sub("", name) or name


def without_number(name: str, stems: Collection[str] = ()) -> str:
    """The stem of a name without the number of a further try, such as ` (2)`, `-Copy1`, or `-2` beside one without."""
    stem = _COPY.sub("", stem_of(name))
    shorter = _NUMBERED.sub("", stem)
    return shorter if shorter in stems else stem


def _existing(chapter: str, number: str | None) -> str:
    """The one exercise that two numbers, or the digits of both, can mean; empty if there is none, or more than one."""
    cuts = [(chapter, number)] if number else [(chapter[:i], chapter[i:]) for i in (1, 2)]
    pairs = [(int(a), int(b)) for a, b in cuts if a and b]
    found = {f"ex{a:02}-{b}" for a, b in pairs} & _known_exercises()
    return found.pop() if len(found) == 1 else ""


def _known_exercises() -> frozenset[str]:
    from annotated_grader.exercise.catalogue import exercises_folder  # takes seconds; only odd names need it

    return _ids_in(str(exercises_folder()))


@cache
def _ids_in(folder: str) -> frozenset[str]:
    names = (place.parent.name for place in Path(folder).glob("ex*/exercise.md"))
    return frozenset(f"ex{m[1]}-{int(m[2])}" for name in names if (m := re.match(r"ex(\d\d)_(\d+)", name)))

"""What the project has for each part of the paper: the data of the paper map."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from sphinx.util import logging

from annotated.paper import REASONS, entries, implementations, paper_lines, parse
from annotated_book.pages import BOOK
from annotated_grader.exercise.catalogue import find
from annotated_grader.exercise.exercise import ExerciseError
from page_kit.authoring.source import ROOT, place_of
from page_kit.chapter.front_matter import chapter
from page_kit.chapter.page_facts import chapters_in_order
from page_kit.claims.claim_boxes import KINDS, ledger

PARTS = ("sections", "equations", "figures", "tables")
# These measure and draw; the others are the paper's machine.
AROUND = ("analysis", "viz", "interop")
_log = logging.getLogger(__name__)


@dataclass
class Part:
    """A part of the paper, and what the project has for it; chapters and exercises by page and label."""

    key: str
    title: str
    code: list[str] = field(default_factory=list)
    around: list[str] = field(default_factory=list)
    tests: list[str] = field(default_factory=list)
    chapters: list[str] = field(default_factory=list)
    exercises: list[str] = field(default_factory=list)
    claims: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    reason: str = ""
    """Why there is no code, if there is none."""
    gaps: list[str] = field(default_factory=list)

    @property
    def kind(self) -> str:
        """'sections', 'equations', 'figures' or 'tables'."""
        first = self.key.partition(" ")[0].lower() + "s"
        return first if first in PARTS else "sections"


def treated(env: Any, docname: str) -> list[str]:
    """The parts of the paper that a chapter treats, as keys of `annotated.paper.entries`; complains about others."""
    keys = []
    for text in map(str, chapter(env, docname).get("paper") or []):
        key = f"section {text}" if text[0].isdigit() else text
        if key in entries():
            keys.append(key)
        else:
            _log.warning(f"chapter.paper: the paper has no {key}", location=docname, type="paper_map")
    return keys


def exercises(env: Any, docname: str) -> list[str]:
    """The labels of a page's exercises."""
    found = getattr(env, "sphinx_exercise_registry", {})
    return sorted(label for label, entry in found.items() if entry["docname"] == docname)


def _listed(keys: list[str]) -> str:
    """'section 3.2.1, 3.2.2 and 3.2.3'."""
    numbers = [key.removeprefix("section ") for key in keys]
    return "section " + (f"{', '.join(numbers[:-1])} and {numbers[-1]}" if numbers[1:] else numbers[0])


def about(label: str) -> list[str]:
    """The parts of the paper that an exercise names as its own; none for an exercise that does not grade itself."""
    try:
        named = find(label).paper
    except ExerciseError:
        return []
    return [f"section {text}" if text[0].isdigit() else text for text in map(str, named)]


def title_of_exercise(env: Any, label: str) -> str:
    """'5.1 Masks': an exercise's place and title; of one that does not grade itself, the title of its box."""
    try:
        exercise = find(label)
    except ExerciseError:
        return str(env.sphinx_exercise_registry[label]["node"].get("title") or label)
    return f"{exercise.place} {exercise.title}"


def without_members(names: list[str]) -> list[str]:
    """Names without methods of the classes among them, and without modules of which something is among them."""

    def has_owner(name: str) -> bool:
        owner = name.rpartition(".")[0]
        return owner in names and _is_class(owner)

    modules = {name for name in names if any(other.startswith(f"{name}.") for other in names)}
    return [name for name in names if not has_owner(name) and (name not in modules or _is_class(name))]


def subject_first(key: str, names: list[str], lines: dict[str, str]) -> list[str]:
    """Objects of a part of the paper, first those whose `Paper:` line, in `lines`, has it as the whole subject.

    A line that names an aspect of the part, 'section 3.1 (auto-regression)' or 'Table 3, row big', comes after those
    that name all of it. For section 3, the model, what is in `annotated.model` comes first. Among equals, a line with
    fewer parts of this kind comes first. Chapters of the book come last.
    """
    kind, _, number = key.rpartition(" ")
    aspect = re.compile(rf"(?<![\d.]){re.escape(number)}(?: *\(|, (?:row|last))")

    def rank(name: str) -> tuple[bool, bool, bool, int, bool]:
        keys = parse(lines[name])
        alike = sum(other.rpartition(" ")[0] == kind for other in keys)
        package = name.split(".")[1]
        beside = kind == "section" and number[0] == "3" and package != "model"
        return name.startswith(BOOK.name), bool(aspect.search(lines[name])), beside, alike, keys[0] != key

    return sorted(names, key=rank)


def _is_class(name: str) -> bool:
    return name.rpartition(".")[2][:1].isupper()


@cache
def test_files() -> dict[str, frozenset[str]]:
    """Each test file of the project, and its words."""
    return {
        str(f.relative_to(ROOT)): frozenset(re.findall(r"\w+", f.read_text(encoding="utf-8")))
        for folder in ("tests", "book")
        for f in sorted((ROOT / folder).rglob("test_*.py"))
    }


def tests_of(names: list[str]) -> list[str]:
    """The test files that mirror the modules of these objects; where there is none, those that name the object."""
    found = set()
    for name in names:
        is_module = _is_module(name)
        folder, _, module = (name if is_module else _module(name)).rpartition(".")
        own = folder.startswith(BOOK.name)
        inside = (
            place_of(folder).as_posix() + "/tests" if own else "tests" + place_of(folder).as_posix()[len("annotated") :]
        )
        mirror = f"{inside}/test_{module}"
        files = {file for file in test_files() if file == f"{mirror}.py" or file.startswith(f"{mirror}_")}
        word = name.rpartition(".")[2]
        if not files and not is_module and len(word) > 7:
            files = {file for file, words in test_files().items() if word in words and "/book/" not in file}
        found |= files
    return sorted(found)


def _is_module(name: str) -> bool:
    place = ROOT / place_of(name)
    return place.is_dir() or place.with_suffix(".py").exists()


def _module(name: str) -> str:
    """The longest beginning of a dotted name that is a file of the library."""
    while not (ROOT / place_of(name)).with_suffix(".py").exists() and "." in name:
        name = name.rpartition(".")[0]
    return name


def build(env: Any) -> dict[str, Part]:
    """The whole map."""
    code, titles, lines = implementations(), entries(), paper_lines() | paper_lines(BOOK)
    for key, names in implementations(BOOK).items():  # what a chapter or a picture adds comes last
        code[key] += names
    parts = {key: Part(key, title) for key, title in titles.items()}
    for docname in chapters_in_order(env):
        keys = treated(env, docname)
        for key in keys:
            parts[key].chapters.append(docname)
        for label in exercises(env, docname):
            for key in about(label) or keys:
                parts[key].exercises.append(label)
    for kind in KINDS:
        for entry in ledger(kind).values():
            for text in entry.paper:
                key = f"section {text}" if text[0].isdigit() else text
                getattr(parts[key], f"{kind}s").append(entry.id)
    for key, part in parts.items():
        names = subject_first(key, without_members(code[key]), lines)
        part.around = [name for name in names if name.split(".")[1] in AROUND]
        part.code = [name for name in names if name not in part.around]
        part.tests = tests_of(code[key])
        below = [k for k in parts if k.startswith(f"{key}.") and code[k]]
        part.reason = "" if names else REASONS.get(key, f"it is in {_listed(below)}" if below else "")
        chapters_below = [k for k in parts if k.startswith(f"{key}.") and parts[k].chapters]
        part.gaps += ["no code yet"] * (not names and not part.reason)
        part.gaps += ["no chapter yet"] * (not part.chapters and not chapters_below)
        exercises_below = [k for k in parts if k.startswith(f"{key}.") and parts[k].exercises]
        part.gaps += ["no exercise yet"] * (bool(part.chapters) and not part.exercises and not exercises_below)
        part.gaps += ["no test yet"] * (bool(names) and not part.tests)
    return parts

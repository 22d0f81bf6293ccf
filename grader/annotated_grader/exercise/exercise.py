"""Exercise, as its folder has it: `exercise.md`, `checks.py`, `bank.yaml`, and `given.py` if it needs one.

`exercise.md` is the only source of what learners see: statement, stub, hints, quiz, solution. `checks.py` holds what is
asked of an answer, `bank.yaml` the known-wrong answers that the checks must tell apart. `answers.py`, if there is one,
holds strangers' answers for the tests of the grader's fairness; neither learners nor wheels get it.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from annotated_grader.exercise.checks import Check, load_checks
from annotated_grader.exercise.options import shuffled
from annotated_grader.sandbox.names import definitions, parsed

ID = re.compile(r"ex(\d\d)-(\d+)")
_LINE = re.compile(r"\S.*[^.\s]")
_CELL = re.compile(
    r"^```\{code-cell\}[^\n]*\n(?::tags:\s*\[(?P<tags>[^\]]*)\]\s*\n)?\n?(?P<code>.*?)^```[ \t]*$", re.M | re.S
)
_SOLUTION = re.compile(
    r"^(?P<indent>[ \t]*)### BEGIN SOLUTION(?:[ \t]+stub:[ \t]*(?P<stub>[^\n]+))?\n"
    r"(?P<body>.*?)^[ \t]*### END SOLUTION[ \t]*\n",
    re.M | re.S,
)
_NEEDED = frozenset("id title line chapter paper kind minutes answers hints quiz".split())
_OPTIONAL = frozenset("forbidden library catches".split())
KINDS = ("predict", "write", "prove", "repair")
DIFFICULTIES = ("easy", "medium", "hard")
_EASY, _MEDIUM = 15, 30  # minutes at most
STRANGERS_ANSWERS = "answers.py"


class ExerciseError(ValueError):
    """An exercise that is not there, or whose files are not as they must be; the message says where."""


@dataclass(frozen=True)
class Cell:
    """A part of `exercise.md`: text, or code with its tags (answer, given, try)."""

    text: str
    code: bool = False
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class WrongAnswer:
    """One entry of the bank.

    Attributes
    ----------
    name, says, claim
        The misconception: its name, what is said to a learner who shares it, and its number in the ledger.
    kind
        `concept` for a wrong idea, `slip` for a technical mistake.
    loses
        Exactly the checks that it loses. `x` means both the public check and its hidden twin, `x:hidden` the twin only.
    code
        The whole answer.
    """

    name: str
    says: str
    kind: str
    loses: tuple[str, ...]
    code: str
    claim: str = ""
    chapter: int | None = None


@dataclass(frozen=True, eq=False)
class Exercise:
    """One exercise; see `catalogue.find` and `catalogue.all_exercises`. `line` says in one line what it asks for."""

    folder: Path
    id: str
    title: str
    line: str
    chapter: str
    paper: tuple[str, ...]
    kind: str
    minutes: int
    answers: tuple[str, ...]
    hints: tuple[str, ...]
    quiz: tuple[dict[str, Any], ...]
    cells: tuple[Cell, ...]
    forbidden: tuple[str, ...] = ()
    library: bool = False
    catches: str = ""

    @property
    def number(self) -> int:
        """The number of its chapter."""
        return int(self.id[2:4])

    @property
    def place(self) -> str:
        """'5.1': its chapter, and its place there."""
        return f"{self.number}.{self.id.partition('-')[2]}"

    @property
    def difficulty(self) -> str:
        """What its minutes suggest: one of `DIFFICULTIES`."""
        return DIFFICULTIES[(self.minutes > _EASY) + (self.minutes > _MEDIUM)]

    @cached_property
    def statement(self) -> str:
        """The task: all text before the first cell of code."""
        texts: list[str] = []
        for cell in self.cells:
            if cell.code:
                break
            texts.append(cell.text)
        return "\n\n".join(texts).strip()

    @cached_property
    def afterwards(self) -> str:
        """What is said with the solution."""
        text = "\n\n".join(cell.text for cell in self.cells if not cell.code)
        return text.partition("## Afterwards")[2].strip()

    @cached_property
    def solution_code(self) -> str:
        """The answer's code with the solution: the cells tagged given and answer, in order."""
        return self._code(solution_of)

    @cached_property
    def stub_code(self) -> str:
        """The same without the solution."""
        return self._code(stub_of)

    def is_untouched(self, code: str) -> bool:
        """Whether all that is asked for is in this code as the stub has it; layout and comments do not count."""
        stub, mine = _normal_forms(self.stub_code), _normal_forms(code)
        return bool(mine) and all(mine.get(name, stub.get(name)) == stub.get(name) for name in self.answers)

    def _code(self, transform: Any) -> str:
        cells = (c.text for c in self.cells if c.code and {"answer", "given"} & set(c.tags))
        return "\n\n".join(transform(text).strip("\n") for text in cells) + "\n"

    @cached_property
    def given_code(self) -> str:
        """The code of `given.py`, or nothing."""
        file = self.folder / "given.py"
        return file.read_text(encoding="utf-8") if file.is_file() else ""

    @cached_property
    def checks(self) -> tuple[Check, ...]:
        """What is asked of an answer, in order."""
        return load_checks(self.folder / "checks.py")

    @cached_property
    def points_public(self) -> int:
        """What the public checks are worth together."""
        return sum(check.points for check in self.checks)

    @cached_property
    def points_hidden(self) -> int:
        """What their hidden twins are worth together."""
        return sum(check.hidden for check in self.checks)

    @cached_property
    def bank(self) -> tuple[WrongAnswer, ...]:
        """The known-wrong answers."""
        file = self.folder / "bank.yaml"
        try:
            entries = read_yaml(file.read_text(encoding="utf-8")) or []
        except yaml.YAMLError as error:
            raise ExerciseError(f"{file}: {error}") from error
        return tuple(
            _wrong_answer(entry, self.solution_code, f"{file}, entry {i}") for i, entry in enumerate(entries, 1)
        )


def _normal_forms(code: str) -> dict[str, str]:
    """What code defines at its top level, each in a form that knows neither layout nor comments."""
    return {name: ast.dump(node) for name, node in definitions(parsed(code)).items()}


def read_yaml(text: str) -> Any:
    """The values of a YAML text, by libyaml where PyYAML has it, which takes a sixth of the time."""
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def solution_of(code: str) -> str:
    """A cell's code with the solution in it, without the marks around it."""
    return _SOLUTION.sub(lambda match: match["body"], code + "\n").rstrip("\n") + "\n"


def stub_of(code: str) -> str:
    """A cell's code with a stub where the solution was."""

    def stub(match: re.Match[str]) -> str:
        return match["indent"] + (match["stub"] or 'raise NotImplementedError("your code here")') + "\n"

    return _SOLUTION.sub(stub, code + "\n").rstrip("\n") + "\n"


def parse(text: str, folder: Path) -> Exercise:
    """Read the text of an `exercise.md`.

    Raises
    ------
    ExerciseError
        If it lacks something; the message says what.
    """
    opening, _, rest = text.partition("---\n")
    front, mark, body = rest.partition("\n---\n")
    if opening.strip() or not mark:
        raise ExerciseError("it must begin with front matter between two lines of ---")
    data = (read_yaml(front) or {}).get("exercise") or {}
    if unknown := set(data) - _NEEDED - _OPTIONAL:
        raise ExerciseError(f"unknown keys: {', '.join(sorted(unknown))}")
    if missing := _NEEDED - set(data):
        raise ExerciseError(f"missing keys: {', '.join(sorted(missing))}")
    if not ID.fullmatch(str(data["id"])):
        raise ExerciseError(f"its id is {data['id']!r}; expected one like ex05-1")
    if data["kind"] not in KINDS:
        raise ExerciseError(f"its kind is {data['kind']!r}; expected one of {', '.join(KINDS)}")
    if not _LINE.fullmatch(str(data["line"])):
        raise ExerciseError(f"its line is {data['line']!r}; expected what it asks for, in one line without a full stop")
    values: dict[str, Any] = {key: data[key] for key in ("id", "title", "line", "chapter", "kind", "minutes")}
    values |= {key: tuple(data.get(key) or ()) for key in ("paper", "answers", "forbidden", "hints", "quiz")}
    values["quiz"] = tuple(map(_question, values["quiz"]))
    values["minutes"] = int(values["minutes"])
    values |= {"library": bool(data.get("library", False)), "catches": str(data.get("catches", ""))}
    return Exercise(folder=folder, cells=tuple(_cells(body)), **values)


def _question(data: Any) -> Any:
    """A question with its options in an order that tells nothing; what is wrong with its form, `verify` says."""
    try:
        return data | {"options": shuffled(data["question"], data["options"], lambda option: str(option["text"]))}
    except (KeyError, TypeError):
        return data


def _cells(body: str) -> list[Cell]:
    cells, position = [], 0
    for match in _CELL.finditer(body):
        if before := body[position : match.start()].strip():
            cells.append(Cell(before))
        tags = tuple(tag.strip() for tag in (match["tags"] or "").split(",") if tag.strip())
        cells.append(Cell(match["code"].rstrip() + "\n", True, tags))
        position = match.end()
    if after := body[position:].strip():
        cells.append(Cell(after))
    return cells


def _wrong_answer(entry: dict[str, Any], solution: str, where: str) -> WrongAnswer:
    unknown = set(entry) - {"name", "says", "kind", "loses", "code", "edit", "claim", "chapter"}
    if missing := {"name", "says", "kind", "loses"} - set(entry):
        raise ExerciseError(f"{where}: missing keys {sorted(missing)}")
    if unknown or ("code" in entry) == ("edit" in entry):
        raise ExerciseError(f"{where}: unknown keys {sorted(unknown)}" if unknown else f"{where}: give code or edit")
    code = entry.get("code") or solution
    for old, new in entry.get("edit", []):
        if code.count(old) != 1:
            raise ExerciseError(f"{where}: {old!r} occurs {code.count(old)} times in the solution, not once")
        code = code.replace(old, new)
    if entry["kind"] not in ("concept", "slip"):
        raise ExerciseError(f"{where}: its kind is {entry['kind']!r}; expected concept or slip")
    says = " ".join(str(entry["says"]).split())
    return WrongAnswer(
        entry["name"],
        says,
        entry["kind"],
        tuple(entry["loses"]),
        code,
        str(entry.get("claim", "")),
        entry.get("chapter"),
    )

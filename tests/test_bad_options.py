"""Bad options: whatever is typed in the place of a value or a path, a command answers in one line, and writes nothing.

The cases are made, not listed: options and the types of their values come from the help texts, and what lines name from
`tests.command_lines`, which has a line for each command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotated.cli import main
from tests.command_lines import COMMANDS, READS, contents, filled, leaves, make_places

LINES = {name: words for name, words in (COMMANDS | READS).items() if "--" not in name}
ANYWHERE = ("https://example.org/x.tsv", "*.tsv")
BAD = {
    "INT": ("many", "-1", "1e3", "99999999999999999999", "3.5", ""),
    "FLOAT": ("many", "-1", "nan", "1e999", ""),
    "PATH": ("", *ANYWHERE),
    "CHOICE": ("nonsense", ""),
    "STR": ("",),
}
"""What is no value of a type. Of a text nothing is known but that it is not empty."""
PLACES = {
    "text": ("missing.tsv", "folder", *ANYWHERE),
    "many": ("missing.tsv", "folder", *ANYWHERE),
    "model": ("missing", "file", *ANYWHERE),
    "run": ("missing", "file", *ANYWHERE),
    "class": ("missing", *ANYWHERE),
    "answer": ("missing.py", "folder", *ANYWHERE),
    "book": ("missing.csv", "folder", *ANYWHERE),
    "canvas": ("missing.csv", "folder", *ANYWHERE),
    "moodle": ("missing.csv", "folder", *ANYWHERE),
    "roster": ("missing.csv", "folder", *ANYWHERE),
    "out": ANYWHERE,
}
"""What cannot stand where a line names a file or a folder."""
AS_TRAIN = ("preflight", "dry-run")
"""Commands with the configurations of `train`."""
FOREIGN = re.compile(
    r"Traceback|invalid literal|could not convert|instantiated|no type matching|Could not parse|Errno|object has no "
    r"attribute|unexpected keyword|not supported between|NoneType|expected non-negative|Overflow|[╭│]|--debug shows"
)
"""Words of Python's, torch's or tyro's."""


def options(text: str) -> Iterator[tuple[str, str]]:
    """The options of a help text, and the type of what each takes; switches take nothing."""
    # Two columns of options stand beside each other, with or without a frame.
    for name, value in re.findall(r"[│ ] (?:-\w \w+, )?(--[\w.-]+) ([A-Z][\w-]*|[{\[].*?[}\]])(?=\s)", text):
        yield name, value if value in BAD else "CHOICE" if value.startswith("{") else "STR"


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return make_places(tmp_path_factory.mktemp("given"))


@pytest.fixture(scope="module")
def helps() -> dict[str, str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "500")
        return dict(leaves())


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a file and a folder in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("mine")
    return tmp_path


def assert_refused(words: list[str], names: tuple[str, ...], here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = contents(here)
    status = main(words)
    shown = capsys.readouterr()
    failed = [line for line in shown.out.splitlines() if line.startswith("fail ")]  # of preflight's table
    *_, last = [*failed, *shown.err.splitlines()] or [""]
    assert status in (1, 2), (words, status)
    assert last.startswith(("annotated: ", "fail ")) and not FOREIGN.search(shown.err), (words, shown)
    assert any(name in last for name in names), (words, last)
    assert contents(here) == before, words


@pytest.mark.parametrize("command", [name for name in LINES if not name.startswith("export ")])
def test_a_value_that_is_none(command: str, places, helps, here: Path, capsys) -> None:
    """Each option refuses something that is no value of its type, the options in turn; the first of a type, all."""
    seen: set[str] = set()
    line = filled(LINES[command], places, here / "out", places["trained"])
    for number, (option, kind) in enumerate(options(helps[command])):
        if "." in option and command in AS_TRAIN:
            continue
        bad = BAD[kind]
        chosen = bad[number % len(bad) :][:1] if kind in seen else bad
        seen.add(kind)
        for value in chosen:
            assert_refused([*line, option, value], (option,), here, capsys)


@pytest.mark.parametrize("command", [name for name, words in LINES.items() if any("{" in word for word in words)])
def test_a_path_that_is_none(command: str, places, here: Path, capsys) -> None:
    """Whatever a line names is missing, a folder in the place of a file or the reverse, an address, or a pattern."""
    line = filled(LINES[command], places, here / "out", places["trained"])
    for at, word in enumerate(LINES[command]):
        for bad in PLACES.get(word.strip("{}"), ()) if word.startswith("{") else ():
            assert_refused([*line[:at], bad, *line[at + 1 :]], (bad, line[at - 1]), here, capsys)


def test_the_options_are_found(helps: dict[str, str]) -> None:
    """A help text whose form has changed would leave nothing to test."""
    train = dict(options(helps["train"]))
    assert (train["--training.seed"], train["--training.clip-norm"]) == ("INT", "FLOAT")
    assert train["--model.norm"] == "CHOICE"
    for command in AS_TRAIN:
        same = {option: kind for option, kind in options(helps[command]) if "." in option}
        assert same == {option: kind for option, kind in train.items() if "." in option}
    assert len(train) > 50 and dict(options(helps["evaluate"]))["--output"] == "PATH"
    assert "{None}|" not in "".join(helps.values())

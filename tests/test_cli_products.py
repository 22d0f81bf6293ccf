"""Commands of other products: found where they are installed, and named with their package where they are not."""

from __future__ import annotations

import importlib.metadata
import re
import sys
from dataclasses import dataclass
from types import ModuleType
from typing import Annotated, Any

import pytest
import tyro

from annotated.cli import main, products


@dataclass
class Hello:
    """Greet."""

    def run(self) -> int:
        print("hello")
        return 0


def hello() -> Any:
    return Annotated[Hello, tyro.conf.subcommand("hello")]


def nowhere(name: str) -> Any:
    raise importlib.metadata.PackageNotFoundError(name)


def install(monkeypatch: pytest.MonkeyPatch, **commands: str) -> None:
    """Let these commands, and no others, be installed."""
    module = ModuleType("some_product")
    module.hello = hello  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "some_product", module)
    found = [importlib.metadata.EntryPoint(name, value, products.GROUP) for name, value in commands.items()]
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: found if group == products.GROUP else [])
    monkeypatch.setattr(importlib.metadata, "distribution", nowhere)


def test_commands_of_other_products_are_the_last_of_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    (listed,) = re.findall(r"^usage: annotated .*\{([\w,-]+)\}", capsys.readouterr().out)
    assert listed.startswith("data,train,") and listed.endswith(",table3,exercise,doctor")


@pytest.mark.parametrize(
    "words", [["exercise", "list"], ["exercise"], ["doctor", "ours"], ["doctor", "--help"], ["table3"]]
)
def test_a_command_that_is_not_installed_names_its_package_in_one_line(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install(monkeypatch)
    assert main(words) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1
    package = "annotated-book" if words[0] == "table3" else "annotated-grader"
    assert said.err.startswith(f"annotated: the command {words[0]} is in the package {package}, which is")


def test_the_list_has_what_is_installed_and_the_commands_of_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install(monkeypatch, hello="some_product:hello")
    assert main(["hello"]) == 0 and capsys.readouterr().out == "hello\n"
    assert main(["--help"]) == 0
    said = capsys.readouterr().out
    assert " hello " in said and " doctor " not in said


def test_the_librarys_own_commands_look_for_no_other(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install(monkeypatch, broken="no_such_module:command")
    assert main(["info", "--help"]) == 0
    assert main(["broken"]) == 1 and "no_such_module" in capsys.readouterr().err

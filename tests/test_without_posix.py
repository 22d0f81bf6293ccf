"""Other systems: all that wants no sandbox works where the names that only POSIX has are missing, as on Windows.

One process takes the steps (`tests.without_posix`), on Windows itself as they are; each test reads what one came to.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.without_posix import BREAK, Narrowed

pytestmark = [pytest.mark.slow, pytest.mark.process]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> dict[str, Any]:
    """What each step came to: status, output and messages of a command."""
    folder = tmp_path_factory.mktemp("windows")
    command = [sys.executable, "-m", "tests.without_posix", str(folder)]
    done = subprocess.run(command, cwd=repository, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "seen.json").read_text(encoding="utf-8"))


@pytest.mark.skipif(sys.platform == "win32", reason="it is Windows")
def test_what_is_taken_away_is_what_windows_lacks() -> None:
    import os

    narrowed = Narrowed(os)
    for name in ("fork", "getuid", "register_at_fork", "setsid", "killpg", "sysconf"):
        assert hasattr(os, name) and not hasattr(narrowed, name)
    assert narrowed.name == "nt" and narrowed.replace is os.replace and narrowed.getpid() == os.getpid()


def test_every_module_is_imported(seen) -> None:
    assert seen["modules"] == {}


def test_a_command_watches_for_interrupts(seen) -> None:
    assert seen["version"][0] == 0 and seen["version"][1].startswith("annotated ")


def test_a_sentence_is_translated(seen) -> None:
    status, translation, said = seen["translate"]
    assert (status, translation.split(), said) == (0, ["Die", "Katze", "schläft."], "")


def test_a_training_run_goes_on_where_it_ended(seen) -> None:
    for step, updates in (("train", 2), ("resume", 4)):
        status, folder, said = seen[step]
        assert status == 0 and Path(folder.strip()).name == "model" and said.startswith(f"{updates} updates, ")


def test_ctrl_break_asks_a_training_run_to_stop(seen) -> None:
    assert seen["break"] == signal.Signals(BREAK).name


def test_what_a_pipe_cannot_encode_is_escaped(seen) -> None:
    status, out, said = seen["list"]
    assert (status, said) == (0, "") and "\\u221a" in out


def test_an_exercise_is_started_and_checked(seen) -> None:
    assert seen["start"][0] == 0 and Path(seen["start"][1].strip()).name == "ex05-1.ipynb"
    status, report, _ = seen["check"]
    assert status == 1 and report.startswith("0 of 10 public points: the answer is not written yet")
    status, report, _ = seen["check an answer"]
    assert status == 1 and report.startswith("8 of 10 public points") and "empty rows are nan" in report


def test_the_doctor_examines_a_model(seen) -> None:
    status, report, _ = seen["doctor"]
    assert status == 0 and "3 passed" in report


def test_grading_is_refused_in_one_line_that_names_wsl(seen) -> None:
    status, out, said = seen["grade"]
    assert (status, out) == (1, "") and len(said.splitlines()) == 1
    assert said.startswith("annotated: grading wants Linux") and "WSL" in said

"""Attacks on the grader: none earns a point that it should not, reaches anything, leaves anything, or stops the others.

All are graded in one run, with honest submissions between them; each test then looks at what came of one.
"""

from __future__ import annotations

import csv
import os
import socket
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from annotated_grader.exercise import catalogue
from annotated_grader.instructor.grade_folder import GradingOptions, grade_folder
from annotated_grader.instructor.gradebook import Graded
from annotated_grader.sandbox import isolation
from tests.grader.sandbox import attacks
from tests.grader.sandbox.attacks import ATTACKS, FILES, FULL, Attack

pytestmark = [pytest.mark.slow, pytest.mark.process]


@dataclass(frozen=True)
class Outcome:
    """What the run left behind."""

    top: Path
    level: str
    expected: dict[str, int]
    graded: dict[str, Graded]
    connections: int
    before: dict[str, bytes]


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outcome]:
    """The class, graded."""
    try:
        level = isolation.best_level()
    except isolation.NotIsolated as error:
        warnings.warn(f"no attack was tried: {error}", stacklevel=1)
        pytest.skip(f"no isolation here: {error}")
    top = tmp_path_factory.mktemp("attacks")
    with pytest.MonkeyPatch.context() as patch, socket.create_server(("127.0.0.1", 0)) as server:
        patch.setenv(catalogue.PLACE, str(attacks.make_exercise(top / "exercises")))
        patch.setenv("SECRET_OF_THE_GRADER", attacks.SECRET)
        expected = attacks.make_class(top / "class", attacks.facts_for(top, server.getsockname()[1]))
        before = contents(top)
        options = GradingOptions(level, salt=attacks.SECRET, limits=attacks.LIMITS)
        run = grade_folder(top / "class", top / "out", options)
        server.setblocking(False)
        connections = 0
        while connections < 100:
            try:
                server.accept()[0].close()
            except BlockingIOError:
                break
            connections += 1
        yield Outcome(top, level, expected, {one.student: one for one in run.graded}, connections, before)


def contents(top: Path) -> dict[str, bytes]:
    """The exercises and the submissions, byte by byte, as far as they have less than 100 MB."""
    files = [path for name in ("exercises", "class") for path in (top / name).rglob("*") if path.is_file()]
    return {str(path): path.read_bytes() for path in files if path.stat().st_size < 10**8}


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_attack_earns_and_reaches_nothing(outcome: Outcome, attack: Attack) -> None:
    if outcome.level != "bubblewrap" and not attack.weaker:
        pytest.skip(f"isolation is {outcome.level}, which does not claim to stop: {attack.tries}")
    graded = outcome.graded[attack.name]
    assert graded.score == attack.score, graded
    assert "REACHED" not in graded.output, graded.output


@pytest.mark.parametrize(
    ("name", "status", "reason"),
    [
        ("loop_at_top", "timeout", "the file: TimeoutError: it took longer than"),
        ("loop_in_function", "timeout", "TimeoutError: it took longer than"),
        ("exit_at_top", "died", "the process ended"),
        ("parser_bomb", "student_error", "the file: "),
        ("forged_replies", "died", "no longer answers"),
        ("huge_tensor", "ok", "RuntimeError"),
    ],
)
def test_the_status_says_how_it_ended(outcome: Outcome, name: str, status: str, reason: str) -> None:
    graded = outcome.graded[name]
    assert graded.status == status
    assert reason in graded.note + graded.checks[0]["message"]


@pytest.mark.parametrize("name", FILES)
def test_bad_file_gets_zero_and_a_reason(outcome: Outcome, name: str) -> None:
    graded = outcome.graded[name]
    assert (graded.score, graded.status, bool(graded.note)) == (0, "student_error", True), graded


def test_honest_submissions_between_them_get_everything(outcome: Outcome) -> None:
    honest = {name: graded.score for name, graded in outcome.graded.items() if "+honest" in name}
    assert len(honest) >= 5
    assert set(honest.values()) == {FULL}, honest


def test_everybody_is_in_the_gradebook(outcome: Outcome) -> None:
    with (outcome.top / "out" / "gradebook.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["student"].removeprefix("'"): row for row in csv.DictReader(file)}
    scores = {name: int(row["score"]) for name, row in rows.items()}
    unclaimed = {attack.name for attack in ATTACKS if outcome.level != "bubblewrap" and not attack.weaker}
    assert {k: v for k, v in scores.items() if k not in unclaimed} == {
        k: v for k, v in outcome.expected.items() if k not in unclaimed
    }
    assert not [cell for row in rows.values() for cell in row.values() if cell.startswith(("=", "+", "-", "@"))]


def test_nothing_outside_was_changed_made_or_connected_to(outcome: Outcome) -> None:
    assert contents(outcome.top) == outcome.before
    assert not (outcome.top / "outside").exists()
    assert sorted(path.name for path in outcome.top.iterdir()) == ["class", "exercises", "out"]
    assert not [
        path for folder in ("/", "/tmp", "/var/tmp", "/usr/lib", "/etc") for path in Path(folder).glob("*evil*")
    ]
    assert outcome.connections == 0


def processes_of_graders() -> list[bytes]:
    """Sandboxes that this process started and has not ended, and strangers' processes that nobody owns any more."""
    left = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command, status = (process / "cmdline").read_bytes(), (process / "stat").read_text()
            uid = int((process / "status").read_text().partition("Uid:")[2].split()[0])
        except OSError:
            continue  # it ended meanwhile
        parent = int(status.rpartition(")")[2].split()[1])
        # Others may be grading at this moment: their workers have a living parent, and it is not this process.
        ours = b"worker.py" in command or b"bwrap" in command or "(bwrap)" in status
        if ours and (parent == os.getpid() or (parent == 1 and uid != os.getuid())):
            left.append(command)
    return left


def test_no_process_is_left_not_even_a_zombie(outcome: Outcome) -> None:
    end = time.monotonic() + 10  # of a grader that was killed next door, the kernel is still ending the children
    while (left := processes_of_graders()) and time.monotonic() < end:
        time.sleep(0.2)
    assert not left


def test_what_strangers_wrote_is_shown_as_text(outcome: Outcome) -> None:
    page = (outcome.top / "out" / "results" / f"markup_{attacks.EXERCISE}.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;" in page
    assert "<script" not in page
    assert "\x1b" not in (outcome.top / "out" / "run.log").read_text(encoding="utf-8")


def test_the_table_names_every_attack(outcome: Outcome) -> None:
    table = attacks.table({name: graded.__dict__ for name, graded in outcome.graded.items()})
    assert len(table.splitlines()) == 2 + len(ATTACKS) + len(FILES)

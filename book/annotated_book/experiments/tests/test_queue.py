"""The queue of the runs: by need, shared between processes, resumed after any kill; a stub stands for the training."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from annotated.locks import exclusive_lock
from annotated_book.experiments.queue import TAKEN, Queue, Run
from annotated_book.experiments.settings import SIZES
from annotated_book.results.table_3.records import (
    claim_file,
    close_rows,
    cpu_seconds,
    needed_runs,
    pooled_deviation,
    recorded_runs,
    run_name,
    separation,
)

pytestmark = [pytest.mark.process, pytest.mark.skipif(os.name != "posix", reason="signals of other systems")]

CHOSEN = next(iter(SIZES.values()))
STUB = """
import signal, sys, time
from pathlib import Path
from annotated_book.experiments.runs_file import read_runs, write_run
row, seed, records, name, state, steps, pause = sys.argv[1:8]
stopping = []
signal.signal(signal.SIGTERM, lambda *_: stopping.append(1))
state, records = Path(state), Path(records)
state.parent.mkdir(parents=True, exist_ok=True)
try:
    import fcntl
    claim = Path(sys.argv[8]); claim.parent.mkdir(parents=True, exist_ok=True)
    file = claim.open("a"); fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    sys.exit(75)
if name in read_runs(records):  # recorded between the queue's look and the claim
    sys.exit(0)
step = int(state.read_text()) if state.exists() else 0
starts = state.with_suffix(".starts")
starts.write_text(str(step) + "\\n" + (starts.read_text() if starts.exists() else ""))
while step < int(steps):
    time.sleep(float(pause)); step += 1
    draft = state.with_suffix(".draft"); draft.write_text(str(step)); draft.replace(state)
    if stopping: sys.exit(143)
loss = 4 + int(seed) / 100 + len(row)
write_run(records, name, {"row": row, "seed": int(seed), "valid_loss": loss, "steps": step})
"""
"""A trainer of a few steps, each of which is its checkpoint."""


def records_of(folder: Path) -> Path:
    return folder / "runs.jsonl"


def stub(folder: Path, steps: int = 2, pause: float = 0.02) -> Callable[[Run], list[str]]:
    """The command of a run that trains nothing."""

    def command(run: Run) -> list[str]:
        record = records_of(folder), run_name(*run, CHOSEN)
        state, claim = folder / "states" / f"{run[0]}-{run[1]}", claim_file(*run, CHOSEN, folder / "work")
        return [sys.executable, "-c", STUB, *map(str, (*run, *record, state, steps, pause, claim))]

    return command


def queue(folder: Path, rows: tuple[str, ...] = ("base", "C1"), **how: Any) -> Queue:
    def needed() -> Iterator[Run]:
        return needed_runs(recorded_runs(CHOSEN, records_of(folder)), rows, 2, 0)

    return Queue(needed, lambda run: claim_file(*run, CHOSEN, folder / "work"), stub(folder, **how), pause=0.02)


def losses(**rows: list[float | None]) -> dict[tuple[str, int], dict[str, Any]]:
    return {(row, seed): {"valid_loss": one} for row, found in rows.items() for seed, one in enumerate(found)}


def test_every_row_gets_its_first_seed_before_any_gets_its_second() -> None:
    needed = list(needed_runs({}))
    assert needed[:2] == [("base", 0), ("A1", 0)] and needed[20] == ("base", 1) and len(needed) == 60
    assert list(needed_runs(losses(base=[4.0], C1=[4.0, 4.1]), rows=("C1", "base"))) == [
        ("base", 1), ("base", 2), ("C1", 2)
    ]  # fmt: skip


def test_base_and_close_rows_get_five_seeds_and_others_three() -> None:
    runs = losses(base=[4.00, 4.02, 4.04], C1=[4.50, 4.52, 4.54], C3=[4.05, 4.03, 4.07], E1=[4.06, 4.07, 4.08])
    # Deviations 0.02, 0.02, 0.02, 0.01: pooled 0.018. C3 is 0.03 away, E1 0.05, C1 0.50.
    assert pooled_deviation([[4.00, 4.02, 4.04]]) == pytest.approx(0.02)
    assert pooled_deviation([[4.0, 4.2], [5.0, 5.1, 5.2]]) == pytest.approx(math.sqrt((0.02 + 0.02) / 3))
    assert close_rows(runs) == ["C3"]
    rows = ("base", "C1", "C3", "E1")
    assert list(needed_runs(runs, rows)) == [("base", 3), ("C3", 3), ("base", 4), ("C3", 4)]
    assert list(needed_runs({k: v for k, v in runs.items() if k != ("C1", 2)}, rows)) == [("C1", 2)]


def test_which_rows_are_close_does_not_change_with_further_runs() -> None:
    """With a fourth run of base its mean falls by 0.055, and C3 is farther away than two deviations of all four."""
    runs = losses(base=[4.00, 4.02, 4.04, 3.80], C1=[4.50, 4.52, 4.54], C3=[4.05, 4.03, 4.07], E1=[4.06, 4.07, 4.08])
    assert close_rows(runs) == ["C3"]
    assert list(needed_runs(runs, ("base", "C1", "C3", "E1"))) == [("C3", 3), ("base", 4), ("C3", 4)]


def test_a_run_that_diverged_is_done_and_has_no_loss() -> None:
    runs = losses(base=[4.0, 4.1, 4.2], C3=[None, None, None])
    assert [run for run in needed_runs(runs, ("base", "C3")) if run[0] == "C3"] == []


def test_cpu_seconds_are_those_of_runs_without_a_stop() -> None:
    whole, cut = {"starts": 1, "cpu_seconds": 600.0}, {"starts": 2, "cpu_seconds": 20.0}
    assert cpu_seconds([whole, cut, {"starts": 1, "cpu_seconds": 700.0}]) == 650
    assert cpu_seconds([cut, {"starts": 3, "cpu_seconds": 50.0}]) == 50


def test_separation_by_hand() -> None:
    # Both deviations are 0.1, the means 0.6 apart.
    assert separation([4.0, 4.1, 4.2], [4.6, 4.7, 4.8]) == pytest.approx(6.0)
    assert separation([4.6, 4.7, 4.8], [4.0, 4.1, 4.2]) == pytest.approx(-6.0)


def test_the_queue_makes_what_is_needed_and_then_ends(tmp_path: Path) -> None:
    assert queue(tmp_path).run(hours=1, jobs=2)
    assert set(recorded_runs(CHOSEN, records_of(tmp_path))) == {(row, s) for row in ("base", "C1") for s in (0, 1)}


def test_a_run_that_fails_is_not_tried_again(tmp_path: Path) -> None:
    one = queue(tmp_path)
    good = one.command
    one.command = lambda run: ["false"] if run[0] == "C1" else good(run)
    assert not one.run(hours=1, jobs=1)
    assert one.failed == {("C1", 0), ("C1", 1)} and len(recorded_runs(CHOSEN, records_of(tmp_path))) == 2


def test_time_over_stops_a_run_which_then_goes_on(tmp_path: Path) -> None:
    state = tmp_path / "states" / "base-0"
    for seconds in (0.6, 4, 16, 64):  # on a busy machine a run may not have begun after the shortest
        assert not queue(tmp_path, ("base",), steps=1000, pause=0.05).run(hours=seconds / 3600, jobs=1)
        if state.exists():
            break
    reached = int(state.read_text())
    assert 0 < reached < 1000 and not recorded_runs(CHOSEN, records_of(tmp_path))
    assert queue(tmp_path, ("base",), steps=1000, pause=0.001).run(hours=1, jobs=1)
    assert str(reached) in (tmp_path / "states" / "base-0.starts").read_text().split()


PROGRAM = """
import sys
sys.path.insert(0, {tests!r})
from pathlib import Path
from test_queue import queue
queue(Path({folder!r}), ("base",), steps=1_000_000, pause=0.05).run(hours=1, jobs=1)
"""


def test_a_killed_queue_and_a_killed_run_leave_a_state_from_which_the_next_goes_on(tmp_path: Path) -> None:
    program = PROGRAM.format(tests=str(Path(__file__).parent), folder=str(tmp_path))
    process = subprocess.Popen([sys.executable, "-c", program])
    state = tmp_path / "states" / "base-0"
    deadline = time.monotonic() + 300
    while not (state.exists() and int(state.read_text()) >= 3) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.kill()  # no handler runs: the run of the stub goes on without its queue
    process.wait()
    children = [int(p.name) for p in Path("/proc").glob("[0-9]*") if str(state) in _words(p)]
    assert len(children) == 1
    os.kill(children[0], signal.SIGKILL)
    reached = int(state.read_text())
    assert reached >= 3 and not recorded_runs(CHOSEN, records_of(tmp_path))
    assert queue(tmp_path, ("base",), steps=reached + 5, pause=0.001).run(hours=1, jobs=2)
    assert len(recorded_runs(CHOSEN, records_of(tmp_path))) == 2
    assert int((tmp_path / "states" / "base-0.starts").read_text().split()[0]) >= reached


def _words(process: Path) -> str:
    try:
        return (process / "cmdline").read_text()
    except OSError:
        return ""


def test_two_queues_share_the_work_and_make_no_run_twice(tmp_path: Path) -> None:
    both = [queue(tmp_path, pause=0.05, steps=4) for _ in range(2)]
    other = threading.Thread(target=lambda: subprocess.run([sys.executable, "-c", SECOND.format(
        tests=str(Path(__file__).parent), folder=str(tmp_path))], check=True))  # fmt: skip
    other.start()
    both[0].run(hours=1, jobs=1)
    other.join()
    assert len(recorded_runs(CHOSEN, records_of(tmp_path))) == 4
    starts = [path.read_text().split() for path in (tmp_path / "states").glob("*.starts")]
    assert starts == [["0"]] * 4


SECOND = PROGRAM.replace('("base",), steps=1_000_000', "steps=4")
assert SECOND != PROGRAM


def test_a_claimed_run_is_left_to_its_holder(tmp_path: Path) -> None:
    one = queue(tmp_path, ("base",))
    with exclusive_lock(one.claim(("base", 0))):
        done = subprocess.run(one.command(("base", 0)))
        assert done.returncode == TAKEN
        assert one._next() == ("base", 1)
    assert one._next() == ("base", 0)

"""SIGKILL at twenty random moments on one process: what comes out is what an undisturbed run gives, bit for bit.

A moment is chosen in one of three ways: by the clock, by the update, or by the change of a file (so that saving,
tidying up and preparing are hit as surely as the updates between them). Each run is killed four times before it may
end.
"""

from __future__ import annotations

import random
import re
import shutil
import signal
import time

import pytest

from annotated.runs import TrainingMonitor, latest_checkpoint, list_checkpoints, read_records
from tests.full_run.processes import Faults, Setting, assert_same_end, leftovers

pytestmark = [pytest.mark.slow, pytest.mark.process]

KILLS = 4
SECONDS, UPDATES, OPERATIONS = 1.2, 14, 60
"""Bounds of the random moments: short enough that a run of 60 updates lives to be killed four times."""


def killed_somewhere(setting: Setting, rng: random.Random) -> bool:
    """Start, or go on with, the run 'killed', and kill it at a random moment; False if it ended before that came."""
    way = rng.choice(["clock", "update", "file"])
    if way == "update":
        faults = Faults(kill_at_update=rng.randint(1, UPDATES))
    elif way == "file":
        faults = Faults(kill_at_operation=rng.randint(1, OPERATIONS))
    else:
        faults = Faults(pause=SECONDS / UPDATES)
    running = setting.start("killed", faults)
    if way == "clock":
        time.sleep(rng.uniform(0.0, SECONDS))
        running.kill()
    status = running.wait()
    assert status in (0, -signal.SIGKILL), running.said()
    return status != 0


@pytest.mark.parametrize("seed", range(5))
def test_killed_at_random_moments_it_ends_like_a_run_that_was_not(setting, whole, seed):
    rng = random.Random(seed)
    folder = setting.folder / "killed"
    kills = 0
    while kills < KILLS:
        if not killed_somewhere(setting, rng):
            shutil.rmtree(folder)  # it was faster than its end: another one
            continue
        kills += 1
        # At every moment the folder holds the old or the new: each checkpoint that has its name is whole.
        assert latest_checkpoint(folder)[1] == []
    setting.finish("killed")
    assert_same_end(whole, folder)
    assert leftovers(folder) == []


@pytest.mark.parametrize("steps", [4, 23])
def test_the_message_counts_the_updates_that_are_made_again(setting, steps):
    running = setting.start("killed", Faults(kill_at_update=steps))
    assert running.wait() == -signal.SIGKILL
    folder = setting.folder / "killed"
    known = max(record["update"] for record in read_records(folder))
    assert known in (steps - 1, steps - 2), "the line of an update follows its step, by one at most"
    saved = max((int(path.name.removeprefix("update-")) for path in list_checkpoints(folder)), default=0)
    assert saved in ((0,) if steps == 4 else (15, 20)), "a checkpoint may still be on its way to the disk"
    assert TrainingMonitor(folder).poll().lost >= known - saved
    said = setting.finish("killed", updates=steps + 2)
    after = f"going on from update-{saved:09d}" if saved else "no checkpoint had been saved"
    assert after in said
    counted = re.search(r"(\d+) updates?(?: after it)? (?:are|is) lost and made again", said)
    assert counted and int(counted[1]) == known - saved, said


def test_killed_after_the_last_update_it_only_finishes(setting, whole):
    folder = setting.folder / "killed"
    running = setting.start("killed", Faults(kill_at_update=60))
    assert running.wait() == -signal.SIGKILL
    before = setting.finish("killed")
    assert "going on from" in before
    assert_same_end(whole, folder)
    # Once more on a finished run: nothing is trained again, and nothing changes.
    again = setting.start("killed")
    assert again.wait() == 0 and again.done()[0] == 0
    assert_same_end(whole, folder)

"""Several processes under `torchrun`: killed, stopped, and gone on with by another number of them.

Everything here is real: the agent, its workers, their interpreters. A run of two processes that lost a worker ends
bit for bit like one that did not: the sum of two gradients does not depend on who is first, a checkpoint holds all
there is, and the second process draws its masks by the number of the update. One process adds up in another order than
two, so a run that goes on with another number of processes, and without dropout, ends the same to rounding.
"""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from annotated.runs import list_checkpoints, read_records
from tests.full_run.agents import Agent, ended, starts, updates_made
from tests.full_run.processes import Setting, assert_same_end, learning

pytestmark = [
    pytest.mark.slow,
    pytest.mark.process,
    pytest.mark.skipif(not torch.distributed.is_available(), reason="this torch has no torch.distributed"),
]

UPDATES = 300
TWO = ("--standalone", "--nproc-per-node", "2", "--monitor-interval", "0.2")


@pytest.fixture
def steady(setting: Setting) -> Setting:
    """Long enough to be disturbed, and without dropout, whose masks depend on who has which sentence."""
    # Small steps: what rounding did to the first updates (1e-7) does not grow into another model by the last.
    training = setting.training.replace(updates=UPDATES, checkpoint_every=10, validate_every=100, warmup=400)
    training = training.replace(learning_rate_scale=0.1)
    return setting.replace(model=setting.model.replace(dropout=0.0), training=training)


def assert_close_end(one: Path, other: Path) -> None:
    """Two runs made the same updates, to the rounding of another order of sums."""
    first, second = (load_file(run / "model" / "model.safetensors") for run in (one, other))
    for name in first:
        torch.testing.assert_close(second[name], first[name], rtol=1e-3, atol=1e-5)
    for before, after in zip(learning(one), learning(other), strict=True):
        assert (before["kind"], before["update"]) == (after["kind"], after["update"])
        assert before.get("tokens_seen") == after.get("tokens_seen")
        number = "loss" if before["kind"] == "train" else "valid_loss"
        assert before[number] == pytest.approx(after[number], rel=1e-5)


def test_a_worker_is_killed_and_the_agent_starts_both_again(steady):
    steady = steady.replace(model=steady.model.replace(dropout=0.1))  # the masks too are those of the whole run
    steady.finish_together("whole", 2)
    with ended([]) as agents:
        agents.append(agent := Agent(steady, "killed", (*TWO, "--max-restarts", "2")))
        for number, rank in enumerate((1, 0), start=1):
            agent.until_update(15 + 40 * number)
            os.kill(agent.workers()[rank], signal.SIGKILL)
            agent.until(lambda: len(starts(agent.folder)) > number, f"restart {number}")  # noqa: B023
            assert starts(agent.folder)[-1]["processes"] == 2
        assert agent.wait() == 0, agent.said()
    again = re.findall(r"going on from update-0*(\d+)", agent.said())
    assert len(again) == 2, "each death costs one start: the new processes do not call the dead ones' numbers"
    assert all(int(update) >= 40 for update in again)
    assert_same_end(steady.folder / "whole", agent.folder)


def test_the_agent_is_told_to_stop_and_one_process_goes_on(steady):
    with ended([]) as agents:
        agents.append(agent := Agent(steady, "stopped", TWO, updates=100_000))
        agent.until_update(25)
        agent.process.send_signal(signal.SIGTERM)
        assert agent.wait() != 0, "torchrun's own status for a run that was ended by a signal"
    made = updates_made(agent.folder)
    assert f"stopped by SIGTERM after update {made}, which is saved" in agent.said()
    assert list_checkpoints(agent.folder)[-1].name == f"update-{made:09d}"
    assert read_records(agent.folder)[-1] | {"elapsed": 0} == {
        "kind": "end", "update": made, "finished": False, "stopped_by": "SIGTERM", "elapsed": 0
    }  # fmt: skip
    updates = made + 15  # however late the stop came
    said = steady.finish("stopped", updates=updates)
    assert f"going on from update-{made:09d}: {made} of {updates} updates made" in said
    assert [start["processes"] for start in starts(agent.folder)] == [2, 1]
    steady.finish("alone", updates=updates)
    assert_close_end(steady.folder / "alone", agent.folder)

"""Two hosts, one of them cut off for a while: network namespaces, a switch, and the cable pulled.

Nobody tells the others when a cable is pulled: packets are simply gone. What notices is the time that an exchange may
take (`training.peer_timeout`), here ten seconds in the place of ten minutes.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from annotated.runs import list_checkpoints, read_records
from tests.full_run.agents import Agent, ended, starts, updates_made
from tests.full_run.namespaces import Host, options, two_hosts, why_not
from tests.full_run.processes import Setting, assert_same_end, leftovers

pytestmark = [pytest.mark.slow, pytest.mark.net, pytest.mark.process]

PATIENCE = 10.0
"""Seconds for an exchange."""


@pytest.fixture
def hosts() -> Iterator[tuple[Host, Host]]:
    if reason := why_not():
        message = f"NOT TESTED: two hosts, for this process may not make network namespaces ({reason})"
        warnings.warn(message, stacklevel=1)
        pytest.skip(message)
    with two_hosts() as both:
        yield both


@pytest.fixture
def steady(setting: Setting) -> Setting:
    training = setting.training.replace(updates=200, checkpoint_every=10, validate_every=100)
    return setting.replace(model=setting.model.replace(dropout=0.0), training=training)


def join(setting: Setting, host: Host, first: Host) -> Agent:
    torchrun = (*options(host, first), "--max-restarts", "3", "--monitor-interval", "0.5")
    environment = {"GLOO_SOCKET_IFNAME": "eth0"}
    return Agent(setting, "run", torchrun, prefix=host.prefix, environment=environment, peer_timeout=PATIENCE)


def test_a_host_is_cut_off_and_back_and_the_run_ends_where_it_would_have(steady, hosts):
    first, second = hosts
    folder = steady.folder / "run"
    with ThreadPoolExecutor(1) as waiting, ended([]) as agents:
        agents += [join(steady, host, first) for host in hosts]
        agents[0].until_update(25)
        second.pull_cable()
        whole = waiting.submit(steady.finish_together, "whole", 2)  # meanwhile, the run that nothing disturbs
        time.sleep(PATIENCE + 3)
        made = updates_made(folder)
        assert 25 <= made < 200, "without its partner it makes no update"
        assert [agent.process.poll() for agent in agents] == [None, None], "both agents wait for each other"
        saved = list_checkpoints(folder)[-1]
        second.plug_cable()
        assert [agent.wait() for agent in agents] == [0, 0], agents[0].said()
    assert [start["processes"] for start in starts(folder)] == [2, 2]
    assert saved.name == f"update-{starts(folder)[1]['update']:09d}", "it went on from the last checkpoint"
    assert read_records(folder)[-1]["finished"] is True
    whole.result()
    assert_same_end(steady.folder / "whole", folder)
    assert leftovers(folder) == []

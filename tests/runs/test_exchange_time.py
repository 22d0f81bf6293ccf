"""Time of an exchange: measured between real processes, and by hand what it says about more of them."""

from __future__ import annotations

import dataclasses
import json
import multiprocessing
import os
from pathlib import Path

import pytest
import torch

from annotated.config import TrainingConfig
from annotated.runs.dry_run import DryRun, Range, dry_run
from annotated.runs.exchange_time import ExchangeTimes, count_nodes, time_exchange
from annotated.runs.preflight.checking import preflight
from annotated.runs.preflight.exchange import check_exchange, seconds_of_one_process, speed_up
from annotated.speed.machine.distributed import Processes, process_group
from tests.runs.conftest import SmallRun
from tests.runs.test_dry_run import MEASURED
from tests.speed.steps.test_exchange import in_processes

pytestmark = pytest.mark.process

needs_fork = pytest.mark.skipif(
    not torch.distributed.is_available() or "fork" not in multiprocessing.get_all_start_methods(),
    reason="needs torch.distributed with gloo, and fork",
)
BASE = 252_000_000
ALONE = dataclasses.replace(MEASURED, devices=1, seconds_per_update=Range(0.034, 0.035, 0.036))
"""One process, 35 ms an update."""
NVLINK = ExchangeTimes(8, 1, BASE, {"fp32": 0.002, "bf16": 0.001})
PCIE = ExchangeTimes(8, 1, BASE, {"fp32": 0.022, "bf16": 0.011})
SLOW = ExchangeTimes(2, 1, BASE, {"fp32": 0.030, "bf16": 0.029})
ETHERNET = ExchangeTimes(16, 2, BASE, {"fp32": 0.170, "bf16": 0.085}, {"fp32": 0.002, "bf16": 0.001})
INFINIBAND = ExchangeTimes(16, 2, BASE, {"fp32": 0.0025, "bf16": 0.0015}, {"fp32": 0.002, "bf16": 0.001})


def measure(rank: int, folder: Path, nodes: int) -> None:
    os.environ["LOCAL_WORLD_SIZE"] = str(2 // nodes)
    with process_group("cpu", 60.0) as processes:
        times = time_exchange(processes, 1001)
    (folder / f"{rank}.json").write_text(json.dumps(dataclasses.asdict(times)))


BF16 = "--training.gradient-exchange bf16 would make all of them {} times as fast as one"


@needs_fork
@pytest.mark.parametrize("nodes", [1, 2])
def test_two_processes_time_their_exchange_in_each_type(tmp_path: Path, nodes: int) -> None:
    assert in_processes(2, measure, tmp_path, nodes) == [0, 0]
    times = ExchangeTimes(**json.loads((tmp_path / "0.json").read_text()))
    assert (times.processes, times.nodes, times.gradient_bytes, times.processes_of_node) == (2, nodes, 4004, 2 // nodes)
    assert set(times.seconds) == {"fp32", "bf16"} and min(times.seconds.values()) > 0
    assert set(times.node_seconds) == (set() if nodes == 1 else {"fp32", "bf16"})


def test_one_process_has_nothing_to_time(monkeypatch: pytest.MonkeyPatch) -> None:
    assert time_exchange(Processes(), 1000) is None
    assert check_exchange(TrainingConfig(), ALONE, None) is None
    for local, nodes in (("8", 2), ("16", 1), ("5", 1)):
        monkeypatch.setenv("LOCAL_WORLD_SIZE", local)
        assert count_nodes(16) == nodes


def dry_run_one(rank: int, small: SmallRun) -> None:
    bare = small.training.replace(validate_bleu=0)
    dry_run(small.model, bare, small.data, updates=2, warm_up=0, folder=small.folder / "run")


@needs_fork
def test_a_dry_run_of_two_processes_times_the_exchange_and_keeps_it(small: SmallRun) -> None:
    assert in_processes(2, dry_run_one, small) == [0, 0]
    found = DryRun.load(small.folder / "run")
    assert found.devices == 2 and found.exchange is not None and found.exchange.processes == 2
    assert found.model_bytes - 4 < found.exchange.gradient_bytes <= found.model_bytes
    report = preflight(small.model, small.training, small.data, small.folder / "run")
    assert " of gradients between 2 processes: " in report["exchange"].found


def test_old_records_without_it_are_read(tmp_path: Path) -> None:
    MEASURED.save(tmp_path / "rehearsal.json")
    content = json.loads((tmp_path / "rehearsal.json").read_text())
    del content["exchange"]
    (tmp_path / "rehearsal.json").write_text(json.dumps(content))
    assert DryRun.load(tmp_path) == MEASURED


def test_the_speed_up_by_hand() -> None:
    """35 ms on one: 4.375 ms and the exchange on eight."""
    assert speed_up(0.035, 8, 0.002) == pytest.approx(35 / 6.375)
    assert speed_up(0.035, 8, 0.0) == pytest.approx(8)
    assert speed_up(0.035, 1, 0.0) == 1


def test_what_one_process_computes_is_told_by_any_dry_run() -> None:
    """Eight take 36 ms, 20 of them for the exchange: 8 * 16 ms."""
    assert seconds_of_one_process(ALONE) == 0.035
    assert seconds_of_one_process(MEASURED) is None, "eight, and their exchange was not timed"
    eight = dataclasses.replace(MEASURED, exchange=dataclasses.replace(PCIE, seconds={"fp32": 0.02, "bf16": 0.01}))
    assert seconds_of_one_process(eight) == pytest.approx(8 * 0.016)
    for changes, exchanged in (({"gradient_exchange": "bf16"}, 0.01), ({"overlap_exchange": True}, 0.0)):
        training = TrainingConfig(**changes).to_dict()
        other = dataclasses.replace(eight, configuration={**eight.configuration, "training": training})
        assert seconds_of_one_process(other) == pytest.approx(8 * (0.036 - exchanged))


@pytest.mark.parametrize(
    ("times", "changes", "found", "advice"),
    [
        (NVLINK, {}, "6.38 ms an update with 8, 5.5 times as fast as one", ""),
        (PCIE, {}, "1.3 times as fast as one", "8 processes do the work of 1.3: fewer cost less; " + BF16.format(2.3)),
        (PCIE, {"gradient_exchange": "bf16"}, "exchanges bf16", "8 processes do the work of 2.3: fewer cost less"),
        (SLOW, {}, "0.7 times as fast as one", "2 processes are slower than one: train with one"),
        (
            ETHERNET,
            {},
            "172 ms an update with 16, 0.2 times as fast as one; one node of 8 would be 5.5 times as fast",
            "2 nodes do not pay: train on one node (5.5 times one process)",
        ),
        (INFINIBAND, {}, "4.69 ms", "16 processes do the work of 7.5: fewer cost less; " + BF16.format(9.5)),
    ],
)
def test_whether_more_pay_is_said_in_a_sentence(times, changes, found, advice) -> None:
    check = check_exchange(TrainingConfig(**changes), ALONE, times)
    assert check is not None
    assert check.found.startswith("252.00 MB of gradients between ") and "takes one process 35.0 ms" in check.found
    assert found in check.found and check.advice == advice
    assert check.status == ("warn" if advice else "ok")


def test_without_a_dry_run_only_the_time_is_told() -> None:
    check = check_exchange(TrainingConfig(), None, ETHERNET)
    assert check is not None and check.status == "ok" and "dry-run" in check.advice
    assert "16 processes on 2 nodes: 170 ms in fp32, 85.0 ms in bf16 (inside a node 2.00 ms in fp32" in check.found

"""What every test shares: one thread, a calm hypothesis, and the way to data outside the repository."""

from __future__ import annotations

import os
import signal
import threading
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

# Before torch is imported anywhere: two test processes share two cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import pytest
import torch
from hypothesis import HealthCheck, settings

torch.set_num_threads(1)

# A shell's background jobs ignore Ctrl-C, and so would the commands that a test starts and interrupts.
if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "calm", deadline=None, max_examples=20, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("calm")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real English-German text beside the repository; without it the test is skipped, and says so."""
    folder = ROOT.parent / "shared" / "data" / "en-de"
    if not folder.is_dir():
        message = "no real text at ../shared/data/en-de: this test is skipped"
        warnings.warn(message, stacklevel=1)
        pytest.skip(message)
    return folder


_SPREAD = {"test_pages", "test_lab", "test_bad_moments", "test_every_kind"}
"""Modules whose tests share nothing that is dear to make: each of their tests may go to any process."""


@pytest.hookimpl(optionalhook=True)  # the oldest torch is tested without pytest-xdist
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep the tests of a file in one process, where they share models and records, but for those named above.

    `--dist loadgroup` would say the same, but pytest-xdist 3.8 does not group under pytest 9.
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return nodeid if Path(file).stem in _SPREAD else file

    return ByFile(config, log)


_OTHERS = {"http", "multiprocessing", "process", "signal", "socket", "subprocess", "threading", "urllib"}
"""Modules by which a test has to do with processes (`process`: the sandbox's), threads or servers beside it."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run a failed test once more if something else runs beside it, a browser or another process, which may be late.

    The summary lists each that needed it, as a defect to be mended; one that fails twice has failed.
    """
    if not config.pluginmanager.hasplugin("rerunfailures"):
        return
    for item in items:
        used = {name for name, value in vars(getattr(item, "module", config)).items() if isinstance(value, ModuleType)}
        if "chromium" in getattr(item, "fixturenames", ()) or used & _OTHERS:
            item.add_marker(pytest.mark.flaky(reruns=1))

"""What every test shares: one thread, a calm hypothesis, and the way to data outside the repository."""

from __future__ import annotations

import functools
import os
import re
import signal
import threading
import warnings
from pathlib import Path
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

ROOT = Path(__file__).resolve().parent


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


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import a module of which `-m "not slow ..."` leaves out every test: each process would, for nothing."""
    expression = config.option.markexpr
    if not collection_path.match("test_*.py") or "not " not in expression or " or " in expression:
        return None
    marks = re.search(r"^pytestmark = (.+)$", collection_path.read_text(encoding="utf-8"), re.MULTILINE)
    named = re.findall(r"pytest\.mark\.(\w+)", marks[1]) if marks else []
    return True if {*named} & {*re.findall(r"\bnot (\w+)", expression)} else None


@functools.cache
def _is_spread(file: str) -> bool:
    """Whether a module is marked `spread`. Who shares the tests out sees only their names, and so reads the module."""
    return "pytest.mark.spread" in (ROOT / file).read_text(encoding="utf-8")


@pytest.hookimpl(optionalhook=True)  # the oldest torch is tested without pytest-xdist
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep the tests of a file in one process, where they share models and records, but for those marked `spread`.

    `--dist loadgroup` would say the same, but pytest-xdist 3.8 groups by names that it gives to tests, which pytest 9
    ignores.
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return nodeid if _is_spread(file) else file

    return ByFile(config, log)


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what drives a browser; run a failed test once more if a browser or another process, which may be late, ran
    beside it.

    The summary lists each that needed it, as a defect to be mended; one that fails twice has failed.
    """
    can_rerun = config.pluginmanager.hasplugin("rerunfailures")
    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)
        if can_rerun and (item.get_closest_marker("browser") or item.get_closest_marker("process")):
            item.add_marker(pytest.mark.flaky(reruns=1))

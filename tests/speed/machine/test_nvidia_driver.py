"""The NVIDIA driver: how its version is read, what each build of torch needs, and what a user is told without a GPU.

There is none here. The kernel's file is in the words of real drivers; the tool and the library are stand-ins.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from annotated.speed.machine import nvidia_driver
from annotated.speed.machine.distributed import choose_device, process_group
from annotated.speed.machine.nvidia_driver import NvidiaDriver, explain_missing_gpu, find_driver

CLOSED = (
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\nGCC version:  12.2.0\n"
)
OPEN = (
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  (dvs-builder@U22-I3)  Sun Jul "
    "27 07:07:28 UTC 2025\nGCC version:  gcc version 13.3.0 (Ubuntu 13.3.0-6ubuntu2~24.04)\n"
)


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without a sign of a driver; the file is where its kernel would tell of one."""
    monkeypatch.setattr(nvidia_driver, "_OF_THE_KERNEL", tmp_path / "version")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(nvidia_driver, "_cuda_of_the_library", lambda: None)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    return tmp_path / "version"


def built_for(monkeypatch: pytest.MonkeyPatch, cuda: str | None, version: str) -> None:
    monkeypatch.setattr(torch.version, "cuda", cuda)
    monkeypatch.setattr(torch, "__version__", version)


@pytest.mark.parametrize(("text", "version"), [(CLOSED, "535.104.05"), (OPEN, "580.65.06"), ("", None)])
def test_the_kernel_tells_its_version(bare: Path, text: str, version: str | None) -> None:
    bare.write_text(text, encoding="utf-8")
    assert find_driver() == NvidiaDriver(version, None)


@pytest.mark.parametrize(
    ("script", "version"),
    [
        ("echo 570.86.15; echo 570.86.15", "570.86.15"),
        ("echo 'Failed to initialize NVML: Driver/library version mismatch'; exit 18", None),
        ("echo '[N/A]'", None),
    ],
)
def test_without_its_file_the_tool_is_asked(bare: Path, script: str, version: str | None) -> None:
    tool = bare.parent / "bin" / "nvidia-smi"
    tool.parent.mkdir()
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)
    assert find_driver().version == version


def test_the_library_tells_its_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    """cuDriverGetVersion writes 1000 x major + 10 x minor, and 0 if no driver is loaded."""

    def library(number: int, status: int = 0) -> Any:
        def get(pointer: Any) -> int:
            pointer._obj.value = number
            return status

        return lambda name: SimpleNamespace(cuDriverGetVersion=get)

    for number, status, cuda in ((12020, 0, "12.2"), (13000, 0, "13.0"), (0, 0, None), (12020, 3, None)):
        monkeypatch.setattr(ctypes, "CDLL", library(number, status))
        assert nvidia_driver._cuda_of_the_library() == cuda


@pytest.mark.parametrize(
    ("driver", "cuda", "older"),
    [
        (NvidiaDriver("535.104.05", "12.2"), "13.0", True),
        (NvidiaDriver("575.51.03", None), "13.0", True),
        (NvidiaDriver("580.65.06", None), "13.0", False),
        (NvidiaDriver("580.65.06", None), "13.2", False),  # minor versions of one CUDA run on one driver
        (NvidiaDriver("525.60.13", None), "12.6", False),
        (NvidiaDriver("470.82.01", None), "12.6", True),
        (NvidiaDriver(None, "12.2"), "13.0", True),
        (NvidiaDriver(None, "12.2"), "12.6", False),
        (NvidiaDriver("570.86.15", None), "14.0", True),  # too old for 13 already
        (NvidiaDriver("580.65.06", None), "14.0", None),
        (NvidiaDriver("580.65.06", "13.0"), "14.0", True),
        (NvidiaDriver("640.10.01", "14.1"), "14.0", False),
    ],
)
def test_which_driver_a_torch_needs(driver: NvidiaDriver, cuda: str, older: bool | None) -> None:
    assert driver.found and driver.is_older_than(cuda) is older


def test_a_driver_that_is_too_old_names_all_three_ways_out(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare.write_text(CLOSED, encoding="utf-8")
    monkeypatch.setattr(nvidia_driver, "_cuda_of_the_library", lambda: "12.2")
    built_for(monkeypatch, "13.0", "2.13.0+cu130")
    with pytest.raises(ValueError, match="torch sees no GPU here") as caught:
        choose_device("cuda")
    said = str(caught.value)
    assert "torch 2.13.0+cu130 is built for CUDA 13.0, which needs an NVIDIA driver 580 or newer" in said
    assert "the driver found is 535.104.05 (for CUDA 12.2)" in said
    assert "Install a newer driver; or a torch for driver 525 or newer and GPUs up to Hopper: " in said
    # pip would find that 2.13.0 is there; with the tag it is another version.
    assert "pip install torch==2.13.0+cu126 --index-url https://download.pytorch.org/whl/cu126. Or" in said
    assert said.endswith("Or compute on the CPU: --training.device cpu (of other commands --device cpu)")
    built_for(monkeypatch, "12.6", "2.13.0+cu126")
    assert "whl/" not in explain_missing_gpu().replace("is built", ""), "535 runs CUDA 12.6: no other wheel is needed"


def test_what_an_unknown_cuda_needs_is_not_made_up(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare.write_text(OPEN, encoding="utf-8")
    built_for(monkeypatch, "14.0", "3.0.0+cu140")
    said = explain_missing_gpu()
    assert "whether the driver found, 580.65.06, is new enough is unknown" in said and "that knows CUDA 14.0" in said
    built_for(monkeypatch, "13.0", "2.13.0+cu130")
    assert "the driver found, 580.65.06, is new enough, so" in explain_missing_gpu()


def test_other_reasons_are_told_apart(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built_for(monkeypatch, "13.0", "2.13.0+cu130")
    assert "580 or newer, and none is found here" in explain_missing_gpu()
    bare.write_text(OPEN, encoding="utf-8")
    assert "docker run --gpus all" in explain_missing_gpu(), "the kernel has a driver, this container no library"
    monkeypatch.setattr(nvidia_driver, "_cuda_of_the_library", lambda: "13.0")
    assert "nvidia-smi says more" in explain_missing_gpu()
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert "CUDA_VISIBLE_DEVICES='' hides the GPUs" in explain_missing_gpu()
    built_for(monkeypatch, None, "2.13.0+cpu")
    said = explain_missing_gpu()
    assert "built without CUDA, though an NVIDIA driver is here" in said and "torch==2.13.0+cu130 --index-url" in said


def test_more_processes_than_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    assert choose_device("cuda", 3) == choose_device("auto", 3) == torch.device("cuda", 3)
    with pytest.raises(ValueError, match="GPU 4, but torch sees 4 here.*--nproc-per-node 4"):
        choose_device("cuda", 4)
    with pytest.raises(ValueError, match="GPU 5, but torch sees 4"):
        choose_device("cuda:5")


def test_one_gpu_for_several_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    refused = pytest.raises(
        ValueError, match="'cuda:1' would be the GPU of all 2 processes here; 'cuda' gives each its"
    )
    with refused, process_group("cuda:1", 1.0):
        pass

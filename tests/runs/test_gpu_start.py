"""The start of a training run on a GPU: what has to be so before the first compilation, and what is refused.

There is no GPU here. Stand-ins answer, and raise, as the real calls do. They prove the order of our calls and our
words, and nothing about a GPU.
"""

from __future__ import annotations

import os
import sys
import types
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from annotated.cli.program import _command
from annotated.config import TrainingConfig, base
from annotated.recipes import recipe
from annotated.runs import train
from annotated.runs.dry_run import dry_run
from annotated.runs.preflight import machine, start
from annotated.runs.preflight.machine import check_devices, check_layout, check_precision, check_software
from annotated.runs.preflight.start import (
    COMPILE_THREADS,
    LARGE_FOR_A_CPU,
    accidental_cpu,
    check_start,
    count_weights,
    share_compile_threads,
)
from annotated.runs.setup import _fitted
from annotated.speed.machine import compiler_tools, nvidia_driver
from annotated.speed.machine.nvidia_driver import NvidiaDriver
from tests.runs.conftest import SmallRun


class Reached(Exception):
    """The training began."""


class UnreadyCuda:
    """CUDA as torch has it before and after its first use: peaks can be reset only afterwards."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, ready: bool) -> None:
        self.ready, self.reset = ready, list[int]()
        for name, answer in {
            "is_available": lambda: True,
            "device_count": lambda: 2,
            "is_initialized": lambda: self.ready,
            "reset_peak_memory_stats": self._reset,
            "set_device": self._first_use,
        }.items():
            monkeypatch.setattr(torch.cuda, name, answer)

    def _first_use(self, device: object) -> None:
        if not self.ready:
            raise Reached

    def _reset(self, device: int | None = None) -> None:
        if not self.ready:
            raise RuntimeError(f"Invalid device argument {device}: did you call init?")
        self.reset.append(-1 if device is None else device)


def test_a_dry_run_comes_before_the_first_use_of_cuda(
    small: SmallRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cuda = UnreadyCuda(monkeypatch, ready=False)

    def train(*_: object, **__: object) -> None:
        raise Reached

    monkeypatch.setattr("annotated.runs.dry_run.train", train)
    with pytest.raises(Reached):
        dry_run(small.model, TrainingConfig(device="cuda"), small.data, updates=2, folder=tmp_path)
    assert not cuda.reset
    cuda.ready = True
    with pytest.raises(Reached):
        dry_run(small.model, TrainingConfig(device="cuda"), small.data, updates=2, folder=tmp_path)
    assert cuda.reset == [0, 1], "a second dry run in the process forgets the first one's peaks"


LARGE, SMALL = LARGE_FOR_A_CPU + 1, LARGE_FOR_A_CPU
AUTO = TrainingConfig()
OLD, NONE = NvidiaDriver("535.104.05", "12.2"), NvidiaDriver(None, None)


@pytest.mark.parametrize(
    ("cuda", "driver", "weights", "accident"),
    [
        ("13.0", OLD, LARGE, True),
        ("13.0", OLD, SMALL, True),
        ("13.0", NONE, LARGE, True),
        ("13.0", NONE, SMALL, False),  # a laptop with the torch that pip brings
        (None, OLD, LARGE, True),
        (None, OLD, SMALL, False),
        (None, NONE, LARGE, False),  # somebody chose the CPU with the build
    ],
)
def test_what_is_taken_for_an_accident(
    monkeypatch: pytest.MonkeyPatch, cuda: str | None, driver: NvidiaDriver, weights: int, accident: bool
) -> None:
    machine_of(monkeypatch, cuda, driver)
    assert (accidental_cpu(AUTO, weights) is not None) is accident
    check = check_devices(AUTO, weights)
    assert check.status == ("fail" if accident else "warn" if weights == LARGE else "ok")
    assert accidental_cpu(TrainingConfig(device="cpu"), weights) is None, "typed, so meant"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert accidental_cpu(AUTO, weights) is None


def machine_of(monkeypatch: pytest.MonkeyPatch, cuda: str | None, driver: NvidiaDriver) -> None:
    """A machine without a GPU that torch sees."""
    monkeypatch.setattr(torch.version, "cuda", cuda)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    for module in (start, nvidia_driver):
        monkeypatch.setattr(module, "find_driver", lambda: driver)


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("train", "wmt14-base"), ("dry-run", "wmt14-base"), ("preflight", "wmt14-base"),
        ("train", "wmt14-big-en-fr"),
    ],
)  # fmt: skip
def test_the_papers_trainings_want_a_gpu_unless_a_device_is_typed(
    command: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    machine_of(monkeypatch, "13.0", OLD)
    monkeypatch.setattr("annotated.cli.train.check_pair", lambda preset, data: None)  # as if the data were there
    run = {"train": [str(tmp_path / "run")], "dry-run": [str(tmp_path / "run")], "preflight": []}[command]
    words = [command, *run, "--preset", name]
    asked = _command(words)
    assert asked.training.device == "cuda"
    if command == "preflight":
        assert asked.run() == 1
        said = capsys.readouterr().out
        assert "fail devices" in said
    else:
        with pytest.raises(ValueError, match="torch sees no GPU") as caught:
            asked.run()
        said = str(caught.value)
    for part in ("580 or newer", "535.104.05", "whl/cu126", "--training.device cpu"):
        assert part in said, part
    assert not (tmp_path / "run").exists() or not list((tmp_path / "run").iterdir())
    for typed in ("cpu", "auto"):
        assert _command([*words, "--training.device", typed]).training.device == typed


def test_small_recipes_go_where_they_can() -> None:
    for name in ("wmt14-tiny", "multi30k", "classroom", "classroom-small"):
        assert recipe(name).training.device == "auto"
        assert count_weights(recipe(name).model) < LARGE_FOR_A_CPU
    assert count_weights(recipe("wmt14-base").model) > LARGE_FOR_A_CPU


def test_a_training_of_a_large_model_by_accident_is_refused_before_anything_is_read(
    small: SmallRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine_of(monkeypatch, "13.0", OLD)
    auto = small.training.replace(device="auto", updates=1)
    with pytest.raises(ValueError, match="nobody asked for the CPU, but torch sees no GPU here.*535.104.05"):
        train(base(), auto, small.data, small.folder / "large", quiet=True)
    assert not (small.folder / "large").exists()
    with pytest.warns(UserWarning, match="trained on the CPU: nobody asked for the CPU.*535.104.05"):
        assert train(small.model, auto, small.data, small.folder / "small", quiet=True).finished
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_start(small.model, auto.replace(device="cpu"))
        machine_of(monkeypatch, "13.0", NONE)
        check_start(small.model, auto)


def test_a_training_that_cannot_compile_is_refused_at_its_start(
    small: SmallRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(compiler_tools, "find_spec", lambda name: name)
    monkeypatch.setattr(compiler_tools, "_missing_headers", lambda: "no Python.h in /usr/include")
    monkeypatch.setenv("CC", "/opt/gone/gcc")
    compiling = small.training.replace(device="cuda", compile=True)
    with pytest.raises(ValueError, match=r"CC is '/opt/gone/gcc'.*; no Python.h.*--training.no-compile") as caught:
        train(small.model, compiling, small.data, small.folder / "run", quiet=True)
    assert str(caught.value).startswith("torch.compile on a GPU lacks tools: no C compiler")
    assert not (small.folder / "run").exists()
    check = check_software(compiling)
    assert check.status == "fail" and "no C compiler" in check.found and "no-compile" in check.advice
    assert check_software(compiling.replace(compile=False)).status == "ok"
    check_start(small.model, compiling.replace(compile=False))
    check_start(small.model, compiling.replace(device="cpu"))


def test_processes_with_less_than_a_core_each_are_warned_of_once(
    small: SmallRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    training = small.training.replace(device="cpu")
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "8")
    monkeypatch.setattr(start, "usable_cores", lambda: 7)
    with pytest.warns(UserWarning, match="8 processes share 7 of .* cores.*srun --cpus-per-task"):
        check_start(small.model, training)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        monkeypatch.setenv("LOCAL_RANK", "3")
        check_start(small.model, training)  # the first process of a machine speaks for all
        monkeypatch.delenv("LOCAL_RANK")
        monkeypatch.setattr(start, "usable_cores", lambda: 8)
        check_start(small.model, training)


def test_processes_of_a_machine_share_its_cores_for_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "usable_cores", lambda: 16)
    monkeypatch.setitem(sys.modules, "torch._inductor.config", compiler := types.ModuleType("config"))
    for processes, given, expected in (("8", None, "2"), ("32", None, "1"), ("8", "5", "5"), ("1", None, None)):
        monkeypatch.setenv("LOCAL_WORLD_SIZE", processes)
        monkeypatch.delenv(COMPILE_THREADS, raising=False)
        if given:
            monkeypatch.setenv(COMPILE_THREADS, given)
        share_compile_threads()
        assert os.environ.get(COMPILE_THREADS) == expected
    assert compiler.compile_threads == 1, "also where the compiler was imported before"
    monkeypatch.delenv(COMPILE_THREADS, raising=False)


class Gpu:
    """A GPU of some generation, as torch describes it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, name: str, capability: tuple[int, int]) -> None:
        about = SimpleNamespace(name=name, total_memory=80_000_000_000)
        monkeypatch.setattr(torch.version, "cuda", "13.0")
        for function, answer in {
            "is_available": lambda: True,
            "device_count": lambda: 1,
            "get_device_properties": lambda number: about,
            "get_device_name": lambda number: name,
            "get_device_capability": lambda number: capability,
            "get_arch_list": lambda: "sm_75 sm_80 sm_86 sm_90 sm_100 sm_120 compute_120".split(),
        }.items():
            monkeypatch.setattr(torch.cuda, function, answer)


@pytest.mark.parametrize(
    ("name", "capability", "devices", "precision", "static"),
    [
        ("Tesla V100", (7, 0), "fail", "fail", "fail"),  # CUDA 13 has no kernels for it
        ("Tesla T4", (7, 5), "ok", "fail", "fail"),
        ("A100", (8, 0), "ok", "ok", "ok"),
        ("RTX 4090", (8, 9), "ok", "ok", "ok"),
        ("H100", (9, 0), "ok", "ok", "ok"),
        ("RTX PRO 6000", (12, 0), "ok", "ok", "ok"),
        ("of the future", (13, 0), "ok", "ok", "ok"),  # compute_120 is compiled for it when it is first met
    ],
)
def test_generations_of_gpus(
    monkeypatch: pytest.MonkeyPatch, name: str, capability: tuple[int, int], devices: str, precision: str, static: str
) -> None:
    Gpu(monkeypatch, name, capability)
    training = TrainingConfig(device="cuda", precision="bf16", compile=True)
    found = check_devices(training, 1_000)
    assert found.status == devices and (devices == "ok" or "7.0" in found.found and "whl/cu126" in found.advice)
    found = check_precision(training)
    assert found.status == precision
    if precision == "fail":
        assert f"compute capability {capability[0]}.{capability[1]}" in found.found and "fp16" in found.advice
        emulated = check_precision(training.replace(compile=False))
        assert emulated.status == "warn" and "emulated" in emulated.found and "fp16" in emulated.advice
    found = check_layout(training.replace(layout="static"), base())
    assert found.status == static
    if static == "fail":
        needs = f"8.0 or newer, and this one has {capability[0]}.{capability[1]}"
        assert found.found.startswith("static: ") and needs in found.found and "packed" in found.advice
    chosen = check_layout(training.replace(layout="auto"), base())
    assert chosen.status == "ok" and chosen.found.startswith("packed" if static == "fail" else "static")
    assert check_layout(training.replace(layout="packed"), base()).status == "ok"
    assert check_layout(training.replace(layout="static", precision="fp32"), base()).status == "fail"


@pytest.mark.parametrize(
    ("cuda", "kernels", "capability", "advice"),
    [
        ("13.0", "sm_75 sm_90 sm_120 compute_120", (7, 0), "torch==2.13.0+cu126"),
        ("12.6", "sm_50 sm_80 sm_90", (10, 0), "with driver 580 or newer: pip install torch==2.13.0+cu130"),
        ("13.0", "sm_75 sm_90 sm_120", (13, 0), "Install a newer torch"),
    ],
)
def test_a_gpu_without_kernels_is_refused_by_preflight_and_by_the_training(
    small: SmallRun,
    monkeypatch: pytest.MonkeyPatch,
    cuda: str,
    kernels: str,
    capability: tuple[int, int],
    advice: str,
) -> None:
    Gpu(monkeypatch, "of another time", capability)
    monkeypatch.setattr(torch.version, "cuda", cuda)
    monkeypatch.setattr(torch, "__version__", "2.13.0+cu")
    monkeypatch.setattr(torch.cuda, "get_arch_list", kernels.split)
    on_gpu = small.training.replace(device="cuda")
    check = check_devices(on_gpu, 1_000)
    assert check.status == "fail" and advice in f"{check.found}. {check.advice}"
    with pytest.raises(ValueError, match="has kernels for sm_") as caught:
        train(small.model, on_gpu, small.data, small.folder / "run", quiet=True)
    assert advice in str(caught.value) and not (small.folder / "run").exists()


@pytest.mark.parametrize(("capability", "status"), [((8, 0), "fail"), ((9, 0), "ok")])
def test_fp8_has_its_own_advice(monkeypatch: pytest.MonkeyPatch, capability: tuple[int, int], status: str) -> None:
    Gpu(monkeypatch, "A100 or H100", capability)
    check = check_precision(TrainingConfig(device="cuda", precision="bf16", vocabulary_precision="fp8"))
    assert check.status == status
    if status == "fail":
        assert check.advice == "choose --training.vocabulary-precision same"
    else:
        assert check.found == "bf16, FP8 in the products with the vocabulary"


def test_a_gpu_is_asked_for_before_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    machine_of(monkeypatch, "13.0", OLD)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="torch sees no GPU"):
        _command(["train", "wmt14-base"]).run()
    with pytest.raises(ValueError, match="not a prepared corpus"):
        _command(["train", "wmt14-base", "--training.device", "cpu"]).run()


@pytest.mark.parametrize(("shared", "status"), [(64_000_000, "warn"), (8_000_000_000, "ok"), (None, "ok")])
def test_several_gpus_talk_through_shared_memory(
    monkeypatch: pytest.MonkeyPatch, shared: int | None, status: str
) -> None:
    Gpu(monkeypatch, "A100", (8, 0))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr("torch.distributed.is_nccl_available", lambda: True)
    monkeypatch.setattr(machine, "_shared_memory_bytes", lambda: shared)
    found = check_devices(TrainingConfig(device="cuda"), 1_000)
    assert found.status == status and found.found.startswith("2 x A100, 80")
    assert ("--ipc=host" in found.advice) is (status == "warn")


def test_a_run_on_a_gpu_cuts_its_batches_to_the_memory_that_is_there(
    small: SmallRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    Gpu(monkeypatch, "small", (9, 0))
    on_gpu, asked = SimpleNamespace(device=torch.device("cuda", 0), rank=0, world_size=1), small.training
    on_gpu.all_reduce_numbers = list
    big_model = base(vocab_size=37_000)
    for gigabytes, share, is_cut in ((80, 1.0, False), (6, 1.0, True), (80, 0.075, True)):
        about = SimpleNamespace(total_memory=gigabytes * 10**9)
        monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device, about=about: about)
        monkeypatch.setattr(torch.cuda, "get_per_process_memory_fraction", lambda device, share=share: share)
        fitted = _fitted(asked.replace(batch_tokens=25_000), big_model, on_gpu)
        assert (fitted.micro_batch_tokens is not None) == is_cut
    on_cpu = SimpleNamespace(device=torch.device("cpu"))
    assert _fitted(asked, big_model, on_cpu) == asked

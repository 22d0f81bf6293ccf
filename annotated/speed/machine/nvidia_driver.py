"""NVIDIA driver of this machine, the driver that torch needs, and why torch sees no GPU or has no kernels for it."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import torch

OLDEST_DRIVER = {11: "450", 12: "525", 13: "580"}
"""By the major version of CUDA that a torch is built for: the oldest driver on which all its minor versions run
(https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html)."""
WHEEL, OLDER_WHEEL = "cu130", "cu126"
"""Published builds of torch 2.11-2.14: for driver 580 or newer; for older ones, and GPUs from Maxwell to Hopper."""
_OF_THE_KERNEL = Path("/proc/driver/nvidia/version")
_SECONDS = 20.0  # nvidia-smi takes some on a machine of eight GPUs that nobody uses


class NvidiaDriver(NamedTuple):
    """What is known of a driver without CUDA; None where there is no sign of it."""

    version: str | None
    """Of the kernel's module: '535.104.05'."""
    cuda: str | None
    """The newest CUDA that its library knows: '12.2'."""

    @property
    def found(self) -> bool:
        """Whether there is any sign of a driver."""
        return self.version is not None or self.cuda is not None

    def __str__(self) -> str:
        if self.version is None:
            return "none" if self.cuda is None else f"one for CUDA {self.cuda}"
        return self.version if self.cuda is None else f"{self.version} (for CUDA {self.cuda})"

    def is_older_than(self, cuda: str) -> bool | None:
        """Whether it is too old for a torch that is built for this CUDA; None if that is not known.

        A CUDA newer than those of `OLDEST_DRIVER` needs at least what the newest of these needs.
        """
        major = int(cuda.split(".")[0])
        if self.version is not None:
            known = max((one for one in OLDEST_DRIVER if one <= major), default=None)
            if known is not None and int(self.version.split(".")[0]) < int(OLDEST_DRIVER[known]):
                return True
            if known == major:
                return False
        return None if self.cuda is None else int(self.cuda.split(".")[0]) < major


def find_driver() -> NvidiaDriver:
    """The driver, asked of the kernel, else of nvidia-smi, and of the driver's library; none of it starts CUDA."""
    return NvidiaDriver(_version_of_the_kernel() or _version_of_the_tool(), _cuda_of_the_library())


def explain_missing_gpu() -> str:
    """Why torch sees no GPU, as far as can be known, and the ways out, in sentences without an end stop."""
    driver, built = find_driver(), torch.version.cuda
    on_cpu = "compute on the CPU: --training.device cpu (of other commands --device cpu)"
    if torch.version.hip is not None:
        return f"torch {torch.__version__} is built for ROCm {torch.version.hip} and sees no AMD GPU. Or {on_cpu}"
    if built is None:
        has = f"though an NVIDIA driver is here, {driver}" if driver.found else "and no NVIDIA driver is found here"
        return (
            f"torch {torch.__version__} is built without CUDA, {has}. Install one with CUDA, for driver "
            f"{OLDEST_DRIVER[13]} or newer: {wheel_command(WHEEL)}; for driver {OLDEST_DRIVER[12]} or newer and GPUs "
            f"up to Hopper: {wheel_command(OLDER_WHEEL)}. Or {on_cpu}"
        )
    needs = f"torch {torch.__version__} is built for CUDA {built}, which needs an NVIDIA driver {_needed(built)}"
    if not driver.found:
        return f"{needs}, and none is found here. Take a machine with a GPU and such a driver. Or {on_cpu}"
    older = driver.is_older_than(built)
    if older:
        other = (
            f"; or a torch for driver {OLDEST_DRIVER[12]} or newer and GPUs up to Hopper: {wheel_command(OLDER_WHEEL)}"
        )
        newer = f"Install a newer driver{other if int(built.split('.')[0]) > 12 else ''}"
        return f"{needs}; the driver found is {driver}. {newer}. Or {on_cpu}"
    enough = "whether {} is new enough is unknown; if so, {}" if older is None else "{} is new enough, so {}"
    return f"{needs}; {enough.format(f'the driver found, {driver},', _hidden(driver))}. Or {on_cpu}"


def gpu_without_kernels(numbers: Iterable[int]) -> str | None:
    """One of these GPUs for which this torch has no kernels, and what to do; None if there is none.

    `torch.cuda.is_available` says yes to every GPU that the driver knows. The first kernel then fails.
    """
    built = torch.cuda.get_arch_list()  # sm_75: for GPUs 7.5 to 7.9; compute_90: for all from 9.0 on
    if torch.version.cuda is None or not built:
        return None
    for number in numbers:
        capability = torch.cuda.get_device_capability(number)
        if not any(_runs_on(kernels, capability) for kernels in built):
            return (
                f"{torch.cuda.get_device_name(number)} has compute capability {_dotted(capability)}, and torch "
                f"{torch.__version__} has kernels for {', '.join(built)} only. {_other_build(built, capability)}"
            )
    return None


def _other_build(built: Sequence[str], capability: tuple[int, int]) -> str:
    if capability < min(map(_capability, built)):
        return f"Install a build with older kernels: {wheel_command(OLDER_WHEEL)}"
    if int(str(torch.version.cuda).split(".")[0]) < 13:
        return f"Install a build with newer kernels, with driver {OLDEST_DRIVER[13]} or newer: {wheel_command(WHEEL)}"
    return "Install a newer torch"


def _runs_on(kernels: str, capability: tuple[int, int]) -> bool:
    first = _capability(kernels)
    return first <= capability and (kernels.startswith("compute") or first[0] == capability[0])


def _capability(kernels: str) -> tuple[int, int]:
    number = kernels.rstrip("af").partition("_")[2]
    return int(number[:-1]), int(number[-1])


def _dotted(capability: tuple[int, int]) -> str:
    return ".".join(map(str, capability))


def wheel_command(tag: str) -> str:
    """What installs this release of torch in another build, over the one that is there.

    Without the tag behind the release pip would find that it is there already.
    """
    release = torch.__version__.split("+")[0]
    return f"pip install torch=={release}+{tag} --index-url https://download.pytorch.org/whl/{tag}"


def _needed(cuda: str) -> str:
    oldest = OLDEST_DRIVER.get(int(cuda.split(".")[0]))
    return f"{oldest} or newer" if oldest else f"that knows CUDA {cuda}"


def _hidden(driver: NvidiaDriver) -> str:
    """What hides a GPU whose driver is good."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return f"CUDA_VISIBLE_DEVICES={visible!r} hides the GPUs: unset it, or name some that `nvidia-smi -L` lists"
    if driver.cuda is None:
        return (
            "its library libcuda cannot be loaded, as in a container that was started without GPUs: docker run --gpus "
            "all; in Kubernetes a limit of nvidia.com/gpu; in Slurm --gpus-per-node"
        )
    return (
        "the GPUs are out of order, or not this process's to use: nvidia-smi says more, and so does "
        'python -c "import torch; torch.cuda.init()"'
    )


def _version_of_the_kernel() -> str | None:
    try:
        text = _OF_THE_KERNEL.read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    found = re.search(r"NVRM version:.*?\b(\d{3,}(?:\.\d+)+)", text)
    return found[1] if found else None


def _version_of_the_tool() -> str | None:
    """What nvidia-smi says; on Windows and in WSL the kernel's file is not there."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return None
    command = [tool, "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.match(r"\s*(\d{3,}(?:\.\d+)+)", said)
    return found[1] if found else None


def _cuda_of_the_library() -> str | None:
    """What the driver's library calls its version, which it tells without being started."""
    try:
        library = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
        number = ctypes.c_int(0)
        if library.cuDriverGetVersion(ctypes.byref(number)) != 0 or number.value == 0:
            return None
    except (OSError, AttributeError):
        return None
    return f"{number.value // 1000}.{number.value % 1000 // 10}"

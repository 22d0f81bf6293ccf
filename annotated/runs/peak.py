"""How fast a device can multiply matrices, measured: what a training's speed is a fraction of.

Data sheets quote rates that no program reaches. This one is reached, by one large product of the kind that a
Transformer is made of, so a training's share of it says how much is lost on everything else.

Paper: section 6.1 and Table 2 estimate FLOPs from such a rate, sustained
"""

from __future__ import annotations

import functools
import time

import torch

SIZES = {"cpu": 512, "cuda": 8192}
"""Rows and columns of the matrices: large enough to be fast, small enough to take no time."""
_DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
_SECONDS = 0.1
_MOST = 20


def peak_flops(device: torch.device | str, precision: str = "fp32") -> float | None:
    """Floating-point operations a second in a matrix product, two for each multiplication with addition.

    The best of as many products as fit into a tenth of a second, with as many threads as the process has. No random
    number is drawn, so a training that measures it is the same training.

    Parameters
    ----------
    device
        To measure.
    precision
        'fp32', 'bf16' or 'fp16', as `TrainingConfig.precision`.

    Returns
    -------
    float or None
        None if the device cannot do it.

    Paper: section 6.1, Table 2
    """
    return _measured(str(torch.device(device)), precision, torch.get_num_threads())


@functools.lru_cache(maxsize=16)
def _measured(name: str, precision: str, threads: int) -> float | None:
    device = torch.device(name)
    size = SIZES.get(device.type, SIZES["cpu"])
    try:
        # Not all the same number: a GPU draws less power on constant data, and runs faster than it ever will.
        values = torch.arange(size * size, device=device, dtype=torch.float32).mul_(0.618).frac_().sub_(0.5)
        left = values.view(size, size).to(_DTYPES[precision])
        right, out = left.t().contiguous(), torch.empty_like(left)
        best, began = float("inf"), time.perf_counter()
        for number in range(_MOST + 1):
            _wait(device)
            start = time.perf_counter()
            torch.mm(left, right, out=out)
            _wait(device)
            took = time.perf_counter() - start
            if number:  # the first one warms up
                best = min(best, took)
            if number and time.perf_counter() - began > _SECONDS:
                break
    except (RuntimeError, NotImplementedError):  # no memory left, or no such product on this device
        return None
    return 2 * size**3 / best


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)

"""The states of all random number generators, as JSON, so that a resumed run draws what it would have drawn."""

from __future__ import annotations

import base64
import random
from typing import Any

import numpy as np
import torch
from torch import Tensor


def seed_everything(seed: int) -> None:
    """Seed Python, NumPy and torch (CPU and GPUs)."""
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch.manual_seed(seed)


def seed_dropout(seed: int, rank: int, update: int, device: torch.device) -> None:
    """Let a process draw the same masks in an update whenever it makes it; ranks above 0, whose states nobody saves."""
    gpu = torch.cuda.current_device() if device.index is None and device.type == "cuda" else device.index
    generator = torch.cuda.default_generators[gpu] if device.type == "cuda" else torch.default_generator
    generator.manual_seed(seed + 1_000_003 * rank + update)  # other ones than any process in any update


def random_states() -> dict[str, Any]:
    """The states of Python, NumPy, torch and the current GPU, if there is one."""
    version, words, gauss = random.getstate()
    name, keys, position, has_gauss, cached = np.random.get_state(legacy=True)
    states: dict[str, Any] = {
        "python": [version, list(words), gauss],
        "numpy": [name, np.asarray(keys).tolist(), position, has_gauss, cached],
        "torch": _to_text(torch.get_rng_state()),
    }
    if torch.cuda.is_available():
        states["cuda"] = _to_text(torch.cuda.get_rng_state())
    return states


def set_random_states(states: dict[str, Any]) -> None:
    """The inverse of `random_states`; a GPU's state is left alone where there is none now, or was none then."""
    version, words, gauss = states["python"]
    random.setstate((version, tuple(words), gauss))
    name, keys, position, has_gauss, cached = states["numpy"]
    np.random.set_state((name, np.array(keys, dtype=np.uint32), position, has_gauss, cached))
    torch.set_rng_state(_from_text(states["torch"]))
    if "cuda" in states and torch.cuda.is_available():
        torch.cuda.set_rng_state(_from_text(states["cuda"]))


def _to_text(state: Tensor) -> str:
    return base64.b64encode(state.numpy().tobytes()).decode()


def _from_text(text: str) -> Tensor:
    return torch.frombuffer(bytearray(base64.b64decode(text)), dtype=torch.uint8)

"""Parts of a training that only some versions have: an option, a recorded optimiser, a thread that is one batch ahead.

The benchmark measures a version as it is: what it does not have is left out here, and nowhere else.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.optim import Optimizer

from annotated.config import TrainingConfig
from annotated.data.batch import Batch
from annotated.data.batching import TokenBatches
from annotated.model import Transformer
from annotated.training import compiled
from annotated.training.distributed import Processes
from annotated.training.precision import Precision
from annotated.training.update import MicroStep, update


def known(function: Callable[..., Any], **options: Any) -> dict[str, Any]:
    """Those of some options that a function takes."""
    takes = inspect.signature(function).parameters
    return {name: value for name, value in options.items() if name in takes}


def precision_of(training: TrainingConfig, device: torch.device) -> Precision:
    """As a run makes it."""
    fields = training.to_dict()
    options = {"residual": "residual_precision", "vocabulary": "vocabulary_precision"}
    given = {option: fields[name] for option, name in options.items() if name in fields}
    return Precision(training.precision, device, **known(Precision, **given))


def records_optimizer() -> bool:
    """True if an update can take a recorded optimiser."""
    return hasattr(compiled, "recorded_optimizer") and bool(known(update, recorded=None))


def recorded_optimizer(
    model: Transformer, optimizer: Optimizer, training: TrainingConfig, precision: Precision
) -> dict[str, Any]:
    """What `update` takes as `recorded`; nothing where there is none."""
    if not records_optimizer():
        return {}
    return {"recorded": getattr(compiled, "recorded_optimizer")(model, optimizer, training, precision)}  # noqa: B009


@contextlib.contextmanager
def stream(
    batches: TokenBatches, micro_step: MicroStep, training: TrainingConfig, device: torch.device
) -> Iterator[Callable[[], Batch]]:
    """What gives the next batch as the loop of a run gets it: prepared by a thread, where there is one."""
    try:
        shards = importlib.import_module("annotated.runs.shards")
    except ModuleNotFoundError:
        yield lambda: batches.next_shard().batches[0]
        return
    prepare = getattr(compiled, "preparation")(micro_step, training, device)  # noqa: B009
    with shards.ShardStream(batches, Processes(device=device), 1, prepare) as ahead:
        yield lambda: ahead.next().shard.batches[0]

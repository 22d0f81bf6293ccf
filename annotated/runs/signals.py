"""Ending well: a polite signal lets the current update finish, and a loss that is not finite names its batch.

Under torchrun a signal may reach its agent, which passes it on to its processes, or one of the processes, which tells
the others at the next update; all save and end with status 128 + the signal's number. torchrun would take that for a
failure and start them again. Where the request came to a process, the processes therefore ask their agents to end too.

Paper: none
"""

from __future__ import annotations

import math
import os
import signal
import threading
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any, Self

from annotated.data.batching import Batch
from annotated.runs.lock import agent_of_this_process
from annotated.training.distributed import Processes
from annotated.training.files import write_json

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class NonFiniteLoss(RuntimeError):
    """The loss or a gradient became infinite or NaN; the message names update, epoch and sentences."""


class StopRequest:
    """Catches SIGTERM and SIGINT (Ctrl-C), so that the loop can stop after the current update.

    The second signal interrupts at once; not under torchrun, where one request may come twice, from the scheduler and
    from the agent, and where the agent sees to an end that takes too long. Outside the main thread, where Python has
    no signals, it does nothing.
    """

    def __init__(self) -> None:
        self.name: str | None = None
        """Name of the signal received, None so far."""
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._receive) for number in _SIGNALS}
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self.name is not None:
            if agent_of_this_process():
                return
            raise KeyboardInterrupt(f"{signal.Signals(number).name} for the second time")
        self.name = signal.Signals(number).name


def asked_of_processes(processes: Processes, stop: StopRequest) -> bool:
    """Whether a request to stop came to some of torchrun's processes, and not from an agent.

    An agent tells all of its processes. (So with one process on a machine this cannot be known, and the answer is
    False: torchrun may then undo the stop, if it has restarts left. `annotated.runs.stop` tells the agent.)
    """
    if not agent_of_this_process():
        return False
    nodes, node = int(os.environ.get("GROUP_WORLD_SIZE", 1)), int(os.environ.get("GROUP_RANK", 0))
    mine = [float(number == node) for number in range(nodes)]
    of_node = processes.sum(mine)
    asked = processes.sum([one * (stop.name is not None) for one in mine])
    return not any(a == n for a, n in zip(asked, of_node, strict=True))


def end_agent() -> None:
    """Ask torchrun to end, from a process that has nothing left to do; the signals that it sends back are ignored."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    if os.environ.get("LOCAL_RANK", "0") == "0" and (agent := agent_of_this_process()):
        os.kill(agent, signal.SIGTERM)


def non_finite(
    update: int, epoch: int, batches: Sequence[Batch], losses: Sequence[float], norm: float, folder: Path, rank: int
) -> NonFiniteLoss:
    """The error for an update that cannot be made; the sentences are written to `nonfinite_batch.json` too.

    Parameters
    ----------
    batches, losses
        The micro-batches of this process, and the summed loss of each.
    norm
        The gradient's norm.
    """
    guilty = [batch for batch, loss in zip(batches, losses, strict=True) if not math.isfinite(loss)]
    named = guilty or list(batches)
    pairs = [
        {"pair": index, "source": source[:s].tolist(), "target": target[:t].tolist()}
        for batch in named
        for index, source, target, s, t in zip(
            batch.indices, batch.source, batch.target_out, batch.source_lengths, batch.target_lengths, strict=True
        )
    ]
    path = folder / ("nonfinite_batch.json" if rank == 0 else f"nonfinite_batch.rank{rank}.json")
    write_json(path, {"update": update, "epoch": epoch, "losses": [str(loss) for loss in losses], "pairs": pairs})
    shown = ", ".join(str(pair["pair"]) for pair in pairs[:10]) + (", ..." if len(pairs) > 10 else "")
    longest = max(pairs, key=lambda pair: max(len(pair["source"]), len(pair["target"])))
    what = f"the loss is {sum(losses)}" if guilty else f"the gradient's norm is {norm}"
    return NonFiniteLoss(
        f"update {update} (epoch {epoch}): {what}. The batch has {len(pairs)} sentence pairs, {shown} of the training "
        f"data (counted from 0, as encoded); the longest is pair {longest['pair']} with {len(longest['source'])} "
        f"source and {len(longest['target'])} target tokens. All of it is in {path}. The update was not made. Try a "
        "smaller learning_rate_scale, a longer warmup, clip_norm, or precision bf16 or fp32 in the place of fp16; the "
        "last checkpoint is good"
    )

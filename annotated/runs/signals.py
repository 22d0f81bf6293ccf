"""Signals that ask a training run to stop: it finishes its update and saves, and torchrun's agent knows who was asked.

Under torchrun a signal may reach its agent, which passes it on to its processes, or one of the processes, which tells
the others at the next update; all save and end with status 128 + the signal's number. torchrun would take that for a
failure and start them again. Where the request came to a process, the processes therefore ask their agents to end too.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from types import FrameType
from typing import Any, Self

from annotated.runs.lock import agent_of_this_process
from annotated.speed.machine.distributed import Processes

MAX_SECONDS, PATIENCE = "max_seconds", "patience"
"""In the place of a signal's name: the field of `TrainingConfig` by which a run ended itself. All its processes then
end with status 0, which torchrun takes for done."""

_SIGNALS = tuple(
    getattr(signal, name)
    for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGBREAK")
    if hasattr(signal, name)  # Windows has no SIGHUP, and alone has SIGBREAK
)


class GracefulStop:
    """Catches SIGTERM, SIGINT (Ctrl-C) and SIGHUP (a terminal that closes; on Windows that is SIGBREAK, as Ctrl-Break
    is), so that the loop can stop after the current update. A signal that the process ignores, as `nohup` makes it,
    stays ignored.

    The second signal interrupts at once; not under torchrun, where one request may come twice, from the scheduler and
    from the agent, and where the agent sees to an end that takes too long. Outside the main thread, where Python has
    no signals, it does nothing.

    Parameters
    ----------
    hung_after
        Seconds from a signal on, after which a process ends at once whose Python has not even been able to receive it.
        That is so while it waits for a GPU, and so for ever if the GPU waits for a process that has died: NCCL ends
        only after `peer_timeout`. None for processes that wait for no other.
    """

    def __init__(self, hung_after: float | None = None) -> None:
        self.name: str | None = None
        """Name of the signal received, None so far."""
        self._before: dict[signal.Signals, Any] = {}
        self._hung_after = hung_after
        self._woken_before = -1

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            caught = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
            self._before = {number: signal.signal(number, self._receive) for number in caught}
            if self._hung_after is not None:
                reading, self._writing = os.pipe()
                os.set_blocking(self._writing, False)
                self._woken_before = signal.set_wakeup_fd(self._writing)  # written to where Python cannot run
                threading.Thread(target=self._end_if_hung, args=(reading, self._hung_after), daemon=True).start()
        return self

    def ask(self, name: str) -> None:
        """Ask as a signal of this name does, for what Python does not receive as one: SIGPIPE."""
        self.name = self.name or name

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        if self._before and self._hung_after is not None:
            signal.set_wakeup_fd(self._woken_before)
            os.close(self._writing)  # which ends the thread

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self.name is not None:
            # A terminal that closes may send SIGHUP after the pipe is gone, or twice.
            if agent_of_this_process() or signal.Signals(number).name == "SIGHUP":
                return
            raise KeyboardInterrupt(f"{signal.Signals(number).name} for the second time")
        self.name = signal.Signals(number).name

    def _end_if_hung(self, reading: int, seconds: float) -> None:
        while numbers := os.read(reading, 1):
            if numbers[0] not in map(int, self._before):
                continue
            time.sleep(seconds)
            if self.name is None:
                name = signal.Signals(numbers[0]).name
                sys.stderr.write(
                    f"annotated: {name}, and for {seconds:g} seconds the GPU has not answered, as when another process "
                    "is gone. This process ends without saving; the same command goes on from the last checkpoint\n"
                )
                sys.stderr.flush()
                os._exit(128 + numbers[0])
        os.close(reading)


def stop_bypassed_agent(processes: Processes, stop: GracefulStop) -> bool:
    """Whether a request to stop came to some of torchrun's processes directly, and not through an agent.

    An agent tells all of its processes. (So with one process on a machine this cannot be known, and the answer is
    False: torchrun may then undo the stop, if it has restarts left. `annotated.runs.stop` tells the agent.)
    """
    if not agent_of_this_process():
        return False
    nodes, node = int(os.environ.get("GROUP_WORLD_SIZE", 1)), int(os.environ.get("GROUP_RANK", 0))
    mine = [float(number == node) for number in range(nodes)]
    of_node = processes.all_reduce_numbers(mine)
    asked = processes.all_reduce_numbers([one * (stop.name is not None) for one in mine])
    return not any(a == n for a, n in zip(asked, of_node, strict=True))


def end_agent() -> None:
    """Ask torchrun to end, from a process that has nothing left to do; the signals that it sends back are ignored."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    if os.environ.get("LOCAL_RANK", "0") == "0" and (agent := agent_of_this_process()):
        os.kill(agent, signal.SIGTERM)

"""Timeout for code that runs in this process: an endless loop in a notebook ends with a message.

As in the sandbox, the time for which it waits for a processor that others are using does not count.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, TracebackType

from annotated_grader.sandbox import interpreter
from annotated_grader.sandbox.interpreter import AnswerError, Interpreter

_MOST_DELAYED = 10
"""How many times its seconds a block may take, where others keep it from computing."""


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Let a block run so long and no longer, where the system can: in the main thread, and not on Windows.

    Raises
    ------
    AnswerError
        When the time is over; it names the line that was running.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    start, before_start = time.monotonic(), _delayed()

    def end(number: int, frame: FrameType | None) -> None:
        took = time.monotonic() - start
        left = seconds - (took - (_delayed() - before_start))
        if left > 0.001 and took < _MOST_DELAYED * seconds:
            signal.setitimer(signal.ITIMER_REAL, left, 1.0)
            return
        message = f"it took longer than {seconds:g} seconds; does a loop never end?"
        raise AnswerError(["TimeoutError"], message, _line_of(frame))

    before = signal.signal(signal.SIGALRM, end)
    # Again and again: code that catches every exception would swallow the first.
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _delayed() -> float:
    """Seconds for which this thread was ready to compute and had no processor; 0 where the system does not say."""
    try:
        return int(Path("/proc/thread-self/schedstat").read_text(encoding="utf-8").split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


class TimeBudget:
    """Time limits for the checks of one answer: once one has run out, the next are not waited for as long.

    Parameters
    ----------
    seconds
        Time for each block at first.
    afterwards
        Time for each block after one has run out.
    """

    def __init__(self, seconds: float, afterwards: float = 2.0) -> None:
        self.seconds, self.afterwards = seconds, afterwards

    @contextlib.contextmanager
    def __call__(self) -> Iterator[None]:
        """Limit one block; see `time_limit`."""
        try:
            with time_limit(self.seconds):
                yield
        except AnswerError as error:
            if error.kinds[0] == "TimeoutError":
                self.seconds = min(self.seconds, self.afterwards)
            raise


def _line_of(frame: FrameType | None) -> str:
    """The answer's line on which a signal found the program: what lies inside the interpreter's call."""
    step: TracebackType | None = None
    while frame is not None and frame.f_code.co_filename != interpreter.__file__:
        step = TracebackType(step, frame, frame.f_lasti, frame.f_lineno)
        frame = frame.f_back
    return Interpreter({}).explain(TimeoutError().with_traceback(step)).where if frame is not None else ""

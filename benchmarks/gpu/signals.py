"""Signals that end the GPU benchmark: Ctrl-C, SIGTERM and SIGHUP leave it as an exit does, so that children end too."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType

ENDING = tuple(number for name in ("SIGINT", "SIGTERM", "SIGHUP") if (number := getattr(signal, name, None)))


@contextlib.contextmanager
def exits_by_signal() -> Iterator[None]:
    """Within it these signals raise `SystemExit`; one that is ignored, as SIGHUP under nohup, stays ignored."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in ENDING}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, _leave)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _leave(number: int, _: FrameType | None) -> None:
    for other in ENDING:
        signal.signal(other, signal.SIG_IGN)  # a second one must not interrupt the end of the children
    print(f"benchmarks: ended by {signal.Signals(number).name}; what was finished is on disk", file=sys.stderr)
    raise SystemExit(128 + number)

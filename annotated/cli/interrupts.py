"""Interrupts of a command by Ctrl-C: one line and status 130, whenever it comes."""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
import time
from types import FrameType, TracebackType
from typing import Any, Self

INTERRUPTED = 130
_LINE = "annotated: interrupted\n"
_IMPORTING = "<frozen importlib."
_PATIENCE = 2.0
"""Seconds that Python may take to notice the signal: compiled code, such as the training of a tokenizer, does not."""
_SWALLOWED = 30.0
"""Seconds that a command may take to put its things away; one that goes on longer has dropped the exception."""


class CommandInterrupts:
    """Catches SIGINT while a command runs, and leaves its context without an error when one came.

    As a rule the signal raises `KeyboardInterrupt`, so that files are put away and other processes ended. Within an
    import that does not work: extension modules turn the exception into others or drop it. There, and where Python
    itself would only report it (in a destructor, or after the command), the process ends at once; nothing is open then.
    So it does, after two seconds, in compiled code that does not listen; what is half written then has a partial name.
    Where a library catches the exception and goes on, the signal is sent once more, half a minute later.

    A process that ignores SIGINT, such as one in the background of a script, goes on ignoring it.

    Parameters
    ----------
    until_exit
        Go on catching when the command has ended, because the process ends too.
    """

    def __init__(self, until_exit: bool = False) -> None:
        self._until_exit = until_exit
        self._came = self._ended = False
        self._received = 0
        self._process = os.getpid()
        self._before: Any = None
        self._hook = sys.unraisablehook

    def __enter__(self) -> Self:
        catches = threading.current_thread() is threading.main_thread()
        if catches and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._before = signal.signal(signal.SIGINT, self._receive)
            sys.unraisablehook = self._unraisable
            if self._until_exit:
                self._watch()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        interrupted = kind is not None and (self._came or issubclass(kind, KeyboardInterrupt))
        if interrupted:
            os.write(2, _LINE.encode())
        self._ended = True
        if self._before is not None and not self._until_exit:
            signal.signal(signal.SIGINT, self._before)
            sys.unraisablehook = self._hook
        return interrupted

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if os.getpid() == self._process:
            self._received += 1
            if self._ended or _is_importing(frame):
                _end_at_once()
            self._came = True
        raise KeyboardInterrupt

    def _watch(self) -> None:
        reader, writer = os.pipe()
        if os.name != "nt":  # which has no fork, and no pipe that does not block before Python 3.12
            os.set_blocking(writer, False)
            os.register_at_fork(after_in_child=lambda: signal.set_wakeup_fd(-1))
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)

        def watch() -> None:
            sent = 0
            while numbers := os.read(reader, 64):
                sent += numbers.count(signal.SIGINT)
                time.sleep(_PATIENCE)
                # A handler of somebody else's, such as that of a training run, has its own way to end.
                if self._received < sent and signal.getsignal(signal.SIGINT) == self._receive:
                    _end_at_once()
                if self._came:
                    time.sleep(_SWALLOWED)
                    if not self._ended:
                        _interrupt(self._process)

        threading.Thread(target=watch, name="interrupts", daemon=True).start()

    def _unraisable(self, what: Any) -> None:
        if what.exc_type is not KeyboardInterrupt:
            self._hook(what)
        elif os.getpid() == self._process:
            _end_at_once()


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith(_IMPORTING):
            return True
        frame = frame.f_back
    return False


def _interrupt(process: int) -> None:
    if os.name == "nt":  # there, `os.kill` ends a process
        _thread.interrupt_main()
    else:
        os.kill(process, signal.SIGINT)  # which also ends what waits in the kernel


def _end_at_once() -> None:
    os.write(2, _LINE.encode())
    os._exit(INTERRUPTED)

"""Kernels forked from one process that has torch, pandas and Altair imported: a chapter starts in tenths of a second.

    python kernel_fork.py serve SOCKET MODULE...         imports the modules, and forks until its input closes
    python -S kernel_fork.py start SOCKET TRACE FILE     what Jupyter starts as the kernel of a connection file

`start` stays as long as its kernel does, so that Jupyter may wait for it, interrupt and kill it. Kernels share
nothing but what was imported before: each is a process of its own, with its own folder and environment. No module of
this repository is imported ahead, or a kernel would not say that its cells use it (`tracing`).
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
from contextlib import suppress
from importlib import import_module
from typing import NoReturn


def serve(address: str, modules: list[str]) -> None:
    """Import the modules, then fork a kernel for each that asks; end when standard input ends."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen(64)
        for module in modules:
            import_module(module)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # Jupyter waits for `start`, nobody for its kernel
        while listening in select.select([listening, sys.stdin], [], [])[0]:
            asked, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                become_kernel(asked)
            asked.close()


def become_kernel(asked: socket.socket) -> NoReturn:
    """Run a kernel in this process, as the other end of the socket wants it, and end with it."""
    from threading import Thread

    from ipykernel.kernelapp import IPKernelApp
    from tracing import trace

    sys.path.pop(0)  # this folder, whose modules no cell shall find
    wanted = json.loads(asked.makefile().readline())
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    os.chdir(wanted["folder"])
    os.environ.clear()
    os.environ.update(wanted["variables"])
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    trace(wanted["trace"])

    def obey() -> None:
        while asked.recv(1):
            os.kill(os.getpid(), signal.SIGINT)
        os.killpg(0, signal.SIGKILL)  # `start` was killed: so are the kernel and what it started

    Thread(target=obey, daemon=True).start()
    options = [f"--IPKernelApp.parent_handle={os.getppid()}", "--IPKernelApp.log_level=ERROR"]
    IPKernelApp.launch_instance(argv=["-f", wanted["connection"], *options])
    os._exit(0)


def start(address: str, trace: str, connection: str) -> None:
    """Ask for a kernel, hand on interruptions, and end when it ends."""
    wanted = {"connection": connection, "trace": trace, "folder": os.getcwd(), "variables": dict(os.environ)}
    with socket.socket(socket.AF_UNIX) as asked:
        asked.connect(address)
        asked.sendall(json.dumps(wanted).encode() + b"\n")
        signal.signal(signal.SIGINT, lambda *_: asked.send(b"i"))
        with suppress(ConnectionResetError):  # it ended before it read that it was interrupted
            asked.recv(1)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2], sys.argv[3:])
    else:
        start(*sys.argv[2:])

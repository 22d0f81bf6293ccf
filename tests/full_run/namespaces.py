"""Two hosts on one machine: network namespaces of Linux, with a switch between them whose cables can be pulled.

Nothing outside changes: the switch has a namespace of its own too, and all three are gone at the end.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

PORT = 29_400


@dataclass(frozen=True)
class Host:
    """One of the two."""

    name: str
    """Of its namespace."""
    address: str
    switch: str
    """The namespace that holds the other end of its cable."""

    @property
    def prefix(self) -> tuple[str, ...]:
        """What stands before a command to run it on this host."""
        return ("ip", "netns", "exec", self.name)

    def pull_cable(self) -> None:
        """Cut it off: no packet arrives, and nobody is told."""
        _ip("-n", self.switch, "link", "set", self.name, "down")

    def plug_cable(self) -> None:
        """Connect it again."""
        _ip("-n", self.switch, "link", "set", self.name, "up")


def why_not() -> str:
    """Why this process may not make network namespaces; empty if it may."""
    name = f"annotated-{os.getpid()}-try"
    try:
        _ip("netns", "add", name)
    except (OSError, subprocess.CalledProcessError) as error:
        return (getattr(error, "stderr", "") or str(error)).strip()
    try:
        _ip("-n", name, "link", "add", "name", "one", "type", "veth", "peer", "name", "two")
    except subprocess.CalledProcessError as error:
        return error.stderr.strip()
    finally:
        _ip("netns", "delete", name)
    return ""


@contextlib.contextmanager
def two_hosts() -> Iterator[tuple[Host, Host]]:
    """Two hosts that see each other; processes that still run there at the end are the caller's to end."""
    switch = f"annotated-{os.getpid()}-s"
    hosts = tuple(Host(f"ann{os.getpid()}{name}", f"10.77.0.{number}", switch) for number, name in ((1, "a"), (2, "b")))
    try:
        _ip("netns", "add", switch)
        _ip("-n", switch, "link", "add", "bridge", "type", "bridge")
        _ip("-n", switch, "link", "set", "bridge", "up")
        for host in hosts:
            _connect(host)
        yield hosts[0], hosts[1]
    finally:
        for name in (switch, *(host.name for host in hosts)):
            with contextlib.suppress(subprocess.CalledProcessError):
                _ip("netns", "delete", name)


def _connect(host: Host) -> None:
    _ip("netns", "add", host.name)
    _ip("-n", host.switch, "link", "add", "name", host.name, "type", "veth", "peer", "name", "eth0", "netns", host.name)
    _ip("-n", host.switch, "link", "set", host.name, "master", "bridge", "up")
    _ip("-n", host.name, "address", "add", f"{host.address}/24", "dev", "eth0")
    for device in ("eth0", "lo"):
        _ip("-n", host.name, "link", "set", device, "up")


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


def options(host: Host, first: Host) -> Sequence[str]:
    """Those of torchrun that make `host` one of two hosts that meet at `first`."""
    # A host knows itself by its name, which here is that of the machine around: so it is told.
    settings = f"is_host={'true' if host == first else 'false'}"
    return (
        *("--nnodes", "2", "--nproc-per-node", "1", "--rdzv-backend", "c10d", "--rdzv-id", "full-run"),
        *("--rdzv-endpoint", f"{first.address}:{PORT}", "--local-addr", host.address, "--rdzv-conf", settings),
    )

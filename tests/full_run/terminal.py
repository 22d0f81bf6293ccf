"""A folder, and the commands that a user types there."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.full_run.processes import FORKS, end_with_command

_PATIENCE = 900.0


@dataclass
class Terminal:
    """Runs commands in a folder: in an interpreter of their own, or in a moment, forked from one that is warm."""

    folder: Path

    def start(self, line: str) -> subprocess.Popen[str]:
        """A command in an interpreter of its own, which goes on by itself."""
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}
        command = [sys.executable, "-m", "annotated", *shlex.split(line)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "encoding": "utf-8"}
        return subprocess.Popen(command, cwd=self.folder, env=environment, **pipes)  # type: ignore[call-overload]

    def type(self, line: str, status: int = 0) -> str:
        """A command, and what it says, once it has ended with that status."""
        output = self.folder.parent / f"{self.folder.name}.output"
        output.write_bytes(b"")
        process = FORKS.Process(target=_run, args=(shlex.split(line), self.folder, output))
        process.start()
        process.join(_PATIENCE)
        if process.exitcode is None:
            process.kill()
        said = output.read_text(encoding="utf-8")
        assert process.exitcode == status, f"annotated {line}: status {process.exitcode}\n{said}"
        return said


def _run(arguments: list[str], folder: Path, output: Path) -> None:
    """In the new process: the command line, with the exit status that it has alone."""
    os.chdir(folder)
    handle = os.open(output, os.O_WRONLY | os.O_APPEND)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    import torch

    torch.set_num_threads(1)
    end_with_command(arguments)

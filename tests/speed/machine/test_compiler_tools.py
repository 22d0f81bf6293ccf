"""Tools for torch.compile: what Triton looks for is looked for as it does, and named with its package."""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path
from types import SimpleNamespace

import pytest

from annotated.speed.machine import compiler_tools
from annotated.speed.machine.compiler_tools import missing_compiler_tools


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with Triton and Python's headers; the folder of its programs, with none in it."""
    folder, include = tmp_path / "bin", tmp_path / "include"
    folder.mkdir()
    include.mkdir()
    (include / "Python.h").touch()
    monkeypatch.setenv("PATH", str(folder))
    for name in ("CC", "CXX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(compiler_tools, "find_spec", lambda name: name)
    monkeypatch.setattr(sysconfig, "get_paths", lambda scheme: {"include": str(include)})
    return folder


def install(folder: Path, name: str) -> None:
    (folder / name).write_text("#!/bin/sh\n")
    (folder / name).chmod(0o755)


@pytest.mark.parametrize("name", ["gcc", "clang"])
def test_a_machine_that_can_compile_for_its_gpu(programs: Path, name: str) -> None:
    install(programs, name)
    assert missing_compiler_tools("cuda") == []


def test_no_c_compiler(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(programs, "cc")  # which Triton does not look for
    install(programs, "g++")
    (problem,) = missing_compiler_tools("cuda")
    assert problem == "no C compiler, neither gcc nor clang, and CC names none: apt-get install gcc libc6-dev"
    monkeypatch.setenv("CC", "cc")
    assert missing_compiler_tools("cuda") == []
    monkeypatch.setenv("CC", "/opt/gone/gcc")
    install(programs, "gcc")  # CC goes before it
    assert missing_compiler_tools("cuda") == ["no C compiler: CC is '/opt/gone/gcc', which is no program here"]


def test_no_headers_of_python(programs: Path) -> None:
    install(programs, "gcc")
    (programs.parent / "include" / "Python.h").unlink()
    (problem,) = missing_compiler_tools("cuda")
    assert problem.startswith(f"no Python.h in {programs.parent / 'include'}: apt-get install python3.")
    assert problem.split(":")[1].split(" (")[0].endswith("-dev")


def test_debians_own_scheme_is_passed_over(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There `posix_local` is the default, and names a folder under /usr/local that has no headers."""
    install(programs, "gcc")
    there = str(programs.parent / "include")
    monkeypatch.setattr(sysconfig, "get_default_scheme", lambda: "posix_local")
    monkeypatch.setattr(
        sysconfig, "get_paths", lambda scheme: {"include": {"posix_prefix": there, "posix_local": "/usr/local"}[scheme]}
    )
    assert missing_compiler_tools("cuda") == []


def test_a_folder_from_which_no_code_may_be_loaded(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(programs, "g++")
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(programs.parent / "cache"))
    assert missing_compiler_tools("cpu") == []
    monkeypatch.setattr(os, "statvfs", lambda path: SimpleNamespace(f_flag=os.ST_NOEXEC | os.ST_NOSUID))
    (problem,) = missing_compiler_tools("cpu")
    assert f"{programs.parent} is mounted noexec: set TORCHINDUCTOR_CACHE_DIR" in problem
    monkeypatch.undo()
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert any("not to be written to" in problem for problem in missing_compiler_tools("cpu"))


def test_no_triton_and_all_that_is_missing_at_once(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler_tools, "find_spec", lambda name: None)
    found = missing_compiler_tools("cuda")
    assert [problem.split(" ")[1].rstrip(":") for problem in found] == ["Triton", "C"]


def test_a_cpu_needs_a_cpp_compiler_only(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler_tools, "find_spec", lambda name: None)
    assert missing_compiler_tools("cpu") == ["no C++ compiler: apt-get install build-essential"]
    install(programs, "g++")
    assert missing_compiler_tools("cpu") == []

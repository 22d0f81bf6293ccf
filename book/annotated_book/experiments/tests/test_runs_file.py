"""Files of runs: sorted lines, many writers, kills, damage; and the files that the chapters have."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from annotated.locks import exclusive_lock
from annotated_book.experiments.runs_file import RUNS, read_runs, write_run
from annotated_book.pages import BOOK

WRITER = """
import sys
from pathlib import Path
from annotated_book.experiments.runs_file import write_run
for number in range(int(sys.argv[3])):
    write_run(Path(sys.argv[1]), f"{sys.argv[2]}-{number}", {"row": sys.argv[2], "seed": number})
    print(number, flush=True)
"""


def test_runs_are_lines_in_the_order_of_their_names(tmp_path: Path) -> None:
    path = tmp_path / "chapter" / RUNS
    assert read_runs(path) == {}
    for name, loss in (("b-0", 2.5), ("a-1", math.nan), ("a-0", 1.5), ("b-0", 3.5)):
        write_run(path, name, {"row": name[0], "curve": [{"loss": loss}]})
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["name"] for line in lines] == ["a-0", "a-1", "b-0"]
    found = read_runs(path)
    assert [one["curve"][0]["loss"] for one in found.values()] == [1.5, None, 3.5] and "name" not in found["a-0"]


@pytest.mark.process
def test_many_processes_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / RUNS
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, path, name, "25"]) for name in "abcd"]
    assert [writer.wait(120) for writer in writers] == [0] * 4
    assert list(read_runs(path)) == sorted(f"{name}-{number}" for name in "abcd" for number in range(25))


@pytest.mark.process
@pytest.mark.skipif(os.name != "posix", reason="signals of other systems")
def test_a_killed_writer_leaves_a_whole_file_and_no_lock(tmp_path: Path) -> None:
    path = tmp_path / RUNS
    for number in range(3):
        command = [sys.executable, "-c", WRITER, path, f"k{number}", "1000000"]
        writer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        said = [writer.stdout.readline() for _ in range(10)]
        os.kill(writer.pid, signal.SIGKILL)
        writer.communicate()
        assert {f"k{number}-{line.strip()}" for line in said} <= set(read_runs(path)), "what was written is there"
    before = read_runs(path)
    write_run(path, "last", {"row": "last"})
    assert read_runs(path) == dict(sorted({**before, "last": {"row": "last"}}.items()))


@pytest.mark.process
def test_a_writer_waits_for_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / RUNS
    with exclusive_lock(path.with_name(f".{RUNS}.lock")):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, path, "a", "1"])
        with pytest.raises(subprocess.TimeoutExpired):
            writer.wait(3)
        assert read_runs(path) == {}
    assert writer.wait(60) == 0 and list(read_runs(path)) == ["a-0"]


@pytest.mark.parametrize("line", ["{", "[]", "3", "{}", ""])
def test_a_damaged_line_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / RUNS
    write_run(path, "a-0", {"row": "a"})
    path.write_text(path.read_text(encoding="utf-8") + line + "\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"runs.jsonl, line 2, is no whole record .*: remove the line"):
        read_runs(path)


@pytest.mark.parametrize("path", sorted(BOOK.glob(f"*/*/{RUNS}")), ids=lambda path: path.parent.name)
def test_a_chapters_file_is_as_it_would_be_written(path: Path) -> None:
    runs = read_runs(path)
    assert list(runs) == sorted(runs) and all(
        name.endswith(f"{one['row']}-{one['seed']}") for name, one in runs.items()
    )
    text = "".join(json.dumps({"name": name, **one}) + "\n" for name, one in runs.items())
    assert path.read_text(encoding="utf-8") == text, "one line for each, and no number that another Python would change"


def test_three_chapters_have_runs() -> None:
    assert {path.parent.name for path in BOOK.glob(f"*/*/{RUNS}")} == {"since_2017", "table_3", "versions"}

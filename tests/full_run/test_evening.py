"""The notebook for Colab and Kaggle, from end to end on a CPU: its machine is lost halfway, and it is run again."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from annotated.runs import read_records, running
from annotated.wmt14.mirror import write_mirror

pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytestmark = [pytest.mark.slow, pytest.mark.process]

NOTEBOOK = Path(__file__).resolve().parent.parent.parent / "deploy" / "evening.ipynb"
_EXECUTE = """
import sys, nbclient, nbformat
book = nbformat.read(sys.argv[1], 4)
try:
    nbclient.NotebookClient(book, timeout=600, kernel_name="python3").execute()
finally:
    nbformat.write(book, sys.argv[2])
"""
TRAINING = (
    "--model.d-model 16 --model.d-ff 32 --model.num-heads 2 --model.d-k 8 --model.d-v 8 --model.num-encoder-layers 1 "
    "--model.num-decoder-layers 1 --training.checkpoint-every 5 --training.log-every 5 --training.validate-every 20 "
    "--training.validate-bleu 2 --training.batch-tokens 300 --training.device cpu"
)


def execute(folder: Path, name: str, updates: int) -> subprocess.Popen[bytes]:
    """The very file, in a kernel of its own; with its outputs it is written to `name`."""
    given = {
        "EVENING_FOLDER": str(folder / "drive"),
        "EVENING_DISK": str(folder / "disk"),
        "EVENING_SENTENCE": "The cat sleeps.",
        "EVENING_DATA_OPTIONS": f"--catalogue {folder}/archives/catalogue.json --mirror {folder}/archives --jobs 1",
        "EVENING_TRAIN_OPTIONS": f"{TRAINING} --training.updates {updates}",
    }
    environment = {**os.environ, **given, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", _EXECUTE, str(NOTEBOOK), str(folder / name)]
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def outputs(path: Path) -> str:
    """All that the cells of a notebook printed."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "".join("".join(one.get("text", "")) for cell in cells for one in cell.get("outputs", ()))


def test_a_lost_machine_and_again_from_top_to_bottom(tmp_path: Path) -> None:
    (tmp_path / "drive").mkdir()
    write_mirror(tmp_path / "archives", name="multi30k", pairs=500)
    disk, mirror = tmp_path / "disk", tmp_path / "drive" / "annotated-multi30k"
    first = execute(tmp_path, "first.ipynb", 100_000)
    while len(list(mirror.glob("checkpoints/update-*"))) < 2:
        assert first.poll() is None, first.communicate()[1].decode()[-2000:]
        time.sleep(0.02)
    if (training := running(disk / "run")) is not None:
        os.kill(training, signal.SIGKILL)
    first.communicate(timeout=120)
    assert not any(record["kind"] == "end" for record in read_records(disk / "run"))
    shutil.rmtree(disk)

    updates = max(int(path.name[7:]) for path in mirror.glob("checkpoints/update-*")) + 10
    again = execute(tmp_path, "again.ipynb", updates)
    said = again.communicate(timeout=300)[1].decode()
    assert again.returncode == 0, said[-2000:]
    text = outputs(tmp_path / "again.ipynb")
    assert "\x1b" not in text  # no progress that is drawn as on a terminal
    assert re.search(r"took back update-\d+", text) and re.search(r"going on from update-\d+", text)
    starts = [record["update"] for record in read_records(disk / "run") if record["kind"] == "start"]
    assert len(starts) == 2 and 0 == starts[0] < starts[1] < updates
    assert read_records(disk / "run")[-1]["finished"] and read_records(disk / "run")[-1]["update"] == updates
    assert re.search(r"BLEU\s*=?\s*\d", text) and re.search(r"The cat sleeps\. -> .*", text)
    assert (tmp_path / "drive" / "annotated-multi30k-report" / "model" / "model.safetensors").is_file()

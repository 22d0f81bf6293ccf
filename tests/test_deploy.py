"""The templates of deploy/: their syntax, the fields that their systems ask for, and every command in them."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from annotated.cli.program import _command

pytestmark = pytest.mark.process

yaml = pytest.importorskip("yaml")

DEPLOY = Path(__file__).resolve().parent.parent / "deploy"
GIVEN = {
    "slurm.sbatch": {
        *("SLURM_JOB_NODELIST", "SLURM_JOB_ID", "SLURM_JOB_NUM_NODES", "SLURM_GPUS_ON_NODE", "SLURM_CPUS_PER_TASK"),
    },
    "skypilot.yaml": {"SKYPILOT_NUM_GPUS_PER_NODE"},
    "kubernetes.yaml": set(),
}
"""Variables that the system provides."""

NOTEBOOK = "evening.ipynb"
"""Which tests/full_run/test_evening.py executes."""


def read(name: str) -> str:
    return (DEPLOY / name).read_text(encoding="utf-8")


def documents(name: str) -> list[Any]:
    return list(yaml.safe_load_all(read(name)))


def script(name: str) -> str:
    """What runs on the machine, as text of a shell."""
    if name == "slurm.sbatch":
        return read(name)
    if name == "skypilot.yaml":
        return documents(name)[0]["run"]
    return shlex.join(documents(name)[1]["spec"]["trainer"]["command"])


def commands(text: str) -> list[list[str]]:
    """The words after `annotated` of each such command, commented examples too."""
    lines = re.sub(r"\\\n\s*", " ", text).splitlines()
    found = []
    for line in lines:
        match = re.match(r"\s*(?:#\s*)?(?:.*-m )?annotated (data|train|finish|preflight|dry-run)\b(.*)", line)
        if match:
            found.append([match[1], *shlex.split(match[2].rstrip(" &"))])
    return found


def test_every_template_is_in_the_readme_and_has_commands():
    names = {path.name for path in DEPLOY.iterdir()} - {"README.md"}
    assert names == {*GIVEN, NOTEBOOK} == set(re.findall(r"\(`([\w.]+)`\)", read("README.md")))
    assert all(any(words[0] == "train" for words in commands(script(name))) for name in GIVEN)


@pytest.mark.parametrize("name", GIVEN)
def test_every_command_is_understood_by_the_real_parser(name):
    # The commands of comments too: what a reader is told to type. Variables stand for folders here.
    text = read(name) + "\n" + script(name)
    for words in commands(text):
        _command([re.sub(r"\$\{?\w+\}?|~", "folder", word) for word in words])


def test_an_option_that_does_not_exist_is_noticed():
    (words,) = commands("torchrun -m annotated train runs/x --preset wmt14-base --data.preparde there &")
    with pytest.raises(SystemExit):
        _command(words)


@pytest.mark.parametrize("name", GIVEN)
def test_shell_is_shell_and_every_variable_has_a_value(name, tmp_path):
    text = script(name)
    (tmp_path / "script").write_text(text)
    subprocess.run(["bash", "-n", str(tmp_path / "script")], check=True)
    code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    used = set(re.findall(r"\$\{?([A-Za-z_]\w*)", code))
    own = set(re.findall(r"^\s*(?:export )?([A-Za-z_]\w*)=", code, re.MULTILINE))
    own |= set(re.findall(r";\s*([A-Za-z_]\w*)=", code)) | {"HOME"}
    assert used <= GIVEN[name] | own, f"{name} uses {used - GIVEN[name] - own}"


def environment(name: str) -> dict[str, str]:
    """What the processes of a template get into their environment."""
    if name == "slurm.sbatch":
        return dict(re.findall(r"^export (\w+)=(\S+)", read(name), re.MULTILINE))
    if name == "skypilot.yaml":
        return {key: str(value) for key, value in documents(name)[0]["envs"].items()}
    return {one["name"]: one["value"] for one in documents(name)[1]["spec"]["trainer"]["env"]}


@pytest.mark.parametrize("name", GIVEN)
def test_eight_processes_share_cores_and_memory_of_one_node(name):
    given = environment(name)
    assert given["TORCHINDUCTOR_COMPILE_THREADS"] == "2" and given["OMP_NUM_THREADS"] == "4"
    assert given["PYTORCH_CUDA_ALLOC_CONF"] == "expandable_segments:True"
    assert not re.search(r"(--nodes=|numNodes: |num_nodes: )(?!1\b)", read(name)), "more is up to the reader"


UV = """#!/bin/bash
echo "$(basename "$0") $*" >> "$HOME/calls"
[ "$1" = venv ] && mkdir -p "$HOME/annotated-python/bin" && touch "$HOME/annotated-python/bin/activate"
true
"""
SMI = """#!/bin/bash
[ "$1 $2" = "--query-gpu=driver_version --format=csv,noheader" ] && printf "$DRIVER\\n$DRIVER\\n"
"""


@pytest.mark.parametrize(("driver", "build"), [("535.183.01", "cu126"), ("580.65.06", "cu130"), ("590.44.01", "cu130")])
def test_skypilot_takes_a_python_and_a_torch_that_fit(driver, build, tmp_path):
    """The setup, with programs that write down how they were called."""
    for name, text in {"uv": UV, "nvidia-smi": SMI}.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    surroundings = {"HOME": str(tmp_path), "PATH": f"{tmp_path}:{os.environ['PATH']}", "DRIVER": driver}
    for _ in range(2):  # a machine may be set up again
        subprocess.run(["bash", "-c", documents("skypilot.yaml")[0]["setup"]], env=surroundings, check=True)
    install = f"uv pip install --torch-backend {build} --constraint constraints.txt --editable ."
    venv = f"uv venv --managed-python --python 3.11 {tmp_path}/annotated-python"
    assert calls(tmp_path) == [venv, install, install]
    assert "source ~/annotated-python/bin/activate" in documents("skypilot.yaml")[0]["run"]


def test_slurm_asks_for_what_it_uses():
    options = dict(re.findall(r"^#SBATCH --([\w-]+)(?:=(\S+))?$", read("slurm.sbatch"), re.MULTILINE))
    assert {"nodes", "ntasks-per-node", "gpus-per-node", "cpus-per-task", "time", "requeue", "signal"} <= set(options)
    assert options["ntasks-per-node"] == "1", "one torchrun a node"
    assert re.fullmatch(r"B:USR1@\d+", options["signal"]) and int(options["signal"].rsplit("@")[1]) >= 60
    assert options["open-mode"] == "append", "a job that comes back does not wipe its own output"
    before = read("slurm.sbatch").rsplit("#SBATCH", 1)[0]  # Slurm reads options only before the first command
    assert all(line.startswith("#") for line in before.splitlines())


def test_kubernetes_objects_fit_each_other():
    runtime, job = documents("kubernetes.yaml")
    assert [one["apiVersion"] for one in (runtime, job)] == ["trainer.kubeflow.org/v1alpha1"] * 2
    assert [one["kind"] for one in (runtime, job)] == ["TrainingRuntime", "TrainJob"]
    reference = job["spec"]["runtimeRef"]
    assert reference == {
        "apiGroup": "trainer.kubeflow.org",
        "kind": runtime["kind"],
        "name": runtime["metadata"]["name"],
    }
    (node,) = runtime["spec"]["template"]["spec"]["replicatedJobs"]
    assert node["template"]["metadata"]["labels"] == {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
    pod = node["template"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert node["name"] == container["name"] == "node", "the operator looks for this name"
    assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}
    assert pod["terminationGracePeriodSeconds"] > 60
    trainer = job["spec"]["trainer"]
    paths = [word.partition("=")[2] or word for word in trainer["command"] if "/" in word]
    mounts = [mount["mountPath"] for mount in container["volumeMounts"]]
    assert paths and all(any(path.startswith(mount + "/") for mount in mounts) for path in paths)
    assert all(isinstance(one["value"], str) for one in trainer["env"]), "Kubernetes takes no numbers there"
    resources = trainer["resourcesPerNode"]
    assert resources["requests"]["nvidia.com/gpu"] == resources["limits"]["nvidia.com/gpu"]


def test_skypilot_keeps_the_run_where_the_next_machine_finds_it():
    (task,) = documents("skypilot.yaml")
    assert {"name", "resources", "workdir", "file_mounts", "setup", "run"} <= set(task)
    assert task["resources"]["use_spot"] is True
    (folder,) = task["file_mounts"]
    assert task["file_mounts"][folder]["mode"] == "MOUNT_CACHED"
    runs = [words[1] for words in commands(task["run"]) if words[0] in ("train", "finish")]
    assert runs and all(run.startswith(folder + "/") for run in runs)


SRUN = """#!/bin/bash
echo srun "$@" >> calls
echo "step's cores: $SRUN_CPUS_PER_TASK" >> calls
mkdir -p "$RUN"
stopped() { echo '{"kind": "end", "finished": false, "stopped_by": "SIGTERM"}' >> "$RUN/log.jsonl"; exit 1; }
trap stopped TERM
echo $$ > srun.pid
case "$WAY" in
  finishes) echo '{"kind": "end", "finished": true, "stopped_by": null}' >> "$RUN/log.jsonl"; exit 0 ;;
  fails) echo '{"kind": "train", "loss": 1.0}' >> "$RUN/log.jsonl"; exit 1 ;;
esac
touch running
while :; do sleep 0.05; done
"""


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    """A folder with programs that pretend to be Slurm's, and write down how they were called."""
    programs = {
        "srun": SRUN,
        "scontrol": '#!/bin/bash\necho scontrol "$@" >> calls\n[ "$1" = show ] && printf "alpha\\nbeta\\n"; true\n',
        "scancel": '#!/bin/bash\necho scancel "$@" >> calls\nkill -TERM "$(cat srun.pid)"\n',
    }
    for name, text in programs.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    return tmp_path


def submit(cluster: Path, way: str) -> subprocess.Popen[str]:
    job = {"SLURM_JOB_NODELIST": "[ab]", "SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": "2", "SLURM_GPUS_ON_NODE": "8"}
    job["SLURM_CPUS_PER_TASK"] = "24"
    environment = {**os.environ, **job, "PATH": f"{cluster}:{os.environ['PATH']}", "WAY": way, "RUN": "runs/it"}
    command = ["bash", str(DEPLOY / "slurm.sbatch")]
    return subprocess.Popen(command, cwd=cluster, env=environment, stdout=subprocess.PIPE, text=True)


def calls(cluster: Path) -> list[str]:
    return (cluster / "calls").read_text().splitlines()


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGTERM])
def test_out_of_time_the_slurm_job_stops_well_and_goes_back_into_the_queue(cluster, number):
    job = submit(cluster, "goes on")
    deadline = time.monotonic() + 300
    while not (cluster / "running").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    job.send_signal(number)
    assert job.wait(300) == 0
    assert "scancel --signal=TERM 7" in calls(cluster)
    assert calls(cluster)[-1] == "scontrol requeue 7"
    (started,) = [call for call in calls(cluster) if call.startswith("srun")]
    assert "--nnodes 2 --nproc-per-node 8" in started and "--rdzv-endpoint alpha:29500" in started


@pytest.mark.parametrize(("way", "status"), [("finishes", 0), ("fails", 1)])
def test_a_slurm_job_that_is_done_or_broken_does_not_come_back(cluster, way, status):
    assert submit(cluster, way).wait(300) == status
    # From Slurm 22.05 on a step has one core a task unless srun is told, by its option or by this variable.
    (started,) = [call for call in calls(cluster) if call.startswith("srun")]
    assert started.startswith("srun --cpus-per-task 24 ") and "step's cores: 24" in calls(cluster)
    assert not [call for call in calls(cluster) if "requeue" in call or call.startswith("scancel")]


def cells() -> dict[str, str]:
    """The code of the notebook, by the names of its cells."""
    found = json.loads(read(NOTEBOOK))["cells"]
    return {one["id"]: "".join(one["source"]) for one in found if one["cell_type"] == "code"}


def test_the_notebook_is_short_and_has_no_outputs():
    book = json.loads(read(NOTEBOOK))
    code = [one for one in book["cells"] if one["cell_type"] == "code"]
    assert not any(one["outputs"] or one["execution_count"] for one in code)
    assert [one["id"] for one in code if "parameters" in one["metadata"].get("tags", ())] == ["parameters"]
    assert sum(map(len, (text.splitlines() for text in cells().values()))) < 80
    assert {*re.findall(r'"(EVENING_\w+)"', cells()["parameters"])} == {
        *(f"EVENING_{name}" for name in "RECIPE FOLDER SECONDS SENTENCE DISK DATA_OPTIONS TRAIN_OPTIONS".split())
    }


@pytest.mark.parametrize("recipe", ["multi30k", "iwslt14-de-en", "wmt14-evening"])
def test_the_notebooks_commands_are_understood_by_the_real_parser(recipe, tmp_path, monkeypatch):
    for name, value in {"RECIPE": recipe, "FOLDER": str(tmp_path), "DISK": str(tmp_path / "disk")}.items():
        monkeypatch.setenv(f"EVENING_{name}", value)
    asked: list[Any] = []

    def annotated(*words: Any) -> None:
        asked.append(_command([*map(str, words)]))
        (tmp_path / "disk" / "run" / "report" / "model").mkdir(parents=True, exist_ok=True)

    names = {"annotated": annotated}
    for name in ("parameters", "train", "finish"):
        exec(cells()[name], names)
    data, train, finish = asked
    assert type(data).__name__.lower() == recipe.split("-")[0] and data.out == Path("data")
    assert train.preset == recipe and train.mirror_to == tmp_path / f"annotated-{recipe}"
    assert (train.training.max_seconds, train.data.prepared, train.out) == (10_000, "data", finish.folder)


def test_the_notebook_installs_the_newest_wheel(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for age, name in enumerate(
        ("annotated_attention-0.10.0-py3-none-any.whl", "annotated_attention-0.2.0-py3-none-any.whl")
    ):
        (tmp_path / name).write_bytes(b"")
        os.utime(tmp_path / name, (1e9 - age, 1e9 - age))
    (tmp_path / "annotated_book-0.10.0-py3-none-any.whl").write_bytes(b"")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    ran: list[list[str]] = []
    monkeypatch.setattr(subprocess, "run", lambda command, check: ran.append(command))
    names = {"os": os, "shlex": shlex, "FOLDER": str(tmp_path / "drive")}
    with pytest.raises(FileNotFoundError, match="drive"):  # before hours of training, whose copies would be lost
        exec(cells()["install"], names)
    (tmp_path / "drive").mkdir()
    exec(cells()["install"], names)
    assert not list((tmp_path / "drive").iterdir())
    assert ran[0][1:4] == ["-m", "pip", "install"] and ran[0][-1] == "annotated_attention-0.10.0-py3-none-any.whl"
    (tmp_path / "annotated_attention-0.10.0-py3-none-any.whl").unlink()
    (tmp_path / "annotated_attention-0.2.0-py3-none-any.whl").unlink()
    with pytest.raises(AssertionError, match=r"no annotated_attention-\*.whl beside this notebook or in "):
        exec(cells()["install"], names)

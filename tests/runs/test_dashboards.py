"""Dashboards get what the log says, at its updates; and nothing that one does stops, slows or changes a run."""

from __future__ import annotations

import importlib.machinery
import json
import os
import struct
import subprocess
import sys
import threading
import types
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import tyro

from annotated.cli import main
from annotated.cli.train import Train, train_defaults
from annotated.runs import dashboards, read_records, train_command
from annotated.runs.dashboards import Dashboards, Target, check_targets, export_log, read_targets
from annotated.runs.log import LOG, TrainingLog
from annotated.runs.log_table import FIELDS
from tests.runs.conftest import SmallRun

START = {"configuration": {"training": {"updates": 20, "adam_betas": [0.9, 0.98]}}}
TRAIN = {"epoch": 0, "tokens_seen": 10, "learning_rate": 1e-3, "tokens_per_second": 9.0, "seconds_left": 1.0}
VALID = {"epoch": 0, "tokens_seen": 10, "perplexity": 2.0, "bleu": None}
SAMPLES = [{"source": "A cat.", "translation": "Eine Katze."}]
SECONDS = 60.0
"""After which something that never ends has not ended."""


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of a run waits as long as a busy machine may need."""
    monkeypatch.setattr(dashboards, "LAST_SECONDS", SECONDS)


def log_of(folder: Path, targets: list[Target]) -> TrainingLog:
    return TrainingLog(folder, 20, quiet=True, dashboards=Dashboards(targets, folder))


def write(folder: Path, *words: str, update: int = 0, last: int = 20, finished: bool = True) -> None:
    """The log of a run of two lines of training, or of what is left of it, with the validations of its end."""
    folder.mkdir(exist_ok=True)
    with log_of(folder, check_targets(words, folder)) as log:
        log.write("start", update=update, host=folder.name, **START)
        for one in range(update + 10, last + 1, 10):
            log.write("train", update=one, loss=1 / one, **TRAIN)
        log.write("valid", update=last, valid_loss=0.5, averaged=False, **VALID)
        log.write("samples", update=last, samples=SAMPLES, averaged=False)
        log.write("checkpoint", update=last, path="checkpoints/20")
        if finished:
            log.write("valid", update=last, valid_loss=0.25, averaged=True, **VALID)
        log.write("end", update=last, finished=finished, stopped_by=None)


def within(action: Callable[[], None]) -> None:
    """Do something that must not wait for what never comes; a failure ends the test and not the session."""
    thread = threading.Thread(target=action, daemon=True)
    thread.start()
    thread.join(SECONDS)
    assert not thread.is_alive(), "it waits"


# What is asked for.


def test_targets_are_names_with_places_in_one_word_or_several() -> None:
    wanted = [Target("tensorboard", "/a/b"), Target("wandb", None), Target("mlflow", "http://host:5000")]
    assert read_targets(["tensorboard:/a/b,wandb", "mlflow:http://host:5000", "wandb"]) == wanted
    assert [one.word for one in wanted] == ["tensorboard:/a/b", "wandb", "mlflow:http://host:5000"]
    assert read_targets([]) == []
    with pytest.raises(ValueError, match=r"no dashboard 'tensorbord'; did you mean tensorboard\?"):
        read_targets(["tensorbord"])
    with pytest.raises(ValueError, match="no dashboard ''"):
        read_targets(["wandb,"])
    with pytest.raises(ValueError, match="no PROJECT behind the colon"):
        read_targets(["wandb:"])


@pytest.mark.parametrize("name", dashboards.PLACES)
def test_a_missing_package_is_said_before_anything_is_read(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda asked: None)
    run = tmp_path / "run"
    assert (
        main(["train", str(run), "--data.train", "missing.tsv", "--data.valid", "missing.tsv", "--log-to", name]) == 1
    )
    assert f"package {name}, which is not installed" in capsys.readouterr().err
    assert not run.exists()
    extras = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert f"\n{name} = [" in extras, "the message names this extra"


def test_a_folder_that_has_the_name_of_a_package_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights & Biases and TensorBoard leave such folders where they run."""
    (tmp_path / "a_dashboard").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(dashboards, "PLACES", {"a_dashboard": "FOLDER"})
    with pytest.raises(ImportError, match="package a_dashboard, which is not installed"):
        check_targets(["a_dashboard"], tmp_path / "run")


def test_the_readme_of_a_run_goes_on_with_its_dashboards(tmp_path: Path) -> None:
    from annotated.config import DataConfig, TrainingConfig, tiny

    command = train_command(tmp_path, tiny(), TrainingConfig(), DataConfig(), ["A cat."], ["wandb:x", "mlflow"])
    assert command[-5:] == ["--samples", "A cat.", "--log-to", "wandb:x", "mlflow"]
    read = tyro.cli(Train, args=[*command[2:]], default=train_defaults(command))
    assert (read.samples, read.log_to) == (("A cat.",), ("wandb:x", "mlflow"))


# A dashboard that fails.


class Plain:
    """A dashboard that takes everything; what it got, and how it ended."""

    def __init__(self, *_: object) -> None:
        self.got: list[tuple[str, int]] = []
        self.finished: list[bool] = []

    def write(self, record: dashboards.Record) -> None:
        self.got.append((record["kind"], record["update"]))

    def close(self, finished: bool) -> None:
        self.finished.append(finished)


def use(monkeypatch: pytest.MonkeyPatch, **ways: Callable[..., Any]) -> list[Target]:
    """Targets with these in the places of the real dashboards."""
    monkeypatch.setattr(dashboards, "OPEN", ways)
    return [Target(name, None) for name in ways]


def problems(folder: Path) -> dict[str, str]:
    found = [record for record in read_records(folder) if record["kind"] == "dashboard"]
    assert all(record.keys() == {"kind", *FIELDS["dashboard"]} for record in found)
    assert len({record["name"] for record in found}) == len(found), "each is named once"
    return {record["name"]: record["problem"] for record in found}


def lines(folder: Path, targets: list[Target], count: int) -> None:
    with log_of(folder, targets) as log:
        log.write("start", update=0, **START)
        for update in range(1, count + 1):
            log.write("train", update=update, loss=0.5, **TRAIN)
        log.write("end", update=count, finished=True, stopped_by=None)


def test_one_that_raises_loses_that_line_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, half = Plain(), Plain()

    def odd(record: dashboards.Record) -> None:
        if record["update"] % 2:
            raise ConnectionError(f"no route at {record['update']}\nand more")
        Plain.write(half, record)

    half.write = odd  # type: ignore[method-assign]
    lines(tmp_path, use(monkeypatch, wandb=lambda *_: half, mlflow=lambda *_: plain), 4)
    assert (half.got, half.finished) == ([("train", 2), ("train", 4)], [True])
    assert (plain.got, plain.finished) == ([("train", one) for one in (1, 2, 3, 4)], [True])
    assert problems(tmp_path) == {"wandb": "ConnectionError: no route at 1"}
    records = read_records(tmp_path)
    assert [one["update"] for one in records if one["kind"] == "train"] == [1, 2, 3, 4] and records[-1]["kind"] == "end"


def test_one_whose_server_comes_later_gets_what_comes_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    late, tries = Plain(), []

    def opened(*_: object) -> Plain:
        tries.append(1)
        if len(tries) < 3:
            raise ConnectionError("not there yet")
        return late

    lines(tmp_path, use(monkeypatch, mlflow=opened), 4)
    assert late.got == [("train", 2), ("train", 3), ("train", 4)], "the start and the first line found nobody"
    assert problems(tmp_path) == {"mlflow": "ConnectionError: not there yet"}


@pytest.mark.parametrize("where", ["open", "write", "close"])
def test_one_that_hangs_is_left_behind(where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    never, plain = threading.Event(), Plain()

    def hang(*_: object) -> Any:
        never.wait()

    hung = Plain()
    setattr(hung, where, hang)
    monkeypatch.setattr(dashboards, "LAST_SECONDS", 0.2)
    monkeypatch.setattr(dashboards, "QUEUE_LINES", 50)
    targets = use(monkeypatch, wandb=hang if where == "open" else lambda *_: hung, mlflow=lambda *_: plain)
    try:
        within(lambda: lines(tmp_path, targets, 40 if where == "close" else 200))
    finally:
        never.set()
    if where == "close":
        assert problems(tmp_path)["wandb"] == "it did not take its last lines in time"
    else:
        assert problems(tmp_path)["wandb"] == "it has not taken the last 50 lines"
    records = read_records(tmp_path)
    assert sum(record["kind"] == "train" for record in records) == (40 if where == "close" else 200)
    assert records[-1]["kind"] == "end"


def test_an_error_of_the_training_leaves_the_dashboard_unfinished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = Plain()
    with (
        pytest.raises(RuntimeError, match="the training's"),
        log_of(tmp_path, use(monkeypatch, wandb=lambda *_: plain)) as log,
    ):
        log.write("start", update=0, **START)
        log.write("train", update=1, loss=0.5, **TRAIN)
        raise RuntimeError("the training's")
    assert (plain.got, plain.finished) == ([("train", 1)], [False])


def test_only_the_main_process_has_dashboards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(*_: object) -> Plain:
        raise AssertionError("opened")

    targets = use(monkeypatch, wandb=opened)
    before = threading.active_count()
    with TrainingLog(None, 20, dashboards=Dashboards(targets, tmp_path)) as log:
        log.write("start", update=0, **START)
        assert threading.active_count() == before
    assert not list(tmp_path.iterdir())


ENDS = """
import sys
import threading
from pathlib import Path
from annotated.runs import dashboards
from tests.runs.test_dashboards import Target, lines
if sys.argv[2] == "wandb":
    import wandb  # so that it is connecting when the run ends, and not still being imported
dashboards.LAST_SECONDS = 2.0
dashboards.OPEN["mlflow"] = lambda *_: threading.Event().wait()
lines(Path(sys.argv[1]), [Target(sys.argv[2], None)], 4)
"""


def in_a_process(program: str, home: Path, *words: str, **variables: str) -> None:
    """Run a program whose end is part of what is tested, away from the user's own settings."""
    own = {"HOME": str(home), "WANDB_DIR": str(home), **variables}
    root = Path(__file__).parents[2]
    made = subprocess.run(
        [sys.executable, "-c", program, *words],
        cwd=root, env={**os.environ, **own}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr


@pytest.mark.process
@pytest.mark.parametrize("name", ["mlflow", "wandb"])
def test_a_process_ends_with_a_dashboard_that_hangs_or_has_no_network(name: str, tmp_path: Path) -> None:
    """The first is one that never answers; the second is W&B itself, whose server nobody can reach."""
    if name == "wandb":
        pytest.importorskip("wandb")
    run = tmp_path / "run"
    run.mkdir()
    nowhere = {"WANDB_MODE": "online", "WANDB_BASE_URL": "http://127.0.0.1:9", "WANDB_API_KEY": "0" * 40}
    in_a_process(ENDS, tmp_path, str(run), name, **nowhere)
    assert problems(run) == {name: "it did not take its last lines in time"}
    assert read_records(run)[-1] == {"kind": "end", "update": 4, "finished": True, "stopped_by": None}


# TensorBoard.


def scalars(folder: Path) -> dict[str, dict[int, float]]:
    """What TensorBoard shows: of each name, the values by their updates, each of which has one."""
    reading = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    events = reading.EventAccumulator(str(folder), size_guidance={"scalars": 0, "tensors": 0})
    events.Reload()
    shown = {name: [(event.step, event.value) for event in events.Scalars(name)] for name in events.Tags()["scalars"]}
    assert all(len(dict(values)) == len(values) for values in shown.values())
    texts = {name: [(e.step, e.tensor_proto.string_val[0].decode()) for e in events.Tensors(name)]
             for name in events.Tags()["tensors"]}  # fmt: skip
    return {name: dict(values) for name, values in shown.items()} | {name: dict(v) for name, v in texts.items()}


def test_tensorboard_has_the_lines_of_the_log_at_their_updates(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    write(tmp_path / "run", "tensorboard")
    assert problems(tmp_path / "run") == {}
    shown = scalars(tmp_path / "run" / "tensorboard")
    assert shown["train/loss"] == pytest.approx({10: 0.1, 20: 0.05})
    assert shown["train/learning_rate"] == pytest.approx({10: 1e-3, 20: 1e-3})
    assert (shown["valid/valid_loss"], shown["valid_averaged/valid_loss"]) == ({20: 0.5}, {20: 0.25})
    assert "| A cat. | Eine Katze. |" in shown["valid/samples/text_summary"][20]
    assert '"updates": 20' in shown["configuration/text_summary"][0]
    assert {name.partition("/")[0] for name in shown} == {"train", "valid", "valid_averaged", "configuration"}
    assert "valid/bleu" not in shown and "train/update" not in shown


def test_a_resumed_run_goes_on_in_the_same_events(tmp_path: Path) -> None:
    """Updates that were made again count once, as they were made the last time."""
    pytest.importorskip("tensorboard")
    run = tmp_path / "run"
    write(run, "tensorboard", last=30, finished=False)
    write(run, "tensorboard", update=20, last=40)
    shown = scalars(run / "tensorboard")
    assert shown["train/loss"] == pytest.approx({10: 0.1, 20: 0.05, 30: 1 / 30, 40: 1 / 40})
    assert shown["valid/valid_loss"] == {40: 0.5}
    assert len(list((run / "tensorboard").glob("events.*"))) == 2


def test_what_a_user_has_in_the_folder_stays(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    folder, run = tmp_path / "run" / "tensorboard", str(tmp_path / "run")
    folder.mkdir(parents=True)
    (folder / "notes.txt").write_text("mine")
    (folder / "events.out.tfevents.1").write_text("mine")
    assert main(["train", run, "--data.train", "missing.tsv", "--data.valid", "x", "--log-to", "tensorboard"]) == 1
    assert sorted(path.name for path in tmp_path.rglob("*")) == [
        "events.out.tfevents.1", "notes.txt", "run", "tensorboard",
    ]  # fmt: skip
    (folder / "events.out.tfevents.1").unlink()
    write(tmp_path / "run", "tensorboard")
    assert (folder / "notes.txt").read_text() == "mine" and (folder / dashboards.MARK).is_file()


def test_events_of_another_run_are_not_mixed_with(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    shared = f"tensorboard:{tmp_path / 'shared'}"
    write(tmp_path / "one", shared)
    check_targets([shared], tmp_path / "one")
    for other in (tmp_path / "other", tmp_path / "two"):
        with pytest.raises(FileExistsError, match="annotated.json and 1 more; give the name of a folder that is new"):
            check_targets([shared], other)
        write(tmp_path / "two", last=10)


def test_a_finished_run_is_exported_as_it_would_have_been_logged(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    write(tmp_path / "run", "tensorboard")
    assert main(["export-log", str(tmp_path / "run"), "--to", f"tensorboard:{tmp_path / 'sent'}"]) == 0
    logged = scalars(tmp_path / "run" / "tensorboard")
    assert len(logged) > 10 and scalars(tmp_path / "sent") == logged
    export_log(tmp_path / "run", [f"tensorboard:{tmp_path / 'sent'}"])
    assert scalars(tmp_path / "sent") == logged, "again changes nothing"
    with pytest.raises(FileNotFoundError):
        export_log(tmp_path, ["tensorboard"])
    (tmp_path / LOG).write_text("")
    with pytest.raises(ValueError, match="no line of it can be read"):
        export_log(tmp_path, ["tensorboard"])


def test_a_training_is_logged_and_is_the_same_training(small: SmallRun) -> None:
    """Numbers on the dashboard are those of the log, and nothing of the training changes."""
    pytest.importorskip("tensorboard")
    plain = small.trained("plain")
    run = small.folder / "run"
    _, *command = train_command(run, small.model, small.training, small.data, log_to=["tensorboard"])
    assert main([*command, "--quiet"]) == 0
    shown, table = scalars(run / "tensorboard"), defaultdict(dict)
    for record in read_records(run):
        if record["kind"] in ("train", "valid"):
            group = "valid_averaged" if record.get("averaged") else record["kind"]
            for name in ("loss", "gradient_norm", "valid_loss"):
                if name in record:
                    table[f"{group}/{name}"][record["update"]] = pytest.approx(record[name])
    assert len(table["train/loss"]) == 6 and len(table["valid/valid_loss"]) == 2
    assert {name: shown[name] for name in table} == table
    assert "--log-to tensorboard" in (run / "README.md").read_text(encoding="utf-8"), "the command to go on with"
    weights = [folder / "model" / "model.safetensors" for folder in (plain, run)]
    assert weights[0].read_bytes() == weights[1].read_bytes()


# Weights & Biases, without its network.

OFFLINE = """
import sys
from pathlib import Path
from annotated.runs import dashboards
dashboards.LAST_SECONDS = 200.0
from tests.runs.test_dashboards import write
write(Path(sys.argv[1]), "wandb:bench", last=30, finished=False)
write(Path(sys.argv[1]), "wandb:bench", update=20, last=40)
"""


def wandb_records(file: Path) -> Iterator[Any]:
    """The records of a .wandb file: a header of 7 bytes, then blocks of 32 KiB, as LevelDB's log has them."""
    from wandb.proto import wandb_internal_pb2

    content, at, whole = file.read_bytes(), 7, b""
    while at + 7 <= len(content):
        if 32768 - at % 32768 < 7:
            at += 32768 - at % 32768
            continue
        size, kind = struct.unpack("<HB", content[at + 4 : at + 7])
        if kind == 0:
            return
        whole += content[at + 7 : at + 7 + size]
        at += 7 + size
        if kind in (1, 4):  # a whole record, or the last piece of one
            record = wandb_internal_pb2.Record()
            record.ParseFromString(whole)
            whole = b""
            yield record


@pytest.mark.process
def test_wandb_offline_has_the_lines_of_the_log_at_their_updates(tmp_path: Path) -> None:
    """In a process of its own, for it changes how a process ends."""
    pytest.importorskip("wandb")
    in_a_process(OFFLINE, tmp_path, str(tmp_path / "run"), WANDB_MODE="offline")
    assert problems(tmp_path / "run") == {}
    shown: dict[str, dict[int, Any]] = defaultdict(dict)
    runs, ends = set(), []
    for file in sorted(tmp_path.glob("wandb/offline-run-*/*.wandb")):
        for record in wandb_records(file):
            kind = record.WhichOneof("record_type")
            if kind == "run":
                runs.add((record.run.run_id, record.run.project, record.run.display_name))
            elif kind == "exit":
                ends.append(record.exit.exit_code)
            elif kind == "history":
                found = {"/".join(i.nested_key) or i.key: json.loads(i.value_json) for i in record.history.item}
                for name, value in found.items():
                    shown[name][found["_step"]] = value
    assert {run[1:] for run in runs} == {("bench", "run")} and len(runs) == 1, "one run, which goes on"
    assert ends == [1, 0]
    assert shown["train/loss"] == pytest.approx({10: 0.1, 20: 0.05, 30: 1 / 30, 40: 1 / 40})
    assert shown["valid_averaged/valid_loss"] == {40: 0.25}
    assert shown["valid/samples/_type"] == {30: "table-file", 40: "table-file"}


# MLflow: its API as far as it is used; the real one where it is installed.


class MlflowClient:
    """MLflow's client of this name, with a server in memory."""

    servers: defaultdict[str | None, dict[str, dict[str, Any]]] = defaultdict(dict)

    def __init__(self, tracking_uri: str | None = None) -> None:
        self.runs = self.servers[tracking_uri]

    def get_experiment_by_name(self, name: str) -> Any:
        there = any(run["experiment"] == name for run in self.runs.values())
        return types.SimpleNamespace(experiment_id=name) if there else None

    def create_experiment(self, name: str) -> str:
        return name

    def search_runs(self, experiment_ids: list[str], filter_string: str = "", *, max_results: int = 1000) -> list[Any]:
        found = [
            types.SimpleNamespace(info=types.SimpleNamespace(run_id=name))
            for name, run in self.runs.items()
            if run["experiment"] in experiment_ids
            and filter_string in [f"tags.{key} = '{value}'" for key, value in run["tags"].items()]
        ]
        return found[:max_results]

    def create_run(
        self, experiment_id: str, start_time: int | None = None, tags: Any = None, run_name: str | None = None
    ) -> Any:
        name = f"run {len(self.runs)}"
        self.runs[name] = {"experiment": experiment_id, "tags": tags, "name": run_name, "metrics": defaultdict(list),
                           "params": {}, "texts": {}, "statuses": []}  # fmt: skip
        return types.SimpleNamespace(info=types.SimpleNamespace(run_id=name))

    def update_run(self, run_id: str, status: str | None = None, name: str | None = None) -> None:
        self.runs[run_id]["statuses"].append(status)

    def log_batch(self, run_id: str, metrics: Any = (), params: Any = (), tags: Any = ()) -> None:
        assert len(params) <= 100
        for key, value, _, step in metrics:
            self.runs[run_id]["metrics"][key].append((step, value))
        for key, value in params:
            assert self.runs[run_id]["params"].setdefault(key, value) == value, "MLflow changes no parameter"

    def log_text(self, run_id: str, text: str, artifact_file: str) -> None:
        self.runs[run_id]["texts"][artifact_file] = text

    def set_terminated(self, run_id: str, status: str | None = None, end_time: int | None = None) -> None:
        self.runs[run_id]["statuses"].append(status)


def test_mlflow_gets_the_lines_of_the_log_at_their_updates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entities, module = types.ModuleType("mlflow.entities"), types.ModuleType("mlflow")
    module.__spec__ = importlib.machinery.ModuleSpec("mlflow", None, origin=__file__)
    entities.Metric = entities.Param = lambda *values: values  # type: ignore[attr-defined]
    module.entities, module.MlflowClient = entities, MlflowClient  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "mlflow", module)
    monkeypatch.setitem(sys.modules, "mlflow.entities", entities)
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "bench")
    server = str(tmp_path / "server")
    write(tmp_path / "run", f"mlflow:{server}", last=30, finished=False)
    write(tmp_path / "run", f"mlflow:{server}", update=30, last=40)
    assert problems(tmp_path / "run") == {}
    (run,) = MlflowClient.servers[server].values()
    assert (run["experiment"], run["name"]) == ("bench", "run")
    assert run["params"] == {"training.updates": "20", "training.adam_betas": "[0.9, 0.98]"}
    assert run["metrics"]["train/loss"] == [(10, 0.1), (20, 0.05), (30, 1 / 30), (40, 1 / 40)]
    assert run["metrics"]["valid_averaged/valid_loss"] == [(40, 0.25)]
    assert run["texts"]["valid/samples-40.tsv"] == "A cat.\tEine Katze.\n"
    assert run["statuses"] == ["RUNNING", "KILLED", "RUNNING", "FINISHED"]


def test_mlflow_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow")
    server = (tmp_path / "server").as_uri()
    write(tmp_path / "run", f"mlflow:{server}", last=30, finished=False)
    write(tmp_path / "run", f"mlflow:{server}", update=30, last=40)
    assert problems(tmp_path / "run") == {}
    client = mlflow.MlflowClient(tracking_uri=server)
    (run,) = client.search_runs([client.get_experiment_by_name("annotated").experiment_id])
    history = client.get_metric_history(run.info.run_id, "train/loss")
    assert {one.step: one.value for one in history} == pytest.approx({10: 0.1, 20: 0.05, 30: 1 / 30, 40: 1 / 40})
    assert run.data.params["training.updates"] == "20" and run.info.status == "FINISHED"

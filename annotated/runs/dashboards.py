"""Dashboards of a training run: TensorBoard, Weights & Biases and MLflow get the lines of its log.

`--log-to tensorboard` hands over what is trained, validated and translated while the run goes on, and `export_log` does
it for a run that has ended. Names are those of the log's fields, in groups: `train/loss`, `valid/bleu`, and
`valid_averaged/bleu` of the model at the end.

A run never waits for a dashboard but a few seconds at its end. Each has a thread and a queue of its own; a line that it
refuses, or that finds the queue full, is left out. The first such problem of each is told, once.
"""

from __future__ import annotations

import difflib
import importlib.util
import json
import os
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from annotated.ownership import is_json_of, require_our_folder
from annotated.runs.log import LOG, digest_of, read_records, run_identity
from annotated.storage import write_json

PLACES = {"tensorboard": "FOLDER", "wandb": "PROJECT", "mlflow": "URI"}
"""The dashboards by the names of their packages and of our extras, and what may follow the name, after a colon."""
KINDS = ("start", "train", "valid", "samples", "end")
"""Kinds of the log's lines that a dashboard gets."""
QUEUE_LINES = 1000
"""Lines that wait for a dashboard at the most; at 50 updates a line, those of 50,000 updates."""
LAST_SECONDS = 5.0
"""How long the end of a run waits for all its dashboards together."""
EVENTS = "tensorboard"
"""Folder of TensorBoard's events, in that of the run, if no other is given."""
MARK = "annotated.json"
"""Says of which run the events beside it are."""
_WRITTEN = (MARK, "events.out.tfevents.*")

Record = Mapping[str, Any]


class Target(NamedTuple):
    """A dashboard as it is asked for: `tensorboard`, `wandb:my-project`."""

    name: str
    place: str | None
    """Folder, project or address; None for the usual one."""

    @property
    def word(self) -> str:
        """As it is typed."""
        return self.name if self.place is None else f"{self.name}:{self.place}"


class LoggedRun(NamedTuple):
    """A run as its dashboards know it."""

    folder: Path
    identity: str
    """The same at each start and after the run has ended, so that a run that is resumed goes on in its dashboards."""
    start: Record
    """The log's line of this start."""


class Dashboard(Protocol):
    """Where lines of the kinds `train`, `valid` and `samples` go. Each method may raise, and may take its time."""

    def write(self, record: Record) -> None: ...
    def close(self, finished: bool) -> None: ...


def read_targets(words: Sequence[str]) -> list[Target]:
    """The dashboards that options name, each once: a list of names, or several in a word with commas between.

    Raises
    ------
    ValueError
        If there is no such dashboard, or a place is empty.
    """
    targets = []
    for word in [part.strip() for given in words for part in given.split(",")]:
        name, colon, place = word.partition(":")
        if name not in PLACES:
            near = difflib.get_close_matches(name, PLACES, n=1)
            known = ", ".join(f"{one}[:{what}]" for one, what in PLACES.items())
            meant = f"did you mean {near[0]}? There are" if near else "there are"
            raise ValueError(f"no dashboard {name!r}; {meant} {known}")
        if colon and not place:
            raise ValueError(f"{word}: no {PLACES[name]} behind the colon; perhaps a variable is not set")
        targets.append(Target(name, place or None))
    return list(dict.fromkeys(targets))


def check_targets(words: Sequence[str], folder: Path) -> list[Target]:
    """The dashboards that options name, once all that can be known before the run is known to be right.

    Raises
    ------
    ValueError
        As `read_targets`.
    ImportError
        If the package of one is not installed; the message names the extra.
    FileExistsError
        If the folder for TensorBoard holds events that are not this run's.
    """
    targets = read_targets(words)
    for name, place in targets:
        found = importlib.util.find_spec(name)
        if found is None or found.origin is None:  # a folder of that name, such as W&B's own, is no package
            raise ImportError(
                f"the dashboard {name} needs the package {name}, which is not installed: install the library again "
                f"with its extra {name}: pip install '.[{name}]' in a checkout, or pip install 'WHEEL[{name}]' with "
                "the path of the wheel"
            )
        if name == "tensorboard":
            _require_events_of(folder, place, run_identity(folder))
    return targets


def _require_events_of(run: Path, place: str | None, identity: str | None) -> Path:
    """The folder for TensorBoard, unless it holds events of something else."""

    def is_ours(folder: Path) -> bool:
        mark = folder / MARK
        return is_json_of(mark, "run") and json.loads(mark.read_text(encoding="utf-8"))["run"] == identity

    return require_our_folder(run / EVENTS if place is None else place, _WRITTEN, is_ours)


def metrics(record: Record) -> dict[str, float]:
    """The numbers of a line by the names that they have in a dashboard."""
    return {
        f"{_group(record)}/{name}": value
        for name, value in record.items()
        if name != "update" and isinstance(value, int | float) and not isinstance(value, bool)
    }


def _group(record: Record) -> str:
    kind = "train" if record["kind"] == "train" else "valid"
    return f"{kind}_averaged" if record.get("averaged") else kind


class TensorBoard:
    """Events of TensorBoard, in a folder of the run's own."""

    def __init__(self, run: LoggedRun, place: str | None) -> None:
        from torch.utils.tensorboard import SummaryWriter

        folder = _require_events_of(run.folder, place, run.identity)
        folder.mkdir(parents=True, exist_ok=True)
        write_json(folder / MARK, {"run": run.identity, "folder": str(run.folder.resolve())})
        # Events of updates that will be made again are void.
        self._writer = SummaryWriter(str(folder), purge_step=run.start["update"] + 1)
        configuration = json.dumps(run.start.get("configuration", {}), indent=2)
        self._writer.add_text("configuration", "\n".join(f"    {line}" for line in configuration.splitlines()))

    def write(self, record: Record) -> None:
        """Its numbers, and its translations as a table."""
        for name, value in metrics(record).items():
            self._writer.add_scalar(name, value, record["update"])
        if record["kind"] == "samples":
            rows = [f"| {one['source']} | {one['translation']} |" for one in record["samples"]]
            table = "\n".join(["| source | translation |", "|---|---|", *rows])
            self._writer.add_text(f"{_group(record)}/samples", table, record["update"])
        self._writer.flush()

    def close(self, finished: bool) -> None:
        """End the file."""
        self._writer.close()


class WeightsAndBiases:
    """A run of Weights & Biases, as its own settings and variables say: WANDB_MODE=offline, WANDB_DIR and so on."""

    def __init__(self, run: LoggedRun, place: str | None) -> None:
        import wandb

        if wandb.setup().settings.mode not in ("offline", "disabled") and not wandb.login(prompt=False):
            raise PermissionError("nobody is logged in: wandb login, or WANDB_API_KEY, or WANDB_MODE=offline")
        self._wandb = wandb
        self._run = wandb.init(
            project=place or os.environ.get("WANDB_PROJECT") or "annotated",
            id=run.identity,
            name=run.folder.resolve().name,
            config=dict(run.start.get("configuration", {})),
            resume="allow",
            # Its copy of the console is made by taking it over. At the end it would wait for its network for ever.
            settings=wandb.Settings(
                silent=True, console="off", finish_timeout=0.8 * LAST_SECONDS, finish_timeout_raises=True
            ),
        )

    def write(self, record: Record) -> None:
        """Its numbers, and its translations as a table."""
        shown: dict[str, Any] = {**metrics(record)}
        if record["kind"] == "samples":
            rows = [[one["source"], one["translation"]] for one in record["samples"]]
            shown[f"{_group(record)}/samples"] = self._wandb.Table(columns=["source", "translation"], data=rows)
        self._run.log(shown, step=record["update"])

    def close(self, finished: bool) -> None:
        """Wait for what is not sent yet."""
        self._run.finish(exit_code=0 if finished else 1)


class MLflow:
    """A run of MLflow, in the experiment MLFLOW_EXPERIMENT_NAME, or else `annotated`."""

    def __init__(self, run: LoggedRun, place: str | None) -> None:
        import mlflow.entities

        self._entities = mlflow.entities
        self._client = client = mlflow.MlflowClient(tracking_uri=place)
        name = os.environ.get("MLFLOW_EXPERIMENT_NAME") or "annotated"
        experiment = client.get_experiment_by_name(name)
        at = client.create_experiment(name) if experiment is None else experiment.experiment_id
        # MLflow chooses the names of its runs; ours is found again by a tag.
        there = client.search_runs([at], f"tags.annotated_run = '{run.identity}'", max_results=1)
        tags = {"annotated_run": run.identity}
        made = there[0] if there else client.create_run(at, tags=tags, run_name=run.folder.resolve().name)
        self._id = made.info.run_id
        client.update_run(self._id, status="RUNNING")
        if not there:
            found = _flat(run.start.get("configuration", {})).items()
            parameters = [mlflow.entities.Param(key, str(value)[:500]) for key, value in found]
            for first in range(0, len(parameters), 100):  # the most that a server takes at once
                client.log_batch(self._id, params=parameters[first : first + 100])

    def write(self, record: Record) -> None:
        """Its numbers, and its translations as a text."""
        now, step = int(1000 * time.time()), record["update"]
        values = [self._entities.Metric(name, float(value), now, step) for name, value in metrics(record).items()]
        if values:
            self._client.log_batch(self._id, metrics=values)
        if record["kind"] == "samples":
            text = "".join(f"{one['source']}\t{one['translation']}\n" for one in record["samples"])
            self._client.log_text(self._id, text, f"{_group(record)}/samples-{step}.tsv")

    def close(self, finished: bool) -> None:
        """Say how the run ended."""
        self._client.set_terminated(self._id, "FINISHED" if finished else "KILLED")


def _flat(configuration: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """The values of nested settings by the names of options: `training.updates`."""
    found: dict[str, Any] = {}
    for name, value in configuration.items():
        found |= _flat(value, f"{before}{name}.") if isinstance(value, Mapping) else {before + name: value}
    return found


OPEN: dict[str, Callable[[LoggedRun, str | None], Dashboard]] = {
    "tensorboard": TensorBoard,
    "wandb": WeightsAndBiases,
    "mlflow": MLflow,
}


class Delivery:
    """The lines on their way to one dashboard; all that may raise or block happens in a thread of its own."""

    def __init__(self, target: Target, run: LoggedRun) -> None:
        self.target, self._run = target, run
        self._lines: queue.Queue[Record | None] = queue.Queue(QUEUE_LINES)
        self._problem: str | None = None
        self._is_told = False
        # A daemon: one that hangs does not keep the process from ending.
        self._thread = threading.Thread(target=self._deliver, name=f"dashboard {target.name}", daemon=True)
        self._thread.start()

    def put(self, record: Record) -> None:
        """Hand over a line, without waiting."""
        try:
            self._lines.put_nowait(record)
        except queue.Full:
            self._problem = self._problem or f"it has not taken the last {QUEUE_LINES} lines"

    def end(self, deadline: float) -> None:
        """Wait for what is on its way, until a time of `time.monotonic`."""
        try:
            self._lines.put(None, timeout=max(0.0, deadline - time.monotonic()))
            self._thread.join(max(0.0, deadline - time.monotonic()))
        except queue.Full:
            pass
        if self._thread.is_alive():
            self._problem = self._problem or "it did not take its last lines in time"

    def untold_problem(self) -> str | None:
        """The first problem, the first time that this is asked after it; else None."""
        problem = None if self._is_told else self._problem
        self._is_told = self._is_told or problem is not None
        return problem

    def _deliver(self) -> None:
        dashboard: Dashboard | None = None
        finished = False
        while (record := self._lines.get()) is not None:
            finished = bool(record.get("finished"))
            try:
                if dashboard is None:  # again with the next line, if its server does not answer yet
                    dashboard = OPEN[self.target.name](self._run, self.target.place)
                if record["kind"] not in ("start", "end"):
                    dashboard.write(record)
            except Exception as error:
                self._fail(error)
        if dashboard is not None:
            try:
                dashboard.close(finished)
            except Exception as error:
                self._fail(error)

    def _fail(self, error: Exception) -> None:
        said, *_ = str(error).strip().splitlines() or ["no reason given"]
        self._problem = self._problem or f"{type(error).__name__}: {said}"


class Dashboards:
    """The dashboards of a run that is trained now, in that folder."""

    def __init__(self, targets: Sequence[Target], folder: Path) -> None:
        self._targets, self._folder = targets, folder
        self._deliveries: list[Delivery] = []

    def write(self, record: Record) -> None:
        """Hand over a line of the log that is not in its file yet; the first is that of the start."""
        if record["kind"] == "start":
            identity = run_identity(self._folder) or digest_of(json.dumps(record).encode())
            run = LoggedRun(self._folder, identity, record)
            self._deliveries = [Delivery(target, run) for target in self._targets]
        if record["kind"] in KINDS:
            for delivery in self._deliveries:
                delivery.put(record)

    def end(self) -> None:
        """Wait a few seconds for all of them, the first time that this is called."""
        deadline = time.monotonic() + LAST_SECONDS
        for delivery in self._deliveries:
            delivery.end(deadline)

    def untold_problems(self) -> dict[str, str]:
        """The first problem of each dashboard, by its name; each is given once."""
        found = {delivery.target.name: delivery.untold_problem() for delivery in self._deliveries}
        return {name: problem for name, problem in found.items() if problem is not None}


def export_log(run: str | Path, words: Sequence[str]) -> list[Target]:
    """Hand the log of a run to dashboards: all of it, in this thread. A problem is an error here.

    Parameters
    ----------
    run
        Folder of the run.
    words
        As of `--log-to`: `tensorboard`, `wandb:PROJECT`, `mlflow:URI`.

    Returns
    -------
    list of Target
        The dashboards.

    Raises
    ------
    FileNotFoundError
        If the folder has no log.
    ValueError, ImportError, FileExistsError
        As `check_targets`, or if the log has no lines.
    """
    folder = Path(run)
    records = [record for record in read_records(folder / LOG, strict=False) if record.get("kind") in KINDS]
    identity = run_identity(folder)
    if not records or identity is None:
        raise ValueError(f"{folder / LOG}: no line of it can be read")
    targets = check_targets(words, folder)
    for target in targets:
        dashboard = OPEN[target.name](LoggedRun(folder, identity, {"update": 0, **records[0]}), target.place)
        for record in records:
            if record["kind"] not in ("start", "end"):
                dashboard.write(record)
        dashboard.close(bool(records[-1].get("finished")))
    return targets

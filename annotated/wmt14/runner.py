"""Runner of stages, one after the other: what is done stays done, what is half done is done again.

A stage reads files that it names and makes files that it names. It writes into `.partial/`, and when it has ended its
files are forced to the disk and renamed, and then its manifest is written. A process that is killed at any moment
leaves whole stages, and at worst something in `.partial/`.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotated.storage import fsync, rename, translate_disk_full, write_json
from annotated.wmt14.manifest import (
    compare_file,
    describe_file,
    differences,
    manifest_path,
    read_manifest,
)
from annotated.wmt14.options import PreparationError
from annotated.wmt14.progress import Advance, Reporter

PARTIAL = ".partial"


@dataclass(frozen=True)
class StageWork:
    """What a running stage is given."""

    folder: Path
    """The prepared folder, where the inputs are."""
    out: Path
    """Where to write the outputs, by their names."""
    jobs: int
    """Processes to use."""
    advance: Advance
    """Tell how much is done, and of how much."""
    inputs: frozenset[str] = frozenset()
    """Which of the stage's inputs there are: an earlier stage may have gone without some of its outputs."""
    say: Callable[[str], None] = lambda message: None
    """Tell a person something."""

    def path(self, name: str) -> Path:
        """Where to write an output; its folder is made."""
        path = self.out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path


@dataclass(frozen=True)
class Stage:
    """One step from downloads to data, as the runner sees it."""

    name: str
    version: int
    """Of its code: counted up when the same inputs and options make other bytes."""
    inputs: tuple[str, ...]
    """Files it reads, by name in the prepared folder."""
    outputs: tuple[str, ...]
    """Files it makes; the runner adds those that `run` reports under 'files', and leaves out those under 'absent'."""
    run: Callable[[StageWork], dict[str, Any]]
    """Makes the outputs; returns counts for the manifest."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """All that decides what it makes, besides its inputs."""
    elsewhere: Mapping[str, Path] = field(default_factory=dict)
    """Inputs that are not in the prepared folder."""
    lasting: tuple[str, ...] = ()
    """Which of its outputs a prepared folder cannot do without: names, or folders as 'train/'."""
    weight: float = 0.0
    """Disk that it needs at most, in multiples of the size of the training text."""
    temporary: bool = False
    """Whether its outputs can go when the stages that read them have ended."""
    resumes: bool = False
    """Whether what it left half done in `out` is of use to it."""


class Runner:
    """Runs the stages of one prepared folder.

    Parameters
    ----------
    folder
        Made if missing.
    stages
        In order.
    """

    def __init__(self, folder: Path, stages: Sequence[Stage], reporter: Reporter, jobs: int, keep: bool) -> None:
        self.folder, self.stages, self.reporter, self.jobs = folder, stages, reporter, jobs
        self.keep = keep
        """Keep temporary outputs to the end."""

    def manifest(self, stage: Stage) -> dict[str, Any] | None:
        """The manifest of a stage that has ended."""
        return read_manifest(self.manifest_path(stage))

    def manifest_path(self, stage: Stage) -> Path:
        """Where it lies."""
        return manifest_path(self.folder, self.stages.index(stage) + 1, stage.name)

    def to_run(self, wanted: Sequence[Stage]) -> list[Stage]:
        """The stages that must run: those without a manifest, and those whose missing files are needed by others.

        Raises
        ------
        PreparationError
            If an option, an input, an output or the code of a stage that has ended has changed since.
        """
        needed = {name for stage in wanted for name in stage.lasting}
        if wanted[-1] is not self.stages[-1]:
            needed |= set(wanted[-1].outputs)
        chosen = []
        for stage in reversed(wanted):
            manifest = self.manifest(stage)
            if manifest is not None:
                self._refuse_changes(stage, manifest)
            if manifest is None or self._lacks(stage, manifest, tuple(needed)):
                chosen.append(stage)
                needed |= set(stage.inputs)
        return chosen[::-1]

    def run(self, wanted: Sequence[Stage], check_disk: Callable[[Stage], None]) -> None:
        """Run what must be run, in order."""
        chosen = self.to_run(wanted)
        for stage in wanted:
            manifest = self.manifest(stage)
            if stage not in chosen and manifest is not None:
                self._refuse_other_inputs(stage, manifest)
                self.reporter.skipped(stage.name)
                continue
            check_disk(stage)
            self._run(stage)
            self._remove_temporary(stage)

    def _run(self, stage: Stage) -> None:
        out = self.folder / PARTIAL / stage.name
        inputs = {name: record for name in stage.inputs if (record := self._input(stage, name)) is not None}
        identity = {"version": stage.version, "options": dict(stage.options)}
        identity["inputs"] = {name: record["sha256"] for name, record in inputs.items()}
        if not stage.resumes or _differs(out / "identity.json", identity):
            shutil.rmtree(out, ignore_errors=True)
        write_json(out / "identity.json", identity)
        began = time.monotonic()
        with self.reporter.stage(stage.name) as advance, translate_disk_full(self.folder, _advice(stage)):
            work = StageWork(self.folder, out, self.jobs, advance, frozenset(inputs), self.reporter.say)
            counts = stage.run(work)
            absent = counts.pop("absent", ())
            names = [name for name in (*counts.pop("files", ()), *stage.outputs) if name not in absent]
            outputs = {name: self._put_in_place(out / name, name) for name in names}
            write_json(
                self.manifest_path(stage),
                {
                    "stage": stage.name,
                    "version": stage.version,
                    "options": dict(stage.options),
                    "inputs": inputs,
                    "outputs": outputs,
                    "counts": counts,
                    "seconds": round(time.monotonic() - began, 2),
                },
            )
        shutil.rmtree(out, ignore_errors=True)
        self.reporter.done(stage.name, counts, time.monotonic() - began)

    def _remove_temporary(self, ended: Stage) -> None:
        """Remove what no later stage reads."""
        later = self.stages[self.stages.index(ended) + 1 :]
        still_read = {name for stage in later for name in stage.inputs}
        for stage in self.stages if not self.keep else ():
            for name in set(stage.outputs) - still_read if stage.temporary and stage not in later else ():
                (self.folder / name).unlink(missing_ok=True)
                with contextlib.suppress(OSError):  # others are in it
                    (self.folder / name).parent.rmdir()

    def _put_in_place(self, made: Path, name: str) -> dict[str, Any]:
        target = self.folder / name
        if made.exists():  # not `atomic_write`: the stage wrote it, perhaps over several runs, and it may be many GB
            fsync(made)
            target.parent.mkdir(parents=True, exist_ok=True)
            rename(made, target)
        return describe_file(target)

    def _input(self, stage: Stage, name: str) -> dict[str, Any] | None:
        """The record of an input; None if the stage that makes it has ended without it."""
        if name in stage.elsewhere:
            return describe_file(stage.elsewhere[name])
        for other in self.stages:
            manifest = self.manifest(other) if other is not stage else None
            if manifest and name in manifest["outputs"]:
                return dict(manifest["outputs"][name])
            if manifest and name in other.outputs:
                return None
        raise PreparationError(f"{self.folder}: no stage has made {name}, which stage {stage.name} reads; run it first")

    def _lacks(self, stage: Stage, manifest: Mapping[str, Any], needed: tuple[str, ...]) -> bool:
        """Whether a file is missing that is needed. One that is there, but is another than was made, is refused."""
        lacks = False
        for name, record in manifest["outputs"].items():
            found = compare_file(self.folder / name, record)
            if found == "changed":
                raise PreparationError(
                    f"{self.folder / name}: changed since stage {stage.name} made it; put it back, or delete it to "
                    "have it made again"
                )
            lacks = lacks or (found == "missing" and name.startswith(needed))
        return lacks

    def _refuse_changes(self, stage: Stage, manifest: Mapping[str, Any]) -> None:
        changes = list(differences(manifest["options"], stage.options))
        if manifest["version"] != stage.version:
            changes.append(f"the code of the stage is version {stage.version}, not {manifest['version']}")
        for name, path in stage.elsewhere.items():
            record = manifest["inputs"].get(name)
            found = "changed" if record is None else compare_file(path, record)
            if found != "same":
                changes.append(f"{path} is {found if record else 'new'}")
        self._refuse(stage, changes)

    def _refuse_other_inputs(self, stage: Stage, manifest: Mapping[str, Any]) -> None:
        inside = [name for name in stage.inputs if name not in stage.elsewhere]
        known, changes = manifest["inputs"], []
        for name in inside:
            before, now = known.get(name), self._input(stage, name)
            if before is None or now is None:
                changes += [f"{name} is {'gone' if before else 'new'}"] if before != now else []
            elif before["sha256"] != now["sha256"]:
                changes.append(f"{name} has other content")
        self._refuse(stage, changes)

    def _refuse(self, stage: Stage, changes: Sequence[str]) -> None:
        if changes:
            raise PreparationError(
                f"{self.folder}: stage {stage.name} was run before, and since then: {'; '.join(changes)}. Go back to "
                f"what it was, prepare into another folder, or make it again from this stage on (--again {stage.name})"
            )

    def forget(self, first: str) -> None:
        """Make stages run again: `first` and all after it."""
        names = [stage.name for stage in self.stages]
        if first not in names:
            raise PreparationError(f"there is no stage {first!r}; the stages are {', '.join(names)}")
        for stage in self.stages[names.index(first) :]:
            self.manifest_path(stage).unlink(missing_ok=True)
            shutil.rmtree(self.folder / PARTIAL / stage.name, ignore_errors=True)


def _differs(path: Path, identity: Mapping[str, Any]) -> bool:
    """Whether what was left half done is of other inputs or options."""
    try:
        return json.loads(path.read_text(encoding="utf-8")) != json.loads(json.dumps(identity))
    except (OSError, ValueError):
        return True


def _advice(stage: Stage) -> str:
    return (
        f"What was done before stage {stage.name} is untouched: free some space, then run the same command again; "
        "it goes on with this stage"
    )

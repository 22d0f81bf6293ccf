"""Runs: the trainings of the catalogue made and recorded, by any number of processes, stopped and begun at any time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from annotated.chapters.experiments.alone import train_alone
from annotated.chapters.experiments.catalogue import ChapterTraining
from annotated.chapters.experiments.records import WEIGHTS, described, translated, write
from annotated.chapters.experiments.stream import Stream
from annotated.chapters.experiments.text import ShortSentences
from annotated.chapters.experiments.together import Start, train_together
from annotated.chapters.experiments.training import Training
from annotated.runs.random_states import seed_everything
from annotated.speed.steps.cuda_graphs import GraphRecorder
from annotated.storage import Locked, exclusive_lock


def run_alone(
    experiments: Sequence[ChapterTraining],
    text: ShortSentences,
    out: Path,
    locks: Path,
    about: dict[str, Any],
    until: float,
) -> None:
    """Make what is not recorded yet, one after the other on the CPU, as long as there is time.

    What another process makes is left to it; a run that is killed is begun anew by whoever comes next.
    """
    torch.set_num_threads(1)
    for one in experiments:
        if time.monotonic() > until:
            return
        try:
            with exclusive_lock(locks / f"{one.chapter}-{one.row}-{one.seed}.lock", wait_seconds=0.1):
                if not (out / one.record).is_file():
                    _make_alone(one, text, out, about)
        except Locked:
            continue


def _make_alone(one: ChapterTraining, text: ShortSentences, out: Path, about: dict[str, Any]) -> None:
    began = time.process_time()
    trained = train_alone(one, text)
    content = {**described(one, trained.model, text), "curve": trained.curve, "diverged": trained.diverged}
    if not trained.diverged:
        content |= {"valid_loss": round(trained.valid_loss, 5), **translated(trained.model, text)}
    command = (
        f"python -m annotated.chapters.experiments cpu --chapters {one.chapter} --rows {one.row} --seeds {one.seed}"
    )
    seconds = round(time.process_time() - began, 1)
    write(out / one.record, {**content, "cpu_seconds": seconds, **about, "command": command})
    say(f"{one.name}: {content.get('valid_loss')} nats, BLEU {content.get('bleu')}, {seconds} s")


def run_together(
    experiments: Sequence[ChapterTraining],
    text: ShortSentences,
    out: Path,
    device: torch.device,
    about: dict[str, Any],
    until: float,
) -> None:
    """Train all at the same time; records and weights of those that are finished in time, to be translated later."""
    began, valid = time.monotonic(), text.valid_stream(device)
    streams: dict[tuple[int, int], Stream] = {}
    for one in experiments:
        key = one.seed, one.training.updates
        if key not in streams:
            streams[key] = text.stream(one.training, device)

    def start_of(one: ChapterTraining) -> Start:
        def start(recorder: GraphRecorder | None) -> Training:
            seed_everything(one.seed)
            model, stream = one.model().to(device), streams[one.seed, one.training.updates]
            return Training(model, one.optimizer(model), one.rate, one.training, stream, valid, recorder)

        return start

    trainings = train_together([start_of(one) for one in experiments], device, until=until)
    seconds = round(time.monotonic() - began, 1)
    for one, training in zip(experiments, trainings, strict=True):
        if training.finished:
            more = {"together": len(trainings), "seconds": seconds, **about}
            _write_finished(one, training, text, out, more)
        else:
            say(f"{one.name}: {training.done} of {one.training.updates} updates, not recorded")
    say(f"{len(trainings)} trainings after {seconds} s")


def _write_finished(
    one: ChapterTraining, training: Training, text: ShortSentences, out: Path, more: dict[str, Any]
) -> None:
    content = {**described(one, training.model, text), "curve": training.curve(), "diverged": training.diverged}
    if not training.diverged:
        content["valid_loss"] = round(training.valid_loss, 5)
    path = out / one.record
    write(path, {**content, **more})
    torch.save({n: x.cpu() for n, x in training.model.state_dict().items()}, path.with_suffix(WEIGHTS))


def say(line: str) -> None:
    """Tell the user."""
    print(f"experiments: {line}", flush=True)

"""Setup of a run before its first update: data, model and optimiser, new or as a checkpoint left them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from annotated.config import DataConfig, ModelConfig, TrainingConfig
from annotated.data.batching import BatchingError, DataPosition, TokenBatches
from annotated.model import Transformer
from annotated.runs.checkpoint import TrainingState, list_checkpoints, load_checkpoint, prepare_resume
from annotated.runs.dataset import PreparedData, prepare_data, prepared_identity
from annotated.runs.hardware import usable_gpu_bytes
from annotated.runs.kernel_choice import KernelChoice, kept_choice, kernels_to_time, measured_choice
from annotated.runs.log import rewind_log
from annotated.runs.preflight.memory import fit_micro_batch
from annotated.runs.preflight.start import count_weights
from annotated.runs.random_states import random_states, seed_everything, set_random_states
from annotated.saving import CheckpointError, read_json
from annotated.speed.layouts.auto import batch_layout, resolve_layout
from annotated.speed.machine.distributed import Processes
from annotated.speed.steps import FastStep
from annotated.speed.steps.precision import resolve_precision

MAY_CHANGE = {
    "model": {"vocab_size"},
    "training": {
        "updates", "micro_batch_tokens", "log_every", "validate_every", "validate_bleu", "checkpoint_every",
        "keep_checkpoints", "keep_best", "average_last", "peer_timeout", "device", "compile",
        "row_classes", "overlap_exchange", "attention_kernel", "max_seconds", "patience",
    },
    "data": {"prepared", "train", "valid", "test", "format", "pair", "tokenizer"},
}  # fmt: skip
"""Fields that may change when a run is resumed: none alters what an update sees.

The vocabulary's size is the tokenizer's. Files may lie elsewhere now: that they are the same training data is checked
by their content, and the tokenizer by its fingerprint.
"""

_DEFAULTS = {"model": ModelConfig().to_dict(), "training": TrainingConfig().to_dict(), "data": {}}


@dataclass
class Run:
    """Everything that the loop works with."""

    folder: Path
    training: TrainingConfig
    """With a layout that is decided; `state.configuration` has what was asked for."""
    layout: str
    """Which layout that is, and why."""
    processes: Processes
    data: PreparedData
    batches: TokenBatches
    model: Transformer
    step: FastStep
    state: TrainingState
    messages: list[str]
    """For the user, from the start."""
    began: float = field(default_factory=time.monotonic)
    position: DataPosition = field(init=False)
    """After the batches that updates have used; `batches` may be ahead of that."""

    def __post_init__(self) -> None:
        self.position = self.batches.position

    @property
    def epoch(self) -> int:
        """That of the batch that was used last, from 0."""
        return self.position.epoch

    @property
    def elapsed(self) -> float:
        """Seconds since the run began, over all its processes."""
        return self.state.elapsed + time.monotonic() - self.began

    def state_to_save(self, interim: bool) -> TrainingState:
        """The state as it is now, random numbers and data position included."""
        self.state.interim = interim
        self.state.elapsed, self.began = self.elapsed, time.monotonic()
        self.state.data = self.batches.state_dict(self.position)
        self.state.random = random_states()
        self.state.scaler = self.step.precision.state_dict()
        return self.state


def start_run(
    model_config: ModelConfig,
    training: TrainingConfig,
    data: DataConfig,
    folder: Path,
    processes: Processes,
    resume: bool,
) -> Run:
    """Begin a run, or pick it up at its last good checkpoint.

    Raises
    ------
    CheckpointError
        If the folder holds another run, or `resume` is False and it holds any.
    """
    folder.mkdir(parents=True, exist_ok=True)
    checkpoint, messages = processes.broadcast_object(_find_checkpoint(folder, resume) if processes.is_main else None)
    recorded = None if checkpoint is None else _recorded(checkpoint)
    choice = _choice(training, model_config, folder, processes, recorded)
    if training.precision == "auto":
        training = _with_precision(training, recorded, processes)
        messages.append(f"precision {training.precision}" + (", as the run was begun" if recorded else ""))
    wanted = _configuration(model_config, training, data)
    if choice is not None:
        wanted["kernel"] = asdict(choice)
    if recorded is not None:
        check_same_run(recorded, wanted, folder)
    training, layout = _decided(training, model_config, processes, choice)
    if (fitted := _fitted(training, model_config, processes)) != training:
        training = fitted
        messages.append(
            f"micro_batch_tokens {fitted.micro_batch_tokens:,}, for the GPU's memory: the updates are the same"
        )
    prepared = prepare_data(data, folder, processes, checkpoint)
    seed_everything(training.seed)
    model = Transformer(model_config.replace(vocab_size=prepared.tokenizer.vocab_size)).to(processes.device)
    run = Run(
        folder=folder,
        training=training,
        layout=layout,
        processes=processes,
        data=prepared,
        batches=_batches(training, data, prepared),
        model=model,
        step=FastStep(model, training, processes),
        state=TrainingState(configuration=wanted),
        messages=messages,
    )
    if checkpoint is not None:
        _go_on(run, checkpoint, wanted)
    processes.broadcast(list(model.state_dict().values()))
    if processes.is_main and (lost := rewind_log(folder, run.state.update)):
        run.messages.append(_what_is_lost(lost, checkpoint is not None, training.log_every))
    return run


def _configuration(model: ModelConfig, training: TrainingConfig, data: DataConfig) -> dict[str, dict[str, Any]]:
    """As a checkpoint records it."""
    corpus = {"prepared": prepared_identity(data)}
    return {"model": model.to_dict(), "training": training.to_dict(), "data": data.to_dict(), "corpus": corpus}


def check_recorded(
    recorded: Mapping[str, Any], model: ModelConfig, training: TrainingConfig, data: DataConfig, where: Path
) -> None:
    """Make sure, before anything is begun, that a recorded configuration is that of the run that is asked for.

    Raises
    ------
    CheckpointError
        As `check_same_run`.
    """
    if training.precision == "auto":
        training = training.replace(precision=recorded["training"].get("precision", TrainingConfig.precision))
    check_same_run(recorded, _configuration(model, training, data), where)


def _with_precision(asked: TrainingConfig, recorded: Mapping[str, Any] | None, processes: Processes) -> TrainingConfig:
    """The training in the precision that its run was begun with; in a new run that of the main process's device."""
    if recorded is not None:
        return asked.replace(precision=recorded["training"].get("precision", TrainingConfig.precision))
    here = resolve_precision(asked, processes.device)
    return asked.replace(precision=processes.broadcast_object(here.precision))


def _choice(
    asked: TrainingConfig,
    model: ModelConfig,
    folder: Path,
    processes: Processes,
    recorded: Mapping[str, Any] | None,
) -> KernelChoice | None:
    """The kernel that the run was begun with; in a new run the one that its dry run found to be the fastest."""
    if recorded is not None:
        return kept_choice(recorded)
    found = measured_choice(folder, asked, model, processes.world_size) if processes.is_main else None
    return processes.broadcast_object(found)


def _decided(
    asked: TrainingConfig, model: ModelConfig, processes: Processes, choice: KernelChoice | None
) -> tuple[TrainingConfig, str]:
    """The training with the main process's layout and kernel, which all others take too, and why it is these."""
    here, reason = resolve_layout(asked, model, processes.device)
    if choice is not None and asked.layout == asked.attention_kernel == "auto":
        if here.layout == "static" and choice.kernel in kernels_to_time(asked, model, processes.device):
            here, reason = here.replace(attention_kernel=choice.kernel), choice.why
        else:
            reason += f" (where the run was begun it was {choice.why})"
    layout, kernel, reason = processes.broadcast_object((here.layout, here.attention_kernel, reason))
    return asked.replace(layout=layout, attention_kernel=kernel), reason


def _fitted(training: TrainingConfig, model: ModelConfig, processes: Processes) -> TrainingConfig:
    """The training with micro-batches that the smallest GPU of all processes has room for."""
    if processes.device.type != "cuda":
        return training
    own = usable_gpu_bytes(processes.device)
    everyone = processes.all_reduce_numbers([own * (rank == processes.rank) for rank in range(processes.world_size)])
    return fit_micro_batch(training, model, count_weights(model), [int(memory) for memory in everyone])


def _what_is_lost(count: int, after_checkpoint: bool, log_every: int) -> str:
    updates = f"{count} update{'s' if count > 1 else ''}" + (" after it" if after_checkpoint else "")
    known = "" if log_every == 1 else f" (as far as the log tells, which has a line for every {log_every})"
    return (
        ("" if after_checkpoint else "no checkpoint had been saved: ")
        + f"{updates} {'are' if count > 1 else 'is'} lost and made again{known}; nothing else is lost, and what the "
        "log said about that moved to log.discarded.jsonl"
    )


def check_same_run(
    recorded: Mapping[str, Mapping[str, Any]], wanted: Mapping[str, Mapping[str, Any]], where: Path
) -> None:
    """Make sure that a run is resumed with the configuration it was started with.

    Raises
    ------
    CheckpointError
        If fields differ that change what an update does; the message lists them.
    """
    _check_same_corpus(recorded, wanted, where)
    differences = []
    for group in ("model", "training", "data"):
        # A field that the run's version did not have had its default, whatever is wanted now.
        old, new = {**_DEFAULTS[group], **recorded.get(group, {})}, wanted[group]
        for name in sorted(old):
            before, after = old.get(name), new.get(name)
            if name == "layout" and "padded" not in (before, after):  # packed, static, auto: the same batches
                continue
            if before != after and name in new and name not in MAY_CHANGE[group]:
                differences.append(f"{group}.{name} was {before!r} and is now {after!r}")
    if differences:
        raise CheckpointError(
            f"{where} was started with another configuration: {'; '.join(differences)}. Use the old values to go on "
            "with that run, or another folder for a new one"
        )


def _check_same_corpus(
    recorded: Mapping[str, Mapping[str, Any]], wanted: Mapping[str, Mapping[str, Any]], where: Path
) -> None:
    before, identity = (group.get("corpus", {}).get("prepared") for group in (recorded, wanted))
    if "corpus" in wanted and before != identity:
        folder = wanted["data"]["prepared"]
        raise CheckpointError(
            f"{where} was trained on {_named_corpus(before)}, and this is {_named_corpus(identity, folder)}. "
            "Give --data.prepared the folder that it was started with (or prepare it again from the same archives with "
            "the same options), or start a new run in another folder"
        )


def _named_corpus(identity: str | None, folder: str | None = None) -> str:
    if identity is None:
        return "text of its own"
    return f"the prepared corpus {identity}" + (f" of {folder}" if folder else "")


def _find_checkpoint(folder: Path, resume: bool) -> tuple[Path | None, list[str]]:
    if not resume and list_checkpoints(folder):
        raise CheckpointError(f"{folder} already holds a training run: resume it, or choose another folder")
    return prepare_resume(folder)


def _recorded(checkpoint: Path) -> dict[str, Any]:
    return read_json(checkpoint / "state.json")["configuration"]


def _batches(training: TrainingConfig, data: DataConfig, prepared: PreparedData) -> TokenBatches:
    return TokenBatches(
        prepared.train,
        training.batch_tokens,
        seed=training.seed,
        pool_pairs=data.pool_pairs,
        layout=batch_layout(training),
        length_ties=data.length_ties,
    )


def _go_on(run: Run, checkpoint: Path, wanted: dict[str, Any]) -> None:
    run.state = load_checkpoint(checkpoint, run.model, run.step.optimizer)
    run.state.configuration = wanted
    asked = run.batches.length_ties
    try:
        run.batches.load_state_dict(run.state.data)
    except BatchingError as error:
        data = wanted["data"]
        text = data["prepared"] or data["train"]
        raise CheckpointError(
            f"{run.folder} was trained on other data than this {text}, or the text has changed since: give it as it "
            f"was, or a new folder ({error})"
        ) from None
    run.position = run.batches.position
    run.step.precision.load_state_dict(run.state.scaler)
    set_random_states(run.state.random)
    if run.batches.length_ties != asked:
        run.messages.append(
            f"this run was begun with length_ties {run.batches.length_ties!r} and goes on with the same batches; "
            f"{asked!r}, which the configuration says now, is for new runs"
        )
    run.messages.append(f"going on from {checkpoint.name}: {run.state.update} of {run.training.updates} updates made")

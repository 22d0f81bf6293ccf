"""README of a run's folder: what is trained, on what data, by which command, and which files lie there.

Each start brings it up to date, from the configuration and from the log, so that somebody who finds it in a year knows
what it is and how to go on with it. Its last line has a digest of what stands above it: what somebody else wrote or
changed stays as it is.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from annotated.config import DataConfig, ModelConfig, TrainingConfig
from annotated.runs.hardware import name_machine
from annotated.runs.launch import train_command
from annotated.runs.log import read_records
from annotated.runs.setup import Run
from annotated.storage import atomic_write

README = "README.md"
_MARK = "<!-- annotated: of what stands above, "

_FILES = {
    "README.md": "this file, which each start brings up to date, until somebody changes it",
    "log.jsonl": "what happened, a JSON object a line: losses, rates, speed, validations, checkpoints",
    "log.discarded.jsonl": "lines about updates that were lost and made again",
    "output.txt": "what the training said on its console, if `annotated.runs.launch` started it",
    "tokenizer.json": "the vocabulary; every checkpoint has a copy",
    "data/": "the encoded sentences; made again if deleted (of a prepared corpus, only the validation set is here)",
    "checkpoints/": "all that is needed to go on: weights, Adam's moments, place in the data; the newest are kept",
    "best/": "checkpoints of the lowest validation loss, if keep_best is set",
    "tensorboard/": "the log once more, for TensorBoard, if it was asked for",
    "heads/": "where the heads look in the sample sentences, at each validation",
    "model/": "the average of the last checkpoints, or the best one if it is better: the result of a finished run",
    "report/": "translations, scores and MODEL_CARD.md, made by `annotated finish`",
    "nonfinite_batch.json": "the sentences of an update whose loss was infinite or not a number",
    "training.lock": "held by the process that trains; its number and machine",
}


def write_readme(
    run: Run, samples: Sequence[str] = (), log_to: Sequence[str] = (), mirror: str | Path | None = None
) -> Path:
    """Write the README.md of a run, whole or not at all, unless somebody has changed it or nothing in it has changed.

    The log must have the record of this start. `samples` are the sentences that the run translates at each validation,
    `log_to` its dashboards, `mirror` the folder that gets its checkpoints.
    """
    path, text = run.folder / README, readme(run, samples, log_to, mirror)
    text += f"\n{_MARK}{_digest(text)} -->\n"
    there = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    if there != text and (not there or _is_ours(there)):
        with atomic_write(path) as file:
            file.write(text)
    return path


def _is_ours(text: str) -> bool:
    """Whether a README.md is as a training wrote it; those of 0.1 have no digest, but its words."""
    above, mark, digest = text.rpartition(f"\n{_MARK}")
    if not mark:
        return text.startswith("# Run ") and "The training writes this file at each start" in text
    return digest == f"{_digest(above)} -->\n"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def readme(run: Run, samples: Sequence[str] = (), log_to: Sequence[str] = (), mirror: str | Path | None = None) -> str:
    """The text of a run's README.md."""
    model, data = run.model.config, _data_config(run)
    asked_model = model.replace(vocab_size=_asked_vocabulary(run))
    asked = TrainingConfig.from_dict(run.state.configuration["training"])  # another machine chooses its own layout
    command = shlex.join(train_command(run.folder, asked_model, asked, data, samples, log_to, mirror))
    return "\n".join(
        [
            f"# Run {run.folder.resolve().name}",
            "",
            "A Transformer is trained here. Each start brings this file up to date, until somebody changes it; what "
            "happened since is in `log.jsonl`.",
            "",
            "## What",
            "",
            f"- **Model.** {_model_in_words(run.model.num_parameters(), model)}",
            f"- **Training.** {_training_in_words(asked)}",
            f"- **Data.** {_data_in_words(run, data)}",
            "- **All settings**: in the first line of `log.jsonl`, and in each checkpoint's `state.json`.",
            "",
            "## How",
            "",
            _block("Begin, or go on after any interruption (the same command):", command),
            _block(
                "On several GPUs of one machine; any number makes the same updates, and the run may change it:",
                f"torchrun --standalone --nproc-per-node 8 --max-restarts 3 -m {command}",
            ),
            _block("Watch:", f"tail -f {_quoted(run.folder / 'log.jsonl')}"),
            "In a notebook: `annotated_book.viz.panel.training_panel(folder)`; chapter 33 of the book has it.\n",
            _block(
                "Stop (it saves a checkpoint and ends with status 143):",
                f"python -c \"from annotated.runs import stop; stop('{run.folder}')\"",
            ),
            _block(
                "When it is finished, translate the test set and report:", f"annotated finish {_quoted(run.folder)}"
            ),
            "## Starts",
            "",
            *_starts(run.folder),
            "",
            "## What lies here",
            "",
            "| name | what it is |",
            "|---|---|",
            *(f"| `{name}` | {what} |" for name, what in _FILES.items()),
            "",
        ]
    )


def _model_in_words(parameters: int, model: ModelConfig) -> str:
    return (
        f"{parameters:,} parameters: {model.num_encoder_layers} + {model.num_decoder_layers} layers, "
        f"d_model {model.d_model}, d_ff {model.d_ff}, {model.num_heads} heads, dropout {model.dropout}, "
        f"a vocabulary of {model.vocab_size:,} entries."
    )


def _training_in_words(training: TrainingConfig) -> str:
    words = [
        f"{training.updates:,} updates of up to {training.batch_tokens:,} source and {training.batch_tokens:,} target "
        f"tokens, the rate rising for {training.warmup:,} updates",
        f"label smoothing {training.label_smoothing}",
        {"fp32": "float32", "bf16": "bf16 products", "fp16": "fp16 products"}[training.precision],
        f"{training.layout} layout" + (", compiled" if training.compile else ""),
        f"seed {training.seed}",
        f"a checkpoint every {training.checkpoint_every:,} updates, of which the last {training.average_last} are "
        "averaged in the end",
    ]
    if training.patience is not None:
        words.append(f"the end comes before, after {training.patience:,} validations without a lower loss")
    if training.max_seconds is not None:
        words.append(f"each start ends by itself after {training.max_seconds:,g} seconds, and the same command goes on")
    return "; ".join(words) + "."


def _data_in_words(run: Run, data: DataConfig) -> str:
    if data.prepared is not None:
        where = f"the prepared corpus `{run.state.configuration['corpus']['prepared']}` in `{data.prepared}`"
    elif data.train == "classroom":
        where = "the classroom grammar"
    else:
        where = f"`{data.train}`; validation: `{data.valid}`"
    return (
        f"{len(run.data.train):,} training and {len(run.data.valid):,} validation pairs from {where}. Store "
        f"`{run.data.train.identity}`, tokenizer `{run.data.tokenizer.fingerprint[:16]}`."
    )


def _starts(folder: Path) -> list[str]:
    """A table of all starts that the log knows."""
    rows = ["| when (UTC) | after update | processes | machine | software |", "|---|---|---|---|---|"]
    for record in read_records(folder):
        if record["kind"] == "start":
            rows.append(
                f"| {record['time']} | {record['update']:,} | {record['processes']} | {_machine(record)} | "
                f"{record['library']}, torch {record['torch']} |"
            )
    return rows


def _machine(record: dict[str, Any]) -> str:
    machine = record["machine"] if record["device"].startswith("cuda") else {**record["machine"], "gpus": []}
    return f"{record['host']}: {name_machine(machine)}"


def _data_config(run: Run) -> DataConfig:
    return DataConfig.from_dict(run.state.configuration["data"])


def _asked_vocabulary(run: Run) -> int:
    """The vocabulary's size as it was asked for; the tokenizer's replaced it."""
    return int(run.state.configuration["model"]["vocab_size"])


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))


def _block(says: str, command: str) -> str:
    return f"{says}\n\n```\n{command}\n```\n"

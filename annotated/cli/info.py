"""`annotated info`: what a model is, how a training went, and what is installed on what machine."""

from __future__ import annotations

import contextlib
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

_PACKAGES = """annotated-attention annotated-grader annotated-book numpy tokenizers safetensors sacrebleu pandas tyro
altair ctranslate2 onnxruntime transformers""".split()
_LAST = 5  # lines of a log


@dataclass
class Info:
    """Show a model, or a training and the end of its log; without either, versions and this machine, for a report."""

    model: tyro.conf.Positional[str | None] = None
    """A model inside the package by name, a model folder, a checkpoint, or the folder of a training run."""

    def run(self) -> int:
        """Print it."""
        for name, value in (about_library() if self.model is None else about(self.model)).items():
            print(f"{name:<24}{value}")
        return 0


def about_library() -> dict[str, Any]:
    """Versions of what is installed, and the machine."""
    from importlib.metadata import PackageNotFoundError, version

    import torch

    from annotated.loading import builtin_models
    from annotated.runs.hardware import describe_machine
    from annotated.speed.machine.nvidia_driver import find_driver

    versions = {}
    for package in _PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            versions[package] = version(package)
    machine = describe_machine()
    gpu = ", ".join(gpu["name"] for gpu in machine["gpus"]) or "none that torch sees"
    memory = f", {machine['memory_bytes'] / 2**30:.0f} GiB" if machine["memory_bytes"] else ""
    return {
        **versions,
        "torch": f"{torch.__version__}, {torch.get_num_threads()} threads",
        "python": f"{machine['python']} on {platform.platform()}",
        "processor": f"{machine['cores']} cores of {machine['processor']}{memory}",
        "GPU": f"{gpu} (torch built for CUDA: {torch.version.cuda or 'no'}; NVIDIA driver: {find_driver()})",
        "models": ", ".join(builtin_models()) or "none inside the package",
    }


def about(path_or_name: str) -> dict[str, Any]:
    """A model, and if it is a training's, that too; a training that has not saved anything yet has its log alone."""
    from annotated.saving import CheckpointError

    run = Path(path_or_name)
    log = run / "log.jsonl"
    rows = about_run(log) if log.is_file() else {}
    try:
        return about_model(path_or_name) | rows
    except (CheckpointError, KeyError) as error:  # of a damaged log, too, from which the sound checkpoint is chosen
        if rows:
            return rows | {"model": f"none can be read: {error}"}
        if (run / "training.lock").is_file():
            return {"training": "it has not logged anything yet"}
        raise


def about_model(path_or_name: str) -> dict[str, Any]:
    """Its folder, its size, its vocabulary and its configuration."""
    from annotated.loading import find_model
    from annotated.saving import load_model

    folder = find_model(path_or_name)
    model, tokenizer = load_model(folder)
    rows = {"folder": folder, "parameters": f"{model.num_parameters():,}"}
    if tokenizer is not None:
        rows["tokenizer"] = f"{tokenizer.vocab_size} entries, fingerprint {tokenizer.fingerprint[:12]}"
    return rows | model.config.to_dict()


def about_run(log: Path) -> dict[str, Any]:
    """What its training was asked that is not the default, and the numbers of the last lines of its log."""
    from annotated.config import TrainingConfig
    from annotated.runs.log import last_start, read_records

    usual = TrainingConfig().to_dict()
    records = read_records(log, strict=False)
    if not any("kind" in record for record in records):
        raise ValueError(f"{log}: no line of it can be read")
    start = last_start(records)
    names = ("library", "torch", "device", "layout", "processes", "train_pairs", "valid_pairs")
    rows = {name: start[name] for name in names if name in start}
    asked = start.get("configuration", {}).get("training", {})
    rows |= {name: value for name, value in asked.items() if value != usual.get(name)}
    for number, record in enumerate(records[-_LAST:]):
        numbers = {
            name: value for name, value in record.items() if isinstance(value, int | float) or name == "stopped_by"
        }
        rows[f"log, line {len(records) - len(records[-_LAST:]) + number + 1}"] = f"{record.get('kind')} {numbers}"
    return rows

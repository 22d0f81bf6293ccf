"""`annotated average` and `annotated export`: what to do with models that are trained."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import tyro

from annotated.config import TrainingConfig


@dataclass
class Average:
    """Average the last checkpoints of a training run into one model."""

    run_folder: tyro.conf.Positional[Path]
    """Folder that `annotated train` wrote."""
    out: tyro.conf.Positional[Path]
    """Model folder to write."""
    last: int | None = None
    """How many checkpoints, if not as many as the training's own average has (the paper's base 5, its big model 20)."""
    int8: bool = False
    """Write one byte a number instead of four, with a scale for each row, as a page in a browser fetches it."""

    def run(self) -> int:
        """Average and save."""
        from annotated.runs.last_checkpoints import average_last
        from annotated.runs.log import last_start, read_records
        from annotated.saving import load_model, longest_source, save_pretrained

        if self.last is not None and self.last < 1:
            raise ValueError(f"--last must be at least 1, not {self.last}")
        log = self.run_folder / "log.jsonl"
        started = last_start(read_records(log, strict=False)) if log.is_file() else {}
        training = started.get("configuration", {}).get("training", {})
        count = self.last or training.get("average_last", TrainingConfig.average_last)
        state, chosen = average_last(self.run_folder, count)
        model, tokenizer = load_model(chosen[-1])
        model.load_state_dict(state)
        save_pretrained(self.out, model, tokenizer, longest_source(chosen[-1]), int8=self.int8)
        print(f"{self.out}\taverage of {', '.join(path.name for path in chosen)}")
        return 0


@dataclass
class Export:
    """Write a model in the format of another program; needs the extra `export`."""

    format: tyro.conf.Positional[Literal["onnx", "ctranslate2", "marian"]]
    """onnx: encoder and cached decoder step. ctranslate2: a fast engine. marian: Hugging Face Transformers."""
    model: tyro.conf.Positional[str]
    """A model inside the package by name, a model folder, a checkpoint, or the folder of a training run."""
    out: tyro.conf.Positional[Path]
    """Folder to write."""
    quantization: str | None = None
    """For ctranslate2: int8, int16, float16, ...; float32 if not given."""

    def run(self) -> int:
        """Export."""
        from annotated.interop import ctranslate2, marian_folder, onnx
        from annotated.loading import load

        if self.quantization is not None and self.format != "ctranslate2":
            raise ValueError("--quantization is for ctranslate2 only")
        translator = load(self.model)
        model, tokenizer = translator.model, translator.tokenizer
        if self.format == "ctranslate2":
            ctranslate2.export_ctranslate2(model, tokenizer, self.out, self.quantization)
            usage = ctranslate2.USAGE
        elif self.format == "onnx":
            onnx.export_onnx(model, self.out, tokenizer=tokenizer)
            usage = onnx.USAGE
        else:
            marian_folder.export_marian(model, tokenizer, self.out)
            usage = marian_folder.USAGE
        print(self.out)
        print(f"To load it in Python:\n\n{usage.format(folder=str(self.out))}", file=sys.stderr)
        return 0

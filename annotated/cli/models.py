"""`annotated average`, `annotated export` and `annotated info`: what to do with models that are trained."""

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
    last: int = TrainingConfig.average_last
    """How many checkpoints; the paper takes 5 for its base and 20 for its big model."""

    def run(self) -> int:
        """Average and save."""
        from annotated.runs.last_checkpoints import average_last
        from annotated.saving import load_model, longest_source, save_pretrained

        if self.last < 1:
            raise ValueError(f"--last must be at least 1, not {self.last}")
        state, chosen = average_last(self.run_folder, self.last)
        model, tokenizer = load_model(chosen[-1])
        model.load_state_dict(state)
        save_pretrained(self.out, model, tokenizer, longest_source(chosen[-1]))
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


@dataclass
class Info:
    """Show a model's shape and size; without a model, versions, devices, and the models inside the package."""

    model: tyro.conf.Positional[str | None] = None
    """A model inside the package by name, a model folder, a checkpoint, or the folder of a training run."""

    def run(self) -> int:
        """Print it."""
        return self._about_library() if self.model is None else self._about_model(self.model)

    def _about_library(self) -> int:
        import platform

        import torch

        from annotated import __version__
        from annotated.loading import builtin_models
        from annotated.speed.machine.nvidia_driver import find_driver

        gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else "none that torch sees"
        rows = {
            "annotated": __version__,
            "python": platform.python_version(),
            "torch": f"{torch.__version__}, {torch.get_num_threads()} threads",
            "GPU": f"{gpu} (torch built for CUDA: {torch.version.cuda or 'no'}; NVIDIA driver: {find_driver()})",
            "models": ", ".join(builtin_models()) or "none inside the package",
        }
        for name, value in rows.items():
            print(f"{name:<12}{value}")
        return 0

    def _about_model(self, path_or_name: str) -> int:
        from annotated.loading import find_model
        from annotated.saving import load_model

        folder = find_model(path_or_name)
        model, tokenizer = load_model(folder)
        print(f"{'folder':<24}{folder}")
        print(f"{'parameters':<24}{model.num_parameters():,}")
        if tokenizer is not None:
            print(f"{'tokenizer':<24}{tokenizer.vocab_size} entries, fingerprint {tokenizer.fingerprint[:12]}")
        for name, value in model.config.to_dict().items():
            print(f"{name:<24}{value}")
        return 0

"""`annotated train`."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import tyro

from annotated.config import TABLE_3, DataConfig, ModelConfig, TrainingConfig, preset, table_3_training

FIRST_PRESET = "tiny"


@dataclass
class Train:
    """Train a model; given the same folder again, go on where the last run stopped.

    The defaults shown are those of --preset. A first run for two cores:
    annotated train run --training.updates 500 --training.batch-tokens 4000 --training.warmup 200
    --training.validate-every 100 --data.vocab-size 4000 --data.classroom-pairs 50000

    On several GPUs: torchrun --nproc-per-node 4 -m annotated train run ...
    """

    out: tyro.conf.Positional[Path]
    """Folder of the run: gets the tokenizer, the encoded data, checkpoints, log.jsonl, and at the end model/."""
    preset: str = FIRST_PRESET
    """tiny, base, big, or a row of the paper's Table 3 (A1 ... E1), which sets model and training."""
    model: ModelConfig = field(default_factory=ModelConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    data: DataConfig = field(default_factory=DataConfig)
    samples: tuple[str, ...] = ()
    """Sentences to translate at each validation; the translations go into log.jsonl."""
    new: bool = False
    """Refuse a folder that already holds a run, instead of going on with it."""
    quiet: bool = False
    """No progress on the console; the log is written all the same."""

    def run(self) -> int:
        """Train; 0, or 128 + the number of the signal that stopped it."""
        check_validation(self.data)
        from annotated.training import train
        from annotated.translator import sample_translations, validation_bleu

        bleu = validation_bleu if self.training.validate_bleu else None
        samples = sample_translations(self.samples) if self.samples else None
        run = (self.model, self.training, self.data, self.out)
        result = train(*run, resume=not self.new, quiet=self.quiet, bleu=bleu, samples=samples)
        if os.environ.get("RANK", "0") != "0":
            return 0
        if not result.finished:
            name = result.stopped_by or ""
            return 128 + int(getattr(signal, name, signal.SIGTERM))
        if result.valid_loss is not None:
            score = "" if result.bleu is None else f", BLEU {result.bleu:.2f} (greedy)"
            print(f"{result.update} updates, validation loss {result.valid_loss:.4f}{score}", file=sys.stderr)
        print(result.model_folder)
        return 0


def check_validation(data: DataConfig) -> None:
    """Raise `ValueError` for own training text that would be watched with the classroom's sentences."""
    if data.train != "classroom" and data.valid == "classroom":
        raise ValueError(
            f"--data.train is {data.train}, but --data.valid is still the classroom corpus, which has nothing to do "
            "with it: give a validation file with --data.valid"
        )


def train_defaults(arguments: Sequence[str]) -> Train:
    """What a command line starts from: the model and the training of its --preset.

    Raises
    ------
    ValueError
        If there is no such preset.
    """
    name = FIRST_PRESET
    for argument, following in zip(arguments, [*arguments[1:], ""], strict=True):
        if argument == "--preset" and following:
            name = following
        elif argument.startswith("--preset="):
            name = argument.removeprefix("--preset=")
    training = table_3_training(name) if name in TABLE_3 else TrainingConfig()
    return Train(tyro.MISSING, name, preset(name), training)

"""`annotated train`."""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import os
import signal
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import tyro

from annotated.cli.own_text import fitted_defaults, option
from annotated.config import TABLE_3, DataConfig, ModelConfig, TrainingConfig, preset, table_3_training
from annotated.recipes import EVERY_RECIPE, FITTED_PRESET, RECIPES, TABLE_3_RECIPES

FIRST_PRESET = FITTED_PRESET
EVENING = "wmt14-evening"
PAPERS = tuple(name for name in RECIPES if name.startswith("wmt14-") and name not in (EVENING, "wmt14-tiny"))
"""The recipes of the paper's four training runs."""
LONG = (*PAPERS, EVENING, *TABLE_3_RECIPES)
"""Those, the beginning of the first of them, and the rows of the paper's Table 3."""
FOR_A_RUN = ("train", "dry-run", "rehearse", "preflight")
"""Commands that begin with the folder of a run, or with the name of a recipe in its place."""
RUNS = "runs"
"""Where `annotated train wmt14-base` makes its folder."""


@dataclass
class Train:
    """Train a model; given the same folder again, go on where the last run stopped.

    A first run, five minutes of one core: annotated train classroom-small

    Text of your own: annotated train run --data.train train.tsv --data.valid valid.tsv

    Five options do for most runs:
    --data.train, --data.valid, --data.test: files of pairs, a sentence, a tab and its translation a line
    --training.updates: how long
    --preset: the model, and what all other options are if you do not give them

    The defaults shown are those of --preset. With the preset tiny, updates, batches, warm-up and vocabulary fit the
    size of the text; what you give counts.

    The paper's own training runs are recipes, by name: wmt14-base, wmt14-big, wmt14-base-en-fr, wmt14-big-en-fr. Others
    are wmt14-evening, the first 30,000 updates of wmt14-base; wmt14-tiny, a try of all that in minutes; iwslt14-de-en
    and multi30k, small models; classroom and classroom-wide, the models of the package; classroom-small; wsj, the
    paper's parser; and table3-A1 and so on, the rows of its Table 3.
    Those of WMT14, IWSLT14, Multi30k and classroom-wide need their text written before, by annotated data; then a
    recipe is short for its folder and its preset:

    annotated train wmt14-base --data.prepared data/wmt14-en-de

    annotated train runs/wmt14-base --preset wmt14-base --data.prepared data/wmt14-en-de

    On several GPUs, and again after a crash, with as many as there are then; the updates are the same on any number:

    torchrun --standalone --nproc-per-node 8 --max-restarts 3 -m annotated train wmt14-base
    """

    out: tyro.conf.Positional[Path]
    """Folder of the run: gets the tokenizer, the encoded data, checkpoints, log.jsonl, and at the end model/."""
    preset: str = FIRST_PRESET
    """tiny, with a training that fits the text; base, big, or a row of the paper's Table 3 (A1 ... E1), with the
    paper's training; or a recipe (classroom-small, wmt14-base ...), which sets the data too."""
    data: DataConfig = field(default_factory=DataConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    samples: tuple[str, ...] = ()
    """Sentences to translate at each validation: translations go into log.jsonl, where the heads look into heads/."""
    log_to: tuple[str, ...] = ()
    """Dashboards that get the log too: tensorboard (into RUN/tensorboard, or tensorboard:FOLDER), wandb[:PROJECT],
    mlflow[:URI]; each needs the extra of its name. None of them can stop the run."""
    mirror_to: Path | None = None
    """Folder on another disk, such as Google Drive's, that gets each checkpoint and the log while the training goes on.
    On another machine the same command with an empty folder of the run takes them back and goes on."""
    new: bool = False
    """Refuse a folder that already holds a run, instead of going on with it."""
    quiet: bool = False
    """No progress on the console; the log is written all the same."""

    def run(self) -> int:
        """Train; 0, also when --training.max-seconds ended it, or 128 + the number of the signal that stopped it (143
        for SIGTERM), in every process.
        """
        check_validation(self.data)
        if self.training.device not in ("auto", "cpu"):  # before anybody is sent to prepare data for hours
            from annotated.speed.machine.distributed import choose_device

            choose_device(self.training.device, int(os.environ.get("LOCAL_RANK", 0)))
        check_pair(self.preset, self.data)
        if not self.quiet:
            print(plan(self.out, self.preset, self.training, self.data), file=sys.stderr, flush=True)
        from annotated.runs import train
        from annotated.runs.signals import MAX_SECONDS, end_agent
        from annotated.runs.validation_callbacks import sample_heads, sample_translations, validation_bleu
        from annotated.speed.machine.distributed import choose_device

        bleu = validation_bleu if self.training.validate_bleu else None
        samples = sample_translations(self.samples) if self.samples else None
        heads = sample_heads(self.samples) if self.samples else None
        run = (self.model, self.training, self.data, self.out)
        if self.preset in LONG and choose_device(self.training.device).type == "cpu":
            warnings.warn(
                f"{self.preset} without a GPU takes months on a few cores; annotated preflight says more", stacklevel=2
            )
        result = train(
            *run,
            resume=not self.new,
            quiet=self.quiet,
            bleu=bleu,
            samples=samples,
            heads=heads,
            log_to=self.log_to,
            mirror_to=self.mirror_to,
        )
        if not result.finished:
            if result.asked_of_processes:
                end_agent()
            if result.stopped_by == MAX_SECONDS:
                return 0
            return 128 + int(getattr(signal, result.stopped_by or "", signal.SIGTERM))
        if os.environ.get("RANK", "0") != "0":
            return 0
        if result.valid_loss is not None:
            score = "" if result.bleu is None else f", BLEU {result.bleu:.2f} (greedy)"
            print(f"{result.update} updates, validation loss {result.valid_loss:.4f}{score}", file=sys.stderr)
        with contextlib.suppress(OSError):  # the model is saved, whoever listens
            print(result.model_folder)
        return 0


def plan(out: Path, preset: str, training: TrainingConfig, data: DataConfig) -> str:
    """What is about to be trained; the first line, because reading and encoding the text come before the next."""
    return (
        f"{out}: {training.updates:,} updates of {training.batch_tokens:,} tokens, the rate rising for "
        f"{training.warmup:,} (--preset {preset}); reading {data.prepared or data.train}"
    )


def check_validation(data: DataConfig) -> None:
    """Raise `ValueError` for own training text that would be watched with the classroom's sentences."""
    if data.train != "classroom" and data.valid == "classroom":
        raise ValueError(
            f"--data.train is {data.train}, but --data.valid is still the classroom corpus, which has nothing to do "
            "with it: give a validation file with --data.valid"
        )


def check_pair(preset: str, data: DataConfig) -> None:
    """Raise `ValueError` for one of the paper's training runs that is given the paper's other language pair.

    Pairs that the paper does not have may be trained with any of them.
    """
    if preset not in LONG or data.prepared is None:
        return
    from annotated.wmt14 import PreparedCorpus

    pair = PreparedCorpus.open(data.prepared).manifest["corpus"]["pair"]
    wanted = "en-fr" if preset.endswith("-en-fr") else "en-de"
    if pair != wanted and pair in ("en-de", "en-fr"):
        if preset not in PAPERS:
            one = preset if preset == EVENING else "Table 3"
            raise ValueError(
                f"{data.prepared} is {pair}, but {one} is on {wanted}: prepare the data: annotated data wmt14"
            )
        other = preset.removesuffix("-en-fr") + ("-en-fr" if pair == "en-fr" else "")
        raise ValueError(
            f"{data.prepared} is {pair}, but {preset} is a training on {wanted}: take {other} "
            f"(--preset {other}), or prepare the data: annotated data wmt14 --pair {wanted}"
        )


def with_folder(arguments: Sequence[str]) -> list[str]:
    """`train wmt14-base ...` as `train runs/wmt14-base --preset wmt14-base ...`; anything else as it is.

    The same for `dry-run` (or `rehearse`) and `preflight`, whose folder is that of the run to come.

    Raises
    ------
    ValueError
        If the folder's name begins as recipes do, or is almost that of a recipe, no preset is given, and there is no
        such folder: it would become a training run of another model on other text.
    """
    words = list(arguments)
    if len(words) < 2 or words[0] not in FOR_A_RUN or option(words, "--preset") is not None:
        return words
    name = words[1]
    if name in EVERY_RECIPE:
        return [words[0], f"{RUNS}/{name}", "--preset", name, *words[2:]]
    near = difflib.get_close_matches(name, EVERY_RECIPE, n=1, cutoff=0.8)
    family = next((one for one in EVERY_RECIPE if name.startswith(one.partition("-")[0])), None)
    if "/" not in name and (family or near) and not Path(name).exists():
        raise ValueError(
            f"no recipe {name!r}; did you mean annotated {words[0]} {near[0] if near else family}? There are "
            f"{', '.join(RECIPES)}. If it is the name of a folder: annotated {words[0]} ./{name}"
        )
    return words


def train_defaults(arguments: Sequence[str]) -> Train:
    """What a command line starts from: the model and the training of its --preset, and of a recipe the data.

    With the preset tiny, which is ours and not the paper's, training and vocabulary fit the text that is named.

    Raises
    ------
    ValueError
        If there is no such preset.
    """
    name = option(arguments, "--preset") or FIRST_PRESET
    if name in EVERY_RECIPE:
        chosen = EVERY_RECIPE[name]
        return Train(tyro.MISSING, name, data=chosen.data, training=chosen.training, model=chosen.model)
    training = table_3_training(name) if name in TABLE_3 else TrainingConfig()
    try:
        begins = Train(tyro.MISSING, name, training=training, model=preset(name))
    except ValueError as error:
        raise ValueError(f"{error}; or a recipe: {', '.join(RECIPES)}") from None
    return dataclasses.replace(begins, **fitted_defaults(arguments)) if name == FIRST_PRESET else begins

"""`annotated finish`."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from annotated.config import DecodingConfig, TrainingConfig


@dataclass
class Finish:
    """Finish a training run: average its last checkpoints, translate the test set, score it, and report.

    Everything goes into RUN/report/: translations, report.json, MODEL_CARD.md. Given again after a kill, the same
    command goes on where it stopped.
    """

    folder: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RUN")]
    """Folder of the run, as `annotated train` wrote it."""
    prepared: str | None = None
    """Folder of the prepared data, if it is not where it was during training."""
    test: str | None = None
    """Name of a test set that was prepared; the first, if not given (newstest2014 with WMT14). The development set may
    be named too: a row of Table 3 is scored as in section 6.2 with newstest2013 and --average 1. A run on files of
    your own has the file that it was given as --data.test, or the one named here."""
    average: int | None = None
    """Checkpoints to average; as many as the run's configuration says, if not given (base 5, big 20)."""
    beam: int = DecodingConfig.beam_size
    """Hypotheses kept at each step; 1 is greedy search."""
    alpha: float = DecodingConfig.alpha
    """Exponent of the length penalty."""
    batch_tokens: int = DecodingConfig.batch_tokens
    """Source tokens translated together; more is faster on a GPU."""
    compare_last: bool = True
    """Translate with the last checkpoint alone, too: what averaging brought. It takes as long again."""
    unfinished: bool = False
    """Report a run that has not made all its updates; the report says so."""
    moses: Literal["auto", "yes", "no"] = "auto"
    """BLEU with Moses' own tokeniser as a third setting (needs the package sacremoses): 'auto' where it is installed
    and the data say which language is the target."""
    watts: float | None = None
    """Power of one device in watts, to know the energy; unknown if not given."""
    export: tuple[Literal["ctranslate2", "onnx"], ...] = ()
    """Write the model for other programs too; needs the extra `export`."""
    device: str = TrainingConfig.device
    """'auto' takes a GPU if there is one; else a torch device name."""
    quiet: bool = False
    """No progress on the console."""

    def run(self) -> int:
        """Finish, and print the scores."""
        from annotated.runs.report import FinishOptions, finish
        from annotated.translator import Translator

        if self.average is not None and self.average < 1:
            raise ValueError(f"--average must be at least 1, not {self.average}")
        decoding = DecodingConfig(beam_size=self.beam, alpha=self.alpha, batch_tokens=self.batch_tokens)
        options = FinishOptions(
            prepared=self.prepared,
            test=self.test,
            average=self.average,
            decoding=decoding,
            compare_last=self.compare_last,
            unfinished=self.unfinished,
            moses=self.moses,
            watts=self.watts,
            device=self.device,
            recipe=_recipe_of(self.folder, self.prepared),
            command=self._command() if sys.argv[1:2] == ["finish"] else None,
        )
        with _bar(self.quiet) as (say, progress):
            report = finish(self.folder, Translator, options, say=say, progress=progress)
        self._export()
        print(report)
        print(report.folder)
        return 0

    def _command(self) -> str:
        """What was typed, the run by its name alone, as in the report's command for the training."""
        from annotated.runs.report.report import public_command

        words = [self.folder.resolve().name if Path(word) == self.folder else word for word in sys.argv[1:]]
        return public_command(["annotated", *words])

    def _export(self) -> None:
        from annotated.cli.models import Export

        model = self.folder / "report" / "model"
        for form in self.export:
            source = model if model.is_dir() else self.folder / "model"
            Export(form, str(source), self.folder / "report" / form).run()


def _recipe_of(run: Path, prepared: str | None) -> str | None:
    """The name of the recipe that a run was trained by, if it is just that one.

    wmt14-base and table3-base make the same updates, and the second averages no checkpoints.
    """
    from annotated.config import DataConfig
    from annotated.recipes import EVERY_RECIPE
    from annotated.runs.log import last_start, read_records
    from annotated.runs.setup import MAY_CHANGE
    from annotated.wmt14 import PreparedCorpus

    records = read_records(run, strict=False) if (run / "log.jsonl").is_file() else []
    if not (start := last_start(records)):
        return None
    folder = prepared or DataConfig.from_dict(start["configuration"]["data"]).prepared
    corpus = None if folder is None else PreparedCorpus.open(folder).manifest["corpus"]
    averaged, fitting = start["configuration"]["training"]["average_last"], []
    for name, recipe in EVERY_RECIPE.items():
        wanted = {"model": recipe.model.to_dict(), "training": recipe.training.to_dict()}
        same = all(
            value == start["configuration"][group].get(field) or (field, value) == ("precision", "auto")
            for group, fields in wanted.items()
            for field, value in fields.items()
            if field == "updates" or field not in MAY_CHANGE[group]
        )
        if same and corpus and recipe.data.prepared == f"data/{corpus['name']}-{corpus['pair']}":
            fitting.append(name)
    return next((n for n in fitting if EVERY_RECIPE[n].training.average_last == averaged), next(iter(fitting), None))


@contextlib.contextmanager
def _bar(quiet: bool) -> Iterator[tuple[Callable[[str], None], Callable[[int, int], None] | None]]:
    """Where sentences for the user and progress go: a bar on a terminal, lines elsewhere."""
    from rich.console import Console
    from rich.progress import Progress

    if quiet:
        yield (lambda message: None), None
        return
    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("translating", total=None)
        yield (
            lambda message: bar.console.print(message, markup=False, highlight=False, soft_wrap=True),
            lambda done, total: bar.update(task, completed=done, total=total),
        )

"""Table of a run's log: what each kind of line holds, and the updates as a DataFrame to sort and to plot."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from annotated.runs.log import read_records

if TYPE_CHECKING:
    import pandas as pd

FIELDS: dict[str, dict[str, str]] = {
    "start": {
        "update": "updates made before: 0, or that of the checkpoint from which the run goes on",
        "parameters": "of the model, shared ones counted once",
        "vocab_size": "entries of the vocabulary",
        "train_pairs": "sentence pairs of the training set",
        "valid_pairs": "sentence pairs of the validation set",
        "left_out": "pairs left out of each set: `too_long`, by max_length, and `empty`, with an empty side",
        "device": "of the main process",
        "layout": "of the batches, and why if it was chosen here",
        "processes": "that share each update",
        "torch": "PyTorch's version",
        "train_tokens": "source and target tokens of the training set",
        "machine": "see `annotated.runs.hardware.describe_machine`",
        "host": "name of the machine",
        "time": "UTC, for people: nothing reckons with it",
        "library": "name and version of this library",
        "peak_flops": "floating-point operations a second of one device in a matrix product, measured",
        "configuration": "of model, training and data, and what identifies the corpus",
    },
    "train": {
        "update": "updates made",
        "epoch": "counted from 0",
        "tokens_seen": "target tokens trained on, repetitions included",
        "loss": "label-smoothed, nats per target token, mean since the last such line",
        "learning_rate": "of this update",
        "gradient_norm": "of this update, before clipping",
        "tokens_per_second": "target tokens, since the last such line",
        "seconds_left": "at the speed since the last such line",
        "elapsed": "seconds, over all resumes",
    },
    "compilation": {
        "update": "updates made; the next one waited for it",
        "graph": "what was compiled, or recorded for a GPU",
        "seconds": "for which the update waited",
    },
    "valid": {
        "update": "updates made",
        "epoch": "counted from 0",
        "tokens_seen": "target tokens trained on, repetitions included",
        "valid_loss": "not smoothed, nats per target token",
        "perplexity": "exponential of `valid_loss`",
        "bleu": "in percent; null if not asked for",
        "averaged": "true for the model at the end, the average of the last checkpoints",
        "elapsed": "seconds, over all resumes",
    },
    "samples": {
        "update": "updates made",
        "samples": "some sentences, each with its `source` and the `translation` of the model as it is now",
        "averaged": "true for the model at the end, the average of the last checkpoints",
    },
    "heads": {
        "update": "updates made",
        "path": "file that says where the heads look (`annotated.runs.validation_callbacks`), in the run's folder",
        "sentences": "how many the file is about",
    },
    # Written while training goes on, so these two may stand below lines of later updates.
    "checkpoint": {
        "update": "updates made when it was taken",
        "path": "of the checkpoint, in the run's folder: it is on the disk, whole",
        "elapsed": "seconds, over all resumes, when this line was written",
    },
    "best": {  # the same for a checkpoint that is kept for its validation loss
        "update": "updates made when it was taken",
        "path": "of the checkpoint, in the run's folder: it is on the disk, whole",
        "elapsed": "seconds, over all resumes, when this line was written",
    },
    "dashboard": {
        "update": "updates made when it was noticed",
        "name": "of the dashboard that did not take what it was sent (`annotated.runs.dashboards`)",
        "problem": "the first one; later ones are on no record",
    },
    "end": {
        "update": "updates made",
        "finished": "false if a signal or `max_seconds` ended it early",
        "stopped_by": "name of that signal, 'max_seconds', or 'patience', which finishes a run; null after all updates",
    },
}
"""Kind of a line to the fields that it has besides `kind`, and what each holds. Numbers that JSON lacks are null."""

_TRAINING = ("loss", "learning_rate", "gradient_norm", "tokens_per_second")
_VALIDATION = ("valid_loss", "perplexity", "bleu")
_BOTH = ("update", "epoch", "tokens_seen", "elapsed")
_NAMES = {"learning_rate": "rate", "valid_loss": "validation_loss"}


def read_log(run: str | Path) -> pd.DataFrame:
    """The log of a run as a table, a row for each update that is on record.

    Parameters
    ----------
    run
        Folder of the run, or its `log.jsonl`.

    Returns
    -------
    DataFrame
        Columns: `update` (counted from 1), `epoch` (from 0), `tokens_seen` (target tokens since the start), `elapsed`
        (seconds of training, over all resumes), `loss` (label-smoothed, nats per target token, mean since the row
        above), `rate` (the learning rate), `gradient_norm`, `tokens_per_second` (target tokens); and of validation,
        NaN where none was made, `validation_loss` (not smoothed, nats per target token), `perplexity` (its
        exponential) and `bleu` (0 to 100). The averaged model's validation at the end belongs to no update: it is left
        out.

    Raises
    ------
    FileNotFoundError
        If there is no log.
    ValueError
        If a line that is not the last is not a JSON object; the message names it.

    Examples
    --------
    >>> log = annotated.read_log("runs/wmt14-base")                       # doctest: +SKIP
    >>> log.plot(x="update", y="loss", logy=True)                         # doctest: +SKIP
    >>> log.dropna(subset="bleu").nlargest(3, "bleu")                     # doctest: +SKIP
    """
    import pandas as pd  # here: who only watches a run needs no tables

    records = pd.DataFrame(read_records(run), columns=["kind", "averaged", *_BOTH, *_TRAINING, *_VALIDATION])
    records = records[records["kind"].isin(["train", "valid"]) & records["averaged"].ne(True)]
    table = records.drop(columns=["kind", "averaged"]).rename(columns=_NAMES)
    measured = [name for name in table.columns if name not in ("update", "epoch", "tokens_seen")]
    table = table.astype(dict.fromkeys(measured, float) | {"epoch": "Int64", "tokens_seen": "Int64"})
    return table.groupby("update", as_index=False).last()

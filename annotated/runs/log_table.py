"""Table of a run's log: losses, rates and scores over the updates, as a DataFrame to sort and to plot."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from annotated.runs.log import read_records

if TYPE_CHECKING:
    import pandas as pd

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

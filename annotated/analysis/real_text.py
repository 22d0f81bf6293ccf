"""Real text and the model trained on it, for experiments that need them; only their results are in the package.

`python -m benchmarks real_text run` trains the model, from a folder of English-German text (benchmarks/README.md).
"""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

RUN = "ANNOTATED_REAL_TEXT"
"""Environment variable: the folder of the training run, `build/real_text/ours` unless it is set."""
DATA = "ANNOTATED_REAL_DATA"
"""Environment variable: the folder of the text, `../shared/data/en-de` unless it is set."""


def run_folder() -> Path:
    """The folder of the run on real text, with `model/` and `checkpoints/` in it.

    Raises
    ------
    FileNotFoundError
        If there is none: the message says how to make it.
    """
    folder = Path(os.environ.get(RUN, "build/real_text/ours"))
    if not (folder / "model").is_dir():
        raise FileNotFoundError(
            f"no model at {folder}/model: `python -m benchmarks real_text run` trains one, or set {RUN} to the "
            "folder of a run"
        )
    return folder


def data_folder() -> Path:
    """The folder of the real text, with train.tsv.zst, valid.tsv and test.tsv in it.

    Raises
    ------
    FileNotFoundError
        If it is not there: the message says how to name another one.
    """
    folder = Path(os.environ.get(DATA, "../shared/data/en-de"))
    if not (folder / "valid.tsv").is_file():
        raise FileNotFoundError(
            f"no real text at {folder}: set {DATA} to a folder with train.tsv.zst, valid.tsv and test.tsv"
        )
    return folder


def real_pairs(split: str, count: int | None = None) -> list[tuple[str, str]]:
    """The first pairs (English, German) of 'valid' or 'test'.

    Raises
    ------
    FileNotFoundError
        If the text is not there.
    """
    from annotated.data import read_pairs

    return list(islice(read_pairs(data_folder() / f"{split}.tsv", format="tsv"), count))

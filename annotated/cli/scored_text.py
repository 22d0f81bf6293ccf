"""Text to score a model on: what its training run names, and never another corpus by mistake."""

from __future__ import annotations

from pathlib import Path

from annotated.config import DataConfig
from annotated.data import corpus_of
from annotated.loading import find_model
from annotated.runs.log import LOG, last_start, read_records

_CLASSROOM = "classroom"
_DEEPEST = 3
"""Folders from the model up to the run: RUN/report/model."""


def text_to_score(model: str, given: str | None, split: str = "test") -> str:
    """The corpus to score a model on, as `annotated.data.open_corpus` takes it.

    Parameters
    ----------
    model
        As `annotated.load` takes it.
    given
        What the user names; None for the text of the model's training run.
    split
        'test', or 'train' or 'valid' for the other texts of that run.

    Raises
    ------
    ValueError
        If nothing tells what the model was trained on and no corpus is named, if the run names no such text, or if the
        classroom corpus is named for a model that was trained on something else.
    """
    data = trained_on(model)
    if given == _CLASSROOM and data is not None and _text_of(data) != _CLASSROOM:
        raise ValueError(
            f"{model} was trained on {_text_of(data)}, and a score on the classroom corpus would say nothing about it: "
            "name a test text of the same kind with --corpus"
        )
    if given is not None:
        return given
    if data is None:
        raise ValueError(
            f"{model}: nothing there tells what it was trained on, so name the text to score it on: --corpus FILE, or "
            "--corpus classroom for a model of the classroom corpus"
        )
    if data.prepared is not None:
        return _prepared_text(data.prepared, split)
    if split == "constructions":
        return _CLASSROOM if data.train == _CLASSROOM else text_to_score(model, _CLASSROOM)
    try:
        text = corpus_of(data, split)
    except ValueError as error:
        raise ValueError(f"{model}: {error}; name one with --corpus") from None
    if missing := [part for part in text.split(",") if text != _CLASSROOM and not Path(part).exists()]:
        raise ValueError(
            f"{model}: its training names the text {missing[0]}, which is not here; the path counts from the folder in "
            "which the training was started. Go there, or name the text with --corpus"
        )
    return text


def format_of_text(model: str, given: str | None, asked: str) -> str:
    """The format of the text that `text_to_score` gives: as asked for, else that of the run for the run's own text."""
    data = None if given is not None or asked != "auto" else trained_on(model)
    if data is None:
        return asked
    return data.format if data.prepared is None else "tsv"


def trained_on(model: str) -> DataConfig | None:
    """The data of the training run that a model comes from, by the log in its folder or above; None if unknown."""
    folder = Path(model) if Path(model).is_dir() and not _is_builtin(model) else find_model(model)
    for place in [folder.resolve(), *folder.resolve().parents][: _DEEPEST + 1]:
        if (place / LOG).is_file():
            start = last_start(read_records(place, strict=False))
            return DataConfig.from_dict(start["configuration"]["data"]) if start else None
    return None


def language_of(model: str) -> str | None:
    """The target language of the data that a model was trained on, two letters; None if it is not known."""
    from annotated.wmt14 import PreparationError, PreparedCorpus

    data = trained_on(model)
    if data is None or data.prepared is None:
        return None if data is None or data.pair is None else data.pair.partition("-")[2]
    try:
        return PreparedCorpus.open(data.prepared).target_language
    except PreparationError:  # the folder is gone; --corpus names the text then
        return None


def _is_builtin(model: str) -> bool:
    from annotated.loading import builtin_models

    return model in builtin_models()


def _text_of(data: DataConfig) -> str:
    return data.train if data.prepared is None else data.prepared


def _prepared_text(folder: str, split: str) -> str:
    from annotated.wmt14 import PreparedCorpus

    corpus = PreparedCorpus.open(folder)
    if split not in ("test", "valid"):
        raise ValueError(f"{folder} keeps its training text encoded: name a file with --corpus")
    return str(corpus.test if split == "test" else corpus.valid)

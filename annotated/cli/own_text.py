"""Own text of a command line: how much there is of it, and the training and vocabulary that fit."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Sequence
from typing import Any

from annotated.config import DataConfig
from annotated.recipes import LARGEST_TEXT, fitted_training, fitted_vocabulary

CHARACTERS_PER_TOKEN = 4
"""About, in languages that are written with letters."""
CLASSROOM_CHARACTERS = 50
"""Of the longer side of a classroom pair, on average."""


def option(arguments: Sequence[str], name: str) -> str | None:
    """The value of an option on a command line that is not parsed yet, '--preset' for one; None if it is not given."""
    value = None
    for argument, following in zip(arguments, [*arguments[1:], ""], strict=False):
        given, equals, joined = argument.partition("=")
        if given.replace("_", "-") == name:
            value = joined if equals else following or value
    return value


def fitted_defaults(arguments: Sequence[str]) -> dict[str, Any]:
    """What `training` and `data` of a command line with the preset tiny begin with: what fits the text that it names.

    A text that cannot be read counts as none; the command itself says what is wrong with it.
    """
    return _fitted(tuple(arguments))


@functools.cache
def _fitted(arguments: tuple[str, ...]) -> dict[str, Any]:
    defaults = DataConfig()
    try:
        tokens = _tokens(arguments, defaults)
    except (ValueError, OSError):
        tokens = defaults.classroom_pairs * CLASSROOM_CHARACTERS // CHARACTERS_PER_TOKEN
    return {"training": fitted_training(tokens), "data": defaults.replace(vocab_size=fitted_vocabulary(tokens))}


def _tokens(arguments: Sequence[str], defaults: DataConfig) -> int:
    """Tokens of the longer side of the training text, about; a text above `LARGEST_TEXT` is not read to its end."""
    prepared, train = option(arguments, "--data.prepared"), option(arguments, "--data.train")
    if prepared is not None:
        from annotated.wmt14 import PreparedCorpus

        return PreparedCorpus.open(prepared).train.info.target_tokens
    if train in (None, "classroom"):
        pairs = int(option(arguments, "--data.classroom-pairs") or defaults.classroom_pairs)
        return pairs * CLASSROOM_CHARACTERS // CHARACTERS_PER_TOKEN
    from annotated.data.corpora import read_pairs

    format = DataConfig(format=option(arguments, "--data.format") or defaults.format).format
    characters = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the command itself says how it reads the text
        for source, target in read_pairs(str(train), format=format):
            characters += max(len(source), len(target))
            if characters > LARGEST_TEXT * CHARACTERS_PER_TOKEN:
                break
    return characters // CHARACTERS_PER_TOKEN

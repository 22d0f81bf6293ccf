"""Draft and verify, pass by pass: a search that the reader goes through, with one of several drafts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from annotated_book.results.plans.verifying import Draft, Passes
from annotated_book.viz.javascript import esm

_HERE = Path(__file__).parent


class DraftStepper(anywidget.AnyWidget):
    """The widget; `draft_stepper` makes one.

    `draft` counts the searches and `moment` the moments of a search, both from 0. A pass has two moments: the draft
    has guessed, and the model has checked.
    """

    _esm = esm(_HERE / "stepper.js")
    _css = _HERE / "stepper.css"
    source = traitlets.Unicode().tag(sync=True)
    searches = traitlets.List(trait=traitlets.Dict()).tag(sync=True)
    draft = traitlets.Int(0).tag(sync=True)
    moment = traitlets.Int(0).tag(sync=True)


def replayed(guesses: Sequence[Sequence[int]]) -> Draft:
    """A draft that makes recorded guesses again, those of each pass in turn."""
    turn = iter(guesses)
    return lambda source, written, count: list(next(turn, ()))[:count]


def draft_stepper(
    source: str, found: Mapping[str, Passes], tokens: Callable[[list[int]], Sequence[str]], *, moment: int = 1
) -> DraftStepper:
    """Searches of one sentence with several drafts.

    Parameters
    ----------
    source
        The sentence, for the reader.
    found
        What `draft_and_verify` found, by the name of its draft.
    tokens
        From ids to the tokens' texts.
    moment
        The one shown first: of pass p, counted from 0, 2p when the draft has guessed and 2p + 1 when it is checked.

    Raises
    ------
    ValueError
        If a search has no pass, or the searches did not write the same tokens.
    """
    if any(not one.kept for one in found.values()):
        raise ValueError("each search needs at least one pass")
    if len({tuple(one.tokens) for one in found.values()}) != 1:
        raise ValueError("the searches must have written the same tokens")
    searches: list[dict[str, Any]] = [{"name": name, "passes": _passes(one, tokens)} for name, one in found.items()]
    return DraftStepper(source=source, searches=searches, moment=moment)


def _passes(one: Passes, tokens: Callable[[list[int]], Sequence[str]]) -> list[dict[str, Any]]:
    rows = zip(one.guesses, one.choices, one.kept, strict=True)
    return [{"guesses": list(tokens(g)), "choices": list(tokens(c)), "kept": kept} for g, c, kept in rows]

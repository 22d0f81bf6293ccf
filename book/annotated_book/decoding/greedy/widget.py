"""A greedy search that the reader steps through: what there was to choose from, and where it went wrong.

The widget's JavaScript runs in a live notebook (anywidget) and in the static pages of the book.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from annotated_book.viz.javascript import esm

_HERE = Path(__file__).parent


class StepPlayer(anywidget.AnyWidget):
    """The widget; `step_player` makes one from recorded searches.

    `sentence` and `step` say what is shown, both counted from 0. Both may be set from Python in a live notebook.
    """

    _esm = esm(_HERE / "widget.js")
    _css = _HERE / "widget.css"
    walks = traitlets.List(trait=traitlets.Dict()).tag(sync=True)
    sentence = traitlets.Int(0).tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)


def step_player(
    walks: Sequence[Mapping[str, Any]],
    tokens: Callable[[list[int]], list[str]],
    *,
    sentence: int = 0,
    step: int | None = None,
) -> StepPlayer:
    """Greedy searches to go through step by step.

    Parameters
    ----------
    walks
        As `annotated_book.decoding.greedy.experiment.walk` makes them, each with a `text`: what the menu calls it.
    tokens
        Names the ids: a tokenizer's `tokens`.
    sentence
        Which search is shown first, from 0.
    step
        Which of its steps, from 0; None for the one at which it leaves the most probable translation.

    Raises
    ------
    ValueError
        If there is no such search or step, or a search and its steps do not fit.
    """
    if not 0 <= sentence < len(walks):
        raise ValueError(f"sentence must be one of the {len(walks)} searches, counted from 0, not {sentence}")
    step = (walks[sentence]["leaves"] or 0) if step is None else step
    if not 0 <= step < len(walks[sentence]["steps"]):
        raise ValueError(f"step must be below {len(walks[sentence]['steps'])}, not {step}")
    return StepPlayer(walks=[_named(walk, tokens) for walk in walks], sentence=sentence, step=step)


def _named(walk: Mapping[str, Any], tokens: Callable[[list[int]], list[str]]) -> dict[str, Any]:
    greedy, best, steps = walk["greedy"], walk["best"], walk["steps"]
    for path in (greedy, best):
        if len(path["tokens"]) != len(path["log_probability"]):
            raise ValueError("a path needs one log-probability for each of its tokens")
    if len(steps) != len(greedy["tokens"]) or any(len(s["attention"]) != len(walk["source"]) for s in steps):
        raise ValueError("a search needs a step for each of its tokens, and each step a weight for each source token")
    return {
        "text": walk["text"],
        "source": tokens(list(walk["source"])),
        "leaves": -1 if walk["leaves"] is None else walk["leaves"],
        "greedy": tokens(list(greedy["tokens"])),
        "greedyLogs": list(greedy["log_probability"]),
        "best": tokens(list(best["tokens"])),
        "bestLogs": list(best["log_probability"]),
        "steps": [
            {
                "tokens": tokens(list(one["tokens"])),
                "p": list(one["probabilities"]),
                "entropy": one["entropy"],
                "equal": round(2 ** one["entropy"], 1),
                "rest": max(0.0, round(1 - math.fsum(one["probabilities"]), 4)),
                "attention": list(one["attention"]),
            }
            for one in steps
        ],
    }

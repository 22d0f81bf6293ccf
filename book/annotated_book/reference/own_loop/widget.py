"""A short training played back: the loss, and what the model writes for held-out numbers at each moment.

The widget's JavaScript runs in a live notebook (anywidget) and in the static pages of the book.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import anywidget
import traitlets

from annotated_book.viz.javascript import esm

_HERE = Path(__file__).parent


class LoopReplay(anywidget.AnyWidget):
    """The widget; `loop_replay` makes one.

    `moment` counts the recorded moments and `number` the held-out numbers, both from 0. Both may be set from Python in
    a live notebook.
    """

    _esm = esm(_HERE / "widget.js")
    _css = _HERE / "widget.css"
    losses = traitlets.List(trait=traitlets.Float()).tag(sync=True)
    floor = traitlets.Float().tag(sync=True)
    numbers = traitlets.List(trait=traitlets.List()).tag(sync=True)
    updates = traitlets.List(trait=traitlets.Int()).tag(sync=True)
    written = traitlets.List(trait=traitlets.List()).tag(sync=True)
    moment = traitlets.Int(0).tag(sync=True)
    number = traitlets.Int(0).tag(sync=True)


def loop_replay(
    losses: Sequence[float],
    written: Mapping[int, Sequence[str]],
    numbers: Sequence[tuple[str, str]],
    *,
    floor: float,
    update: int,
) -> LoopReplay:
    """A training to go through moment by moment.

    Parameters
    ----------
    losses
        Of each update, the first one's first.
    written
        What the model writes for all `numbers` after so many updates.
    numbers
        Held-out numbers: in words, and in the digits that are right.
    floor
        The least loss that the targets allow.
    update
        The moment that is shown first, one of the keys of `written`.

    Raises
    ------
    ValueError
        If a moment lies outside the training, has not one text for each number, or is not there to begin with.
    """
    moments = sorted(written)
    if update not in moments:
        raise ValueError(f"update must be one of {moments}, not {update}")
    if moments[0] < 0 or moments[-1] > len(losses):
        raise ValueError(f"moments must lie between 0 and the last update, {len(losses)}, and are {moments}")
    wrong = [at for at in moments if len(written[at]) != len(numbers)]
    if wrong:
        raise ValueError(f"{len(numbers)} numbers need as many texts; those after updates {wrong} are not as many")
    return LoopReplay(
        losses=[round(loss, 4) for loss in losses],
        floor=floor,
        numbers=[list(pair) for pair in numbers],
        updates=moments,
        written=[list(written[at]) for at in moments],
        moment=moments.index(update),
    )

"""A stepper through the slots of a decoder in training: what each reads, what it may see, what it must write.

The widget's JavaScript runs in a live notebook (anywidget) and in the static pages of the book. Who sees what is
worked out there, from the mask and the shift; the probabilities come from decoders that were trained that way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from annotated_book.viz.javascript import esm

_HERE = Path(__file__).parent
SHIFTS = (0, 1, 2)


class TeacherForcingStepper(anywidget.AnyWidget):
    """The widget; `teacher_forcing_stepper` makes one.

    `sentence` counts from 0, and so does `slot`; `masked` and `shift` are the two switches. All four may be set from
    Python in a live notebook.
    """

    _esm = esm(_HERE / "widget.js")
    _css = _HERE / "widget.css"
    sentences = traitlets.List(trait=traitlets.Dict()).tag(sync=True)
    losses = traitlets.Dict().tag(sync=True)
    sentence = traitlets.Int(0).tag(sync=True)
    slot = traitlets.Int(0).tag(sync=True)
    masked = traitlets.Bool(True).tag(sync=True)
    shift = traitlets.Int(1).tag(sync=True)


def cell_name(masked: bool, shift: int) -> str:
    """How a decoder is called in the data: 'mask, shift 1', or 'no mask, shift 0'."""
    return f"{'mask' if masked else 'no mask'}, shift {shift}"


def teacher_forcing_stepper(
    sentences: Sequence[Mapping[str, Any]],
    losses: Mapping[str, float] | None = None,
    *,
    sentence: int = 0,
    slot: int = 0,
    masked: bool = True,
    shift: int = 1,
) -> TeacherForcingStepper:
    """Step through the slots of a decoder in training, with or without a mask, with a shift of 0, 1 or 2.

    Parameters
    ----------
    sentences
        Each with 'source' (text), 'target' (tokens, the last one the end mark), and 'cells': for each of the six
        decoders (`cell_name`) a dict of 'slots', for each slot [probability of the right token, {token: probability of
        the most probable ones}], and 'writes', the text that this decoder writes with no answers at hand.
    losses
        For each decoder its loss in training, in nats per token.
    sentence, slot, masked, shift
        What is shown first.

    Raises
    ------
    ValueError
        If a decoder is missing, or its slots do not fit the target.
    """
    names = [cell_name(m, s) for m in (True, False) for s in SHIFTS]
    for one in sentences:
        if missing := [name for name in names if name not in one["cells"]]:
            raise ValueError(f"'{one['source']}' lacks the decoders: {'; '.join(missing)}")
        for name in names:
            if len(one["cells"][name]["slots"]) != len(one["target"]):
                raise ValueError(
                    f"'{one['source']}', {name}: a target of {len(one['target'])} tokens has as many slots"
                )
    if shift not in SHIFTS or not 0 <= sentence < len(sentences):
        raise ValueError(f"shift must be one of {SHIFTS}, and sentence a number below {len(sentences)}")
    return TeacherForcingStepper(
        sentences=[dict(one) for one in sentences],
        losses=dict(losses or {}),
        sentence=sentence,
        slot=slot,
        masked=masked,
        shift=shift,
    )

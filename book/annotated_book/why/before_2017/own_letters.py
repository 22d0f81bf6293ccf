"""The reader's own letters, written backwards by two trained networks, with attention and without.

Both run in the page, from weights of one byte each, and in a live notebook (anywidget).
"""

from __future__ import annotations

from pathlib import Path

import anywidget
import traitlets

from annotated_book.viz.engine.script import pack
from annotated_book.viz.javascript import esm
from annotated_book.why.before_2017.encoder_decoder import RecurrentEncoderDecoder

_HERE = Path(__file__).parent


class OwnLetters(anywidget.AnyWidget):
    """The widget; `own_letters` makes one. `letters` (A to P) may be set from Python.

    `without` and `attending` are the weights of the networks, and `manifests` says where each tensor lies in them.
    """

    _esm = esm(_HERE / "own_letters.js")
    _css = _HERE / "own_letters.css"
    without = traitlets.Bytes().tag(sync=True)
    attending = traitlets.Bytes().tag(sync=True)
    manifests = traitlets.Dict().tag(sync=True)
    letters = traitlets.Unicode().tag(sync=True)
    longest = traitlets.Int().tag(sync=True)


def own_letters(
    without: RecurrentEncoderDecoder, attending: RecurrentEncoderDecoder, *, longest: int, letters: str = "DIAMOND"
) -> OwnLetters:
    """Two networks at work on letters that the reader types.

    Parameters
    ----------
    without, attending
        Trained to write letters backwards; with gated units, the second with the additive score.
    longest
        The longest sequence of the training.
    letters
        What is written first.

    Raises
    ------
    ValueError
        If a network is of another kind.
    """
    if without.score is not None or "score.v" not in dict(attending.named_parameters()):
        raise ValueError("the first network has no attention, the second has the additive score")
    packed = {"without": pack(dict(without.named_parameters())), "attending": pack(dict(attending.named_parameters()))}
    return OwnLetters(
        without=packed["without"][1],
        attending=packed["attending"][1],
        manifests={name: manifest for name, (manifest, _) in packed.items()},
        letters=letters,
        longest=longest,
    )

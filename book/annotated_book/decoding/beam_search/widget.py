"""A beam search that the reader steers: it runs in the page, on recorded continuations of a model.

The widget's JavaScript does what `annotated.decoding.beam_search` does, with any beam size from 1 to 8 and any alpha
from 0 to 2, and shows the result of forcing each beginning.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from annotated.config import EOS
from annotated.data.tokenizer import Tokenizer
from annotated_book.decoding.beam_search.search_record import unpack
from annotated_book.viz.javascript import esm

_HERE = Path(__file__).parent
GROUPS = {
    "greedy": "greedy loses, the beam finds the reference",
    "beam": "greedy finds the reference, the beam does not",
    "length": "the winner depends on alpha",
    "close": "two that score almost the same",
    "calm": "everything agrees",
    "reference": "the reference does not win",
    "missed": "the search misses a better reference",
}


class BeamTree(anywidget.AnyWidget):
    """The widget; `beam_tree` makes one from a record.

    `sentence`, `beam` and `alpha` are what is searched for and how; `all` returns the whole beam, or else the best
    alone; `greedy`, `reference`, `graveyard` and `bound` say what is shown besides; `node` is the beginning that is
    pointed at and `force` the one that is forced (-1: none), both numbers of the recorded tree; `step` is how many
    steps of the search the tree shows (0: all). All of them may be set from Python in a live notebook.
    """

    _esm = esm(_HERE / "widget.js")
    _css = _HERE / "widget.css"
    searches = traitlets.Bytes().tag(sync=True)
    sentences = traitlets.List(trait=traitlets.Dict()).tag(sync=True)
    tokens = traitlets.Dict().tag(sync=True)
    sentence = traitlets.Int(0).tag(sync=True)
    beam = traitlets.Int(4).tag(sync=True)
    alpha = traitlets.Float(0.6).tag(sync=True)
    all = traitlets.Bool(True).tag(sync=True)
    greedy = traitlets.Bool(True).tag(sync=True)
    reference = traitlets.Bool(False).tag(sync=True)
    graveyard = traitlets.Bool(False).tag(sync=True)
    bound = traitlets.Bool(False).tag(sync=True)
    node = traitlets.Any(0).tag(sync=True)
    force = traitlets.Int(-1).tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)


def beam_tree(results: Mapping[str, Any], tokenizer: Tokenizer, *, sentence: int = 0, **shown: Any) -> BeamTree:
    """The searches of a record, to run again, to look into, and to argue with.

    Parameters
    ----------
    results
        What `annotated_book.decoding.beam_search.tree` recorded: 'sentences', 'searches', 'extra_tokens'.
    tokenizer
        The model's own, for the text of tokens.
    sentence
        The one to begin with, from 0.
    shown
        Any other trait of `BeamTree`: beam, alpha, all, greedy, reference, graveyard, bound.

    Raises
    ------
    ValueError
        If there is no such sentence, or a beam size or alpha is outside what was recorded.
    """
    about = results["sentences"]
    if not 0 <= sentence < len(about):
        raise ValueError(f"there are sentences 0 to {len(about) - 1}, and no {sentence}")
    if not 1 <= shown.get("beam", 4) <= 8 or not 0 <= shown.get("alpha", 0.6) <= 2:
        raise ValueError("recorded are beam sizes from 1 to 8 and alphas from 0 to 2")
    used: set[int] = set()
    for record in unpack(results["searches"]):
        used.update(record.tree.tokens[1:], record.reference)
        used.update(token for one in record.forced if one for token in one.suffix)
    ids = sorted(used - {EOS})
    return BeamTree(
        searches=base64.b64decode(results["searches"]),
        sentences=[
            {
                "text": one["text"],
                "group": GROUPS.get(one["kind"], one["kind"]),
                "cap": len(one["source"]) + results["extra_tokens"],
            }
            for one in about
        ],
        tokens={str(token): text for token, text in zip(ids, tokenizer.tokens(ids), strict=True)},
        sentence=sentence,
        **shown,
    )

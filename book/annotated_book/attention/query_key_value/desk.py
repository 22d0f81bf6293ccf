"""Desk of queries: which sequence asks and which answers, for each of the three uses of attention."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import anywidget
import traitlets
from numpy.typing import ArrayLike

from annotated_book.viz.attention_map import check_weights
from annotated_book.viz.javascript import esm

_HERE = Path(__file__).parent
_SIDES = {"source", "target"}


class CallSite(NamedTuple):
    """One use of attention, for `attention_desk`.

    `weights` is `[T, S]`; `asks` and `answers` say which language the queries and the keys belong to, 'source' or
    'target', and so which colour they get. With `box`, a name as in `annotated.analysis.tracing`, and `head`, from 1,
    the page can show the same head on a sentence of the reader's. `writes` are the tokens that the decoder is about to
    write, one for each query.
    """

    name: str
    weights: ArrayLike
    queries: Sequence[str]
    keys: Sequence[str]
    asks: str
    answers: str
    box: str = ""
    head: int = 1
    writes: Sequence[str] = ()


class AttentionDesk(anywidget.AnyWidget):
    """The widget; `attention_desk` makes one. `use` and `query` (numbers, from 0) may be set from Python."""

    _esm = esm(_HERE / "desk.js")
    _css = _HERE / "desk.css"
    sites = traitlets.List(trait=traitlets.Dict()).tag(sync=True)
    use = traitlets.Int(0).tag(sync=True)
    query = traitlets.Int(0).tag(sync=True)


def attention_desk(sites: Sequence[CallSite], *, query: int = 4) -> AttentionDesk:
    """Lines from the token that asks to the tokens that answer, beside the matrix of all weights.

    Parameters
    ----------
    sites
        At most a few, of at most some twenty tokens each; the first is shown first.
    query
        The position that asks first, from 1.

    Raises
    ------
    ValueError
        As `check_weights`; if a site's `asks` or `answers` is neither 'source' nor 'target'; or if it has more or fewer
        `writes` than queries.
    """
    return AttentionDesk(sites=[_as_json(site) for site in sites], query=query - 1)


def _as_json(site: CallSite) -> dict[str, Any]:
    if not {site.asks, site.answers} <= _SIDES:
        raise ValueError(f"{site.name}: asks and answers must be 'source' or 'target'")
    if site.writes and len(site.writes) != len(site.queries):
        raise ValueError(f"{site.name}: {len(site.writes)} tokens to write do not fit {len(site.queries)} queries")
    weights = check_weights(site.weights, site.queries, site.keys)
    return {
        **site._asdict(),
        "weights": weights.round(4).tolist(),
        "queries": list(site.queries),
        "keys": list(site.keys),
        "writes": list(site.writes),
    }

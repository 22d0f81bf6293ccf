"""Figure 1 with live counts: where the parameters are.

The widget's JavaScript counts by the formula of `annotated.analysis.parameters.parameter_parts`, in a live notebook
and in the static pages of the book.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import traitlets

from annotated.analysis.parameters import parameter_parts
from annotated.config import TABLE_3, ModelConfig, table_3
from annotated.paper import TABLE_3 as PRINTED
from annotated_book.viz.javascript import esm

_HERE = Path(__file__).parent
_FIELDS = ("num_encoder_layers", "d_model", "d_ff", "num_heads", "d_k", "d_v", "vocab_size", "tie_embeddings")
_SAME = ("D1", "D2", "D3", "D4", "E1")  # rows whose boxes are the base model's; E1's positions have no box here


class ParameterFigure(anywidget.AnyWidget):
    """The widget; `parameter_figure` makes one.

    `sizes` holds the model that is counted, by the names of `ModelConfig` (`num_encoder_layers` is N, for both
    stacks), and may be set from Python in a live notebook; `total` is what it comes to.
    """

    _esm = esm(_HERE / "widget.js")
    _css = _HERE / "widget.css"
    rows = traitlets.List(trait=traitlets.Dict()).tag(sync=True)
    sizes = traitlets.Dict().tag(sync=True)
    total = traitlets.Int(0).tag(sync=True)


def parameter_figure(row: str = "base", vocab_size: int | None = None) -> ParameterFigure:
    """Figure 1 with the number of parameters in each box, and controls for every size in it.

    Parameters
    ----------
    row
        The row of Table 3 to start from.
    vocab_size
        V; None for the default of `ModelConfig`.

    Raises
    ------
    ValueError
        If Table 3 has no such row, or the widget does not offer it because its boxes are another row's.
    """
    if row in _SAME:
        raise ValueError(f"row {row} of Table 3 has the boxes of the base model: choose 'base'")
    config = table_3(row) if vocab_size is None else table_3(row, vocab_size=vocab_size)
    rows = [
        {
            "row": name,
            "change": PRINTED[name].change or "the base model",
            "printed": PRINTED[name].parameters,
            "sizes": {k: v for k, v in _sizes(table_3(name)).items() if k not in ("vocab_size", "tie_embeddings")},
        }
        for name in TABLE_3
        if name not in _SAME
    ]
    return ParameterFigure(rows=rows, sizes=_sizes(config), total=sum(parameter_parts(config).values()))


def _sizes(config: ModelConfig) -> dict[str, Any]:
    return {name: getattr(config, name) for name in _FIELDS}

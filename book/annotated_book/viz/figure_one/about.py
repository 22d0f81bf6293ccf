"""Texts, sizes and code of the boxes of figure 1, as the scripts of the machine take them."""

from __future__ import annotations

from typing import Any

from annotated.config import ModelConfig
from annotated_book.viz.figure_one.boxes import BOXES, Box, code_of

_FIELDS = ("name", "label", "kind", "side", "shape", "paper", "what")


def about_box(box: Box) -> dict[str, Any]:
    """Everything that a script needs to know of a box, with the lines of code that make what leaves it."""
    return {**{name: getattr(box, name) for name in _FIELDS}, "place": list(box.place), "code": code_of(box)}


def about_machine(config: ModelConfig) -> dict[str, Any]:
    """`boxes`, and the sizes that the letters of their shapes stand for."""
    layers = min(config.num_encoder_layers, config.num_decoder_layers)
    sizes = {"D": config.d_model, "H": config.num_heads, "V": config.vocab_size, "L": layers}
    return {"boxes": [about_box(box) for box in BOXES], "sizes": sizes}

"""The weight beside the diagonal: where attention looks when it copies letter j, and which half of a state holds j.

A state of the encoder has a forward half, which has read the letters up to its position, and a backward half, which has
read the letters from the end down to it.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from annotated_book.why.before_2017.encoder_decoder import RecurrentEncoderDecoder
from annotated_book.why.before_2017.experiment import FIRST, LONGEST, draw, least_squares, train
from annotated_book.why.before_2017.quick_recurrence import quick

OFFSETS = (-2, -1, 0, 1, 2)


@torch.no_grad()
def weight_by_offset(model: RecurrentEncoderDecoder, length: int = LONGEST, count: int = 300) -> dict[int, float]:
    """Mean weight on the state at j + offset while letter j is written, over all j that have all the neighbours."""
    source, _ = draw(count, length, "copy", torch.Generator().manual_seed(5000))
    _, weights = model.generate(source, length)
    assert weights is not None
    inner = range(2, length - 2)
    return {offset: float(torch.stack([weights[:, j, j + offset] for j in inner]).mean()) for offset in OFFSETS}


@torch.no_grad()
def read_by_offset(
    model: RecurrentEncoderDecoder, length: int = LONGEST, count: int = 3000
) -> dict[int, dict[str, float]]:
    """How often a linear map reads letter j from each half of the state at j + offset; means over all such j."""
    source, symbols = draw(count, length, "copy", torch.Generator().manual_seed(6000))
    memory, _ = model.encode(source)
    forward, backward = memory.chunk(2, dim=-1)

    def read(half: Tensor, offset: int) -> float:
        shares = [least_squares(half[:, j + offset], symbols[:, j] - FIRST) for j in range(2, length - 2, 3)]
        return sum(shares) / len(shares)

    return {offset: {"forward": read(forward, offset), "backward": read(backward, offset)} for offset in OFFSETS}


def run() -> dict[str, Any]:
    """The network with attention of `experiment`, seed 0, trained again: about a minute."""
    torch.set_num_threads(1)
    model = quick(train("attention", prepare=quick)[0])
    assert isinstance(model, RecurrentEncoderDecoder)
    weights, halves = weight_by_offset(model), read_by_offset(model)
    rows = [
        {"offset": offset, "weight": round(weights[offset], 4)} | {k: round(v, 4) for k, v in halves[offset].items()}
        for offset in OFFSETS
    ]
    return {"length": LONGEST, "rows": rows}

"""Placements of the normalisation: four Transformers that differ in what stands around a sub-layer.

The library's own layers know two orders, as printed and as later released. Here are two more, for comparison: one
without the residual sum, one without LayerNorm.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from annotated.config import ModelConfig
from annotated.model.layers import SublayerConnection
from annotated.model.transformer import Transformer

PLACEMENTS = ("post-norm", "pre-norm", "no residual", "no norm")


class WithoutResidual(SublayerConnection):
    """LayerNorm(Dropout(Sublayer(x))): as printed, but the input is not added back."""

    def after(self, x: Tensor, y: Tensor) -> Tensor:
        """What the next sub-layer gets: the sub-layer's output y alone, `[..., D]`."""
        return self.norm(self.dropout(y))


class WithoutNorm(SublayerConnection):
    """x + Dropout(Sublayer(x)): as printed, but nothing is normalised."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.norm = nn.Identity()  # type: ignore[assignment]

    def after(self, x: Tensor, y: Tensor) -> Tensor:
        """The plain sum of input and sub-layer output, `[..., D]`."""
        return self.dropout.add(x, y)


_SWAPPED = {"no residual": WithoutResidual, "no norm": WithoutNorm}


def placed(config: ModelConfig, placement: str, seed: int = 0) -> Transformer:
    """A Transformer whose residual connections are of one kind throughout.

    All four kinds start from the same random weights for the same seed: LayerNorm's own parameters are constants.

    Parameters
    ----------
    config
        The rest of the model; its `norm` is replaced.
    placement
        One of `PLACEMENTS`.
    seed
        Of the initial weights.

    Raises
    ------
    ValueError
        If there is no such placement.
    """
    if placement not in PLACEMENTS:
        raise ValueError(f"no placement {placement!r}; there are {', '.join(PLACEMENTS)}")
    config = config.replace(norm="pre" if placement == "pre-norm" else "post")
    torch.manual_seed(seed)
    model = Transformer(config)
    if kind := _SWAPPED.get(placement):
        for layer in (*model.encoder.layers, *model.decoder.layers):
            for name, child in list(layer.named_children()):
                if isinstance(child, SublayerConnection):
                    setattr(layer, name, kind(config))
    return model

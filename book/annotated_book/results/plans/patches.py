"""Patches of a picture in place of tokens: the Transformer of this library, with another input to its encoder."""

from __future__ import annotations

from typing import Any, Literal, cast

import torch
from torch import Tensor, nn

from annotated.config import ModelConfig
from annotated.model import AttentionMaps, Transformer, target_mask
from annotated.model.positional_encoding import sinusoidal_encoding
from annotated.speed.layouts.cache import AttentionCache, DecoderState, LayerState

Places = Literal["grid", "sequence", "none"]


def patches(pictures: Tensor, size: int) -> Tensor:
    """Cut pictures `[B, height, width, C]` into squares, row by row: `[B, S, size * size * C]`."""
    cut = pictures.unflatten(1, (-1, size)).unflatten(3, (-1, size))  # [B, rows, size, columns, size, C]
    return cut.transpose(2, 3).flatten(3).flatten(1, 2)


def grid_encoding(rows: int, columns: int, d_model: int) -> Tensor:
    """Sinusoids of a grid, `[rows * columns, D]`: half of the features tell the row, half the column."""
    half = d_model // 2
    down = sinusoidal_encoding(rows, half)[:, None].expand(rows, columns, half)
    across = sinusoidal_encoding(columns, d_model - half)[None].expand(rows, columns, d_model - half)
    return torch.cat((down, across), dim=-1).flatten(0, 1)


class PatchTransformer(Transformer):
    """A Transformer whose source is a picture: a linear map of each patch stands where token vectors stood.

    All layers, the decoder, the loss and the searches are those of the library. A source is the pictures' numbers in
    one row each, `[B, side * side * C]`, because a search asks for a source of two axes.

    Parameters
    ----------
    config
        Its vocabulary is that of the captions.
    side, size, channels
        Pixels along a picture and along a patch, and numbers in a pixel.
    places
        What is added to the patches' vectors: sinusoids of row and column, those of the patch's number in reading
        order, or nothing.

    Paper: section 7
    """

    def __init__(
        self, config: ModelConfig, side: int = 32, size: int = 4, channels: int = 3, places: Places = "grid"
    ) -> None:
        super().__init__(config)
        self.shape, self.size = (side, side, channels), size
        self.patch_embedding = nn.Linear(size * size * channels, config.d_model)
        across, width = side // size, config.d_model
        encodings = {
            "grid": lambda: grid_encoding(across, across, width),
            "sequence": lambda: sinusoidal_encoding(across * across, width),
            "none": lambda: torch.zeros(across * across, width),
        }
        self.register_buffer("places", encodings[places](), persistent=False)

    def encode(self, source: Tensor, maps: AttentionMaps | None = None) -> Tensor:
        """The memory `[B, S, D]` of pictures `[B, side * side * C]`: one vector for each patch."""
        pictures = source.unflatten(1, self.shape)
        x = self.dropout(self.patch_embedding(patches(pictures, self.size)) + self.places)
        return self.encoder(x, self._attend(_every_key(source), None if maps is None else maps.encoder))

    def decode(self, target_in: Tensor, memory: Tensor, source: Tensor, maps: AttentionMaps | None = None) -> Tensor:
        """Logits `[B, T, V]`; no patch is padding, so cross-attention has no mask."""
        own = self._attend(target_mask(target_in), None if maps is None else maps.decoder)
        cross = self._attend(_every_key(source), None if maps is None else maps.cross)
        return self.project(self.decoder(self.embed(target_in, target=True), memory, own, cross))

    def start_state(self, source: Tensor, beam_size: int = 1, *, max_new_tokens: int) -> DecoderState:
        """What `greedy_decode` and `beam_search` begin with: each layer's keys and values of the patches."""
        memory, layers = self.encode(source), []
        rows, c = len(source) * beam_size, self.config
        for layer in cast(Any, self.decoder.layers):
            own = AttentionCache(rows, c.num_heads, c.d_k, c.d_v, limit=max_new_tokens, like=memory)
            _, keys, values = layer.cross_attention.project(None, memory, memory)
            layers.append(LayerState(own, *(x.transpose(1, 2).contiguous() for x in (keys, values))))
        return DecoderState(layers, None, beam_size)


def _every_key(source: Tensor) -> Tensor:
    """A mask that hides nothing: no patch is padding."""
    return torch.ones(1, 1, 1, 1, dtype=torch.bool, device=source.device)

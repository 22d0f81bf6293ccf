"""The Transformer: embeddings, positions, encoder, decoder, and the projection to the vocabulary.

Paper: section 3, figure 1
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from annotated.config import ModelConfig
from annotated.model.cache import AttentionCache, DecoderState, LayerState
from annotated.model.dropout import Dropout
from annotated.model.embeddings import TokenEmbedding
from annotated.model.layers import Decoder, Encoder
from annotated.model.masks import padding_mask, target_mask
from annotated.model.packing import PackedRows, Packing
from annotated.model.positional_encoding import LearnedPositions, SinusoidalPositions
from annotated.model.static_rows import StaticRows


class AttentionMaps(NamedTuple):
    """Attention weights before dropout, a list over layers for each of the three uses of attention.

    `encoder[l]` is `[B, H, S, S]`, `decoder[l]` `[B, H, T, T]`, `cross[l]` `[B, H, T, S]`; queries come
    before keys. Rows of padded queries are attention too, but of no token.

    Paper: section 3.2.3, figures 3-5
    """

    encoder: list[Tensor]
    decoder: list[Tensor]
    cross: list[Tensor]


class Transformer(nn.Module):
    """The paper's encoder-decoder.

    Parameters
    ----------
    config
        Its shape; `annotated.base()`, `big()`, `tiny()` and `table_3(row)` make one.

    Paper: section 3, figure 1
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = TokenEmbedding(config.vocab_size, config.d_model)
        if not config.tie_embeddings:
            self.target_embedding = TokenEmbedding(config.vocab_size, config.d_model)
            self.output_embedding = TokenEmbedding(config.vocab_size, config.d_model)
        learned = config.positions == "learned"
        self.positions = (
            LearnedPositions(config.d_model, config.max_positions) if learned else SinusoidalPositions(config.d_model)
        )
        self.dropout = Dropout(config.dropout)
        self.encoder = Encoder(config)
        self.decoder = Decoder(config)

    def forward(
        self, source: Tensor, target_in: Tensor, *, return_attention: bool = False
    ) -> Tensor | tuple[Tensor, AttentionMaps]:
        """Logits of the next token at every target position, all at once (teacher forcing).

        Parameters
        ----------
        source
            Token ids `[B, S]`, padded with 0.
        target_in
            Token ids `[B, T]`, starting with bos: the target shifted right, padded with 0.
        return_attention
            Return the attention weights too; this takes the path written out as equation 1.

        Returns
        -------
        logits or (logits, maps)
            `[B, T, V]`, and an `AttentionMaps`

        Raises
        ------
        ValueError
            If ids lie outside the vocabulary, or the two batches differ in size.

        Paper: section 3, figure 1
        """
        _check_ids(source, "source")
        _check_ids(target_in, "target_in", source.size(0))
        source_mask = padding_mask(source)
        memory, encoder_maps = self.encoder(self._embed(source), source_mask, return_attention)
        hidden, own_maps, cross_maps = self.decoder(
            self._embed(target_in, target=True), memory, target_mask(target_in), source_mask, return_attention
        )
        logits = self.project(hidden)
        return (logits, AttentionMaps(encoder_maps, own_maps, cross_maps)) if return_attention else logits

    def encode(self, source: Tensor) -> Tensor:
        """The encoder's output for token ids `[B, S]`: the memory, `[B, S, D]`.

        Paper: section 3.1
        """
        _check_ids(source, "source")
        return self.encoder(self._embed(source), padding_mask(source))[0]

    def decode(self, target_in: Tensor, memory: Tensor, source: Tensor) -> Tensor:
        """Logits `[B, T, V]` for target ids `[B, T]`, given the memory `[B, S, D]` of source ids `[B, S]`.

        Paper: section 3.1
        """
        _check_ids(target_in, "target_in", source.size(0))
        x = self._embed(target_in, target=True)
        return self.project(self.decoder(x, memory, target_mask(target_in), padding_mask(source))[0])

    def project(self, hidden: Tensor) -> Tensor:
        """Logits `[..., V]` of decoder outputs `[..., D]`.

        Paper: section 3.4
        """
        return (self.embedding if self.config.tie_embeddings else self.output_embedding).project(hidden)

    @property
    def output_weight(self) -> nn.Parameter:
        """The matrix of `project`, `[V, D]`; the embedding's own when they are tied.

        Paper: section 3.4
        """
        return (self.embedding if self.config.tie_embeddings else self.output_embedding).weight

    def forward_packed(
        self,
        source: Tensor,
        source_rows: PackedRows | StaticRows,
        target: Tensor,
        target_rows: PackedRows | StaticRows,
    ) -> Tensor:
        """What `forward` computes before the projection, without any padding: the path for training.

        Parameters
        ----------
        source, target
            Real token ids `[N]` and `[M]`, sentences one after the other; the target shifted right. With
            `StaticRows` padding ids follow them, and what comes out for those means nothing.
        source_rows, target_rows
            Where they sit.

        Returns
        -------
        Tensor
            Decoder outputs `[M, D]`

        Paper: section 3; the packed layout is ours
        """
        memory = self.encode_packed(source, source_rows)
        x = self._embed_packed(target, target_rows, target=True)
        own, cross = Packing(target_rows, target_rows, causal=True), Packing(target_rows, source_rows)
        return self.decoder(x, memory, own, cross)[0]

    def encode_packed(self, source: Tensor, rows: PackedRows | StaticRows) -> Tensor:
        """The memory `[N, D]` of real token ids `[N]`."""
        return self.encoder(self._embed_packed(source, rows), Packing(rows, rows))[0]

    def start_state(self, source: Tensor, beam_size: int = 1, *, max_new_tokens: int) -> DecoderState:
        """Encode `[B, S]` source ids and make ready to decode `beam_size` hypotheses of each sentence.

        Each layer's keys and values of the memory are computed here, once.

        Parameters
        ----------
        max_new_tokens
            Steps that the state can take at most.

        Raises
        ------
        ValueError
            If ids lie outside the vocabulary, or padding stands before a real token.
        """
        _check_ids(source, "source")
        rows = PackedRows.from_ids(source)
        memory = rows.unpack(self.encode_packed(rows.pack_ids(source), rows))
        config, hypotheses, layers = self.config, len(source) * beam_size, []
        for layer in self.decoder.layers:
            own = AttentionCache(
                hypotheses, config.num_heads, config.d_k, config.d_v, limit=max_new_tokens, like=memory
            )
            layers.append(LayerState(own, *layer.cross_attention.project_memory(memory)))
        return DecoderState(layers, rows.mask, beam_size)

    def decode_step(self, token: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """Logits of the next token after one more, with everything before it in the state.

        Parameters
        ----------
        token
            Ids `[R]`, one for each of the state's rows; bos at the first step.
        state
            From `start_state` or the step before. It is updated in place and returned.

        Returns
        -------
        logits, state
            `[R, V]`, equal to what `forward` gives at this position

        Paper: section 3.1 (auto-regression)
        """
        position = self.positions(state.position + 1)[-1]
        x = self.dropout(self._table(target=True)(token) + position)
        hidden = self.decoder.step(x, state.layers, state.source_mask)
        state.position += 1
        return self.project(hidden), state

    def num_parameters(self) -> int:
        """Trained numbers, shared ones counted once.

        Paper: Table 3, last column
        """
        return sum(parameter.numel() for parameter in self.parameters())

    def _table(self, target: bool) -> TokenEmbedding:
        return self.target_embedding if target and not self.config.tie_embeddings else self.embedding

    def _embed(self, ids: Tensor, target: bool = False) -> Tensor:
        return self.dropout(self._table(target)(ids) + self.positions(ids.size(1)))  # [B, L] -> [B, L, D]

    def _embed_packed(self, ids: Tensor, rows: PackedRows | StaticRows, target: bool = False) -> Tensor:
        positions = F.embedding(rows.positions, self.positions(rows.width))
        return self.dropout(self._table(target)(ids) + positions)  # [N] -> [N, D]


def _check_ids(ids: Tensor, name: str, batch: int | None = None) -> None:
    if ids.dim() != 2 or ids.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"{name} must be token ids [batch, length], not {ids.dtype} {list(ids.shape)}")
    if batch is not None and ids.size(0) != batch:
        raise ValueError(f"source holds {batch} sentences and {name} {ids.size(0)}")

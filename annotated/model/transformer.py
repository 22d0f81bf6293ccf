"""The Transformer: embeddings, positions, encoder, decoder, and the projection to the vocabulary."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn

from annotated.config import ModelConfig
from annotated.model.attention import Masked, Recorded
from annotated.model.embeddings import TokenEmbedding
from annotated.model.layers import Decoder, Encoder
from annotated.model.masks import padding_mask, target_mask
from annotated.model.positional_encoding import LearnedPositions, SinusoidalPositions
from annotated.speed.kernels.dropout import Dropout

if TYPE_CHECKING:
    from annotated.speed.layouts.cache import DecoderState


class AttentionMaps(NamedTuple):
    """Attention weights before dropout, a list over layers for each of the three uses of attention.

    Queries come before keys. Rows of padded queries are attention too, but of no token.

    Paper: section 3.2.3, figures 3-5
    """

    encoder: list[Tensor]
    """Self-attention of the encoder, `[B, H, S, S]` for each layer."""
    decoder: list[Tensor]
    """Self-attention of the decoder, `[B, H, T, T]` for each layer."""
    cross: list[Tensor]
    """Cross-attention, `[B, H, T, S]` for each layer."""


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
        if not isinstance(config, ModelConfig):
            raise TypeError(f"a Transformer takes a configuration, such as annotated.base(), not {config!r}")
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
        self.attention_dropout = config.attention_dropout
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
        """
        maps = AttentionMaps([], [], []) if return_attention else None
        logits = self.decode(target_in, self.encode(source, maps), source, maps)
        return logits if maps is None else (logits, maps)

    def encode(self, source: Tensor, maps: AttentionMaps | None = None) -> Tensor:
        """The encoder's output for token ids `[B, S]`: the memory, `[B, S, D]`; `maps` gets the layers' weights."""
        _check_ids(source, "source")
        attend = self._attend(padding_mask(source), None if maps is None else maps.encoder)
        return self.encoder(self.embed(source), attend)

    def decode(self, target_in: Tensor, memory: Tensor, source: Tensor, maps: AttentionMaps | None = None) -> Tensor:
        """Logits `[B, T, V]` for target ids `[B, T]`, given the memory `[B, S, D]` of source ids `[B, S]`."""
        _check_ids(target_in, "target_in", source.size(0))
        own = self._attend(target_mask(target_in), None if maps is None else maps.decoder)
        cross = self._attend(padding_mask(source), None if maps is None else maps.cross)
        return self.project(self.decoder(self.embed(target_in, target=True), memory, own, cross))

    def embed(self, ids: Tensor, positions: Tensor | None = None, *, target: bool = False) -> Tensor:
        """Token vectors plus positions, with dropout: ids `[...]` to `[..., D]`, what a stack reads.

        `positions`, broadcastable to the result, are those of 0..T - 1 if not given, for ids `[B, T]`; `target` ids are
        the decoder's.

        Paper: sections 3.4, 3.5, 5.4
        """
        if positions is None:
            positions = self.positions(ids.size(1))
        return self.dropout(self._table(target)(ids) + positions)

    def project(self, hidden: Tensor) -> Tensor:
        """Logits `[..., V]` of decoder outputs `[..., D]`.

        Paper: section 3.4
        """
        return (self.embedding if self.config.tie_embeddings else self.output_embedding).project(hidden)

    @property
    def output_weight(self) -> nn.Parameter:
        """The matrix of `project`, `[V, D]`; the embedding's own when they are tied."""
        return (self.embedding if self.config.tie_embeddings else self.output_embedding).weight

    def start_state(self, source: Tensor, beam_size: int = 1, *, max_new_tokens: int) -> DecoderState:
        """Encode `[B, S]` source ids and make ready for `max_new_tokens` steps of `beam_size` hypotheses a sentence."""
        from annotated.speed.layouts.cache import start_state  # it reads the model, and so stands on it

        _check_ids(source, "source")
        return start_state(self, source, beam_size, max_new_tokens)

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
        x = self.embed(token, self.positions(state.position + 1)[-1], target=True)
        hidden = self.decoder(x, None, state.attend(), state.attend_memory())
        state.position += 1
        return self.project(hidden), state

    def num_parameters(self) -> int:
        """Trained numbers, shared ones counted once.

        Paper: Table 3, last column
        """
        return sum(parameter.numel() for parameter in self.parameters())

    def _table(self, target: bool) -> TokenEmbedding:
        return self.target_embedding if target and not self.config.tie_embeddings else self.embedding

    def _attend(self, mask: Tensor, weights: list[Tensor] | None) -> Masked:
        """The attend object of the padded layout, which `encode` and `decode` use.

        The other paths choose theirs elsewhere, and a subclass that overrides this does not reach them: the packed
        layout in `RaggedRows.attend_to`, the static one in `FixedRows.attend_to`, decoding in `DecoderState.attend`
        and `attend_memory`.
        """
        dropout = self.attention_dropout if self.training else 0.0
        return Masked(mask, dropout) if weights is None else Recorded(mask, dropout, weights)


def _check_ids(ids: Tensor, name: str, batch: int | None = None) -> None:
    if not isinstance(ids, Tensor):
        raise TypeError(f"{name} must be a tensor of token ids [batch, length], not {type(ids).__name__}")
    if ids.dim() != 2 or ids.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"{name} must be token ids [batch, length], not {ids.dtype} {list(ids.shape)}")
    if batch is not None and ids.size(0) != batch:
        raise ValueError(f"source holds {batch} sentences and {name} {ids.size(0)}")

"""The adapter of Hugging Face's `MarianMTModel`. Needs the extra `export`."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from annotated.config import BOS, EOS, PAD
from annotated.interop._common import optional
from annotated.model import AttentionMaps
from annotated_grader.doctor.adapters.hooks import Recorder, places_of, residual_steps
from annotated_grader.doctor.probe import dropout_of
from annotated_grader.doctor.subject import Claims, FirstAttention, ResidualStep, Side, Subject, Tables

_FEED_FORWARD = ("feed-forward", "fc1", "fc2", "final_layer_norm")
_SELF = ("self-attention", "self_attn", "self_attn", "self_attn_layer_norm")
_CROSS = ("cross-attention", "encoder_attn", "encoder_attn", "encoder_attn_layer_norm")


class MarianSubject(Subject):
    """A `transformers.MarianMTModel`, with its own cache and greedy search.

    Parameters
    ----------
    model
        Trained or new. Published models start decoding from their padding token, and so are examined.
    name
        For the report.
    """

    def __init__(self, model: Any, name: str = "MarianMTModel") -> None:
        self.model, self.name = model, name
        config = model.config
        self.vocab_size = config.vocab_size
        self.pad, self.bos, self.eos = config.pad_token_id, config.decoder_start_token_id, config.eos_token_id
        self.claims = Claims(
            d_model=config.d_model,
            tied_embeddings=bool(config.tie_word_embeddings and config.share_encoder_decoder_embeddings),
            scaled_embeddings=bool(config.scale_embedding),
            positions="sinusoidal",
            longest=config.max_position_embeddings,
            norm="post",
            dropout=config.dropout,
        )

    def logits(self, source: Tensor, target_in: Tensor) -> Tensor:
        """Logits `[B, T, V]`."""
        output = self.model(
            input_ids=source, attention_mask=self._mask(source), decoder_input_ids=target_in, use_cache=False
        )
        return output.logits

    def modules(self) -> list[nn.Module]:
        """The whole model."""
        return [self.model]

    def fresh(self) -> MarianSubject:
        """The same configuration with new weights."""
        model = copy.deepcopy(self.model)
        model.load_state_dict(type(self.model)(self.model.config).state_dict())
        return MarianSubject(model, self.name)

    def encode(self, source: Tensor) -> Tensor:
        """The memory `[B, S, D]`."""
        return self.model.model.encoder(source, attention_mask=self._mask(source)).last_hidden_state

    def attention(self, source: Tensor, target_in: Tensor) -> AttentionMaps:
        """Weights from its eager path, which returns them after dropout: so without dropout."""
        encoder, decoder = self.model.model.encoder, self.model.model.decoder
        modules = (
            [layer.self_attn for layer in encoder.layers],
            [layer.self_attn for layer in decoder.layers],
            [layer.encoder_attn for layer in decoder.layers],
        )
        every = [module for chosen in modules for module in chosen]
        with self._eager(), dropout_of(every, 0.0), Recorder(*every) as seen:
            self.logits(source, target_in)
        return AttentionMaps(*([seen.output(module, 1) for module in chosen] for chosen in modules))

    def first_attention(self, source: Tensor) -> FirstAttention:
        """The first layer's `self_attn`."""
        module = self.model.model.encoder.layers[0].self_attn
        projections = (module.q_proj, module.k_proj, module.v_proj)
        with self._eager(), Recorder(module, *projections) as seen:
            self.encode(source)
        q, k, v = (seen.output(part).unflatten(-1, (module.num_heads, -1)).transpose(1, 2) for part in projections)
        out = module.out_proj
        x, weights, output = seen.first(module), seen.output(module, 1), seen.output(module)
        return FirstAttention(x, q, k, v, weights, output, out.weight, out.bias)

    def residuals(self, source: Tensor, target_in: Tensor) -> list[ResidualStep]:
        """Around every sub-layer; Marian is post-norm."""
        encoder, decoder = self.model.model.encoder, self.model.model.decoder
        stacks = [
            (places_of(encoder.layers, "encoder", (_SELF, _FEED_FORWARD)), None),
            (places_of(decoder.layers, "decoder", (_SELF, _CROSS, _FEED_FORWARD)), None),
        ]
        return residual_steps(stacks, lambda: self.logits(source, target_in), pre=False)

    def feed_forward(self, x: Tensor) -> Tensor:
        """fc2(activation(fc1(x))) of the first layer."""
        layer = self.model.model.encoder.layers[0]
        return layer.fc2(layer.activation_fn(layer.fc1(x)))

    def embed(self, ids: Tensor, side: Side) -> Tensor:
        """What the first layer is given."""
        stack = self.model.model.encoder if side == "source" else self.model.model.decoder
        with Recorder(stack.layers[0]) as seen:
            self.logits(ids, ids)
        return seen.first(stack.layers[0])

    def tables(self) -> Tables:
        """The embeddings of both sides, and the head."""
        model = self.model
        return Tables(
            model.model.encoder.embed_tokens.weight, model.model.decoder.embed_tokens.weight, model.lm_head.weight
        )

    # Decoding

    def start(self, source: Tensor, beam_size: int = 1) -> Any:
        """The memory, repeated for each hypothesis, and an empty cache."""
        rows = source.repeat_interleave(beam_size, dim=0)
        with torch.no_grad():
            memory = self.model.model.encoder(rows, attention_mask=self._mask(rows))
        return {"encoder_outputs": memory, "attention_mask": self._mask(rows), "past_key_values": None}

    def step(self, state: Any, tokens: Tensor) -> tuple[Tensor, Any]:
        """One token through the decoder with its cache."""
        output = self.model(**state, decoder_input_ids=tokens[:, None], use_cache=True)
        return output.logits[:, -1], {**state, "past_key_values": output.past_key_values}

    def reorder(self, state: Any, parents: Tensor) -> Any:
        """Its cache reorders itself."""
        state["past_key_values"].reorder_cache(parents)
        return state

    def greedy(self, source: Tensor, max_new_tokens: int) -> list[list[int]]:
        """`generate` with one beam, in evaluation mode, which it leaves to its caller."""
        modes = [(module, module.training) for module in self.model.modules()]
        self.model.eval()
        try:
            written = self.model.generate(
                input_ids=source,
                attention_mask=self._mask(source),
                num_beams=1,
                do_sample=False,
                max_new_tokens=max_new_tokens,
                max_length=None,
                forced_eos_token_id=None,
            )
        finally:
            for module, training in modes:
                module.training = training
        return [self._sentence(row) for row in written[:, 1:].tolist()]

    def _sentence(self, row: list[int]) -> list[int]:
        """Up to eos, or without the padding behind."""
        if self.eos in row:
            return row[: row.index(self.eos)]
        while row and row[-1] == self.pad:
            row = row[:-1]
        return row

    def _mask(self, source: Tensor) -> Tensor:
        return (source != self.pad).long()

    @contextmanager
    def _eager(self) -> Iterator[None]:
        """Inside, attention is written out, so that there are weights to return."""
        kept = self.model.config._attn_implementation
        self.model.set_attn_implementation("eager")
        try:
            yield
        finally:
            self.model.set_attn_implementation(kept)


def small_marian() -> MarianSubject:
    """A small new Marian model with ReLU, as the paper has, to be examined.

    Raises
    ------
    ImportError
        Without the package transformers.
    """
    transformers = optional("transformers")
    sides = {
        f"{side}_{name}": value
        for side in ("encoder", "decoder")
        for name, value in {"layers": 2, "attention_heads": 4, "ffn_dim": 64}.items()
    }
    config = transformers.MarianConfig(
        vocab_size=16,
        d_model=32,
        activation_function="relu",
        scale_embedding=True,
        pad_token_id=PAD,
        bos_token_id=BOS,
        eos_token_id=EOS,
        decoder_start_token_id=BOS,
        forced_eos_token_id=None,
        **sides,
    )
    model = transformers.MarianMTModel(config)
    model.generation_config.suppress_tokens = [PAD, BOS]
    return MarianSubject(model)

"""The adapter of `torch.nn.Transformer`, which needs embeddings, positions and a projection around it."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from annotated.config import BOS, EOS, PAD, ModelConfig
from annotated.interop.torch_transformer import TorchTransformer
from annotated.model import AttentionMaps, Transformer
from annotated_grader.doctor.adapters.hooks import Recorder, places_of, residual_steps
from annotated_grader.doctor.adapters.ours import claims
from annotated_grader.doctor.probe import dropout_of
from annotated_grader.doctor.subject import FirstAttention, NotOffered, ResidualStep, Side, Subject, Tables

_FEED_FORWARD = ("feed-forward", "linear1", "linear2")
_ENCODER = (("self-attention", "self_attn", "self_attn", "norm1"), (*_FEED_FORWARD, "norm2"))
_DECODER = (
    ("self-attention", "self_attn", "self_attn", "norm1"),
    ("cross-attention", "multihead_attn", "multihead_attn", "norm2"),
    (*_FEED_FORWARD, "norm3"),
)


class TorchSubject(Subject):
    """`torch.nn.Transformer` between embeddings, positions and a projection.

    Parameters
    ----------
    model
        A `TorchTransformer`, as `annotated.interop.to_torch` and `with_embeddings` make them.
    name
        For the report.
    """

    pad, bos, eos = PAD, BOS, EOS

    def __init__(self, model: TorchTransformer, name: str = "torch.nn.Transformer") -> None:
        self.model, self.name = model, name
        self.vocab_size = model.config.vocab_size
        self.claims = claims(model.config)

    def logits(self, source: Tensor, target_in: Tensor) -> Tensor:
        """Logits `[B, T, V]`; in evaluation mode by torch's fast path, as its users get them."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The PyTorch API of nested tensors")
            return self.model(source, target_in)

    def modules(self) -> list[nn.Module]:
        """The whole model."""
        return [self.model]

    def fresh(self) -> TorchSubject:
        """The same layers, drawn anew as `torch.nn.Transformer` draws them; the embeddings as ours."""
        model = copy.deepcopy(self.model)
        model.core._reset_parameters()
        for table in {*TorchSubject(model).tables()}:
            nn.init.normal_(table, std=table.size(1) ** -0.5)
        return TorchSubject(model, self.name)

    def encode(self, source: Tensor) -> Tensor:
        """The memory `[B, S, D]`."""
        with _no_fast_path(), Recorder(self.model.core.encoder) as seen:
            self.model(source, source)
        return seen.output(self.model.core.encoder)

    def attention(self, source: Tensor, target_in: Tensor) -> AttentionMaps:
        """Weights, as `nn.MultiheadAttention` returns them on request; it drops from them, so without dropout."""
        core: Any = self.model.core
        modules = {
            "encoder": [layer.self_attn for layer in core.encoder.layers],
            "decoder": [layer.self_attn for layer in core.decoder.layers],
            "cross": [layer.multihead_attn for layer in core.decoder.layers],
        }
        every = [module for chosen in modules.values() for module in chosen]
        with _weights_wanted(every), dropout_of(every, 0.0), Recorder(*every) as seen:
            self.model(source, target_in)
        return AttentionMaps(*([seen.output(module, 1) for module in chosen] for chosen in modules.values()))

    def first_attention(self, source: Tensor) -> FirstAttention:
        """The first layer's `self_attn`."""
        core: Any = self.model.core
        module = core.encoder.layers[0].self_attn
        if module.in_proj_weight is None:
            raise NotOffered("the widths of queries, keys and values differ")
        with _weights_wanted([module]), Recorder(module) as seen:
            self.model(source, source)
        x = seen.first(module)
        projected = nn.functional.linear(x, module.in_proj_weight, module.in_proj_bias).chunk(3, dim=-1)
        q, k, v = (part.unflatten(-1, (module.num_heads, -1)).transpose(1, 2) for part in projected)
        out = module.out_proj
        return FirstAttention(x, q, k, v, seen.output(module, 1), seen.output(module), out.weight, out.bias)

    def residuals(self, source: Tensor, target_in: Tensor) -> list[ResidualStep]:
        """Around every sub-layer, with the norms named norm1 to norm3 in torch's layers."""
        core: Any = self.model.core
        stacks = [
            (places_of(core.encoder.layers, "encoder", _ENCODER), core.encoder.norm),
            (places_of(core.decoder.layers, "decoder", _DECODER), core.decoder.norm),
        ]
        pre = core.encoder.layers[0].norm_first
        with _no_fast_path():
            return residual_steps(stacks, lambda: self.model(source, target_in), pre)

    def feed_forward(self, x: Tensor) -> Tensor:
        """linear2(activation(linear1(x))) of the first layer."""
        core: Any = self.model.core
        layer = core.encoder.layers[0]
        return layer.linear2(layer.activation(layer.linear1(x)))

    def embed(self, ids: Tensor, side: Side) -> Tensor:
        """What `nn.Transformer` is given."""
        with _no_fast_path(), Recorder(self.model.core) as seen:
            self.model(ids, ids)
        return seen.inputs(self.model.core)[0 if side == "source" else 1]

    def tables(self) -> Tables:
        """The embeddings around torch's part."""
        model = self.model
        if model.config.tie_embeddings:
            return Tables(*[model.embedding.weight] * 3)
        return Tables(model.embedding.weight, model.target_embedding.weight, model.output_embedding.weight)


def with_embeddings(core: nn.Transformer, vocab_size: int = 16) -> TorchTransformer:
    """A bare `nn.Transformer` between new embeddings, sinusoids and a projection tied to them.

    Raises
    ------
    ValueError
        If it is not batch-first, or has layers of classes that are not torch's.
    """
    layers: list[Any] = [*core.encoder.layers, *core.decoder.layers]
    if not core.batch_first:
        raise ValueError("nn.Transformer must be made with batch_first=True to be examined")
    if not all(isinstance(x, nn.TransformerEncoderLayer | nn.TransformerDecoderLayer) for x in layers):
        raise ValueError("its layers are not torch's own: write a Subject for it")
    width, encoder = core.d_model // core.nhead, layers[0]
    config = ModelConfig(
        vocab_size=vocab_size,
        d_model=core.d_model,
        d_ff=encoder.linear1.out_features,
        num_heads=core.nhead,
        d_k=width,
        d_v=width,
        num_encoder_layers=len(core.encoder.layers),
        num_decoder_layers=len(core.decoder.layers),
        dropout=encoder.dropout1.p,
        norm="pre" if encoder.norm_first else "post",
        final_norm=core.encoder.norm is not None,
        attention_bias=True,
        norm_epsilon=encoder.norm1.eps,
    )
    model = TorchTransformer(Transformer(config))
    model.core = core
    return model


def small_torch() -> TorchSubject:
    """A small `torch.nn.Transformer` as torch makes it, to be examined."""
    return TorchSubject(with_embeddings(nn.Transformer(32, 4, 2, 2, 64, batch_first=True)))


@contextmanager
def _no_fast_path() -> Iterator[None]:
    """Inside, torch computes every layer by its modules, so that hooks see what goes in and out."""
    kept = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(kept)


@contextmanager
def _weights_wanted(modules: list[nn.Module]) -> Iterator[None]:
    """Inside, torch's attentions return the weights of every head, which its layers do not ask for."""

    def ask(_: nn.Module, inputs: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        return inputs, {**named, "need_weights": True, "average_attn_weights": False}

    handles = [module.register_forward_pre_hook(ask, with_kwargs=True) for module in modules]
    try:
        with _no_fast_path():
            yield
    finally:
        for handle in handles:
            handle.remove()

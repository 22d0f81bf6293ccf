"""Export to ONNX: an encoder, and a decoder step that takes and returns its cache. Needs the extra `export`.

Two graphs, plain functions of their inputs, opset 18 or newer, every size but the model's own dynamic:

`encoder.onnx`
    `source` int64 `[B, S]` -> `cross_keys` `[L, B, H, S, K]`, `cross_values` `[L, B, H, S, d_v]`: the keys and
    values of the memory for each decoder layer, so that the memory itself is needed no more.
`decoder_step.onnx`
    `token` int64 `[B]`, `source` int64 `[B, S]` (for its padding), `cross_keys`, `cross_values`, `past_keys`
    `[L, B, H, t, K]`, `past_values` `[L, B, H, t, d_v]` -> `logits` `[B, V]`, `keys` `[L, B, H, t + 1, K]`,
    `values`. The first step has bos and pasts with t = 0; each later step has what the one before returned.
    To reorder beams, index `keys` and `values` by parent along B.

Paper: sections 3.1 (auto-regression), 3.2.1; caching is practice, not in the paper
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import warnings
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from annotated.config import BOS, EOS, PAD
from annotated.interop._common import optional
from annotated.model import MultiHeadAttention, Transformer, padding_mask, scaled_dot_product_attention

STEP_INPUTS = ("token", "source", "cross_keys", "cross_values", "past_keys", "past_values")


class OnnxEncoder(nn.Module):
    """The encoder, and each decoder layer's keys and values of its output.

    Paper: section 3.1
    """

    def __init__(self, model: Transformer, max_positions: int) -> None:
        super().__init__()
        self.model = model
        self.register_buffer("table", model.positions(max_positions).detach().clone())

    def forward(self, source: Tensor) -> tuple[Tensor, Tensor]:
        """`[B, S]` to `[L, B, H, S, K]` and `[L, B, H, S, d_v]`."""
        mask = padding_mask(source)
        x = _embed(self.model.embedding.weight, source) + self.table[: source.size(1)]
        for layer in self.model.encoder.layers:
            y = layer.self_attention_residual.enter(x)
            q, k, v = _heads(layer.self_attention, y, 0, 3)
            y = _attend(layer.self_attention, q, k, v, mask)
            x = layer.self_attention_residual.leave(x, y)
            y = layer.feed_forward(layer.feed_forward_residual.enter(x))
            x = layer.feed_forward_residual.leave(x, y)
        memory = self.model.encoder.final_norm(x)
        layers = self.model.decoder.layers
        keys, values = zip(*(_heads(layer.cross_attention, memory, 1, 3) for layer in layers), strict=True)
        return torch.stack(keys), torch.stack(values)


class OnnxDecoderStep(nn.Module):
    """One step of the decoder with its cache as arguments and results.

    Paper: section 3.1
    """

    def __init__(self, model: Transformer, max_positions: int) -> None:
        super().__init__()
        self.model = model
        self.register_buffer("table", model.positions(max_positions).detach().clone())

    def forward(
        self,
        token: Tensor,
        source: Tensor,
        cross_keys: Tensor,
        cross_values: Tensor,
        past_keys: Tensor,
        past_values: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Shapes as the module's docstring gives them."""
        model, mask, keys, values = self.model, padding_mask(source), [], []
        tied = model.config.tie_embeddings
        weight = (model.embedding if tied else model.target_embedding).weight
        position = past_keys.size(3)
        x = _embed(weight, token[:, None]) + self.table[position : position + 1]  # [B, 1, D]
        for number, layer in enumerate(model.decoder.layers):
            y = layer.self_attention_residual.enter(x)
            q, k, v = _heads(layer.self_attention, y, 0, 3)
            keys.append(torch.cat((past_keys[number], k), dim=2))
            values.append(torch.cat((past_values[number], v), dim=2))
            y = _attend(layer.self_attention, q, keys[-1], values[-1])
            x = layer.self_attention_residual.leave(x, y)
            (q,) = _heads(layer.cross_attention, layer.cross_attention_residual.enter(x), 0, 1)
            y = _attend(layer.cross_attention, q, cross_keys[number], cross_values[number], mask)
            x = layer.cross_attention_residual.leave(x, y)
            y = layer.feed_forward(layer.feed_forward_residual.enter(x))
            x = layer.feed_forward_residual.leave(x, y)
        logits = model.project(model.decoder.final_norm(x)[:, 0])
        return logits, torch.stack(keys), torch.stack(values)


def export_onnx(model: Transformer, folder: str | Path, max_positions: int | None = None) -> Path:
    """Write `encoder.onnx`, `decoder_step.onnx` and `onnx.json` (sizes and token ids) into a folder.

    Parameters
    ----------
    model
        Any of ours; exported on the CPU in float32 and for evaluation, and left as it was.
    folder
        Made if need be.
    max_positions
        Longest sequence that the graphs take, for the sinusoids stand in them as a table; None for the
        configuration's `max_positions`. Longer input is an error of the runtime, not a wrong result.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    ImportError
        Without the packages onnx and onnxscript.
    ValueError
        If `max_positions` exceeds what the model learned.

    Paper: section 3
    """
    for package in ("onnx", "onnxscript"):
        optional(package)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    config = model.config
    limit = max_positions or config.max_positions
    copy = Transformer(config)
    copy.load_state_dict({name: value.float().cpu() for name, value in model.state_dict().items()})
    copy.eval().requires_grad_(False)
    layers, heads = config.num_decoder_layers, config.num_heads
    # Sizes that differ from each other and from 0 and 1, which the exporter would take for constants.
    batch, length, past = 3, 5, 4
    source = torch.randint(EOS + 1, config.vocab_size, (batch, length))
    rows, width, time = (torch.export.Dim(name, min=low) for name, low in (("B", 1), ("S", 1), ("t", 0)))
    _export(OnnxEncoder(copy, limit), (source,), {"source": {0: rows, 1: width}}, folder / "encoder.onnx",
            ["source"], ["cross_keys", "cross_values"])  # fmt: skip
    cross = [torch.randn(layers, batch, heads, length, size) for size in (config.d_k, config.d_v)]
    pasts = [torch.randn(layers, batch, heads, past, size) for size in (config.d_k, config.d_v)]
    shapes = [{0: rows}, {0: rows, 1: width}, *[{1: rows, 3: width}] * 2, *[{1: rows, 3: time}] * 2]
    _export(OnnxDecoderStep(copy, limit), (source[:, 0], source, *cross, *pasts),
            dict(zip(STEP_INPUTS, shapes, strict=True)), folder / "decoder_step.onnx",
            list(STEP_INPUTS), ["logits", "keys", "values"])  # fmt: skip
    facts = {"config": config.to_dict(), "max_positions": limit, "pad": PAD, "bos": BOS, "eos": EOS}
    (folder / "onnx.json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    return folder


def _export(
    module: nn.Module, arguments: tuple[Tensor, ...], shapes: dict[str, Any], path: Path,
    inputs: list[str], outputs: list[str],
) -> None:  # fmt: skip
    """torch's exporter, silenced: it reports its progress on stdout, where a pipe may read."""
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)  # it would warn of a missing torchvision
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module.eval(),
            arguments,
            path,
            input_names=inputs,
            output_names=outputs,
            dynamic_shapes=shapes,
            dynamo=True,
            external_data=False,
            verbose=False,
        )


def _embed(weight: Tensor, ids: Tensor) -> Tensor:
    return F.embedding(ids, weight) * weight.size(1) ** 0.5


def _heads(attention: MultiHeadAttention, x: Tensor, first: int, last: int) -> list[Tensor]:
    """Some of queries, keys and values (numbered 0 to 2), each `[B, n, D]` to `[B, H, n, K]`, by one product."""
    widths = [attention.num_heads * size for size in (attention.d_k, attention.d_k, attention.d_v)]
    rows = slice(sum(widths[:first]), sum(widths[:last]))
    bias = None if attention.in_bias is None else attention.in_bias[rows]
    parts = F.linear(x, attention.in_projection[rows], bias).split(widths[first:last], dim=-1)
    return [part.unflatten(-1, (attention.num_heads, -1)).transpose(1, 2) for part in parts]


def _attend(attention: MultiHeadAttention, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    output, _ = scaled_dot_product_attention(q, k, v, mask)
    return attention.out_projection(output.transpose(1, 2).flatten(2))

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

Beside them lies `translate.py`, the greedy search over the two, which needs onnxruntime, numpy and tokenizers only.
"""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from annotated.config import BOS, EOS, PAD
from annotated.data.tokenizer import Tokenizer
from annotated.interop import onnx_translate
from annotated.interop._common import export_folder, optional, require_same_vocabulary, write_tokenizer
from annotated.model import Recorded, Transformer, padding_mask, scaled_dot_product_attention
from annotated.ownership import is_json_of
from annotated.storage import atomic_write, write_json

FILES = ("encoder.onnx", "decoder_step.onnx", "onnx.json", "translate.py", "tokenizer.json")
USAGE = """\
import runpy
translate = runpy.run_path({folder!r} + "/translate.py")["translate"]
print(translate("The cat sleeps."))
"""
"""How to open the folder and translate: what `annotated export` prints."""
STEP_INPUTS = ("token", "source", "cross_keys", "cross_values", "past_keys", "past_values")


class OnnxEncoder(nn.Module):
    """The encoder, and each decoder layer's keys and values of its output."""

    def __init__(self, model: Transformer, max_positions: int) -> None:
        super().__init__()
        self.model = model
        self.register_buffer("table", model.positions(max_positions).detach().clone())

    def forward(self, source: Tensor) -> tuple[Tensor, Tensor]:
        """`[B, S]` to `[L, B, H, S, K]` and `[L, B, H, S, d_v]`."""
        mask = padding_mask(source)
        x = _embed(self.model.embedding.weight, source) + self.table[: source.size(1)]
        memory = self.model.encoder(x, Recorded(mask))
        projected = [layer.cross_attention.project(None, memory, memory)[1:] for layer in self.model.decoder.layers]
        keys, values = ([pair[side].transpose(1, 2) for pair in projected] for side in (0, 1))
        return torch.stack(keys), torch.stack(values)


class OnnxDecoderStep(nn.Module):
    """One step of the decoder with its cache as arguments and results."""

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
        model, position = self.model, past_keys.size(3)
        tied = model.config.tie_embeddings
        weight = (model.embedding if tied else model.target_embedding).weight
        x = _embed(weight, token[:, None]) + self.table[position : position + 1]  # [B, 1, D]
        own = _Cached(iter(zip(past_keys, past_values, strict=True)))
        memory = _Cached(iter(zip(cross_keys, cross_values, strict=True)), padding_mask(source))
        logits = model.project(model.decoder(x, None, own, memory)[:, 0])
        return logits, torch.stack(own.keys), torch.stack(own.values)


class _Cached:
    """Attention to keys and values `[B, H, t, K]` of each layer in turn, and to those of the new position, if any."""

    def __init__(self, layers: Iterator[tuple[Tensor, Tensor]], mask: Tensor | None = None) -> None:
        self.layers, self.mask = layers, mask
        self.keys: list[Tensor] = []
        self.values: list[Tensor] = []

    def __call__(self, q: Tensor, k: Tensor | None, v: Tensor | None) -> Tensor:
        """`[B, 1, H, K]` to `[B, 1, H, d_v]`."""
        keys, values = next(self.layers)
        if k is not None and v is not None:
            keys, values = torch.cat((keys, k.transpose(1, 2)), dim=2), torch.cat((values, v.transpose(1, 2)), dim=2)
        self.keys.append(keys)
        self.values.append(values)
        return scaled_dot_product_attention(q.transpose(1, 2), keys, values, self.mask)[0].transpose(1, 2)


def export_onnx(
    model: Transformer, folder: str | Path, max_positions: int | None = None, tokenizer: Tokenizer | None = None
) -> Path:
    """Write `encoder.onnx`, `decoder_step.onnx`, `onnx.json` (sizes and token ids) and `translate.py` into a folder.

    Parameters
    ----------
    model
        Any of ours; exported on the CPU in float32 and for evaluation, and left as it was.
    folder
        Made if need be; an export that is there already is replaced.
    max_positions
        Longest sequence that the graphs take, for the sinusoids stand in them as a table; None for the
        configuration's `max_positions`. Longer input is an error of the runtime, not a wrong result.
    tokenizer
        The one that the model was trained with, to be written beside; `translate.py` reads it.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    ImportError
        Without the packages onnx and onnxscript.
    ValueError
        If `max_positions` exceeds what the model learned, or tokenizer and model differ in vocabulary.
    FileExistsError
        If the folder holds something else.
    DiskFull
        If the disk is full; a folder that was there before is untouched.
    """
    for package in ("onnx", "onnxscript"):
        optional(package)
    if tokenizer is not None:
        require_same_vocabulary(model.config, tokenizer)
    with export_folder(folder, FILES, lambda place: is_json_of(place / "onnx.json", "config", "pad")) as partial:
        limit = _write_graphs(model, partial, max_positions)
        facts = {"config": model.config.to_dict(), "max_positions": limit, "pad": PAD, "bos": BOS, "eos": EOS}
        write_json(partial / "onnx.json", facts)
        with atomic_write(partial / "translate.py") as file:
            file.write(Path(onnx_translate.__file__).read_text(encoding="utf-8"))
        if tokenizer is not None:
            write_tokenizer(tokenizer, partial / "tokenizer.json")
    return Path(folder)


def _write_graphs(model: Transformer, folder: Path, max_positions: int | None) -> int:
    """The two graphs, and the longest sequence that they take."""
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
    return limit


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

"""Training curves of options that change rounding: the same small model, text, seed and dropout, once with each.

They show on a CPU whether an option made for GPUs trains to the same loss; of its speed they say nothing. bfloat16
products are computed as a GPU's tensor cores do: operands in 16 bits, sums in float32, the result in 16 bits again.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from annotated.config import ModelConfig, TrainingConfig, base
from annotated.data import TokenBatches, Tokenizer, TokenStore, evaluation_batches
from annotated.model import Transformer
from annotated.speed.steps import FastStep
from annotated.storage import atomic_write
from annotated.training import learning_rate
from annotated.training.update import fit
from annotated.training.validation import validation_loss
from benchmarks import machine
from benchmarks.loader import REAL, sentences

BATCH_TOKENS, WARMUP, PAIRS, VOCABULARY, SCALE = 500, 400, 40_000, 2000, 0.5
BIN = 50
"""Updates whose mean loss is one point of a curve."""

MODEL: dict[str, dict[str, Any]] = {"residual": {}, "attention": {"dropout": 0.0}}
"""What a comparison changes in the model. Layouts have different rows, and so would drop different elements."""

SIDES: dict[str, dict[str, dict[str, Any]]] = {
    "residual": {
        "residual_fp32": {"precision": "bf16"},
        "residual_bf16": {"precision": "bf16", "residual_precision": "bf16"},
        "fp32": {},
        "residual_fp32_seed_1": {"precision": "bf16", "seed": 1},
    },
    "attention": {
        "packed": {},
        "flex": {"layout": "static", "attention_kernel": "flex"},
    },
}
"""What each side changes in the training. The first is the one that the others are compared with."""


def model_config(vocab_size: int) -> ModelConfig:
    """Half of base's layers, an eighth of its width."""
    narrow = base(d_model=64, d_ff=256, num_heads=4, d_k=16, d_v=16, vocab_size=vocab_size)
    return narrow.replace(num_encoder_layers=3, num_decoder_layers=3)


class TensorCoreProducts(TorchDispatchMode):
    """bfloat16 products through float32 ones: the same numbers, faster where a CPU has no instruction for them.

    The product of two bfloat16 numbers is exact in float32, and the sums are float32 either way.
    """

    _products = {torch.ops.aten.mm.default, torch.ops.aten.addmm.default, torch.ops.aten.bmm.default}

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Of every operator."""
        if function in self._products and args[-1].dtype == torch.bfloat16:
            return function(*(x.float() for x in args), **(kwargs or {})).bfloat16()
        return function(*args, **(kwargs or {}))


def text(corpus: str, folder: Path) -> None:
    """Training and validation pairs as stores in a folder; the last 500 of the first `PAIRS` are for validation."""
    pairs = sentences(corpus, PAIRS)
    tokenizer = Tokenizer.train([line for pair in pairs for line in pair], VOCABULARY)
    TokenStore.build(folder / "train", pairs[:-500], tokenizer, max_length=64)
    TokenStore.build(folder / "valid", pairs[-500:], tokenizer, max_length=64)


def curve(folder: Path, what: str, name: str, updates: int) -> dict[str, Any]:
    """Train one side: the loss of every update, and the validation loss in float32."""
    torch.set_num_threads(1)
    changes, busy = SIDES[what][name], time.process_time()
    train, valid = TokenStore.open(folder / "train"), TokenStore.open(folder / "valid")
    training = TrainingConfig(updates=updates, batch_tokens=BATCH_TOKENS, warmup=WARMUP).replace(**changes)
    torch.manual_seed(training.seed)
    model = Transformer(model_config(train.info.vocab_size).replace(**MODEL[what]))
    batches = TokenBatches(train, BATCH_TOKENS, seed=training.seed, pool_pairs=PAIRS)

    def rate(update: int) -> float:
        return SCALE * learning_rate(update, model.config.d_model, WARMUP)

    def told(update: int, loss: float) -> None:
        if update % 100 == 0:
            print(f"  {name} {update} {loss:.3f}", flush=True)

    # On a CPU FlexAttention computes all rows with all rows, and refuses only to be differentiated, which works.
    products = TensorCoreProducts() if training.precision == "bf16" else contextlib.nullcontext()
    with products, mock.patch("torch.nn.attention.flex_attention._validate_device"):
        losses = fit(FastStep(model, training), batches, updates, rate, told)
    loss = validation_loss(FastStep(model, TrainingConfig()), evaluation_batches(valid, 2000))
    rounded = [round(loss, 5) for loss in losses]
    return {"training": changes, "losses": rounded, "valid_loss": loss, "cpu_seconds": time.process_time() - busy}


def compare(first: dict[str, Any], other: dict[str, Any]) -> dict[str, float]:
    """How far two curves lie apart: point by point after warm-up, at the end, and in validation."""
    points = [[statistics.fmean(side["losses"][i : i + BIN]) for i in range(0, len(side["losses"]), BIN)]
              for side in (first, other)]  # fmt: skip
    apart = [b - a for a, b in zip(*points, strict=True)]
    after = apart[WARMUP // BIN :] or apart
    return {
        "largest_difference_of_points": max(map(abs, after)),
        "mean_difference_of_points": statistics.fmean(after),
        "difference_of_last_points": statistics.fmean(after[-4:]),
        "difference_of_valid_loss": other["valid_loss"] - first["valid_loss"],
    }


def main(arguments: Sequence[str]) -> None:
    """Train every side, compare, print and write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks rounding", description=__doc__)
    parser.add_argument("what", choices=SIDES)
    parser.add_argument("--updates", type=int, default=2000, help="default %(default)s")
    parser.add_argument("--jobs", type=int, default=2, help="sides trained at a time (default %(default)s)")
    parser.add_argument("--corpus", help="as for `annotated train` (default: the real text if it is there)")
    parser.add_argument("--out", type=Path, help="default build/benchmarks/rounding_WHAT.json")
    options = parser.parse_args(arguments)
    corpus = options.corpus or (str(REAL) if REAL.exists() else "classroom")
    out = options.out or Path(f"build/benchmarks/rounding_{options.what}.json")
    out.parent.mkdir(parents=True, exist_ok=True)
    command = "python -m benchmarks rounding " + " ".join(arguments)
    result: dict[str, Any] = {"command": command, "corpus": corpus, "machine": machine.describe()}
    result |= {"bin": BIN, "batch_tokens": BATCH_TOKENS, "warmup": WARMUP, "sides": {}, "compared": {}}
    sides = SIDES[options.what]
    with tempfile.TemporaryDirectory() as folder:
        text(corpus, Path(folder))
        result["model"] = model_config(VOCABULARY).replace(**MODEL[options.what]).to_dict()
        with ProcessPoolExecutor(options.jobs, multiprocessing.get_context("spawn")) as pool:
            running = {name: pool.submit(curve, Path(folder), options.what, name, options.updates) for name in sides}
            for name, future in running.items():
                result["sides"][name] = future.result()
                first, *others = result["sides"]
                result["compared"] = {n: compare(result["sides"][first], result["sides"][n]) for n in others}
                with atomic_write(out) as file:
                    file.write(json.dumps(result, indent=1) + "\n")
                print(name, result["sides"][name]["valid_loss"], result["compared"].get(name, ""), flush=True)

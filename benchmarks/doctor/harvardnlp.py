"""The Annotated Transformer (harvardnlp): its own masks, loss, schedule, loop and greedy search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.optim.lr_scheduler import LambdaLR

from annotated.model import AttentionMaps
from annotated_grader.doctor import Claims, FirstAttention, ResidualStep, Subject, Tables, Update
from annotated_grader.doctor.adapters.hooks import Place, Recorder, residual_steps
from annotated_grader.doctor.subject import Side
from benchmarks.doctor import common
from benchmarks.peers.repositories import annotated_transformer


class Harvard(Subject):
    """As `make_model` builds it, with label smoothing 0.1 and the schedule as `train_worker` uses them."""

    name = "The Annotated Transformer"
    vocab_size, pad, bos, eos = common.VOCAB, 2, 0, 1
    claims = Claims(
        d_model=common.D_MODEL,
        tied_embeddings=False,
        scaled_embeddings=True,
        positions="sinusoidal",
        longest=5000,
        norm="pre",  # "the norm is first as opposed to last", says its SublayerConnection
        dropout=0.1,
        smoothing=0.1,
        warmup=common.WARMUP,
    )

    def __init__(self) -> None:
        self.code = annotated_transformer()
        sizes = common.LAYERS, common.D_MODEL, common.D_FF, common.HEADS
        self.model: Any = self.code["make_model"](common.VOCAB, common.VOCAB, *sizes)
        norms = [module for module in self.model.modules() if isinstance(module, self.code["LayerNorm"])]
        common.name_norms(norms, "a_2", "b_2")

    def logits(self, source: Tensor, target_in: Tensor) -> Tensor:
        mask = self.code["Batch"].make_std_mask(target_in, self.pad)
        return self.model.generator(self.model(source, target_in, self._mask(source), mask))

    def modules(self) -> list[nn.Module]:
        return [self.model]

    def fresh(self) -> Harvard:
        return Harvard()

    def encode(self, source: Tensor) -> Tensor:
        return self.model.encode(source, self._mask(source))

    def attention(self, source: Tensor, target_in: Tensor) -> AttentionMaps:
        """What its figures are drawn from: `attn`, which each attention keeps."""
        self.logits(source, target_in)
        encoder, decoder = self.model.encoder.layers, self.model.decoder.layers
        chosen = (
            [x.self_attn.attn for x in encoder],
            [x.self_attn.attn for x in decoder],
            [x.src_attn.attn for x in decoder],
        )
        return AttentionMaps(*chosen)

    def first_attention(self, source: Tensor) -> FirstAttention:
        module = self.model.encoder.layers[0].self_attn
        with Recorder(module, *module.linears) as seen:
            self.encode(source)
        q, k, v = (seen.output(part).unflatten(-1, (module.h, -1)).transpose(1, 2) for part in module.linears[:3])
        out = module.linears[-1]
        return FirstAttention(seen.first(module), q, k, v, module.attn, seen.output(module), out.weight, out.bias)

    def residuals(self, source: Tensor, target_in: Tensor) -> list[ResidualStep]:
        stacks = []
        sides = (("encoder", ("self_attn", "feed_forward")), ("decoder", ("self_attn", "src_attn", "feed_forward")))
        for side, names in sides:
            stack, places = getattr(self.model, side), []
            for number, layer in enumerate(stack.layers, 1):
                for name, connection in zip(names, layer.sublayer, strict=True):
                    module = getattr(layer, name)
                    places.append(Place(f"{side} layer {number}, {name}", module, module, connection.norm))
            stacks.append((places, stack.norm))
        return residual_steps(stacks, lambda: self.logits(source, target_in), pre=True)

    def feed_forward(self, x: Tensor) -> Tensor:
        return self.model.encoder.layers[0].feed_forward(x)

    def embed(self, ids: Tensor, side: Side) -> Tensor:
        return (self.model.src_embed if side == "source" else self.model.tgt_embed)(ids)

    def tables(self) -> Tables:
        model = self.model
        return Tables(model.src_embed[0].lut.weight, model.tgt_embed[0].lut.weight, model.generator.proj.weight)

    # Training

    def shift(self, targets: Tensor) -> tuple[Tensor, Tensor]:
        batch = self.code["Batch"](targets, common.with_bos(targets, self.bos), self.pad)
        return batch.tgt, batch.tgt_y

    def loss(self, logits: Tensor, target_out: Tensor) -> Tensor:
        """`SimpleLossCompute` with `LabelSmoothing`."""
        compute = self.code["SimpleLossCompute"](lambda x: F.log_softmax(x, dim=-1), self._criterion())
        return compute(logits, target_out, (target_out != self.pad).sum())[1]

    def learning_rate(self, update: int) -> float:
        """What `LambdaLR`, stepped once after each update, leaves in the optimiser."""
        optimizer, scheduler = self._optimizer(nn.Linear(1, 1))
        for _ in range(update - 1):
            optimizer.step()
            scheduler.step()
        return optimizer.param_groups[0]["lr"]

    def updates(self, micro_batches: Sequence[tuple[Tensor, Tensor]], accumulate: int) -> list[Update]:
        """`run_epoch`."""
        optimizer, scheduler = self._optimizer(self.model)
        made = common.noting(self.model, optimizer)
        compute = self.code["SimpleLossCompute"](self.model.generator, self._criterion())
        batches = [
            self.code["Batch"](source, common.with_bos(targets, self.bos), self.pad)
            for source, targets in micro_batches
        ]
        with common.quiet():
            self.code["run_epoch"](batches, self.model, compute, optimizer, scheduler, accum_iter=accumulate)
        return made

    def average(self, states: Sequence[dict[str, Tensor]]) -> dict[str, Tensor]:
        models = []
        for state in (states[0], *states):
            models.append(nn.Module())
            for name, tensor in state.items():
                models[-1].register_parameter(name, nn.Parameter(tensor.clone()))
        self.code["average"](models[0], models[1:])
        return {name: p.detach() for name, p in models[0].named_parameters()}

    # Decoding

    def greedy(self, source: Tensor, max_new_tokens: int) -> list[list[int]]:
        """`greedy_decode` of one sentence at a time, cut at the end of the sentence as `check_outputs` does."""
        found = []
        with common.evaluating(self.model), torch.no_grad():
            for row in common.rows(source, self.pad):
                ids = self.code["greedy_decode"](self.model, row, self._mask(row), max_new_tokens + 1, self.bos)[0]
                found.append(common.until(ids[1:].tolist(), self.eos))
        return found

    def _mask(self, source: Tensor) -> Tensor:
        return self.code["Batch"](source, pad=self.pad).src_mask

    def _criterion(self) -> Any:
        return self.code["LabelSmoothing"](common.VOCAB, self.pad, 0.1)

    def _optimizer(self, model: nn.Module) -> tuple[torch.optim.Optimizer, LambdaLR]:
        optimizer = torch.optim.Adam(model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)
        width, rate = common.D_MODEL, self.code["rate"]
        return optimizer, LambdaLR(optimizer, lambda step: rate(step, width, factor=1, warmup=common.WARMUP))

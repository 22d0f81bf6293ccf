"""The recurrent encoder-decoder without attention, made for speed: the same weights and numbers, gradients by hand.

A loop of small operations is slow on a CPU, and slowest in its backward pass, which adds to the gradient of every
weight at every step. Here the steps keep what they need, and one product at the end gives the gradient of the weights.
The two readers run in one loop, as a unit of twice the width whose weights are two blocks. Tests hold outputs and
gradients equal to the readable model's.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from annotated_book.why.before_2017.encoder_decoder import RecurrentEncoderDecoder
from annotated_book.why.before_2017.recurrent import GRULayer


class _Recurrence(torch.autograd.Function):
    """A gated recurrent unit over time.

    `projected` is `[S, B, 3H]`, `start` `[B, H]`, `weight` `[H, 3H]`, `bias` `[3H]`; the result is `[S, B, H]`.
    """

    @staticmethod
    def forward(ctx: Any, projected: Tensor, start: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        width, h = start.size(-1), start
        states, steps = [start], []
        for x in projected:
            from_state = torch.addmm(bias, h, weight)
            gate = (x[:, : 2 * width] + from_state[:, : 2 * width]).sigmoid_()
            recall = from_state[:, 2 * width :]
            candidate = torch.addcmul(x[:, 2 * width :], gate[:, :width], recall).tanh_()
            h = torch.lerp(candidate, h, gate[:, width:])
            states.append(h)
            steps.append((gate, candidate, recall))
        every = torch.stack(states)
        ctx.save_for_backward(weight, every, *(torch.stack(kept) for kept in zip(*steps, strict=True)))
        return every[1:].clone()

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        (up,) = upstream
        weight, states, gates, candidates, recalled = ctx.saved_tensors
        width, across = weight.size(0), weight.T.contiguous()
        reset, update = gates.split(width, dim=-1)
        # factors that no step has to wait for: of the candidate, the reset gate, and the update gate
        by_candidate = (1 - update) * (1 - candidates * candidates)
        by_reset = by_candidate * recalled * reset * (1 - reset)
        by_update = (states[:-1] - candidates) * update * (1 - update)
        to_state = torch.cat([by_reset, by_update, by_candidate * reset], dim=-1)
        changes, dh = [], torch.zeros_like(states[0])
        for t in range(len(up) - 1, -1, -1):
            dh = dh + up[t]
            changes.append(dh)
            dh = torch.addmm(dh * update[t], dh.repeat(1, 3) * to_state[t], across)
        change = torch.stack(changes[::-1])
        inner = (change.repeat(1, 1, 3) * to_state).flatten(0, 1)
        projected = torch.cat([change * by_reset, change * by_update, change * by_candidate], dim=-1)
        return projected, dh, states[:-1].flatten(0, 1).T @ inner, inner.sum(dim=0)


def _side_by_side(first: Tensor, second: Tensor) -> Tensor:
    """Gates of two units `[..., 3h]` as those of one unit of twice the width: r r z z n n."""
    return torch.cat([part for pair in zip(first.chunk(3, -1), second.chunk(3, -1), strict=True) for part in pair], -1)


class QuickEncoderDecoder(RecurrentEncoderDecoder):
    """The encoder-decoder for sources without padding; a model of the readable class becomes one by `quick`."""

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor]:
        """As the readable model's."""
        assert isinstance(self.forward_reader, GRULayer) and isinstance(self.backward_reader, GRULayer)
        readers, orders = (self.forward_reader, self.backward_reader), (source, source.flip(1))
        # few symbols: each is projected once, and looked up
        tables = [reader.from_input(self.embedding.weight) for reader in readers]
        projected = _side_by_side(*(F.embedding(order.T, table) for order, table in zip(orders, tables, strict=True)))
        weights = [reader.from_state.weight.T for reader in readers]
        zeros = torch.zeros_like(weights[0])
        first, second = _side_by_side(weights[0], zeros), _side_by_side(zeros, weights[1])
        bias = _side_by_side(readers[0].from_state.bias, readers[1].from_state.bias)
        start = zeros.new_zeros(len(source), 2 * readers[0].hidden)
        states = _Recurrence.apply(projected, start, torch.cat([first, second]), bias)
        there, back = states.chunk(2, dim=-1)
        return torch.cat([there, back.flip(0)], dim=-1).transpose(0, 1), states[-1]

    def _write(self, source: Tensor, length: int, target_in: Tensor | None) -> tuple[Tensor, Tensor | None]:
        if self.score is not None or target_in is None:
            return super()._write(source, length, target_in)
        assert isinstance(self.writer, GRULayer)
        _, summary = self.encode(source)
        from_input, width = self.writer.from_input, self.embedding.embedding_dim
        table = F.linear(self.embedding.weight, from_input.weight[:, :width], from_input.bias)
        projected = F.embedding(target_in.T, table) + F.linear(summary, from_input.weight[:, width:])
        start, unit = torch.tanh(self.start(summary)), self.writer.from_state
        states = _Recurrence.apply(projected, start, unit.weight.T, unit.bias).transpose(0, 1)
        hidden = states.size(-1)
        logits = F.linear(states, self.output.weight[:, :hidden], self.output.bias)
        return logits + F.linear(summary, self.output.weight[:, hidden:])[:, None], None


def quick(model: nn.Module) -> nn.Module:
    """The same model, its weights the same objects, in the faster class; a Transformer stays as it is."""
    if isinstance(model, RecurrentEncoderDecoder):
        model.__class__ = QuickEncoderDecoder
    return model

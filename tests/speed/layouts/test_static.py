"""Rows of a fixed number: attention keeps segments apart, and the GPU's kernel is called as PyTorch declares it."""

from __future__ import annotations

import inspect
import math

import pytest
import torch

from annotated.model import MultiHeadAttention
from annotated.speed.kernels import fused
from annotated.speed.layouts import FixedRows, RaggedRows, static

WIDTH = 6


def rows_of(lengths: list[int], spare_segments: int = 2) -> FixedRows:
    """Segments of these lengths, counted out one token at a time."""
    positions = [place for length in lengths for place in range(length)]
    starts = [sum(lengths[:i]) for i in range(len(lengths) + 1)] + [sum(lengths)] * spare_segments
    return FixedRows(torch.tensor(positions), torch.tensor(starts, dtype=torch.int32), WIDTH)


def varlen_by_hand(query, key, value, cu_seq_q, cu_seq_k, max_q, max_k, *, window_size=(-1, -1), **more):
    """What `varlen_attn` computes, from its arguments alone; rows of no segment are NaN, as in fresh memory."""
    assert not more
    for x, cu_seqlens, longest in ((query, cu_seq_q, max_q), (key, cu_seq_k, max_k), (value, cu_seq_k, max_k)):
        assert x.dim() == 3 and x.stride(-1) == 1, "[tokens, heads, width], the width in one piece"
        assert cu_seqlens.dtype == torch.int32 and cu_seqlens.dim() == 1 and cu_seqlens.is_contiguous()
        assert int(cu_seqlens[0]) >= 0 and int(cu_seqlens[-1]) <= len(x) and type(longest) is int
        lengths = cu_seqlens.diff()
        assert int(lengths.min()) >= 0 and int(lengths.max()) <= longest, "no segment is longer than announced"
    assert len(cu_seq_q) == len(cu_seq_k)
    output = query.new_full((*query.shape[:2], value.size(-1)), math.nan)
    for i in range(len(cu_seq_q) - 1):
        q, k = slice(*cu_seq_q[i : i + 2].tolist()), slice(*cu_seq_k[i : i + 2].tolist())
        for t in range(q.stop - q.start):
            seen = slice(k.start, min(k.stop, k.start + t + 1) if window_size == (-1, 0) else k.stop)
            scores = torch.einsum("hd,khd->hk", query[q.start + t], key[seen]) / math.sqrt(query.size(-1))
            output = output.clone()
            output[q.start + t] = torch.einsum("hk,khd->hd", scores.softmax(-1), value[seen])
    return output


@pytest.fixture
def kernel(monkeypatch):
    """As if this machine had the GPU's kernel: calls are counted."""
    calls = []
    monkeypatch.setattr(fused, "varlen_attn", lambda *a, **k: calls.append(k) or varlen_by_hand(*a, **k))
    monkeypatch.setattr(static, "has_varlen_kernel", lambda *_: True)
    return calls


def outputs(module, x, memory, own, cross, causal):
    x, memory = x.clone().requires_grad_(), memory.clone().requires_grad_()
    y = module(x, x, x, own.attend_to(own, causal))
    z = module(y, memory, memory, own.attend_to(cross))
    module.zero_grad()
    z.square().sum().backward()
    return [y, z, x.grad, memory.grad, *(p.grad.clone() for p in module.parameters())]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    ("queries", "keys"), [([3, 1, 4], [2, 5, 1]), ([1], [6]), ([6, 6, 2, 1, 1], [1, 1, 6, 3, 5]), ([5] * 4, [5] * 4)]
)
def test_attention_in_segments_is_attention_of_each_sentence(kernel, monkeypatch, queries, keys, causal):
    torch.manual_seed(0)
    module = MultiHeadAttention(16, 2, bias=True).double()
    x, memory = torch.randn(sum(queries), 16).double(), torch.randn(sum(keys), 16).double()
    expected = outputs(module, x, memory, RaggedRows(queries), RaggedRows(keys), causal)
    by_kernel = outputs(module, x, memory, rows_of(queries), rows_of(keys), causal)
    assert [call["window_size"] for call in kernel] == [(-1, 0) if causal else (-1, -1), (-1, -1)]
    monkeypatch.undo()
    by_mask = outputs(module, x, memory, rows_of(queries), rows_of(keys), causal)
    for ours in (by_kernel, by_mask):
        for one, other in zip(ours, expected, strict=True):
            torch.testing.assert_close(one, other)


def test_weights_that_are_dropped_take_the_path_that_can(kernel):
    module = MultiHeadAttention(16, 2)
    x, rows = torch.randn(4, 16), rows_of([3, 1])
    assert module(x, x, x, rows.attend_to(rows, dropout=0.5)).isfinite().all() and not kernel
    module(x, x, x, rows.attend_to(rows))
    assert len(kernel) == 1


def test_the_segment_of_a_row_when_some_are_empty():
    rows = FixedRows(torch.zeros(5), torch.tensor([0, 2, 2, 2, 4, 5, 5], dtype=torch.int32), 2)
    assert rows.segment_of_rows().tolist() == [0, 0, 3, 3, 4]


@pytest.mark.parametrize(
    ("capability", "new"), [((7, 0), False), ((7, 5), False), ((8, 0), True), ((8, 9), True), ((9, 0), True)]
)
def test_where_the_kernel_is_used(monkeypatch, capability, new):
    gpu, cpu = torch.device("cuda"), torch.device("cpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
    assert fused.varlen_problem(cpu) is None and (fused.varlen_problem(gpu) is None) is new
    there = new and fused.load_varlen_kernel() is not None
    assert fused.has_varlen_kernel(gpu, torch.bfloat16, 64, 64) is there
    assert fused.has_varlen_kernel(gpu, torch.float16, 128, 128) is there
    assert not fused.has_varlen_kernel(cpu, torch.bfloat16, 64, 64)
    assert not fused.has_varlen_kernel(gpu, torch.float32, 64, 64)
    assert not fused.has_varlen_kernel(gpu, torch.bfloat16, 16, 64)


@pytest.mark.skipif(fused.load_varlen_kernel() is None, reason="this torch has no varlen_attn")
def test_pytorchs_own_declaration_takes_the_call(monkeypatch):
    """The real function on tensors without data: names, order, dtypes and shapes, forward and backward."""
    names = list(inspect.signature(fused.load_varlen_kernel()).parameters)[:7]
    assert names == list(inspect.signature(varlen_by_hand).parameters)[:7]
    monkeypatch.setattr(static, "has_varlen_kernel", lambda *_: True)
    with torch.device("meta"):
        module = MultiHeadAttention(32, 2).bfloat16()
        rows = FixedRows(torch.zeros(20, dtype=torch.int32), torch.zeros(5, dtype=torch.int32), WIDTH)
        x = torch.zeros(20, 32, dtype=torch.bfloat16, requires_grad=True)
        y = module(x, x, x, rows.attend_to(rows, causal=True))
        assert y.shape == (20, 32) and y.dtype == torch.bfloat16
        y.sum().backward()
    assert x.grad.shape == x.shape

"""Graphs of a compiled training: how many, for batches as WMT14 gives them, and what the log says of each.

The compiler's back end here only counts. The model of the counting tests has no data (device meta): graphs depend on
shapes alone; there the mask takes the path of a GPU.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from annotated.config import ModelConfig
from annotated.data.batching import collate_ids
from annotated.data.buckets import by_length, cut, pieces
from annotated.model import Transformer
from annotated.runs import read_records
from annotated.speed.layouts import RaggedRows, forward_rows
from annotated.speed.layouts.packed import uniform_size
from annotated.speed.steps import loss as loss_module
from annotated.speed.steps import packed_loss
from annotated.speed.steps.compilations import GRAPHS_AT_MOST, Compilations, compile_terms
from annotated.speed.steps.loss import logits_terms, projected_cross_entropy

CONFIG = ModelConfig(
    vocab_size=64, d_model=16, d_ff=32, num_heads=2, d_k=8, d_v=8, num_encoder_layers=1, num_decoder_layers=1
)  # fmt: skip
POOL = 262_144


def wmt_lengths(pairs: int) -> tuple[np.ndarray, np.ndarray]:
    """Log-normal lengths of two sides that go together, eos included: 28 and 29 tokens on average, 256 at most."""
    rng = np.random.default_rng(0)
    sentence = rng.normal(size=pairs)
    sides = []
    for mean in (28, 29):
        exponent = 0.6 * (0.95 * sentence + (1 - 0.95**2) ** 0.5 * rng.normal(size=pairs))
        sides.append(np.clip(np.rint(mean * np.exp(exponent - 0.18)), 2, 256).astype(np.int64))
    return sides[0], sides[1]


def wmt_batches(pairs: int, tokens: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Lengths of the pairs of each batch of an epoch, made as `TokenBatches` makes them."""
    sides, rng = wmt_lengths(pairs), np.random.default_rng(1)
    for first in range(0, pairs, POOL):
        source, target = (side[first : first + POOL] for side in sides)
        order = by_length(source, target, rng)
        source, target = source[order], target[order]
        parts = cut(source, target, tokens, "packed")
        for index in rng.permutation(len(parts)):
            yield source[parts[index]], target[parts[index]]


def padding_of_a_gpu(q, k, v, attn_mask=None, is_causal=False, dropout_p=0.0):
    """What PyTorch asks of a mask before its memory-efficient kernel: every stride a multiple of 8, or a copy of it."""
    if attn_mask is not None:
        assert all(stride % 8 == 0 for stride in attn_mask.stride()[:-1]) or attn_mask.size(-1) > 0
    return F.softmax(q @ k.transpose(-2, -1), dim=-1) @ v


@pytest.mark.slow
@pytest.mark.parametrize("batches", [25, pytest.param(300, marks=pytest.mark.nightly)])
def test_ragged_batches_of_one_process_and_of_eight_are_one_graph(monkeypatch, batches):
    """Batches of a tenth of the paper's tokens, which are full, or as long on both sides, more often than the whole."""
    torch._dynamo.reset()
    monkeypatch.setattr(F, "scaled_dot_product_attention", padding_of_a_gpu)
    told, model = [], Transformer(CONFIG).to("meta")

    def counting(graph, _):
        return lambda *_: (torch.empty(0),)  # nobody looks at what the model says

    compilations = Compilations(told.append)
    with compilations.watched():
        assert torch._dynamo.config.recompile_limit >= GRAPHS_AT_MOST
        compiled = torch.compile(forward_rows, dynamic=True, backend=counting)
        forward = compilations.of("forward pass", compiled)
        kinds = set()
        for processes in (1, 8):
            for _, lengths in zip(range(batches), wmt_batches(20_000, 2500), strict=False):
                part = pieces(sum(lengths), processes)[0]
                source, target = (RaggedRows(side[part].tolist(), "meta", uniform=True) for side in lengths)
                kinds.add((source.width == target.width, all(np.ptp(side[part]) == 0 for side in lengths)))
                ids = [torch.empty(len(rows.positions), dtype=torch.int64, device="meta") for rows in (source, target)]
                forward(model, ids[0], source, ids[1], target)
    assert [one.graph for one in told] == ["forward pass"] and told[0].seconds > 0
    assert {equal for equal, _ in kinds} == {True, False}, "both kinds came"


@pytest.mark.parametrize("pairs", [600_000, pytest.param(4_500_000, marks=pytest.mark.nightly)])
def test_an_epoch_has_few_shapes_of_attention(pairs):
    """Keys (B, S) of the encoder, (B, T) of the decoder and (B, T, S) across: a kernel may be prepared for each."""
    exact, uniform, batches = set(), set(), 0
    for source, target in wmt_batches(pairs, 25_000):
        batches += 1
        for shapes, (size, s, t) in (
            (exact, (len(source), source.max(), target.max())),
            (uniform, (*uniform_size(len(source), source.max()), uniform_size(0, target.max())[1])),
        ):
            shapes.update((("encoder", size, s), ("decoder", size, t), ("cross", size, t, s)))
    assert 1100 < 1e6 * batches / pairs < 1350 and len(exact) > 1000
    assert len(uniform) <= 400


class Asked(Exception):
    """Raised with how `RaggedRows` was asked for."""


@pytest.mark.parametrize(
    ("device", "forward", "uniform"), [("cpu", None, False), ("cpu", forward_rows, True), ("meta", None, True)]
)
def test_batches_are_uniform_where_it_pays(monkeypatch, device, forward, uniform):
    """For a compiler, and on every device but a CPU, whose kernels prepare nothing for a shape."""

    def asked(lengths, device, uniform):
        raise Asked(uniform)

    monkeypatch.setattr("annotated.speed.layouts.prefetch.RaggedRows", asked)
    batch = collate_ids([([5, 6], [7])]).to(torch.device(device))
    with pytest.raises(Asked, match=str(uniform)):
        packed_loss(Transformer(CONFIG), batch, 0.1, forward)


@pytest.mark.parametrize(("layout", "graphs"), [("packed", 2), ("static", 2)])
def test_what_a_training_compiles_is_in_its_log(small, monkeypatch, layout, graphs):
    """Two graphs, model and loss, through 8 ragged updates and two validations."""
    torch._dynamo.reset()
    made = []

    def backend(graph, _):
        made.append(graph)
        return graph.forward

    monkeypatch.setattr(torch, "compile", functools.partial(torch.compile, backend=backend))
    limit = torch._dynamo.config.recompile_limit
    result = small.train(layout=layout, compile=True, updates=8, validate_every=4)
    assert torch._dynamo.config.recompile_limit == limit
    events = [record for record in read_records(result.folder) if record["kind"] == "compilation"]
    assert len(made) == len(events) == graphs
    assert [(event["graph"], event["update"]) for event in events] == [("forward pass", 0), ("terms of the loss", 0)]
    assert all(event["seconds"] > 0 for event in events)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_compiled_terms_are_the_terms(monkeypatch, smoothing, dtype):
    torch._dynamo.reset()
    graphs = []

    def backend(graph, _):
        graphs.append(graph)
        return graph.forward

    monkeypatch.setattr(torch, "compile", functools.partial(torch.compile, backend=backend))
    terms = compile_terms(logits_terms)
    torch.manual_seed(0)
    for rows in (64, 192, 128):
        logits = torch.randn(rows, 40).to(dtype)
        logits[:, 37:] = -torch.inf
        gold = torch.randint(1, 37, (rows, 1))
        numbers = (1 - smoothing, smoothing / 36, 37, True)
        expected = logits_terms(logits.clone(), gold, *numbers)
        torch.testing.assert_close(terms(logits, gold, *numbers), expected)
    assert len(graphs) == 1, "whatever the number of rows"
    assert "scatter" not in graphs[0].code and "where" in graphs[0].code


@pytest.mark.slow
def test_the_compilers_code_has_no_float32_copy_of_the_logits(monkeypatch):
    """Inductor's own code for a CPU: the numbers of rows and columns never stand in one float32 buffer.

    The code is written and read, but not compiled. No compiler is asked what the processor can do, either.
    """
    from torch._inductor import config
    from torch._inductor.graph import GraphLowering

    codes = []

    def written_only(graph):
        codes.append(graph.codegen()[0].value)
        return SimpleNamespace(call=lambda _: [torch.empty(0)] * 2)

    torch._dynamo.reset()
    monkeypatch.setattr(GraphLowering, "compile_to_module", written_only)
    rows, columns = 320, 1216
    logits, gold = torch.randn(rows, columns).bfloat16(), torch.randint(1, columns, (rows, 1))
    compiled = torch.compile(logits_terms, dynamic=False, fullgraph=True)
    with config.patch({"cpp.vec_isa_ok": True, "force_disable_caches": True}):
        compiled(logits, gold, 0.9, 1e-4, columns, True)
    (code,) = codes
    allocated = [line for line in code.splitlines() if "empty_strided" in line and f"({rows}, {columns})" in line]
    assert len(allocated) == 1 and "bfloat16" in allocated[0], allocated


@pytest.mark.parametrize("rows", [1, 70, 700])
def test_rows_filled_up_for_the_chunks_change_nothing(rows):
    torch.manual_seed(0)
    hidden, weight = torch.randn(rows, 6, requires_grad=True), torch.randn(11, 6, requires_grad=True)
    gold = torch.randint(1, 11, (rows,))
    results = []
    for filled in (False, True):
        hidden.grad = weight.grad = None
        h, g = loss_module._rows_for_chunks(hidden, gold) if filled else (hidden, gold)
        seen = []

        def terms(logits, *rest, seen=seen):
            seen.append(len(logits))
            return logits_terms(logits, *rest)

        loss = projected_cross_entropy(h, weight, g, 0.1, terms=terms)
        loss.backward()
        results.append((loss.detach(), hidden.grad, weight.grad))
    assert len(set(seen)) == 1 and seen[0] % 64 == 0 and seen[0] <= 512, seen
    torch.testing.assert_close(*results, rtol=1e-5, atol=1e-5)

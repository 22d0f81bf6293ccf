"""Tiles of several sentences: the list of tiles against the dense mask, and FlexAttention against the other layouts.

Off a GPU, FlexAttention is a plain form of itself, which asks the mask for all pairs of rows and reads no list.
So the list is held to the mask by itself. What the fused kernel computes is for a GPU to show.
"""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from annotated.config import ModelConfig, TrainingConfig
from annotated.data.batching import collate_ids
from annotated.model import Transformer
from annotated.speed.layouts import FixedRows, forward_rows
from annotated.speed.layouts import tiles as module
from annotated.speed.layouts.static import Segmented
from annotated.speed.layouts.static_batch import Extent, StaticShape
from annotated.speed.layouts.tiles import TILE, Tiled, block_mask, load_flex_attention, mask_of_rows, tiles_to_visit
from annotated.speed.steps import layout_loss

needs_flex = pytest.mark.skipif(not load_flex_attention(), reason="this torch has no FlexAttention that fits")
CONFIG = ModelConfig(
    vocab_size=20, d_model=16, d_ff=32, num_heads=2, d_k=8, d_v=8, num_encoder_layers=2, num_decoder_layers=2,
    dropout=0.0,
)  # fmt: skip
PAIRS = [([5, 6, 7], [8, 9]), ([4], [10, 11, 12, 13]), ([7, 7, 7, 7, 7], [5])]


def rows_of(lengths: list[int], spare_segments: int = 3) -> FixedRows:
    """Segments of these lengths, and empty ones after them."""
    positions = torch.tensor([place for length in lengths for place in range(length)], dtype=torch.int32)
    starts = torch.tensor([0, *lengths]).cumsum(0)
    ends = starts[-1:].expand(spare_segments)
    return FixedRows(positions, torch.cat([starts, ends]).int(), max(lengths), tiles=True)


def visited(count: torch.Tensor, tiles: torch.Tensor, columns: int) -> torch.Tensor:
    """Boolean `[tiles, columns]` of what the list says; its entries are read one by one."""
    listed = torch.zeros(len(count), columns, dtype=torch.bool)
    for row, (number, line) in enumerate(zip(count.tolist(), tiles.tolist(), strict=True)):
        assert 1 <= number <= columns and all(0 <= tile < columns for tile in line)
        assert len(set(line[:number])) == number, "no tile twice"
        listed[row, line[:number]] = True
    return listed


def tiles_of(mask: torch.Tensor) -> torch.Tensor:
    """Which tiles of a dense mask hold a visible pair."""
    m, n = (-(-size // TILE) for size in mask.shape)
    padded = torch.zeros(m * TILE, n * TILE, dtype=torch.bool)
    padded[: mask.size(0), : mask.size(1)] = mask
    return padded.unflatten(0, (m, TILE)).unflatten(2, (n, TILE)).any(3).any(1)


lengths = st.lists(st.tuples(st.integers(1, 300), st.integers(1, 300)), min_size=1, max_size=12)


@given(lengths, st.booleans())
def test_the_tiles_to_visit_are_those_with_a_visible_pair(sizes, crossed):
    queries = rows_of([t for _, t in sizes])
    keys = rows_of([s for s, _ in sizes]) if crossed else queries
    for causal in (False, True):
        dense = Segmented(queries, keys, causal, 0.0).mask()[0, 0]
        q, k = torch.arange(dense.size(0)), torch.arange(dense.size(1))
        assert torch.equal(mask_of_rows(queries, keys, causal)(None, None, q[:, None], k), dense)
        wanted, own = tiles_of(dense), causal and not crossed
        forward = visited(*tiles_to_visit(queries, keys, last_is_own=own), wanted.size(1))
        backward = visited(*tiles_to_visit(keys, queries, first_is_own=own), wanted.size(0))
        assert torch.equal(forward, backward.t()), "the gradient visits what the output visited"
        assert not (wanted & ~forward).any(), "every visible pair lies in a tile that is visited"
        if own or not causal:
            assert torch.equal(wanted, forward), "and no tile is visited for nothing"


@needs_flex
def test_what_the_kernel_is_given():
    queries, keys = rows_of([100, 100, 300]), rows_of([50, 10, 3])
    made = block_mask(queries, keys, causal=False)
    assert made.shape == (1, 1, 500, 63) and made.BLOCK_SIZE == (128, 128)
    assert made.kv_num_blocks.tolist() == [[[1, 1, 1, 1]]] and made.q_num_blocks.tolist() == [[[4]]]
    assert made.q_indices.tolist() == [[[[0, 1, 2, 3]]]]
    assert made.full_kv_num_blocks is None and made.full_q_num_blocks is None, "none is announced as fully visible"
    assert {x.dtype for x in (made.kv_num_blocks, made.kv_indices, made.q_indices)} == {torch.int32}
    own = block_mask(queries, queries, causal=True)
    # Rows 0-127 see tile 0; 128-255 hold the end of the second sentence, which began in tile 0, and so on.
    assert own.kv_num_blocks.tolist() == [[[1, 2, 2, 3]]]
    assert [line[:n] for n, line in zip([1, 2, 2, 3], own.kv_indices[0, 0].tolist(), strict=True)] == [
        [0], [0, 1], [1, 2], [1, 2, 3],
    ]  # fmt: skip


@pytest.fixture
def differentiable(monkeypatch):
    """PyTorch's plain form has a gradient on a CPU; only its check says otherwise."""
    monkeypatch.setattr("torch.nn.attention.flex_attention._validate_device", lambda *_: None)


@needs_flex
@pytest.mark.parametrize("causal", [False, True])
def test_values_and_gradients_of_attention(differentiable, causal):
    torch.manual_seed(0)
    queries = rows_of([3, 1, 130, 6])
    keys = queries if causal else rows_of([2, 5, 1, 140])
    inputs = [torch.randn(rows.positions.size(0), 2, 8).double() for rows in (queries, keys, keys)]
    results = []
    for attend in (Tiled.of(queries, keys, causal), Segmented(queries, keys, causal, 0.0)):
        copies = [x.clone().requires_grad_() for x in inputs]
        output = attend(*copies)
        output.square().sum().backward()
        results.append([output.detach(), *(x.grad for x in copies)])
    torch.testing.assert_close(*results)


@needs_flex
def test_the_same_loss_and_gradients_as_packed(differentiable):
    torch.manual_seed(0)
    model, batch, results = Transformer(CONFIG), collate_ids(PAIRS), []
    for layout in ("packed", StaticShape(64, 16, tiles=True)):
        model.zero_grad(set_to_none=True)
        loss, _ = layout_loss(model, batch, 0.1, layout)
        loss.backward()
        results.append((loss.detach(), [p.grad for p in model.parameters()]))
    torch.testing.assert_close(*results, rtol=1e-4, atol=1e-6)


@needs_flex
def test_one_graph_for_any_number_of_sentences():
    torch._dynamo.reset()
    torch.manual_seed(0)
    config = CONFIG.replace(num_encoder_layers=1, num_decoder_layers=1)  # more layers are traced, and tell nothing new
    model, shape, graphs = Transformer(config), StaticShape(64, 16, tiles=True), []

    def backend(graph, _):
        graphs.append(graph)
        return graph.forward

    forward = torch.compile(forward_rows, fullgraph=True, dynamic=False, backend=backend)
    with torch.no_grad():
        for pairs in (PAIRS, PAIRS * 2, PAIRS[:1]):
            laid = shape.views(shape.lay_out(collate_ids(pairs)))
            rows = laid.source, laid.source_rows, laid.target_in, laid.target_rows
            for side in (laid.source_rows, laid.target_rows):
                torch._dynamo.mark_dynamic(side.cu_seqlens, 0)
            torch.testing.assert_close(forward(model, *rows), forward_rows(model, *rows), rtol=1e-5, atol=1e-5)
    assert len(graphs) == 1


@needs_flex
def test_shapes_keep_the_kernel():
    training = TrainingConfig(layout="static", attention_kernel="flex", batch_tokens=1000)
    shape = StaticShape.for_training(training, 50)
    assert shape == StaticShape(1024, 64, tiles=True)
    assert StaticShape.for_training(training, 50, processes=2).tiles
    grown = shape.grown_for(Extent.of([71], [4]))
    assert grown.width > 64 and grown.tiles
    dropped = FixedRows(torch.zeros(4), torch.tensor([0, 4]).int(), 4, tiles=True)
    assert isinstance(dropped.attend_to(dropped), Tiled)
    assert isinstance(dropped.attend_to(dropped, dropout=0.1), Segmented)


def test_what_it_needs(monkeypatch):
    with pytest.raises(ValueError, match="attention_kernel 'flex' needs layout 'static'.* not 'packed'"):
        TrainingConfig(attention_kernel="flex")
    with pytest.raises(ValueError, match="attention_kernel must be one of auto, flex, not 'flash'"):
        TrainingConfig(layout="static", attention_kernel="flash")
    training, model = TrainingConfig(layout="static", attention_kernel="flex", compile=True), ModelConfig()
    gpu = torch.device("cuda")
    monkeypatch.setattr(module, "load_flex_attention", lambda: True)
    module.require_flex_attention(model, training, gpu)
    for arguments, reason in [
        ((model, training, torch.device("cpu")), "needs a GPU"),
        ((model, training.replace(compile=False), gpu), "compile=True"),
        ((model.replace(attention_dropout=0.1), training, gpu), "no attention_dropout"),
        ((model.replace(d_k=8), training, gpu), "at least 16"),
    ]:
        with pytest.raises(ValueError, match=reason):
            module.require_flex_attention(*arguments)
    monkeypatch.setattr(module, "load_flex_attention", lambda: False)
    with pytest.raises(ValueError, match="torch 2.6 or newer"):
        module.require_flex_attention(model, training, gpu)

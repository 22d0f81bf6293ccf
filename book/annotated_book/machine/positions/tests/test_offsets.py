"""Moved positions, and scores between places alone."""

from __future__ import annotations

import math

import pytest
import torch

from annotated import MultiHeadAttention, Transformer, sinusoidal_encoding, tiny
from annotated_book.machine.positions.offsets import MovedPositions, explained_by_offset, moved, position_scores


def test_a_moved_text_reads_later_rows_of_the_table_and_the_model_gets_its_own_back() -> None:
    model = Transformer(tiny(vocab_size=20, dropout=0.0)).eval()
    own, ids = model.positions, torch.tensor([[5, 6, 7]])
    before = model.encode(ids)
    with moved(model, 4):
        assert torch.equal(model.positions(3), sinusoidal_encoding(7, 128)[4:])
        assert not torch.allclose(model.encode(ids), before)
    with moved(model, 0):
        assert torch.equal(model.encode(ids), before)
    with pytest.raises(KeyError), moved(model, None):
        assert model.positions(2).abs().sum() == 0
        raise KeyError
    assert model.positions is own
    with pytest.raises(ValueError, match="-1"), moved(model, -1):
        pass


def test_without_positions_the_encoder_sees_a_bag() -> None:
    model = Transformer(tiny(vocab_size=20, dropout=0.0)).eval()
    ids = torch.tensor([[5, 6, 7, 8]])
    with moved(model, None), torch.no_grad():
        torch.testing.assert_close(model.encode(ids.flip(1)), model.encode(ids).flip(1), atol=1e-5, rtol=0)
    assert isinstance(model.positions, torch.nn.Module) and not isinstance(model.positions, MovedPositions)


def test_scores_between_places_by_loops() -> None:
    torch.manual_seed(0)
    attention = MultiHeadAttention(8, 2, d_k=3, d_v=5)
    scores, table = position_scores(attention, 4), sinusoidal_encoding(4, 8)
    w_q, w_k = attention.w_q.detach().reshape(-1, 8), attention.w_k.detach().reshape(-1, 8)
    raw = torch.zeros(2, 4, 4)
    for h in range(2):
        for p in range(4):
            for r in range(4):
                q, k = w_q[3 * h : 3 * h + 3] @ table[p], w_k[3 * h : 3 * h + 3] @ table[r]
                raw[h, p, r] = q @ k / math.sqrt(3)
    torch.testing.assert_close(scores, raw - raw.mean(-1, keepdim=True))


def test_only_offsets_explain_all_and_only_keys_little() -> None:
    t = torch.arange(9.0)
    offsets = torch.sin(t[:, None] - t[None])
    assert float(explained_by_offset(offsets)) == pytest.approx(1)
    columns = torch.randn(9, generator=torch.Generator().manual_seed(0)).expand(9, 9)
    both = explained_by_offset(torch.stack([offsets, columns]))
    assert float(both[0]) == pytest.approx(1) and float(both[1]) < 0.5

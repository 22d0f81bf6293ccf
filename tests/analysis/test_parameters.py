"""Counts by formula, by module and by torch's own counters agree; the audit's intervals hold what they say."""

from __future__ import annotations

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from annotated import Transformer, base, table_3, tiny
from annotated.analysis.parameters import (
    RESHAPED,
    audit_table_3,
    count_parameters,
    counted_parts,
    forward_flops,
    parameter_parts,
)
from annotated.config import ModelConfig

CONFIGS = {
    **{row: table_3(row) for row in ("B1", "E1", "big")},
    "untied, biased, pre-norm": base(tie_embeddings=False, attention_bias=True, norm="pre"),
    "unequal": tiny(vocab_size=50, d_v=16, num_decoder_layers=1, final_norm=True, positions="learned"),
}


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_the_formula_counts_what_is_there_box_by_box(config: ModelConfig) -> None:
    with torch.device("meta"):
        model = Transformer(config)
    assert parameter_parts(config) == counted_parts(model)
    assert (
        sum(parameter_parts(config).values()) == count_parameters(config) == sum(p.numel() for p in model.parameters())
    )


def test_a_box_worked_out_by_hand() -> None:
    config = tiny(
        vocab_size=10, d_model=4, d_ff=3, num_heads=2, d_k=5, d_v=6, num_encoder_layers=1, num_decoder_layers=2
    )
    parts = parameter_parts(config)
    assert parts["embedding"] == 40
    assert parts["encoder self-attention"] == 4 * 10 + 4 * 10 + 4 * 12 + 12 * 4  # W_Q, W_K, W_V, W_O
    assert parts["decoder feed-forward"] == 2 * (4 * 3 + 3 + 3 * 4 + 4)
    assert parts["norms"] == (2 * 1 + 3 * 2) * 8


def test_each_interval_ends_where_the_count_stops_rounding_to_the_printed_number() -> None:
    audit = audit_table_3()
    assert [row.row for row in audit if row.row != "big"] == list(RESHAPED)
    for row in audit:
        assert round(row.millions(row.low)) == round(row.millions(row.high)) == row.printed
        assert round(row.millions(row.low - 1)) == row.printed - 1
        assert round(row.millions(row.high + 1)) == row.printed + 1
        formula = parameter_parts(table_3(row.row, vocab_size=row.low))
        assert sum(formula.values()) == row.body + row.low * row.d_model


@pytest.mark.parametrize("lengths", [(7, 9), (1, 1), (12, 3)])
@pytest.mark.parametrize("changes", [{}, {"d_k": 8, "d_v": 24, "num_decoder_layers": 1}, {"tie_embeddings": False}])
def test_operations_are_those_that_torch_counts(lengths: tuple[int, int], changes: dict) -> None:
    source, target = (torch.full((1, n), 5) for n in lengths)
    model = Transformer(tiny(vocab_size=40, dropout=0.0, **changes)).eval()
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(source, target, return_attention=True)
    assert counter.get_total_flops() == sum(forward_flops(model.config, *lengths).values())

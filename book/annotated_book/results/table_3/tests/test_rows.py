"""All 20 rows scaled by one rule: the paper's ratios exactly, and parameters that follow from the rule."""

from __future__ import annotations

from fractions import Fraction

import pytest

from annotated.analysis.parameters import count_parameters, parameter_parts
from annotated.config import ModelConfig, table_3
from annotated_book.results.table_3.rows import DIVISORS, ROWS, WIDTHS, ratios, scaled, update_flops


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("divisor", DIVISORS)
def test_every_ratio_of_a_row_is_the_papers(row: str, divisor: int) -> None:
    small, paper = scaled(row, divisor), table_3(row)
    exact = {**ratios(small), "V / d_model": ratios(paper)["V / d_model"]} if divisor == 16 else ratios(small)
    assert exact == ratios(paper)
    assert {getattr(paper, name) // getattr(small, name) for name in WIDTHS} == {divisor}
    changed = {name for name, value in small.to_dict().items() if value != paper.to_dict()[name]}
    assert changed == (set(WIDTHS) if divisor > 1 else set())


def test_ratios_by_hand() -> None:
    found = ratios(scaled("A4", 8))  # 32 heads of 2 in a width of 64
    assert found["h d_k / d_model"] == 1 and found["d_k / d_model"] == Fraction(1, 32)
    found = ratios(scaled("B1", 8))  # 8 heads of 2, values still of 8
    assert found["h d_k / d_model"] == Fraction(1, 4) and found["h d_v / d_model"] == 1
    found = ratios(scaled("C5", 8))  # 128 wide, an inner width of 256
    assert found["d_ff / d_model"] == 2 and found["d_k / d_model"] == Fraction(1, 8)
    assert ratios(scaled("C1", 8))["encoder layers"] == 2


def matrices_and_vectors(config: ModelConfig) -> tuple[int, int]:
    """Parameters in matrices and in vectors: two biases to a feed-forward network, gain and bias to a LayerNorm."""
    layers = config.num_encoder_layers + config.num_decoder_layers
    vectors = parameter_parts(config)["norms"] + layers * (config.d_ff + config.d_model)
    return sum(parameter_parts(config).values()) - vectors, vectors


@pytest.mark.parametrize("row", ROWS)
def test_matrices_shrink_with_the_square_and_vectors_with_the_divisor(row: str) -> None:
    (matrices, vectors), (large, long) = matrices_and_vectors(scaled(row, 8)), matrices_and_vectors(table_3(row))
    assert (64 * matrices, 8 * vectors) == (large, long)


def test_base_is_counted_by_hand() -> None:
    attention, feed_forward = 4 * 64 * 64, 2 * 64 * 256 + 256 + 64
    norms = (2 * 6 + 3 * 6) * 2 * 64
    assert count_parameters(scaled("base", 8)) == 4625 * 64 + 18 * attention + 12 * feed_forward + norms == 991_808


@pytest.mark.parametrize("divisor", [0, -8, 32, 3])
def test_no_width_is_rounded(divisor: int) -> None:
    with pytest.raises(ValueError, match="row A4 cannot be divided by"):
        scaled("A4", divisor)


def test_the_largest_divisor_leaves_one_number_to_a_head_and_rounds_the_vocabulary_alone() -> None:
    assert max(DIVISORS) == 16
    assert [scaled(row, 16).vocab_size for row in ("base", "A4")] == [2312, 2312]  # 2,312.5 rounded down
    assert scaled("A4", 16).d_k == scaled("B1", 16).d_k == 1
    with pytest.raises(ValueError, match="d_k 16, d_v 16"):
        scaled("A4", 32)


def test_an_update_costs_three_forward_passes() -> None:
    one = update_flops(scaled("base", 8), 1, 10, 12)
    assert update_flops(scaled("base", 8), 50, 10, 12) == 50 * one
    # Six floating-point operations for each number of a matrix and each token that it multiplies, and attention's.
    assert one > 6 * 10 * 6 * (4 * 64 * 64 + 2 * 64 * 256) + 6 * 12 * 4625 * 64

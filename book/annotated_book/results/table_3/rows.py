"""Rows of Table 3, scaled down by one rule.

The rule: every width is divided by the same number. Widths are d_model, d_ff, d_k, d_v, the vocabulary and the table
of learned positions. The number of heads, the number of layers, the dropout and the label smoothing stay as they are.
So every ratio of a row is the paper's: h d_k / d_model, d_k / d_model, d_ff / d_model, V / d_model, and the depth. A
matrix of the model has two widths, a vector one: with divisor s, the parameters in matrices are divided by s squared,
and the few in vectors (LayerNorm, the biases of the feed-forward networks) by s.

The divisors are those by which all widths of all rows can be divided, but for the vocabulary, which is rounded down:
37,000 cannot be divided by 16. There row A4 has 32 heads of one number, and so it ends.
"""

from __future__ import annotations

from fractions import Fraction

from annotated.config import TABLE_3, ModelConfig, table_3

ROWS = tuple(TABLE_3)
"""All 20 rows, in the paper's order."""
WIDTHS = ("vocab_size", "d_model", "d_ff", "d_k", "d_v", "max_positions")
DIVISORS = (1, 2, 4, 8, 16)


def scaled(row: str, divisor: int) -> ModelConfig:
    """The model of a row with all its widths divided; the vocabulary is rounded down.

    Raises
    ------
    ValueError
        If there is no such row, or a width cannot be divided so.
    """
    config = table_3(row)
    if divisor < 1:
        raise ValueError(f"row {row} cannot be divided by {divisor}: a divisor is positive")
    left = [f"{name} {getattr(config, name)}" for name in WIDTHS[1:] if getattr(config, name) % divisor]
    if left:
        raise ValueError(f"row {row} cannot be divided by {divisor}: {', '.join(left)}")
    return config.replace(**{name: getattr(config, name) // divisor for name in WIDTHS})


def ratios(config: ModelConfig) -> dict[str, Fraction]:
    """What the rule keeps, as exact fractions."""
    width = config.d_model
    return {
        "h d_k / d_model": Fraction(config.num_heads * config.d_k, width),
        "h d_v / d_model": Fraction(config.num_heads * config.d_v, width),
        "d_k / d_model": Fraction(config.d_k, width),
        "d_v / d_model": Fraction(config.d_v, width),
        "d_ff / d_model": Fraction(config.d_ff, width),
        "V / d_model": Fraction(config.vocab_size, width),
        "positions / d_model": Fraction(config.max_positions, width),
        "encoder layers": Fraction(config.num_encoder_layers),
        "decoder layers": Fraction(config.num_decoder_layers),
    }


def update_flops(config: ModelConfig, pairs: float, source_length: int, target_length: int) -> float:
    """Floating-point operations of one update on so many pairs of these lengths: the backward pass costs twice the
    forward pass."""
    from annotated.analysis.parameters import forward_flops  # here: a queue needs no torch

    return 3 * pairs * sum(forward_flops(config, source_length, target_length).values())

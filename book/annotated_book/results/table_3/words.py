"""Words for the rows of Table 3: what each changes, in the paper's numbers and at another size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from annotated.config import TABLE_3 as CONFIGS
from annotated.config import ModelConfig, TrainingConfig, table_3_training
from annotated.paper import TABLE_3

CHANGES = {
    "base": "as it is",
    "A1": "1 head",
    "A2": "4 heads",
    "A3": "16 heads",
    "A4": "32 heads",
    "B1": "keys of 16",
    "B2": "keys of 32",
    "C1": "N = 2",
    "C2": "N = 4",
    "C3": "N = 8",
    "C4": "width 256",
    "C5": "width 1024",
    "C6": "inner width 1024",
    "C7": "inner width 4096",
    "D1": "dropout 0",
    "D2": "dropout 0.2",
    "D3": "smoothing 0",
    "D4": "smoothing 0.2",
    "E1": "learned positions",
    "big": "big",
}
"""What a row changes, in two or three words."""
ROWS = tuple(row for row in TABLE_3 if row != "base")
"""The 19 rows that differ from base."""
SYMBOLS = {
    "num_encoder_layers": "N", "d_model": "d_model", "d_ff": "d_ff", "num_heads": "h", "d_k": "d_k", "d_v": "d_v",
    "dropout": "P_drop",
}  # fmt: skip
"""The paper's symbols, in the order of its columns."""


def label(row: str) -> str:
    """'C1  N = 2': the row and its change."""
    return row if row in ("base", "big") else f"{row}  {CHANGES[row]}"


def what_changes(row: str, model: Callable[[str], ModelConfig]) -> str:
    """What a row changes in base, in the paper's symbols: 'h=4, d_k=8, d_v=8'.

    Parameters
    ----------
    model
        The model of a row, at the size of the table.
    """
    config, training = model(row), table_3_training(row)
    names = [name for name in SYMBOLS if name in CONFIGS[row]]
    words = [f"{SYMBOLS[name]}={getattr(config, name)}" for name in names]
    words += ["learned positions"] if "positions" in CONFIGS[row] else []
    if training.label_smoothing != TrainingConfig.label_smoothing:
        words.append(f"eps_ls={training.label_smoothing}")
    if (times := training.updates // TrainingConfig.updates) > 1:
        words.append(f"{times} times the updates")
    return ", ".join(words) or "-"


def signed(number: float) -> str:
    """A difference with its sign: '−0.051'."""
    return f"{number:+.3f}".replace("-", "−")


def seed_words(count: int) -> str:
    """'1 seed', '3 seeds'."""
    return f"{count} seed{'s' * (count != 1)}"


def paper_words(found: Mapping[str, Any]) -> str:
    """The paper's difference of a row of `annotated_book.results.table_3.results.difference_table`, and the verdict."""
    return f"the paper {signed(found['paper'])} nats: {found['verdict']}"

"""The record of Table 1 by the clock has every layer at every size."""

from __future__ import annotations

from annotated_book import recorded
from annotated_book.why.table_1.experiment import CURVES, KINDS, LENGTHS, SHORT, WIDTHS


def test_the_record_is_whole() -> None:
    rows = recorded("table_1").results["rows"]
    sizes = {(row["layer"], row["n"], row["d"]) for row in rows}
    assert len(sizes) == len(rows)
    expected = {(n, d) for n in LENGTHS for d in CURVES} | {(SHORT, d) for d in WIDTHS}
    assert sizes == {(layer, n, d) for layer in KINDS for n, d in expected}
    assert all(row["ms"] > 0 for row in rows)

"""The parts that are timed are those of an encoder layer, and the record has their shares."""

from __future__ import annotations

import pytest
import torch

from annotated_book import recorded
from annotated_book.why.table_1 import shares


@torch.no_grad()
def test_both_kernels_compute_the_same_layer() -> None:
    parts = shares.calls(2)
    for part in ("equation 1", "attention", "encoder layer"):
        found = [timed[part]() for timed in parts.values()]
        written_out, fused = (one[0] if isinstance(one, tuple) else one for one in found)
        torch.testing.assert_close(written_out, fused)


def test_the_record_has_a_share_for_each_batch_and_kernel() -> None:
    results = recorded("table_1/shares").results
    assert [(row["batch"], row["kernel"]) for row in results["rows"]] == [
        (batch, kernel) for batch in shares.BATCHES for kernel in ("as written", "fused")
    ]
    for row in results["rows"]:
        ms = row["ms"]
        assert ms["equation 1"] < ms["attention"] < ms["encoder layer"]
        assert row["of_attention"] == pytest.approx(ms["equation 1"] / ms["attention"], abs=0.002)
        assert row["of_encoder_layer"] == pytest.approx(ms["equation 1"] / ms["encoder layer"], abs=0.002)

"""The record of silenced units fits the shipped model, and one of its numbers is measured again."""

from __future__ import annotations

import pytest
import torch

from annotated_book import recorded
from annotated_book.machine.feed_forward.experiment import SENTENCES, SHARES, _Networks


def test_the_record_has_every_unit_of_the_shipped_model() -> None:
    results = recorded("feed_forward").results
    networks = _Networks(SENTENCES)
    assert results["whole"] == pytest.approx(networks.whole, abs=1e-4) and results["shares"] == list(SHARES)
    assert [(n["stack"], n["layer"]) for n in results["networks"]] == [
        (stack, layer) for stack in ("encoder", "decoder") for layer in (1, 2, 3)
    ]
    for network in results["networks"]:
        count = len(networks.rows(network["stack"], network["layer"] - 1))
        assert len(network["single"]) == count and all(len(rises) == len(SHARES) for rises in network["parts"])
    every = torch.arange(512)
    before = networks.rows("decoder", 0).clone()
    assert networks.rise("decoder", 0, every) == pytest.approx(results["networks"][3]["parts"][0][-1], rel=1e-3)
    assert torch.equal(networks.rows("decoder", 0), before), "the units are put back"

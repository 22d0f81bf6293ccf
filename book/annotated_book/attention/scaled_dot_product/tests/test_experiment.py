"""The divisors are compared from the footnote's start, and the record belongs to the code."""

from __future__ import annotations

import pytest
import torch

from annotated_book import recorded
from annotated_book.attention.scaled_dot_product import experiment as o
from annotated_book.attention.scaled_dot_product.training_chart import training_chart


@pytest.mark.parametrize("d_k", o.WIDTHS)
def test_dot_products_start_with_variance_d_k(d_k: int) -> None:
    """Off the diagonal, where query and key belong to different tokens; the vectors are normalised to variance 1."""
    torch.manual_seed(0)
    found = []
    for _ in range(20):
        model = o.LookBack(d_k, 0.0)
        scores, x = model.scores(torch.randint(o.TOKENS, (8, o.LENGTH)))
        assert x.var().item() == pytest.approx(1, abs=0.05)
        found.append(scores[:, ~torch.eye(o.LENGTH, dtype=torch.bool)].flatten())
    assert torch.cat(found).var().item() == pytest.approx(d_k, rel=0.2)


def test_the_divisor_is_a_power_of_d_k() -> None:
    tokens = torch.randint(o.TOKENS, (2, o.LENGTH), generator=torch.Generator().manual_seed(0))
    models = []
    for power in (0.0, 0.5, 1.0):
        torch.manual_seed(3)
        models.append(o.LookBack(64, power).scores(tokens)[0])
    torch.testing.assert_close(models[0], models[1] * 8)
    torch.testing.assert_close(models[0], models[2] * 64)


def test_training_is_repeatable_and_starts_at_guessing() -> None:
    first = o.losses(16, 0.5, seed=1, steps=20)
    assert first == o.losses(16, 0.5, seed=1, steps=20) and len(first) == 2
    assert first[0] == pytest.approx(torch.log(torch.tensor(16.0)).item(), abs=0.2)


def test_the_record_belongs_to_this_code() -> None:
    results = recorded("scaled_dot_product").results
    assert set(results["curves"]) == {str(d_k) for d_k in o.WIDTHS}
    for by_divisor in results["curves"].values():
        assert list(by_divisor) == list(o.DIVISORS)
        assert all(len(runs) == len(o.SEEDS) for runs in by_divisor.values())
        assert all(len(run) == o.STEPS // o.EVERY for runs in by_divisor.values() for run in runs)


def test_the_chart_has_a_point_for_every_ten_updates() -> None:
    chart = training_chart({"16": {"1": [[2.5, 2.0], [2.6, 1.9]]}}, every=10).to_dict()
    rows = chart["data"]["values"]
    assert [(row["update"], row["loss"]) for row in rows if row["seed"] == 1] == [(10, 2.6), (20, 1.9)]

"""Products of few rows with their sides exchanged: the values of `F.linear`, and used where they are meant to be."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn import functional as F

from annotated.speed.kernels import few_rows
from annotated.speed.kernels.few_rows import FEW, WIDE, Linear, exchanged_linear, linear


@pytest.fixture
def exchanged(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Rows of every exchanged product, on whatever library this torch stands."""
    seen: list[int] = []

    def counted(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        seen.append(x.numel() // x.size(-1))
        return exchanged_linear(x, weight, bias)

    monkeypatch.setattr(few_rows, "exchanged_linear", counted)
    monkeypatch.setattr(torch.backends.mkl, "is_available", lambda: True)
    return seen


@pytest.mark.parametrize("shape", [(9, 6), (2, 5, 6), (1, 6), (0, 6)])
@pytest.mark.parametrize("with_bias", [False, True])
def test_the_exchanged_product_is_the_linear_map(shape: tuple[int, ...], with_bias: bool) -> None:
    torch.manual_seed(0)
    x, weight, bias = torch.randn(*shape), torch.randn(4, 6), torch.randn(4) if with_bias else None
    y = exchanged_linear(x, weight, bias)
    torch.testing.assert_close(y, F.linear(x, weight, bias))
    assert y.is_contiguous()


def test_it_stands_for_rows_in_its_range_in_inference_mode(exchanged: list[int]) -> None:
    torch.manual_seed(0)
    layer = Linear(WIDE, WIDE)
    for rows in (1, FEW[0] - 1, FEW[0], FEW[-1], FEW[-1] + 1):
        x = torch.randn(rows, WIDE)
        with torch.inference_mode():
            torch.testing.assert_close(layer(x), F.linear(x, layer.weight, layer.bias), atol=1e-5, rtol=1e-5)
            Linear(WIDE, WIDE - 1)(x)
        layer(x)
        with torch.no_grad():
            layer(x)
    assert exchanged == [FEW[0], FEW[-1]]


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_another_type_is_left_alone(exchanged: list[int], dtype: torch.dtype) -> None:
    with torch.inference_mode():
        linear(torch.ones(FEW[0], WIDE, dtype=dtype), torch.ones(WIDE, WIDE, dtype=dtype))
    assert not exchanged


def test_without_mkl_nothing_is_exchanged(exchanged: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.mkl, "is_available", lambda: False)
    with torch.inference_mode():
        linear(torch.ones(FEW[0], WIDE), torch.ones(WIDE, WIDE))
    assert not exchanged


def test_a_compiler_sees_one_linear_map_for_any_number_of_rows(exchanged: list[int]) -> None:
    layer, compilations = Linear(WIDE, WIDE), []

    def counted(graph: torch.fx.GraphModule, _: Any) -> Any:
        compilations.append(graph)
        return graph

    compiled = torch.compile(layer, backend=counted, fullgraph=True, dynamic=True)
    for rows in (FEW[0], FEW[-1] + 1):
        x = torch.ones(rows, WIDE)
        torch.testing.assert_close(compiled(x), F.linear(x, layer.weight, layer.bias))
        with torch.inference_mode():
            compiled(x)
    assert not exchanged
    assert 1 <= len(compilations) <= 2  # with gradients and without


def test_an_empty_batch_passes() -> None:
    with torch.inference_mode():
        assert linear(torch.ones(0, 6), torch.ones(4, 6)).shape == (0, 4)

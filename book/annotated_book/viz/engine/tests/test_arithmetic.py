"""The engine's product with a matrix: any number of rows, also those that do not come in fours or in pairs."""

from __future__ import annotations

import numpy as np
import pytest

from book.tests.javascript import PACKAGE, evaluate

WORK = """({ multiply }, { x, n, data, columns, rows, bias, from }) => {
  const y = new Float32Array(n * rows);
  multiply(Float32Array.from(x), n, { data: Float32Array.from(data), columns }, rows, y, bias, from);
  return [...y];
}"""


@pytest.mark.parametrize(("n", "rows", "start"), [(1, 8, 0), (2, 4, 4), (3, 7, 2), (5, 3, 0)])
@pytest.mark.parametrize("has_bias", [False, True])
def test_products_are_those_of_numpy(n: int, rows: int, start: int, has_bias: bool) -> None:
    random = np.random.default_rng(n)
    x, w, b = (random.normal(size=size).astype(np.float32) for size in ((n, 6), (12, 6), rows))
    given = {"x": x.ravel().tolist(), "n": n, "data": w.ravel().tolist(), "columns": 6, "rows": rows, "from": start}
    found = evaluate(
        PACKAGE / "viz" / "engine" / "arithmetic.js", WORK, {**given, "bias": b.tolist() if has_bias else None}
    )
    expected = x @ w[start : start + rows].T + (b if has_bias else 0)
    assert found == pytest.approx(expected.ravel().tolist(), abs=1e-5)

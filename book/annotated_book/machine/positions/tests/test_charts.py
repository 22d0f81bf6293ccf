"""Charts of the sinusoids show the library's own table."""

from __future__ import annotations

import math

import numpy as np
import pytest

from annotated import sinusoidal_encoding
from annotated_book.machine.positions.charts import offset_chart, positional_encoding_chart, rotation_chart
from book.tests.drawing import moved, texts


def test_the_table_is_the_librarys() -> None:
    spec = positional_encoding_chart(20, 8).to_dict()
    rows = next(view["data"]["values"] for view in [*_views(spec)] if len(view.get("data", {}).get("values", [])) == 8)
    shown = np.array([row["v"] for row in sorted(rows, key=lambda row: row["dimension"])]) / 1000
    assert np.allclose(shown.T, sinusoidal_encoding(20, 8).numpy(), atol=6e-4)


def test_the_title_names_the_wavelength_of_the_chosen_dimension() -> None:
    spec = moved(positional_encoding_chart(20, 8).to_dict(), dimension=5)
    expected = 2 * math.pi * 10000 ** (4 / 8)  # dimension 5 is the cosine of pair 2
    assert f"dimension 5, a cosine: one wave in {expected:,.1f} positions" in texts(spec)


def test_dot_products_are_those_of_the_table() -> None:
    table = sinusoidal_encoding(12, 16).double().numpy()
    rows = next(v["data"]["values"] for v in _views(offset_chart(12, 16).to_dict()) if "dot" in v["data"]["values"][0])
    assert np.allclose([row["dot"] for row in rows], table @ table.T, atol=0.006)


@pytest.mark.parametrize("position", [0, 3, 11])
def test_the_angle_between_the_hands_does_not_depend_on_the_position(position: int) -> None:
    spec = moved(rotation_chart(16).to_dict(), position=position, offset=6, pair=2)
    assert f"The angle between the hands: {math.degrees(6 / 10000 ** (4 / 16)):.1f}°" in texts(spec)


def test_the_hands_stand_at_the_two_positions() -> None:
    rows = next(v["data"]["values"] for v in _views(rotation_chart(16).to_dict()) if "pair" in v["data"]["values"][0])
    table = sinusoidal_encoding(81, 16).numpy()
    assert np.allclose(rows[3]["sin"], table[:, 6], atol=1e-4) and np.allclose(rows[3]["cos"], table[:, 7], atol=1e-4)


def _views(spec: dict):
    """The specification and everything inside it that has data."""
    if "data" in spec:
        yield spec
    for kind in ("layer", "vconcat", "concat"):
        for view in spec.get(kind, []):
            yield from _views(view)

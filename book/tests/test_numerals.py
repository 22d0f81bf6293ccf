"""Numbers as people write them."""

from __future__ import annotations

import pytest

from annotated_book.numerals import written


@pytest.mark.parametrize(
    ("number", "digits", "text"),
    [
        (0, 1, "0"),
        (0.1, 1, "0.1"),
        (2.96, 1, "3"),
        (3.4e-7, 1, "3 × 10⁻⁷"),
        (9.97e-8, 1, "1 × 10⁻⁷"),
        (3.34e18, 2, "3.3 × 10¹⁸"),
        (-0.00123, 2, "−1.2 × 10⁻³"),
        (0.0123, 2, "0.012"),
        (5096, 2, "5,100"),
        (0.999, 2, "1.0"),
        (float("inf"), 1, "inf"),
    ],
)
def test_a_number_is_written_as_people_write_it(number: float, digits: int, text: str) -> None:
    assert written(number, digits) == text

"""Numbers as people write them, for tables whose values differ by many powers of ten."""

from __future__ import annotations

import math

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def written(number: float, digits: int = 1) -> str:
    """A number with so many significant digits, as a multiple of a power of ten where that is shorter.

    Examples
    --------
    >>> [written(x) for x in (0, 0.1, 3.0, 3.4e-7)]
    ['0', '0.1', '3', '3 × 10⁻⁷']
    >>> written(3.34e18, 2), written(-0.00123, 2), written(0.999, 2)
    ('3.3 × 10¹⁸', '−1.2 × 10⁻³', '1.0')
    """
    if number == 0 or not math.isfinite(number):
        return f"{number:g}"
    mantissa, _, power = f"{abs(number):.{digits - 1}e}".partition("e")
    exponent = int(power)
    if -2 <= exponent <= 3:
        text = f"{float(f'{mantissa}e{exponent}'):,.{max(digits - 1 - exponent, 0)}f}"
    else:
        text = f"{mantissa} × 10{str(exponent).translate(_RAISED)}"
    return "−" + text if number < 0 else text

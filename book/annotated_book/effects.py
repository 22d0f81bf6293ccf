"""Effect sizes of claims: a chapter's cell records a number that it computed, and the page of claims shows it."""

from __future__ import annotations

import json
import math

# The form in which MyST-NB takes an output out of the page and keeps it beside: nothing is shown where the cell stands.
_PREFIX = "application/papermill.record/"
_NAME = "effect"


def effect_size(claims: str, value: float, unit: str, what: str) -> None:
    """Record the size of an effect that this cell computed, for the page that lists all claims.

    Outside a notebook it only checks what it was given. In a notebook nothing is shown: the build of the book takes
    the number out of the cell's output.

    Parameters
    ----------
    claims
        Names of one or more claims, with spaces between them: `"C08 P3.2.1-3"`.
    value
        A number that this cell or an earlier one computed.
    unit
        What is counted, `"nats"`, or empty for a ratio. With `"%"` the value is a share, 0.4 for 40 %.
    what
        What was measured and where, in a few words.

    Raises
    ------
    ValueError
        If no claim is named, the value is not finite, or it is not said what was measured.
    """
    number = float(value)
    if not claims.split() or not what.strip():
        raise ValueError("effect_size() needs the name of a claim, and words that say what was measured")
    if not math.isfinite(number):
        raise ValueError(f"effect_size({claims!r}): {value} is no finite number")
    try:
        from IPython import get_ipython
        from IPython.display import display
    except ImportError:  # the library does not need notebooks
        return
    if get_ipython() is None:
        return
    data = {"claims": claims.split(), "value": number, "unit": unit, "what": what}
    key = f"{_NAME} {claims}: {what}"
    metadata = {"scrapbook": {"name": key, "mime_prefix": _PREFIX}}
    display({f"{_PREFIX}text/plain": json.dumps(data)}, raw=True, metadata=metadata)

"""Tables of evaluation results: systems on rows, scores on columns, as a DataFrame to sort and to plot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from annotated.evaluation.bleu import BleuScore
from annotated.evaluation.corpus import Evaluation
from annotated.evaluation.significance import Comparison

if TYPE_CHECKING:
    import pandas as pd


def to_frame(results: Mapping[str, Evaluation | BleuScore] | Sequence[Comparison]) -> pd.DataFrame:
    """Results of several systems as one table, a row for each system.

    Parameters
    ----------
    results
        Evaluations or scores by the system's name, or what `compare` returned.

    Returns
    -------
    DataFrame
        Indexed by the system's name; the columns are the fields of `Comparison`, of `BleuScore`, or of
        `Evaluation.to_dict`: scores in percent, losses in nats per token.

    Raises
    ------
    ValueError
        If there are no results.

    Examples
    --------
    >>> to_frame(compare({"greedy": greedy, "beam 4": beam}, references)).sort_values("bleu")    # doctest: +SKIP
    """
    import pandas as pd  # here: scoring needs no tables

    if not results:
        raise ValueError("there are no results to tabulate")
    if isinstance(results, Mapping):
        rows = [one.to_dict() if isinstance(one, Evaluation) else asdict(one) for one in results.values()]
        return pd.DataFrame(rows, index=pd.Index(list(results), name="name"))
    return pd.DataFrame([asdict(one) for one in results]).set_index("name")

"""Titles of the charts that follow their controls: what the chosen numbers show, worked out from the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from annotated_book.viz.titles import title_of

_CALLED = {
    "Transformer": "Transformer without the rule",
    "Transformer, rule": "Transformer with the rule",
    "CKY, parents": "grammar",
    "CKY": "grammar",
}
FAR = 10
"""Points of F1 by which a label lags far behind."""


def sizes_title(table: pd.DataFrame, measure: str, held_out: str) -> str:
    """What a chart of scores by training trees shows: the best parser with the fewest trees and with the most.

    Parameters
    ----------
    table
        As `results.score_table` makes it.
    measure
        'f1', 'exact' or 'malformed'.
    held_out
        One of the values of `results.SETS`.
    """
    means = table[table["set"] == held_out].groupby(["trees", "parser"])[measure].mean().unstack()
    few, many = int(means.index[0]), int(means.index[-1])
    if measure == "malformed":
        shares = [means.loc[n, "Transformer"] for n in (few, many)]
        return (
            f"Without the rule {shares[0]:.1f}\u00a0% of the Transformer's outputs are malformed with {few:,} "
            f"trees, {shares[1]:.1f}\u00a0% with {many:,}"
        )
    first, last = (_CALLED[means.loc[n].idxmax()] for n in (few, many))
    has = {"f1": "has the higher F1", "exact": "has more sentences right"}[measure]
    if first == last:
        return f"With {few:,} trees and with {many:,} the {first} {has}"
    return f"With {few:,} trees the {first} {has}, with {many:,} the {last}"


def labels_title(table: pd.DataFrame, trees: int) -> str:
    """On which labels the Transformer lags far behind the better grammar with a number of training trees.

    Parameters
    ----------
    table
        As `results.detail_table` makes it by 'label'.
    """
    lags = behind(table, "label", trees, FAR)
    cases = table.groupby("label")["cases"].max()
    names = [f"{label} ({cases[label]:,})" for label in sorted(map(str, lags), key=lambda label: -cases[label])]
    start = f"With {trees:,} trees the Transformer is more than {FAR} points behind on "
    if len(names) > 3:
        return f"{start}{len(names)} of {len(cases)} labels"
    return start + (" and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names) or "no label")


def lengths_title(table: pd.DataFrame, trees: int) -> str:
    """In which classes of length the Transformer is behind the better grammar with a number of training trees.

    Parameters
    ----------
    table
        As `results.detail_table` makes it by 'words'.
    """
    lags, classes = behind(table, "words", trees), sorted(table["words"].unique())
    start = f"With {trees:,} trees the Transformer is behind the better grammar "
    if lags == {classes[-1]}:
        count = int(table.loc[table["words"] == classes[-1], "cases"].max())
        return f"{start}on the {count:,} longest sentences only"
    if len(lags) == len(classes):
        return f"{start}in every class of length"
    return f"{start}in {len(lags) or 'none'} of {len(classes)} classes of length"


def attachments_title(table: pd.DataFrame, trees: int) -> str:
    """How many phrases of the noun and of the verb the Transformer attaches rightly with a number of training trees.

    Parameters
    ----------
    table
        As `results.attachment_table` makes it.
    """
    mine = table[(table["parser"] == "Transformer, rule") & (table["trees"] == trees)]
    noun, verb = (mine[mine["kind"] == kind]["right"].mean() for kind in ("NP", "VP"))
    return (
        f"With {trees:,} trees the Transformer has {noun:.0f}\u00a0% of the noun's phrases right, "
        f"{verb:.0f}\u00a0% of the verb's"
    )


def behind(table: pd.DataFrame, by: str, trees: int, points: float = 0) -> set[str | int]:
    """The values of a column `by` at which the better grammar's F1 exceeds the Transformer's by more than `points`."""
    f1 = table[table["trees"] == trees].pivot(index=by, columns="parser", values="f1")
    grammars = f1[[name for name in ("CKY", "CKY, parents") if name in f1]].max(axis=1)
    return set(f1.index[grammars > f1["Transformer, rule"] + points])


def choice(titles: Sequence[str] | Mapping[str, Mapping[str, str]], *controls: str) -> Any:
    """The title that the controls choose, as `annotated_book.viz.titles.title_of` makes it.

    Parameters
    ----------
    titles
        A title for each step of a control, or for each value of two menus.
    *controls
        Names of the controls, in the order in which they choose.
    """
    if not isinstance(titles, Mapping):
        return title_of(controls[0], {str(step): one for step, one in enumerate(titles)})
    flat = {f"{outer}: {inner}": one for outer, some in titles.items() for inner, one in some.items()}
    return title_of(" + ': ' + ".join(controls), flat)

"""Tables for charts, as DataFrames in long form: arrays with named axes, curves and numbers by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

ONE_ROW = pd.DataFrame([{}])
"""One row without columns: the data of a mark that is drawn from parameters alone."""


def array_table(array: ArrayLike, value: str, **axes: Iterable[Any]) -> pd.DataFrame:
    """An array in long form: a row for each entry, a column for each axis.

    Parameters
    ----------
    array
        Of as many dimensions as there are axes.
    value
        Name of the last column, which holds the entries.
    axes
        The labels along each axis, by the column's name; a label may come twice.

    Raises
    ------
    ValueError
        If the labels do not fit the array's shape.

    Examples
    --------
    >>> array_table([[0.9, 0.1], [0.5, 0.5]], "weight", query=["the", "cat"], key=range(2))
      query  key  weight
    0   the    0     0.9
    1   the    1     0.1
    2   cat    0     0.5
    3   cat    1     0.5
    """
    entries, labels = np.asarray(array), [list(along) for along in axes.values()]
    shape = tuple(map(len, labels))
    if entries.shape != shape:
        raise ValueError(f"an array {list(entries.shape)} does not fit labels for {list(shape)}: {', '.join(axes)}")
    index = pd.MultiIndex.from_product(labels, names=list(axes))
    return pd.Series(entries.ravel(), index=index, name=value).reset_index()


def named_table(values: Mapping[Any, Any], *columns: str) -> pd.DataFrame:
    """What stands by name in a mapping, or in mappings inside it: a row for each value.

    Parameters
    ----------
    values
        Numbers, strings or lists, by name. A list stays whole, in one cell, for Vega to flatten.
    columns
        A name for each level of the mapping, the outer one first, and one for the value.

    Examples
    --------
    >>> named_table({"base": {"BLEU": 25.8}, "C6": {"BLEU": 25.4}}, "row", "measure", "value")
        row measure  value
    0  base    BLEU   25.8
    1    C6    BLEU   25.4
    """
    return pd.DataFrame(_leaves(values, len(columns) - 1), columns=list(columns))


def curves_table(curves: Mapping[Any, Any], *columns: str, start: int = 0) -> pd.DataFrame:
    """Curves by name, or by several names: a row for each point.

    Parameters
    ----------
    curves
        Lists of numbers, by name.
    columns
        A name for each level of the mapping, then one for the place on the curve, and one for the number.
    start
        The first place on every curve.

    Examples
    --------
    >>> curves_table({"post-norm": [4.0, 3.5], "pre-norm": [4.1]}, "placement", "update", "loss", start=1)
       placement  update  loss
    0  post-norm       1   4.0
    1  post-norm       2   3.5
    2   pre-norm       1   4.1
    """
    *names, place, value = columns
    table = named_table(curves, *names, value)
    lines = [np.asarray(line, dtype=np.float64) for line in table.pop(value)]
    table = table.loc[table.index.repeat([len(line) for line in lines])]
    places = table.groupby(level=0).cumcount() + start
    return table.assign(**{place: places, value: np.concatenate([np.empty(0), *lines])}).reset_index(drop=True)


def _leaves(values: Mapping[Any, Any], depth: int) -> list[tuple[Any, ...]]:
    """The values of nested mappings, each behind the names that lead to it."""

    def inside(name: Any, value: Any) -> Iterator[tuple[Any, ...]]:
        yield from ((name, *rest) for rest in _leaves(value, depth - 1)) if depth > 1 else [(name, value)]

    return [row for name, value in values.items() for row in inside(name, value)]

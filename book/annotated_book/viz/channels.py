"""Channels of charts: a field along an axis with its scale, and a colour, dashes or a shape for each name."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from annotated_book.viz.theme import PALETTE

Names = Sequence[Any] | Mapping[str, Any]
"""Names in their order, or what each looks like, by name."""
_SCALE = set(inspect.signature(alt.Scale).parameters)
_AXIS = set(inspect.signature(alt.Axis).parameters) - {"domain", "title"}


def x_axis(field: str, title: Any = alt.Undefined, **options: Any) -> Any:
    """A field from left to right, with the title of its axis.

    Parameters
    ----------
    field
        Its name and kind, such as 'loss:Q'.
    title
        With the unit; None for none.
    options
        Of Vega-Lite's scale (`type`, `domain`, `zero`, ...), of its axis (`format`, `values`, `tickCount`, ...), or of
        the channel (`sort`, `stack`, `axis=None`, ...). `domain`, a name of two of them, is the scale's.

    Examples
    --------
    >>> x_axis("n:Q", "tokens", type="log", values=[1, 10]).to_dict()["scale"]
    {'type': 'log'}
    """
    return alt.X(field, **_axis_options(title, options))


def y_axis(field: str, title: Any = alt.Undefined, **options: Any) -> Any:
    """A field from bottom to top, with the title of its axis; as `x_axis`."""
    return alt.Y(field, **_axis_options(title, options))


def _axis_options(title: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a channel, those of its scale and of its axis inside."""
    scale = {name: value for name, value in options.items() if name in _SCALE}
    axis = {name: value for name, value in options.items() if name in _AXIS}
    sorted_out: dict[str, Any] = {name: value for name, value in options.items() if name not in _SCALE | _AXIS}
    if title is not alt.Undefined:
        sorted_out["title"] = title
    if scale:
        sorted_out["scale"] = alt.Scale(**scale)
    if axis:
        sorted_out["axis"] = alt.Axis(**axis)
    return sorted_out


def colour_by(field: str, names: Names, colours: Sequence[str] | None = None, **options: Any) -> Any:
    """A colour for each name of a field; no legend unless told, for names stand beside what they name.

    Parameters
    ----------
    field
        Its name and kind, such as 'model:N'.
    names
        The names in their order, or a colour for each.
    colours
        For names without their own, in their order, the palette's unless told; what is left over is not used.
    options
        Of the channel, such as `legend`, whose order is that of the names.
    """
    return _by_name(alt.Color, field, names, colours, PALETTE, options)


def dash_by(field: str, names: Names, dashes: Sequence[Sequence[int]] | None = None, **options: Any) -> Any:
    """Dashes for each name of a field, Vega-Lite's own unless told, beside colours. As `colour_by`."""
    return _by_name(alt.StrokeDash, field, names, dashes, (), options)


def shape_by(field: str, names: Names, shapes: Sequence[str] | None = None, **options: Any) -> Any:
    """A shape for each name of a field, Vega-Lite's own unless told. As `colour_by`."""
    return _by_name(alt.Shape, field, names, shapes, (), options)


def _by_name(
    channel: Any,
    field: str,
    names: Names,
    looks: Sequence[Any] | None,
    usual: Sequence[Any],
    options: Mapping[str, Any],
) -> Any:
    order = list(names)
    if looks is None:
        looks = list(names.values()) if isinstance(names, Mapping) else usual
    scale = alt.Scale(domain=order, **({"range": list(looks)[: len(order)]} if looks else {}))
    return channel(field, **{"sort": order, "scale": scale, "legend": None, **options})

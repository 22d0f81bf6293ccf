"""Checks of what users give: values that a field of a configuration may have, sizes, and names of files."""

from __future__ import annotations

import dataclasses
import re
from functools import cache
from numbers import Integral, Real
from pathlib import Path
from types import NoneType
from typing import Any, Literal, Self, get_args, get_origin, get_type_hints


class CheckedConfig:
    """What the configurations share: a checked copy, and a round trip through plain dictionaries."""

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed; unknown names raise `TypeError`, bad values `ValueError`."""
        return dataclasses.replace(self, **changes)  # type: ignore[type-var]

    def to_dict(self) -> dict[str, Any]:
        """The fields as a dictionary, the same that JSON gives back: tuples as lists."""
        fields = dataclasses.asdict(self)  # type: ignore[call-overload]
        return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Self:
        """The inverse of `to_dict`; a field that this version does not know raises `ValueError`."""
        known = {field.name: field for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
        if unknown := sorted(set(fields) - set(known)):
            raise ValueError(f"{cls.__name__} has no field {', '.join(unknown)}; it has {', '.join(known)}")
        return cls(**{name: tuple(v) if isinstance(v, list) else v for name, v in fields.items()})


def require(condition: bool, message: str) -> None:
    """Raise a `ValueError` unless the condition holds."""
    if not condition:
        raise ValueError(message)


@cache
def _numbers(kind: type[Any]) -> dict[str, tuple[type, bool]]:
    """Of each field that is a number, int or float, and whether it may be None."""
    found: dict[str, tuple[type, bool]] = {}
    for name, hint in get_type_hints(kind).items():
        kinds = get_args(hint) or (hint,)
        for number in (int, float):
            if set(kinds) - {NoneType} == {number} and get_origin(hint) is not tuple:
                found[name] = (number, NoneType in kinds)
    return found


@cache
def _choices(kind: type[Any]) -> dict[str, tuple[Any, ...]]:
    """The values of each field that has only some, as its type says."""
    hints = get_type_hints(kind)
    return {name: get_args(hint) for name, hint in hints.items() if get_origin(hint) is Literal}


def require_values(config: CheckedConfig) -> None:
    """Refuse a value that is none of those that the field's type names, or no number where it wants one."""
    kind: Any = type(config)
    for name, (number, optional) in _numbers(kind).items():
        value, wanted = getattr(config, name), Integral if number is int else Real
        fits = (isinstance(value, wanted) and not isinstance(value, bool)) or (optional and value is None)
        require(fits, f"{name} must be a {'whole ' if number is int else ''}number, not {value!r}")
    for name, values in _choices(kind).items():
        value = getattr(config, name)
        require(value in values, f"{name} must be one of {', '.join(map(str, values))}, not {value!r}")


def require_sizes(**sizes: int | None) -> None:
    """Refuse a size below one; those that are None are left to their defaults.

    Raises
    ------
    ValueError
        With the name of the size.
    """
    for name, value in sizes.items():
        require(value is None or value >= 1, f"{name} must be at least 1, not {value}")


def not_a_path(text: str) -> str | None:
    """What is wrong with the name of a file that is an address or a pattern; None for any other."""
    if re.match(r"[a-z][a-z0-9+.-]*://", text, re.IGNORECASE):
        return f"{text} is an address: download it, and name the file"
    if re.search("[*?]", text) and not Path(text).exists():
        return f"{text} is a pattern, and one name is wanted: that of a file or a folder"
    return None

"""Checks that the configurations share: values that a field may have, and copies that are checked again."""

from __future__ import annotations

import dataclasses
from functools import cache
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
def _choices(kind: type[Any]) -> dict[str, tuple[Any, ...]]:
    """The values of each field that has only some, as its type says."""
    hints = get_type_hints(kind)
    return {name: get_args(hint) for name, hint in hints.items() if get_origin(hint) is Literal}


def require_choices(config: CheckedConfig) -> None:
    """Refuse a value that is none of those that the field's type names."""
    kind: Any = type(config)
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

"""Values of options: how numbers and paths are read from a command line, and what is said of one that is none."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from tyro.constructors import ConstructorRegistry, PrimitiveConstructorSpec, PrimitiveTypeInfo

from annotated.checked import not_a_path

_LARGEST = 2**63 - 1


def values(least: int | None) -> ConstructorRegistry:
    """How tyro reads values, in place of its own ways, whose messages are Python's.

    Parameters
    ----------
    least
        Of all numbers, 0 for instance; None for no limit.
    """
    readers: dict[Any, Callable[[str], Any]] = {
        int: lambda text: _at_least(_whole_number(text), least),
        float: lambda text: _at_least(_number(text), least),
        Path: _path,
        str: str,
    }

    def rule(info: PrimitiveTypeInfo) -> PrimitiveConstructorSpec | None:
        kinds, origin = get_args(info.type), get_origin(info.type)
        optional = origin in (Union, UnionType) and len(kinds) == 2 and NoneType in kinds
        if optional:
            kinds = tuple(kind for kind in kinds if kind is not NoneType)
        elif origin is not tuple:
            kinds = (info.type,)
        if not kinds or any(kind not in readers for kind in kinds):
            return None  # left to tyro: a choice, or a list

        def read(texts: list[str]) -> Any:
            if optional and texts == ["None"]:
                return None
            found = tuple(readers[kind](text) for kind, text in zip(kinds, texts, strict=True))
            return found if origin is tuple else found[0]

        return PrimitiveConstructorSpec(
            nargs=len(kinds),
            metavar=" ".join(kind.__name__.upper() for kind in kinds),
            instance_from_str=read,
            is_instance=lambda given: True,
            str_from_instance=lambda given: [str(one) for one in (given if origin is tuple else [given])],
        )

    registry = ConstructorRegistry()
    registry.primitive_rule(rule)
    return registry


def _whole_number(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        try:
            whole = float(text)
        except ValueError:
            whole = math.nan
        hint = f"; write {int(whole)}" if abs(whole) <= 1e15 and whole == int(whole) else ""
        raise ValueError(f"{text!r} is no whole number{hint}") from None
    if abs(number) > _LARGEST:
        raise ValueError(f"{text} is too large")
    return number


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise ValueError(f"{text!r} is no number") from None
    if not math.isfinite(number):
        raise ValueError(f"{text} is no finite number")
    return number


def _at_least(number: Any, least: int | None) -> Any:
    if least is not None and number < least:
        raise ValueError(f"must be at least {least}, not {number}")
    return number


def _path(text: str) -> Path:
    if fault := not_a_path(text):
        raise ValueError(fault)
    return Path(text)

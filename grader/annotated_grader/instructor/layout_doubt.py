"""Doubts about how a class is laid out, which a person has to settle."""

from __future__ import annotations

from collections.abc import Sequence


class LayoutDoubt(ValueError):
    """A folder that can be read in two ways.

    Attributes
    ----------
    choices
        What to say for each, and what it means.
    """

    def __init__(self, message: str, choices: Sequence[tuple[str, str]]) -> None:
        told = "; ".join(f"--layout '{layout}' if {meaning}" for layout, meaning in choices)
        super().__init__(f"{message}: say {told}")
        self.message, self.choices = message, tuple(choices)

"""Subject for the doctor: a model with a part of since 2017, and what it claims to be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from annotated.config import ModelConfig
from annotated.model import Transformer
from annotated_book.results.since_2017.rms_norm import RMSNormTransformer
from annotated_book.results.since_2017.rotary import RotaryTransformer
from annotated_grader.doctor import OurSubject


class PartSubject(OurSubject):
    """A swapped model; `make` makes it from its configuration."""

    def __init__(self, make: Callable[[ModelConfig], Transformer], config: ModelConfig, name: str) -> None:
        super().__init__(make(config), name)
        self.make, kind = make, type(self.model)
        positions = "relative" if issubclass(kind, RotaryTransformer) else self.claims.positions
        self.claims = replace(self.claims, positions=positions, rms_norm=issubclass(kind, RMSNormTransformer))

    def fresh(self) -> PartSubject:
        """The same with new weights."""
        return PartSubject(self.make, self.model.config, self.name)

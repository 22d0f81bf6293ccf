"""Hooks that adapters share: what a module was given and returned, and the residual stream around sub-layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

from torch import Tensor, nn

from annotated_grader.doctor.subject import ResidualStep


class Place(NamedTuple):
    """A sub-layer in a stack: the modules at its entrance and exit, and its LayerNorm."""

    where: str
    """For people: 'encoder layer 1, self-attention'."""
    entrance: nn.Module
    exit: nn.Module
    norm: nn.Module


class Recorder:
    """Inside `with`, keeps the last inputs and output of some modules."""

    def __init__(self, *modules: nn.Module) -> None:
        self._modules = modules
        self._seen: dict[nn.Module, tuple[tuple[Any, ...], dict[str, Any], Any]] = {}
        self._handles: list[Any] = []

    def __enter__(self) -> Self:
        for module in self._modules:
            self._handles.append(module.register_forward_hook(self._note, with_kwargs=True))
        return self

    def __exit__(self, *_: object) -> None:
        for handle in self._handles:
            handle.remove()

    def _note(self, module: nn.Module, inputs: tuple[Any, ...], named: dict[str, Any], output: Any) -> None:
        self._seen[module] = inputs, named, output

    def inputs(self, module: nn.Module) -> tuple[Any, ...]:
        """All that the module was given, the named ones last."""
        inputs, named, _ = self._seen[module]
        return (*inputs, *named.values())

    def first(self, module: nn.Module) -> Tensor:
        """Its first input, by place or by name."""
        return self.inputs(module)[0]

    def output(self, module: nn.Module, part: int = 0) -> Tensor:
        """Its output, or one part of several."""
        output = self._seen[module][2]
        return output[part] if isinstance(output, tuple) else output


def residual_steps(
    stacks: Sequence[tuple[Sequence[Place], nn.Module | None]], forward: Callable[[], Any], pre: bool
) -> list[ResidualStep]:
    """The residual stream around sub-layers, from hooks on them and on their norms during one forward pass.

    Parameters
    ----------
    stacks
        For each stack its sub-layers in order, and what stands on top, if anything.
    forward
        Runs the model.
    pre
        Whether the norms come before the sub-layers.
    """
    every = {module for places, top in stacks for place in places for module in (*place[1:], top)}
    modules = [module for module in every if module is not None]
    with Recorder(*modules) as seen:
        forward()
    steps = []
    for places, top in stacks:
        for number, (where, entrance, leave, norm) in enumerate(places):
            read, output = seen.first(entrance), seen.output(leave)
            if not pre:
                before, after = read, seen.output(norm)
            else:
                following = places[number + 1].norm if number + 1 < len(places) else top
                if following is None:
                    continue  # nothing shows what left the last sub-layer
                before, after = seen.first(norm), seen.first(following)
            weights: Any = norm
            steps.append(ResidualStep(where, before, read, output, after, weights.weight, weights.bias, weights.eps))
    return steps


def places_of(layers: Sequence[Any], side: str, sublayers: Sequence[tuple[str, str, str, str]]) -> list[Place]:
    """Places in all layers of a stack, by the names of their modules: (what, entrance, exit, norm)."""
    return [
        Place(f"{side} layer {number}, {what}", *(getattr(layer, name) for name in names))
        for number, layer in enumerate(layers, 1)
        for what, *names in sublayers
    ]

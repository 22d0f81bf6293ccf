"""Compilations of a training: how many graphs the compiler may make, and an event for each."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from annotated.speed.steps.loss import LogitsTerms

GRAPHS_AT_MOST = 64
"""Of one function. PyTorch's own limit is 8, after which a new kind of batch is computed uncompiled for ever."""


@dataclass(frozen=True)
class Compilation:
    """A graph that was compiled or recorded, while the training waited."""

    graph: str
    """What it computes."""
    seconds: float


class Compilations:
    """Tells of each compilation, and which graph it was for.

    Parameters
    ----------
    tell
        Called after each one; None for nobody.
    """

    def __init__(self, tell: Callable[[Compilation], None] | None = None) -> None:
        self._tell, self._graph, self._began = tell, "", 0.0

    def of(self, graph: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """A compiled function under the name by which its compilations are told."""

        def call(*args: Any, **kwargs: Any) -> Any:
            self._graph = graph
            return function(*args, **kwargs)

        return call

    @contextlib.contextmanager
    def recording(self, graph: str) -> Iterator[None]:
        """Tell of a recording that takes place in this block."""
        began = time.perf_counter()
        yield
        self._say(graph, time.perf_counter() - began)

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Listen to the compiler in this block, and let it make graphs that fit many batches.

        Two numbers that happen to be equal in the first batch (source and target width) are taken for different ones: a
        graph that rests on their equality would fit few others.
        """
        import torch._dynamo.callback
        import torch.fx.experimental._config as symbols

        handler, dynamo = torch._dynamo.callback.callback_handler, torch._dynamo.config
        limit = "recompile_limit" if hasattr(dynamo, "recompile_limit") else "cache_size_limit"
        settings = [dynamo.patch({limit: max(GRAPHS_AT_MOST, getattr(dynamo, limit))})]
        if hasattr(symbols, "use_duck_shape"):
            settings.append(symbols.patch(use_duck_shape=False))  # type: ignore[attr-defined]
        handler.register_start_callback(self._started)
        handler.register_end_callback(self._ended)
        try:
            with contextlib.ExitStack() as stack:
                for setting in settings:
                    stack.enter_context(setting)
                yield
        finally:
            handler.remove_start_callback(self._started)
            handler.remove_end_callback(self._ended)

    def _started(self, *_: Any) -> None:
        self._began = time.perf_counter()

    def _ended(self, *args: Any) -> None:
        trigger = getattr(args[0], "callback_trigger", None) if args else None
        backward = getattr(trigger, "name", "") == "LAZY_BACKWARD"
        self._say("backward pass" if backward else self._graph, time.perf_counter() - self._began)

    def _say(self, graph: str, seconds: float) -> None:
        if self._tell is not None:
            self._tell(Compilation(graph, seconds))


def compile_terms(terms: LogitsTerms, **options: Any) -> LogitsTerms:
    """`terms`, such as `logits_terms`, compiled for any number of rows: one graph, in which only that is not fixed.

    Options are for `torch.compile`.
    """
    made = torch.compile(terms, dynamic=False, fullgraph=True, **options)

    def of_any_rows(logits: Tensor, gold: Tensor, *numbers: Any) -> tuple[Tensor, Tensor | None]:
        for tensor in (logits, gold):
            torch._dynamo.mark_dynamic(tensor, 0)
        return made(logits, gold, *numbers)

    return of_any_rows

"""cuDNN's attention on a GPU, and a context that leaves it out of PyTorch's choice of kernels."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import torch

_KINDS = {"cuda"}
"""Kinds of device that have cuDNN; a test on a CPU adds its own."""
_TAG = " without cuDNN attention"
_lock = threading.Lock()
_depth = 0  # how many contexts are open, in all threads
_allowed = True  # the switch as it was when the first of them was entered


@contextlib.contextmanager
def without_cudnn_attention(device: torch.device | str) -> Iterator[None]:
    """A context in which `F.scaled_dot_product_attention` never takes cuDNN's kernel on a GPU; elsewhere nothing.

    From torch 2.11 on, Hopper and Blackwell GPUs prefer cuDNN. It is the wrong kernel for sentences, for two reasons.
    cuDNN builds an execution plan for every shape that it has not met, forward and backward: tenths of a second each,
    kept for ever. Batches of sentences differ in shape, and while a model writes, each step is one key longer, so a
    training begins some ten times as slowly as it should and its memory grows. And its backward pass gives NaN under
    masks of some widths (https://github.com/pytorch/pytorch/issues/196678). Without cuDNN, PyTorch takes its
    flash kernel where there is no mask and its memory-efficient kernel where there is one. Neither plans anything.

    PyTorch has one switch for the whole process, and no argument of the call. So the library opens this context where
    its own work on a GPU begins (a training, a search, a loss that is measured), and at its end the switch is what it
    was: a program that uses the library keeps its choice for its own models. Only what other threads do meanwhile is
    affected, in speed. The context has to be open before `torch.compile` traces a model, for the choice is made while
    tracing and stays in the compiled code. Compiled code is also kept on the disk, under a key that does not know the
    switch: without a tag of its own, code that was once compiled with cuDNN would come back. So the context sets the
    compiler's `cache_key_tag` too. A training loop of your own opens it once, around everything:
    `with without_cudnn_attention("cuda"): ...`. It may be opened within itself, and by several threads.

    Parameters
    ----------
    device
        Of the work inside.
    """
    global _depth, _allowed
    has_switch = hasattr(torch.backends.cuda, "enable_cudnn_sdp")  # from torch 2.5 on
    if torch.device(device).type not in _KINDS or not has_switch:
        yield
        return
    with _lock:
        if _depth == 0:
            _allowed = torch.backends.cuda.cudnn_sdp_enabled()
            torch.backends.cuda.enable_cudnn_sdp(False)
        _depth += 1
    try:
        with _tagged():
            yield
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0:
                torch.backends.cuda.enable_cudnn_sdp(_allowed)


@contextlib.contextmanager
def _tagged() -> Iterator[None]:
    """The compiler's key says so, in this thread: its settings are each thread's own, and the switch is not."""
    settings: Any = getattr(torch.compiler, "config", None)  # None in older releases
    before = getattr(settings, "cache_key_tag", None)
    if before is None or before.endswith(_TAG):
        yield
        return
    settings.cache_key_tag = before + _TAG
    try:
        yield
    finally:
        settings.cache_key_tag = before

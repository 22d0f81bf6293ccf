"""CUDA graphs: work on a GPU that is recorded once, and then repeated by one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

GraphRecorder = Callable[[Callable[[], None]], Callable[[], None]]
"""From work on the device to a function that repeats it in the same memory."""

_WARM_UPS = 3  # compiling, choosing kernels, first allocations: none of it may happen while a graph is recorded
_WARM_UPS_LATER = 1  # what is compiled already may still need another kernel of a library for another shape


class CudaGraphs:
    """Records work on a GPU as CUDA graphs that share their memory, for only one of them runs at a time.

    The model's pass is recorded only if it is compiled. The gradient of an embedding is the reason: for more than 3,072
    tokens PyTorch's own kernel may wait for the GPU, which is forbidden while a graph is recorded
    (https://github.com/pytorch/pytorch/issues/82886). Compiled, it is a sum by index, which waits for nothing.

    Warm-up takes its memory where the graphs have theirs; elsewhere it would hold the activations of a step a second
    time. Its stream is theirs too, for the allocator gives a block again only to the stream that had it. What the
    backward pass makes in a thread of its own, and gives back at once, is taken elsewhere all the same.
    """

    def __init__(self) -> None:
        self._pool, self._stream = torch.cuda.MemPool(), torch.cuda.Stream()
        self._warm_ups = _WARM_UPS

    def __call__(self, work: Callable[[], None]) -> Callable[[], None]:
        """Do the work, at first a few times and later once, record it, and return what repeats it.

        Raises
        ------
        RuntimeError
            If it cannot be recorded; the message says how to train without.
        """
        self._stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._stream), torch.cuda.use_mem_pool(self._pool):
            for _ in range(self._warm_ups):
                work()
        self._warm_ups = _WARM_UPS_LATER
        torch.cuda.current_stream().wait_stream(self._stream)
        graph = torch.cuda.CUDAGraph()
        try:
            # 'thread_local': other threads (NCCL's, one that writes a checkpoint) may go on with their work meanwhile.
            pool: Any = self._pool.id  # a handle to torch, though not to its annotations
            with torch.cuda.graph(graph, pool, self._stream, capture_error_mode="thread_local"):
                work()
        except torch.cuda.OutOfMemoryError:
            raise
        except RuntimeError as error:
            raise RuntimeError(
                f"recording a CUDA graph failed ({str(error).splitlines()[0]}). Train without it: layout 'packed' with "
                "compile gives the same model, more slowly; a run begun like this goes on with compile=False"
            ) from error
        return graph.replay

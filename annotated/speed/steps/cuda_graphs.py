"""CUDA graphs: work on a GPU that is recorded once, and then repeated by one call."""

from __future__ import annotations

from collections.abc import Callable

import torch

GraphRecorder = Callable[[Callable[[], None]], Callable[[], None]]
"""From work on the device to a function that repeats it in the same memory."""

_WARM_UPS = 3  # compiling, choosing kernels, first allocations: none of it may happen while a graph is recorded


class CudaGraphs:
    """Records work on a GPU as CUDA graphs that share their memory, for only one of them runs at a time.

    The model's pass is recorded only if it is compiled. The gradient of an embedding is the reason: for more than 3,072
    tokens PyTorch's own kernel may wait for the GPU, which is forbidden while a graph is recorded
    (https://github.com/pytorch/pytorch/issues/82886). Compiled, it is a sum by index, which waits for nothing.
    """

    def __init__(self) -> None:
        self._pool = torch.cuda.graph_pool_handle()

    def __call__(self, work: Callable[[], None]) -> Callable[[], None]:
        """Do the work a few times, record it, and return what repeats it.

        Raises
        ------
        RuntimeError
            If it cannot be recorded; the message says how to train without.
        """
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(_WARM_UPS):
                work()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        try:
            # 'thread_local': other threads (NCCL's, one that writes a checkpoint) may go on with their work meanwhile.
            with torch.cuda.graph(graph, pool=self._pool, capture_error_mode="thread_local"):
                work()
        except RuntimeError as error:
            raise RuntimeError(
                f"recording a CUDA graph failed ({str(error).splitlines()[0]}). Train without it: layout 'packed' with "
                "compile gives the same model, more slowly; a run begun like this goes on with compile=False"
            ) from error
        return graph.replay

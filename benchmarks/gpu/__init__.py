"""Steps of 25,000 source and 25,000 target tokens on a GPU: every mode of ours and the peers, on batches never seen.

    python -m benchmarks gpu                                   all of it in ten minutes, the promised sides first
    python -m benchmarks gpu --shapes base --sides bf16_static_graphs,torch_nn_compiled
    python -m benchmarks gpu --lent --text FOLDER              what a GPU is wanted for first, step by step
    python -m benchmarks gpu --profile bf16_static_compiled    which kernels take the time
    python -m benchmarks gpu --device cpu --shapes tiny        tries every path, without a GPU

Every side trains in a process of its own, under the same settings: float32 weights with bf16 autocast (but for `fp32`
and `tf32`), fused Adam, dropout in the paper's places, pairs with the lengths and the word frequencies of WMT14. Each
gets its batches as its own loader cuts them, shuffled. First come some batches in which kernels are chosen and
compiled, then 50 batches, none seen before, timed one by one with everything that happens in them: laying out and
copying (ours only: the peers' batches lie on the device already), compiling again, recording, growth of the allocator's
memory. The promises are judged on these. Beside them stands the time of three batches that were seen before. Reported:
the time of 50,000 real tokens (the paper's batch), real tokens a second, the share of the matrix-product peak measured
in the same process.

Results are written after every side. The minutes are shared out among the sides; what found no time is said, and the
same command goes on with it. On a GPU the results go into benchmarks/gpu.md too. A mode whose first loss or gradient
differs from those of the others is marked: its speed would mean nothing.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str]) -> None:
    """The command `gpu` of `python -m benchmarks`."""
    from benchmarks.gpu import command  # here: it takes torch with it

    command.main(arguments)

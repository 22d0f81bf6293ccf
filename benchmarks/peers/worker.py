"""One process for each peer: reads a task a line, answers with a line of JSON.

`python -m benchmarks.peers.worker NAME`; NAME `limit` measures the machine itself.
"""

from __future__ import annotations

import ctypes
import gc
import json
import math
import os
import sys
import traceback
from typing import Any

import torch

from benchmarks import machine
from benchmarks.peers import registry, workload
from benchmarks.peers.adapter import Adapter
from benchmarks.peers.workload import NEW_TOKENS, SHAPES

MATRICES = ((1024, 512, 2048), (1024, 2048, 512), (1024, 512, 512), (512, 512, 8000), (2048, 2048, 2048))
STEPS = {"small": 5, "base": 3}
RAGGED_BATCHES = 2
SENTENCES = 64


def run_train(peer: Adapter, task: str) -> dict[str, Any]:
    """`train_small`, `train_base`: the best of a few equal steps; `train_ragged`: the sum over sampled batches."""
    size = "small" if task == "train_small" else "base"
    shape = SHAPES[size]
    peer.build(shape)
    peer.model.train()
    dense = workload.dense_batch(shape)
    if task == "train_ragged":
        batches = workload.sample(peer.ragged_batches(workload.ragged_pairs()), RAGGED_BATCHES)
        warm = workload.collate(workload.ragged_pairs(8))
    else:
        batches, warm = [dense] * STEPS[size], dense
    peer.train_step(peer.prepare(warm))
    machine.reset_peak_memory()  # after one step, so that weights and Adam's state are in, start-up is not
    seconds, cpu, loss = [], [], math.nan
    for batch in batches:
        wall, own, loss = machine.timed(peer.train_step, peer.prepare(batch))
        seconds.append(wall)
        cpu.append(own)
    if not 0 < loss < 60:
        raise RuntimeError(f"the loss is {loss}: this is no training step")
    if task != "train_ragged":  # equal batches: the best step is the undisturbed one
        seconds, cpu, batches = [min(seconds)], [min(cpu)], batches[:1]
    return {
        "seconds": sum(seconds),
        "cpu": sum(cpu),
        "tokens": sum(b.tokens for b in batches),
        "padded": sum(b.padded for b in batches),
        "flops": sum(workload.train_flops(shape, b.source_lengths, b.target_lengths) for b in batches),
        "loss": loss,
        "parameters": sum(p.numel() for p in peer.model.parameters()),
        "rss_mib": machine.peak_memory_mib(),
    }


def run_decode(peer: Adapter, task: str) -> dict[str, Any]:
    """`greedy` and `beam4`: base shape, random weights, NEW_TOKENS for every sentence."""
    shape, beam_size = SHAPES["base"], 4 if task == "beam4" else 1
    peer.build_decoder(shape)
    if peer.model is not None:
        peer.model.eval()
    rows, count = peer.greedy_batch, peer.greedy_sentences
    if beam_size > 1:
        rows, count = peer.beam_batch, peer.beam_sentences
    # slow decoders take every n-th sentence, so that the lengths stay those of the whole set
    sentences = workload.sources(SENTENCES)[:: SENTENCES // count][:count]
    seconds = cpu = 0.0

    def decode(source: torch.Tensor) -> Any:
        return peer.beam(source, beam_size) if beam_size > 1 else peer.greedy(source)

    with torch.no_grad():
        decode(workload.rectangle(sentences[: min(rows, 2)]))
        for i in range(0, count, rows):
            source = workload.rectangle(sentences[i : i + rows])
            wall, own, out = machine.timed(decode, source)
            seconds, cpu = seconds + wall, cpu + own
            written = [len(row) for row in out]
            if written != [NEW_TOKENS] * len(source):
                raise RuntimeError(f"{NEW_TOKENS} tokens a sentence were asked for, and {written} came")
    lengths, wanted = [len(s) for s in sentences], [NEW_TOKENS] * count
    flops = workload.encode_flops(shape, lengths) + workload.decode_flops(shape, lengths, wanted, beam_size)
    sizes = {"sentences": count, "tokens": count * NEW_TOKENS, "batch": rows}
    return {"seconds": seconds, "cpu": cpu, **sizes, "rss_mib": machine.peak_memory_mib(), "flops": flops}


def run_limit() -> dict[str, float]:
    """The machine's own limit: GFLOP a second, and a CPU second, of float32 matrix products, best of six."""
    out = {}
    for m, k, n in (*MATRICES, (32, 512, 2048)):
        a, b = torch.randn(m, k), torch.randn(n, k).T  # the layout of nn.Linear
        repeat = max(1, int(2e10 / (2 * m * k * n)))  # about 0.2 s: the clock of CPU time is coarse

        def products(a: torch.Tensor = a, b: torch.Tensor = b, repeat: int = repeat) -> None:
            for _ in range(repeat):
                torch.mm(a, b)

        wall, cpu = zip(*[machine.timed(products)[:2] for _ in range(6)], strict=True)
        work = repeat * 2 * m * k * n / 1e9
        out[f"{m}x{k}x{n}"], out[f"cpu {m}x{k}x{n}"] = work / min(wall), work / min(cpu)
    x = torch.randn(64 * 2**20)
    out["read_GB_s"] = 4 * x.numel() / min(machine.timed(x.sum)[0] for _ in range(8)) / 1e9
    return out


def answer(name: str, task: str) -> dict[str, Any]:
    """Do one task with a fresh adapter; a peer that cannot is a result, not a crash."""
    torch.manual_seed(0)
    try:
        if task == "limit":
            return run_limit()
        run = run_train if task.startswith("train") else run_decode
        return run(registry.create(name), task)
    except Exception as error:
        traceback.print_exc()
        return {"error": f"{type(error).__name__}: {error}"[:300]}


def main(name: str) -> None:
    """Serve tasks from stdin until it closes."""
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    reply = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a library prints goes to the log
    print("ready", file=reply, flush=True)
    for line in sys.stdin:
        result = answer(name, json.loads(line))
        gc.collect()  # model and optimiser must be gone before the next peer runs
        ctypes.CDLL("libc.so.6").malloc_trim(0)
        print(json.dumps(result), file=reply, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])

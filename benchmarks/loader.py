"""The data loader: does it keep up with the model, with the bare tokenizer library, and with corpora of any size?"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from annotated.config import DataConfig, TrainingConfig
from annotated.data import TokenBatches, Tokenizer, TokenStore, open_corpus
from benchmarks import machine

REAL = Path("../shared/data/en-de/train.tsv.zst")
BATCH_TOKENS = 2048
POOL_PAIRS = 16_384
PROMISES = {
    "loader_to_model": 20.0,
    "from_text_to_model": 20.0,
    "encoding_to_bare_library": 0.9,
    "largest_to_smallest_memory": 1.1,
}
"""The first three at least, the last at most. `from_text_to_model` counts the first epoch's encoding too."""


def sentences(spec: str, count: int) -> list[tuple[str, str]]:
    """The first pairs of a corpus."""
    return list(itertools.islice(open_corpus(spec, "train", DataConfig(classroom_pairs=count)), count))


def encoding(tokenizer_file: Path, texts: list[str], rounds: int) -> dict[str, Any]:
    """`Tokenizer.encode_batch` against the library under it, interleaved: medians of characters a CPU second."""
    import tokenizers

    ours, bare = Tokenizer.load(tokenizer_file), tokenizers.Tokenizer.from_file(str(tokenizer_file))

    def library(texts: list[str]) -> list[list[int]]:
        return [encoded.ids for encoded in bare.encode_batch_fast(texts, add_special_tokens=False)]

    if ours.encode_batch(texts[:1000]) != library(texts[:1000]):
        raise ValueError("the two do not give the same ids, so their rates cannot be compared")
    rates: dict[str, list[float]] = {"ours": [], "bare": []}
    characters = sum(map(len, texts))
    both: list[tuple[str, Callable[..., Any]]] = [("ours", ours.encode_batch), ("bare", library)]
    for number in range(rounds):
        for name, encode in both if number % 2 else both[::-1]:
            rates[name].append(characters / machine.timed(encode, texts)[1])
    ratios = [a / b for a, b in zip(rates["ours"], rates["bare"], strict=True)]
    medians = {f"{name}_characters_cpu_s": statistics.median(values) for name, values in rates.items()}
    return {**medians, "encoding_to_bare_library": statistics.median(ratios)}


def appetite(store: TokenStore, rounds: int) -> dict[str, Any]:
    """Tokens a second out of the loader and into a base model, in turns: medians, and the median of the ratios."""
    import torch

    from annotated.model import Transformer
    from annotated.speed.steps import FastStep
    from annotated.training.update import update
    from benchmarks.peers.project import model_config
    from benchmarks.peers.workload import SHAPES

    model = Transformer(model_config(SHAPES["base"], vocab_size=store.info.vocab_size))
    ours = FastStep(model, TrainingConfig())
    batches = TokenBatches(store, BATCH_TOKENS, seed=0, pool_pairs=POOL_PAIRS)

    def load(count: int = 300) -> int:
        return sum(b.source_tokens + b.target_tokens for b in itertools.islice(batches, count))

    def step() -> int:
        batch = next(batches)
        update(ours, [batch], batch.target_tokens, 0.0)
        return batch.source_tokens + batch.target_tokens

    loaded: list[float] = []
    eaten: list[float] = []
    torch.manual_seed(0)
    load()
    step()
    for _ in range(rounds):
        for call, rates in ((load, loaded), (step, eaten)):
            _, cpu, tokens = machine.timed(call)
            rates.append(tokens / cpu)
    ratio = statistics.median(a / b for a, b in zip(loaded, eaten, strict=True))
    medians = {"loader_tokens_cpu_s": statistics.median(loaded), "model_tokens_cpu_s": statistics.median(eaten)}
    return {**medians, "loader_to_model": ratio}


def anonymous_mib() -> float:
    """Memory of this process that no file backs. Pages of a mapped file are the system's to take back."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return int(next(line for line in lines if line.startswith("RssAnon")).split()[1]) / 1024


def child(corpus: str, tokenizer_file: str, folder: str) -> None:
    """In a process of its own: encode a corpus, run through an epoch, and say how much memory that took."""
    peak = 0.0

    def watched(pairs: Any) -> Iterator[Any]:
        nonlocal peak
        for number, pair in enumerate(pairs):
            if number % 5000 == 0:
                peak = max(peak, anonymous_mib())
            yield pair

    pairs = open_corpus(corpus, "train", DataConfig())
    began = time.perf_counter()
    tokenizer = Tokenizer.load(tokenizer_file)
    store = TokenStore.build(folder, watched(pairs), tokenizer, max_length=256, corpus=pairs.identity)
    built, tokens = time.perf_counter() - began, store.info.source_tokens + store.info.target_tokens
    building, peak = peak, 0.0
    batches = TokenBatches(store, BATCH_TOKENS, seed=0, pool_pairs=POOL_PAIRS)
    for number, _ in enumerate(iter(lambda: next(batches) if batches.epoch == 0 else None, None)):
        if number % 50 == 0:
            peak = max(peak, anonymous_mib())
    sizes = {"pairs": len(store), "tokens": tokens, "text_tokens_s": tokens / built}
    print(json.dumps({**sizes, "encoding_mib": building, "epoch_mib": peak}))


def memory(pairs: list[tuple[str, str]], tokenizer_file: Path, sizes: Sequence[int], work: Path) -> dict[str, Any]:
    """The same for corpora of growing size (the text repeated), one process each."""
    rows = []
    for size in sizes:
        corpus = work / f"{size}.tsv"
        with open(corpus, "w", encoding="utf-8") as file:
            for source, target in itertools.islice(itertools.cycle(pairs), size):
                file.write(f"{source}\t{target}\n")
        call = [sys.executable, "-m", "benchmarks.loader", "--child", str(corpus), str(tokenizer_file)]
        environment = {**os.environ, "TOKENIZERS_PARALLELISM": "true"}
        done = subprocess.run(
            [*call, str(work / f"{size}")], check=True, capture_output=True, text=True, env=environment
        )
        rows.append(json.loads(done.stdout))
        print(f"  {size} pairs: {rows[-1]}", flush=True)
        corpus.unlink()
    ratios = [rows[-1][name] / rows[0][name] for name in ("encoding_mib", "epoch_mib")]
    return {"sizes": rows, "largest_to_smallest_memory": max(ratios)}


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks loader", description=__doc__)
    parser.add_argument("--corpus", help="as for `annotated train` (default: the real text if it is there)")
    parser.add_argument("--pairs", type=int, default=40_000, help="pairs of it to use (default %(default)s)")
    parser.add_argument("--sizes", default="40000,160000,640000", help="pairs, for memory (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="default %(default)s")
    parser.add_argument("--out", type=Path, default=Path("build/benchmarks/loader.json"), help="default %(default)s")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> None:
    """Measure all three, print and write them."""
    options = parse(arguments)
    if options.child:
        return child(*options.child)
    spec = options.corpus or (str(REAL) if REAL.exists() else "classroom")
    if not options.corpus and spec == "classroom":
        print("*** the real text is not there: measuring on the classroom corpus", file=sys.stderr)
    pairs = sentences(spec, options.pairs)
    texts = list(itertools.chain.from_iterable(pairs))
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        tokenizer = Tokenizer.train(texts, 8000)
        tokenizer.save(work / "tokenizer.json")
        result = encoding(work / "tokenizer.json", texts, options.rounds)
        store = TokenStore.build(work / "store", pairs, tokenizer, max_length=256)
        result |= appetite(store, options.rounds)
        result |= memory(pairs, work / "tokenizer.json", [int(n) for n in options.sizes.split(",")], work)
    cores = os.cpu_count() or 1
    result["from_text_to_model"] = result["sizes"][-1]["text_tokens_s"] / (result["model_tokens_cpu_s"] * cores)
    command = "python -m benchmarks loader " + " ".join(arguments)
    about = {"command": command.strip(), "corpus": spec, "machine": machine.describe()}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps({**about, **result}, indent=1) + "\n", encoding="utf-8")
    for name, bound in PROMISES.items():
        at_most = name == "largest_to_smallest_memory"
        met = result[name] <= bound if at_most else result[name] >= bound
        sign = "<=" if at_most else ">="
        print(f"{name}: {result[name]:.2f} (promised {sign} {bound:g}: {'met' if met else 'NOT MET'})")


if __name__ == "__main__":
    main(sys.argv[1:])

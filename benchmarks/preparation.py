"""Preparing a corpus: pairs a minute of every stage, encoding beside the bare library, memory and its growth."""

from __future__ import annotations

import argparse
import itertools
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from annotated.data import Tokenizer
from annotated.data.store_files import StoreInfo
from annotated.text.text_files import raw_lines
from annotated.wmt14 import Preparation, PreparationOptions, PreparedCorpus, encode
from annotated.wmt14.overlap import first_of_each
from annotated.wmt14.sources import of_files
from annotated.wmt14.workers import in_order
from benchmarks import machine

REAL = Path("../shared/data/en-de")
PAIRS_OF_THE_PAPER = {"en-de": 4_508_785, "en-fr": 36_000_000}
PROMISES = {"encode_to_bare_library": 0.9, "slowest_other_stage_to_encode": 1.0, "projected_gib_en_fr": 4.0}
"""The first two at least, the last at most."""
_BARE_BATCH = 8192


def whole(text: Path, valid: Path, test: Path, folder: Path, jobs: int) -> dict[str, Any]:
    """Prepare a corpus in this process: wall and CPU seconds and peak memory of each stage."""
    stages: dict[str, dict[str, float]] = {}
    marks: list[tuple[str, float, float]] = []

    def close() -> None:
        if marks:
            name, wall, cpu = marks[-1]
            peak = round(machine.peak_memory_mib(), 1)
            stages[name] = {"wall_s": time.perf_counter() - wall, "cpu_s": _cpu() - cpu, "peak_mib": peak}

    def note(stage: str, done: int, total: int | None) -> None:
        if (done, total) == (0, None):  # a stage begins
            close()
            marks.append((stage, time.perf_counter(), _cpu()))
            machine.reset_peak_memory()

    sources = of_files({"text": text}, valid, test, "en-de")
    Preparation(sources, folder, jobs=jobs, progress=note, quiet=True).run()
    close()
    corpus = PreparedCorpus.open(folder)
    workers = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return {"pairs": len(corpus.train), "stages": stages, "largest_worker_mib": round(workers, 1)}


def _cpu() -> float:
    """CPU seconds of this process and of those that it has waited for."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def encoding(folder: Path, pairs: int, rounds: int, jobs: int, work: Path) -> dict[str, float]:
    """The stage's own encoding, to files, beside the bare library's, to lists: medians of pairs a second."""
    import tokenizers

    text = work / "some.tsv"
    lines = list(itertools.islice(raw_lines(folder / "train.tsv"), pairs))
    text.write_bytes(b"\n".join([*lines, b""]))
    tokenizer = Tokenizer.load(folder / "tokenizer.json")
    bare = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    info = StoreInfo(vocab_size=tokenizer.vocab_size, max_length=256, tokenizer=tokenizer.fingerprint)
    tokens = []

    def ours(number: int) -> None:
        writer = encode.ShardWriter(text, work / f"shards-{number}", tokenizer, info)
        infos = [made for _, made in in_order(writer, encode.ranges(text, pairs // (4 * jobs)), jobs)]
        total = encode.join(work / f"shards-{number}", infos, work / f"store-{number}")
        tokens.append(total.source_tokens + total.target_tokens - 2 * total.pairs)

    def library(_: int) -> None:
        texts = [side for line in lines for side in line.decode().split("\t")]
        count = 0
        for start in range(0, len(texts), _BARE_BATCH):
            encoded = bare.encode_batch_fast(texts[start : start + _BARE_BATCH], add_special_tokens=False)
            count += sum(len(ids) for ids in [one.ids for one in encoded])
        tokens.append(count)

    rates: dict[str, list[float]] = {"ours_wall": [], "bare_wall": [], "ours_cpu": [], "bare_cpu": []}
    for number in range(rounds):
        for name, call in (("ours", ours), ("bare", library))[:: 1 if number % 2 else -1]:
            wall, cpu = time.perf_counter(), _cpu()
            call(number)
            rates[f"{name}_wall"].append(pairs / (time.perf_counter() - wall))
            rates[f"{name}_cpu"].append(pairs / (_cpu() - cpu))
    if len(set(tokens)) != 1:
        raise ValueError(f"the two do not give the same tokens ({set(tokens)}), so their rates cannot be compared")
    ratios = {
        f"{clock}_ratio": statistics.median(
            a / b for a, b in zip(rates[f"ours_{clock}"], rates[f"bare_{clock}"], strict=True)
        )
        for clock in ("wall", "cpu")
    }
    return {**{name: statistics.median(values) for name, values in rates.items()}, **ratios}


def duplicates(pairs: int) -> dict[str, float]:
    """Finding duplicates among as many hashes as English-French has pairs: measured, not projected."""
    hashes = np.random.default_rng(0).integers(0, 1 << 63, pairs, dtype=np.uint64)
    machine.reset_peak_memory()
    before = machine.peak_memory_mib()
    wall, cpu, keep = machine.timed(first_of_each, hashes)
    grown = machine.peak_memory_mib() - before
    return {
        "pairs": pairs,
        "kept": int(keep.sum()),
        "wall_s": wall,
        "cpu_s": cpu,
        "grown_mib": grown,
        "hashes_mib": hashes.nbytes / 2**20,
    }


def growth(rows: Sequence[dict[str, Any]], pairs: int) -> dict[str, Any]:
    """What more pairs cost in memory, from the two largest sizes, and what that makes of `pairs`: a projection.

    The tokenizer sees at most so many pairs as its option says; new words become rarer as a text grows, so a straight
    line says more than it will need. Encoding holds no pairs: what grows there is what the tokenizer's training left.
    """
    small, large = rows[-2], rows[-1]
    result = {}
    for name in large["stages"]:
        low, high = (row["stages"][name]["peak_mib"] for row in (small, large))
        slope = (high - low) * 2**20 / (large["pairs"] - small["pairs"])
        count = min(pairs, PreparationOptions().tokenizer_pairs) if name in ("tokenizer", "encode") else pairs
        projected = (high + slope * max(0, count - large["pairs"]) / 2**20) / 1024
        result[name] = {"bytes_a_pair": round(slope, 1), "projected_gib": round(projected, 2)}
    return result


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks preparation", description=__doc__)
    parser.add_argument("--sizes", default="60000,120000,240000", help="pairs of the real text (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="of encoding beside the library (default %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default %(default)s)")
    parser.add_argument("--data", type=Path, default=REAL, help="folder of train.tsv.zst, valid.tsv, test.tsv")
    parser.add_argument(
        "--out", type=Path, default=Path("build/benchmarks/preparation.json"), help="default %(default)s"
    )
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> None:
    """Measure, print and write."""
    options = parse(arguments)
    valid, test = options.data / "valid.tsv", options.data / "test.tsv"
    if options.child:
        text, folder, what = options.child
        if what == "duplicates":
            print(json.dumps(duplicates(PAIRS_OF_THE_PAPER["en-fr"])))
        else:
            print(json.dumps(whole(Path(text), valid, test, Path(folder), options.jobs)))
        return
    if not (options.data / "train.tsv.zst").exists():
        print(f"*** {options.data} is not there: preparation is NOT measured", file=sys.stderr)
        return
    result = measure(options)
    command = " ".join(["python -m benchmarks preparation", *arguments])
    about = {"command": command.strip(), "corpus": str(options.data), "machine": machine.describe()}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps({**about, **result}, indent=1) + "\n", encoding="utf-8")
    show(result)


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """All of it; each size in a process of its own."""
    load, began, used = os.getloadavg()[0], time.perf_counter(), machine.cpu_seconds()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        for size in map(int, options.sizes.split(",")):
            text = work / f"{size}.tsv"
            text.write_bytes(b"\n".join([*itertools.islice(raw_lines(options.data / "train.tsv.zst"), size), b""]))
            rows.append(_child(options, text, work / f"{size}", "whole"))
            print(f"  {size} pairs: {rows[-1]}", flush=True)
        largest = work / options.sizes.split(",")[-1]
        bare = encoding(largest, int(options.sizes.split(",")[0]), options.rounds, options.jobs, work)
        found = _child(options, text, largest, "duplicates")
    cores = options.jobs
    last = rows[-1]
    rates = {name: cores * 60 * last["pairs"] / stage["cpu_s"] / 1e6 for name, stage in last["stages"].items()}
    others = {name: rate for name, rate in rates.items() if name != "encode"}
    seconds = time.perf_counter() - began
    mine = sum(stage["cpu_s"] for row in rows for stage in row["stages"].values())
    projected = growth(rows, PAIRS_OF_THE_PAPER["en-fr"])
    return {
        "load": {
            "before": load,
            "after": os.getloadavg()[0],
            "machine_cpu_s": machine.cpu_seconds() - used,
            "stages_cpu_s": mine,
            "seconds": seconds,
        },
        "sizes": rows,
        "million_pairs_a_minute": {name: round(rate, 2) for name, rate in rates.items()},
        "encoding": bare,
        "duplicates_en_fr": found,
        "growth": projected,
        "encode_to_bare_library": bare["wall_ratio"],
        "slowest_other_stage": min(others, key=others.__getitem__),
        "slowest_other_stage_to_encode": min(others.values()) / rates["encode"],
        "projected_gib_en_fr": max(stage["projected_gib"] for stage in projected.values()),
    }


def _child(options: argparse.Namespace, text: Path, folder: Path, what: str) -> dict[str, Any]:
    call = [sys.executable, "-m", "benchmarks", "preparation", "--child", str(text), str(folder), what]
    call += ["--jobs", str(options.jobs), "--data", str(options.data)]
    return json.loads(subprocess.run(call, check=True, capture_output=True, text=True).stdout)


def show(result: dict[str, Any]) -> None:
    """The rates and the promises."""
    for name, rate in result["million_pairs_a_minute"].items():
        print(f"{name:<12} {rate:8.2f} million pairs a minute of two free cores (from CPU seconds)")
    for name, bound in PROMISES.items():
        at_most = name.startswith("projected")
        met = result[name] <= bound if at_most else result[name] >= bound
        sign = "<=" if at_most else ">="
        print(f"{name}: {result[name]:.2f} (promised {sign} {bound:g}: {'met' if met else 'NOT MET'})")


if __name__ == "__main__":
    main(sys.argv[1:])

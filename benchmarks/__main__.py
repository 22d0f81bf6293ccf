"""`python -m benchmarks COMMAND`: every number of the project about speed and memory.

    book       weight, seconds until usable, layout shift and slider repaint of the built book's pages (needs Chromium)
    live       milliseconds of the model in the page: first token, whole sentence, with each part off (needs Chromium)
    peers      training and decoding beside the peers, round-robin in one run; prints the promises
    table      the tables of an earlier `peers` run
    loader     the data loader against the model's appetite, the bare tokenizer library, and growing corpora
    preparation  pairs a minute of each stage from archives to training data, memory, encoding beside the bare library
    data_parallel  what exchanging gradients costs two processes of a base step, and what the loader does
    gpu        paper-sized steps in every mode of ours, beside the peers (needs a GPU)
    gpu-aot    the step compiled for GPUs that are not there: what the generated code starts, moves and reads
    few_rows   products of a decoder's few rows, as `F.linear` and with their sides exchanged
    translation  sentences a second with beam 4, beside MarianMT's `generate` and CTranslate2
    grading    a class of right answers: seconds to begin and to grade, and the grader's own memory
    curves     loss curves of one recipe under several training configurations: what an option of speed does to the loss
    doctor     `annotated doctor` on public implementations: the record that the book shows
    real_text  a small model on real text for a budget of seconds, beside The Annotated Transformer's own code
    rounding   training curves of options that change rounding: the residual stream in bfloat16, FlexAttention
    small_tasks  twelve kinds of small text under the training that fits them: does any end below its best?
    quick      what `make benchmark` runs: `peers` with one round on the tasks that take seconds, then `loader`

`python -m benchmarks COMMAND --help` lists the options; benchmarks/README.md says how to read what comes out.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

COMMANDS = (
    "book",
    "live",
    "peers",
    "table",
    "loader",
    "preparation",
    "data_parallel",
    "gpu",
    "gpu-aot",
    "few_rows",
    "translation",
    "grading",
    "curves",
    "doctor",
    "real_text",
    "rounding",
    "small_tasks",
    "quick",
)


def peers_command(arguments: Sequence[str]) -> None:
    """The harness of benchmarks/peers."""
    from benchmarks.peers import driver, registry, report

    parser = argparse.ArgumentParser(prog="python -m benchmarks peers", description=driver.__doc__)
    known = ", ".join(registry.PEERS)
    suffixes = ", ".join(registry.VARIANTS)
    parser.add_argument("--only", help=f"comma-separated peers, of {known}; suffixes {suffixes} make variants")
    parser.add_argument("--tasks", default=",".join(report.TASKS), help="comma-separated (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="default %(default)s; about 8 minutes each")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="of every worker (default: all cores)")
    parser.add_argument("--out", type=Path, default=Path("build/benchmarks/peers.json"), help="default %(default)s")
    parser.add_argument("--append", action="store_true", help="add rounds to the records in --out")
    options = parser.parse_args(arguments)
    names = options.only.split(",") if options.only else [*registry.DEFAULT, *registry.SAME_DROPOUT]
    driver.run(names, options.tasks.split(","), options.rounds, options.threads, options.out, options.append)


def table_command(arguments: Sequence[str]) -> None:
    """The tables of a results file."""
    from benchmarks.peers import report

    parser = argparse.ArgumentParser(prog="python -m benchmarks table", description=table_command.__doc__)
    parser.add_argument("file", type=Path, nargs="?", default=Path("build/benchmarks/peers.json"))
    print(report.tables(json.loads(parser.parse_args(arguments).file.read_text())["records"]))


def quick_command(arguments: Sequence[str]) -> None:
    """One round on the quick tasks, then the loader."""
    peers = ["--tasks", "train_small,train_ragged,greedy", "--rounds", "1"]
    only = ["--only", "annotated,torch_nn_bucketed,hf_marian,ctranslate2_fp32"]
    peers_command([*peers, *only, "--out", "build/benchmarks/quick.json", *arguments])
    importlib.import_module("benchmarks.loader").main([])


def main(arguments: Sequence[str]) -> None:
    """Dispatch to a command."""
    if not arguments or arguments[0] not in COMMANDS:
        print(__doc__)
        asked_for_help = bool(arguments) and arguments[0] in ("-h", "--help")
        if arguments and not asked_for_help:
            print(f"no command {arguments[0]!r}", file=sys.stderr)
        raise SystemExit(0 if asked_for_help else 2)
    command, rest = arguments[0], arguments[1:]
    own = {"peers": peers_command, "table": table_command, "quick": quick_command}
    try:
        module = command.replace("-", ".")
        (own[command] if command in own else importlib.import_module(f"benchmarks.{module}").main)(rest)
    except (ValueError, OSError) as error:
        raise SystemExit(f"benchmarks: {error}") from error


if __name__ == "__main__":
    main(sys.argv[1:])

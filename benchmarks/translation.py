"""Sentences a second with beam 4, as many as newstest2014 has: beside MarianMT's `generate` and CTranslate2.

All decode with the same weights, in the same batches of like length, in turns in one process; what counts is CPU
seconds of all threads, ratios inside a round, then the median over rounds. Tokens in, tokens out: no text is touched.

Two tasks. `trained`: a model folder (the classroom model unless --model names another) on 3,003 sentences; it ends its
translations by itself, and `by_option` is this library with `--engine ctranslate2`. `base`: the paper's base shape with
random weights, sentences of ragged lengths, each batch made to write as many tokens as its longest source has; every
n-th sentence, for all of them take an hour on two cores.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from annotated.config import BOS, EOS, PAD, DecodingConfig
from benchmarks import machine
from benchmarks.peers import workload
from benchmarks.peers.workload import SHAPES

NEWSTEST = 3003
DECODING = DecodingConfig()
Ids = list[list[int]]
Engine = Callable[[Ids, int | None], Ids]
"""From sources, and how many tokens to write (None: until each ends by itself), to translations."""
PROMISES = (("hf_marian", 1.2), ("ctranslate2_fp32", 0.6))


def ours(model: Any, order: Sequence[int] | None = None) -> Engine:
    """The library's beam search; `order`: for each id of the model the others' id."""
    from annotated.decoding import beam_search

    number = None if order is None else {theirs: index for index, theirs in enumerate(order)}

    def translate(sources: Ids, new_tokens: int | None) -> Ids:
        if number and order:
            renumbered = translate_own([[number[token] for token in row] for row in sources], new_tokens)
            return [[order[token] for token in row] for row in renumbered]
        return translate_own(sources, new_tokens)

    def translate_own(sources: Ids, new_tokens: int | None) -> Ids:
        how: dict[str, Any] = {} if new_tokens is None else {"max_new_tokens": new_tokens, "forbidden": [EOS]}
        found = beam_search(model, workload.rectangle(sources), DECODING.beam_size, DECODING.alpha, **how)
        return [best[0].tokens for best in found]

    return translate


def hf_marian(marian: Any, padding: int) -> Engine:
    """`generate` with its cache."""

    def translate(sources: Ids, new_tokens: int | None) -> Ids:
        source = workload.rectangle(sources)
        mask = (source != PAD).long()
        most = new_tokens or source.size(1) + DECODING.extra_tokens
        lengths = {"max_new_tokens": most, **({} if new_tokens is None else {"min_new_tokens": most})}
        beam = {"num_beams": DECODING.beam_size, "length_penalty": DECODING.alpha, "do_sample": False}
        with torch.inference_mode():
            found = marian.generate(source.masked_fill(source == PAD, padding), attention_mask=mask, **beam, **lengths)
        rows = [row[1:] for row in found.tolist()]
        return rows if new_tokens else [row[: row.index(EOS)] if EOS in row else row for row in rows]

    return translate


def ctranslate2(folder: Path, compute_type: str, names: Sequence[str], suppressed: Sequence[int], eos: bool) -> Engine:
    """The C++ engine; `eos`: sources are to end in it."""
    import ctranslate2 as engine

    threads = {"inter_threads": 1, "intra_threads": torch.get_num_threads()}
    translator = engine.Translator(str(folder), compute_type=compute_type, **threads)
    number = {name: index for index, name in enumerate(names)}
    never = [[names[index]] for index in suppressed] or None

    def translate(sources: Ids, new_tokens: int | None) -> Ids:
        longest = max(map(len, sources))
        most = new_tokens or longest + DECODING.extra_tokens
        lengths = {"max_decoding_length": most, "min_decoding_length": new_tokens or 0}
        beam = {"beam_size": DECODING.beam_size, "length_penalty": DECODING.alpha, "suppress_sequences": never}
        rows = [[names[index] for index in (row if eos else row[:-1])] for row in sources]
        found = translator.translate_batch(rows, **beam, **lengths)
        return [[number[name] for name in result.hypotheses[0]] for result in found]

    return translate


def by_option(model: Any, tokenizer: Any, compute_type: str) -> Engine:
    """The library's own search through CTranslate2, as `annotated translate --engine ctranslate2` does it."""
    from annotated import Translator

    translator = Translator(model, tokenizer, DECODING, engine="ctranslate2", compute_type=compute_type)

    def translate(sources: Ids, new_tokens: int | None) -> Ids:
        how = DECODING if new_tokens is None else DECODING.replace(max_new_tokens=new_tokens)
        return [best[0].tokens for best in translator._search(sources, how)]

    return translate


def trained_engines(folder: str, scratch: Path) -> tuple[Any, dict[str, Engine]]:
    """The translator of a model folder, and the engines with its weights."""
    import annotated
    from annotated.interop import export_ctranslate2, to_marian
    from annotated.interop._common import pieces

    translator = annotated.load(folder)
    model, tokenizer = translator.model.eval(), translator.tokenizer
    exported = export_ctranslate2(model, tokenizer, scratch / "trained")
    os.environ["ANNOTATED_CACHE"] = str(scratch / "cache")  # what the option converts goes with the rest
    common: dict[str, Any] = {"names": pieces(tokenizer), "suppressed": (PAD, BOS), "eos": False}
    return translator, {
        "annotated": ours(model),
        "by_option_fp32": by_option(model, tokenizer, "float32"),
        "by_option_int8": by_option(model, tokenizer, "int8"),
        "hf_marian": hf_marian(to_marian(model).eval(), PAD),
        "ctranslate2_fp32": ctranslate2(exported, "float32", **common),
        "ctranslate2_int8": ctranslate2(exported, "int8", **common),
    }


def base_engines(shape: workload.Shape, scratch: Path) -> dict[str, Engine]:
    """The engines with the same random weights, Marian's."""
    from annotated.interop import from_marian, marian_order
    from benchmarks.peers.packages import CTranslate2, marian

    theirs = marian(shape).eval()
    order = marian_order(theirs.config)
    names = CTranslate2().save(shape, scratch / "base")
    common: dict[str, Any] = {"names": names, "suppressed": (), "eos": True}
    return {
        "annotated": ours(from_marian(theirs, order).eval(), order),
        "hf_marian": hf_marian(theirs, shape.vocab - 1),
        "ctranslate2_fp32": ctranslate2(scratch / "base", "float32", **common),
        "ctranslate2_int8": ctranslate2(scratch / "base", "int8", **common),
    }


def batches_of(sources: Ids, tokens: int) -> list[Ids]:
    """Sentences of like length, at most `tokens` a batch with padding."""
    batches: list[Ids] = [[]]
    for source in sorted(sources, key=len):
        if batches[-1] and len(source) * (len(batches[-1]) + 1) > tokens:
            batches.append([])
        batches[-1].append(source)
    return batches


def compare(engines: dict[str, Engine], sources: Ids, rounds: int, batch_tokens: int, forced: bool) -> dict[str, Any]:
    """All engines in turns over the same batches."""
    batches = batches_of(sources, batch_tokens)
    orders = [(batch, max(map(len, batch)) if forced else None) for batch in batches]
    cpu: dict[str, list[float]] = {name: [] for name in engines}
    wall: dict[str, list[float]] = {name: [] for name in engines}
    written: dict[str, list[Ids]] = {}
    for translate in engines.values():
        translate(batches[0][:2], 4 if forced else None)
    names = list(engines)
    for number in range(rounds):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            taken = [machine.timed(engines[name], *order) for order in orders]
            wall[name].append(sum(one[0] for one in taken))
            cpu[name].append(sum(one[1] for one in taken))
            written[name] = [one[2] for one in taken]
            rate = len(sources) / cpu[name][-1]
            print(f"round {number + 1}: {name:18} {rate:8.1f} sentences a CPU second", flush=True)
    rows = {}
    for name in engines:
        pairs = [
            (a, b) for x, y in zip(written[name], written["annotated"], strict=True) for a, b in zip(x, y, strict=True)
        ]
        rows[name] = {
            "sentences_per_cpu_second": len(sources) / statistics.median(cpu[name]),
            "sentences_per_second": len(sources) / min(wall[name]),
            "annotated_to_this": statistics.median(b / a for a, b in zip(cpu["annotated"], cpu[name], strict=True)),
            "tokens_written": sum(len(row) for batch in written[name] for row in batch),
            "same_as_annotated": sum(a == b for a, b in pairs) / len(pairs),
            "cpu_seconds": cpu[name],
        }
    work = {"sentences": len(sources), "source_tokens": sum(map(len, sources)), "batches": len(batches)}
    return {**work, "engines": rows}


def trained_sources(translator: Any, path: Path | None, sentences: int) -> Ids:
    """Sentences as ids with eos: of a file, one a line (a TSV: its first column), or the classroom's test split."""
    if path is None:
        from annotated.classroom import classroom_pairs

        texts = [pair.source for pair in classroom_pairs("test", sentences)]
    else:
        texts = [line.split("\t")[0] for line in path.read_text(encoding="utf-8").splitlines()][:sentences]
    return [[*translator.tokenizer.encode(text), EOS] for text in texts]


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The options."""
    how = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m benchmarks translation", description=__doc__, formatter_class=how)
    parser.add_argument("--tasks", default="trained,base", help="comma-separated (default %(default)s)")
    parser.add_argument("--model", default="classroom", help="a model folder for `trained` (default %(default)s)")
    parser.add_argument("--sources", type=Path, help="its sentences, one a line or a TSV (default: the classroom's)")
    parser.add_argument("--sentences", type=int, default=NEWSTEST, help="default %(default)s")
    parser.add_argument("--every", type=int, default=30, help="`base` takes every n-th sentence (default %(default)s)")
    parser.add_argument("--shape", default="base", choices=tuple(SHAPES), help="of `base`; a smaller one to try it out")
    parser.add_argument("--batch-tokens", type=int, default=DECODING.batch_tokens, help="default %(default)s")
    parser.add_argument("--rounds", type=int, default=3, help="default %(default)s")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="default: all cores")
    out = Path("build/benchmarks/translation.json")
    parser.add_argument("--out", type=Path, default=out, help="default %(default)s")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> None:
    """Measure, print and write."""
    options = parse(arguments)
    torch.set_num_threads(options.threads)
    result: dict[str, Any] = {"command": "python -m benchmarks translation " + " ".join(arguments)}
    result |= {"machine": machine.describe(), "threads": options.threads, "load_before": os.getloadavg()}
    result |= {"beam_size": DECODING.beam_size, "alpha": DECODING.alpha, "tasks": {}}
    with tempfile.TemporaryDirectory() as name:
        for task in options.tasks.split(","):
            if task == "trained":
                translator, engines = trained_engines(options.model, Path(name))
                sources, forced = trained_sources(translator, options.sources, options.sentences), False
            else:
                shape, forced = SHAPES[options.shape], True
                engines = base_engines(shape, Path(name))
                sources = [s for s, _ in workload.ragged_pairs(options.sentences, shape.vocab, 3)][:: options.every]
            result["tasks"][task] = compare(engines, sources, options.rounds, options.batch_tokens, forced)
    result["load_after"] = os.getloadavg()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(report(result))


def report(result: dict[str, Any]) -> str:
    """The tables, and whether the promises are kept."""
    lines = []
    for task, found in result["tasks"].items():
        lines.append(f"{task}: {found['sentences']} sentences, {found['source_tokens']} source tokens")
        for name, row in found["engines"].items():
            rate, ratio = row["sentences_per_cpu_second"], row["annotated_to_this"]
            same = f"{row['same_as_annotated']:.1%} the same translations"
            speed = f"{rate:8.1f} sentences a CPU second; annotated is {ratio:.2f} times as fast"
            lines.append(f"  {name:18} {speed}; {same}")
        for name, least in PROMISES:
            ratio = found["engines"][name]["annotated_to_this"]
            lines.append(f"  promised {least} times {name}: {ratio:.2f}, {'kept' if ratio >= least else 'MISSED'}")
    return "\n".join(lines)


if __name__ == "__main__":
    main(sys.argv[1:])

"""Sentences of strangers: `python -m benchmarks strangers MODEL`.

400 everyday English sentences, each with the German translations that are right, written by somebody who had seen
neither the tables nor the grammar of the wide corpus. The half `looked_at` may be read to find what the corpus lacks;
nobody reads the half `held_out` before a model is final, and no choice may rest on it.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import sacrebleu

from annotated.loading import load
from benchmarks.machine import describe

HALVES = ("looked_at", "held_out")
FOLDER = Path(__file__).parent
VERDICTS = ("right", "understandable", "wrong")


def sentences(half: str) -> list[dict[str, Any]]:
    """Those of a half: 'id', 'en', and 'de', the translations that are right."""
    return [json.loads(line) for line in (FOLDER / f"{half}.jsonl").read_text(encoding="utf-8").splitlines()]


def verdicts() -> dict[tuple[int, str], dict[str, Any]]:
    """What was read by hand, by the sentence's number and the translation that was read: 'verdict', perhaps 'why'."""
    lines = (FOLDER / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    return {(row["id"], row["german"]): row for row in map(json.loads, lines)}


def plain(text: str) -> str:
    """Without marks, case and double spaces, which no exact match turns on."""
    return " ".join(re.sub(r"[^\w\s]", " ", text.lower()).split())


def scores(found: list[str], rows: list[dict[str, Any]]) -> dict[str, Any]:
    """BLEU and chrF against all references, exact matches, and the verdicts of those that were read by hand."""
    most = max(len(row["de"]) for row in rows)
    references = [[row["de"][min(i, len(row["de"]) - 1)] for row in rows] for i in range(most)]
    exact = [plain(text) in map(plain, row["de"]) for text, row in zip(found, rows, strict=True)]
    read, known = Counter(), verdicts()
    for text, row in zip(found, rows, strict=True):
        if (row["id"], text) in known:
            read[known[row["id"], text]["verdict"]] += 1
    return {
        "sentences": len(rows),
        "chrf": round(sacrebleu.corpus_chrf(found, references).score, 1),
        "bleu": round(sacrebleu.corpus_bleu(found, references).score, 1),
        "exact": sum(exact),
        "read_by_hand": dict(read),
    }


def main(arguments: Sequence[str]) -> None:
    """Translate, print and write down."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks strangers", description=__doc__)
    parser.add_argument("model", nargs="?", default="classroom-wide", help="a name, or a folder of a model or a run")
    parser.add_argument("--half", choices=HALVES, default="looked_at")
    parser.add_argument("--beam-size", type=int, default=1, help="1, greedy search, is what the page begins with")
    parser.add_argument("--output", type=Path, default=Path("build/benchmarks/strangers.json"))
    chosen = parser.parse_args(arguments)
    rows = sentences(chosen.half)
    translator = load(chosen.model, beam_size=chosen.beam_size)
    found = [str(text) for text in translator.translate([row["en"] for row in rows])]
    result = scores(found, rows)
    known = verdicts()
    for text, row in zip(found, rows, strict=True):
        verdict = known.get((row["id"], text), {}).get("verdict", "not read")
        print(f"{row['id']:4} {'exact' if plain(text) in map(plain, row['de']) else verdict}\t{row['en']}\t{text}")
    print(json.dumps(result))
    command = f"python -m benchmarks strangers {chosen.model} --half {chosen.half} --beam-size {chosen.beam_size}"
    translations = {row["id"]: text for text, row in zip(found, rows, strict=True)}
    chosen.output.parent.mkdir(parents=True, exist_ok=True)
    record = {"command": command, "machine": describe(), **result, "translations": translations}
    chosen.output.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

"""Sentences of strangers: `python -m annotated_book.reference.wide_model.strangers MODEL` translates and scores them.

400 everyday English sentences, each with the German translations that are right, written by somebody who had seen
neither the tables nor the grammar of the wide corpus. The half `looked_at` may be read to find what the corpus lacks;
nobody reads the half `held_out` before a model is final, and no choice may rest on it.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import sacrebleu

from annotated.loading import load
from annotated.translator import Translator

HALVES = ("looked_at", "held_out")
VERDICTS = ("right", "understandable", "wrong")
"""What a reader may say: a teacher would accept it; a German would know what is meant; neither."""
_FOLDER = Path(__file__).parent


def sentences(half: str) -> list[dict[str, Any]]:
    """Those of a half: 'id', 'en', and 'de', the translations that are right."""
    return _lines(half)


def verdicts() -> dict[tuple[int, str], dict[str, Any]]:
    """What was read by hand, by the sentence's number and the translation that was read: 'verdict', perhaps 'why'."""
    return {(row["id"], row["german"]): row for row in _lines("verdicts")}


def faults_of_text() -> list[dict[str, Any]]:
    """Of 400 pairs of the training's kind that were read by hand, those that are not right: 'en', 'german', 'why'."""
    return _lines("text_read")


def _lines(name: str) -> list[dict[str, Any]]:
    text = (_FOLDER / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def plain(text: str) -> str:
    """Without marks, case and double spaces, which no exact match turns on."""
    return " ".join(re.sub(r"[^\w\s]", " ", text.lower()).split())


def is_exact(text: str, row: dict[str, Any]) -> bool:
    """Whether a translation is one of those that are known to be right."""
    return plain(text) in map(plain, row["de"])


def scores(found: Sequence[str], rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """BLEU and chrF against all references, and how many translations are one of them."""
    most = max(len(row["de"]) for row in rows)
    references = [[row["de"][min(i, len(row["de"]) - 1)] for row in rows] for i in range(most)]
    return {
        "sentences": len(rows),
        "chrf": round(sacrebleu.corpus_chrf(found, references).score, 1),
        "bleu": round(sacrebleu.corpus_bleu(found, references).score, 1),
        "exact": sum(is_exact(text, row) for text, row in zip(found, rows, strict=True)),
    }


def read_by_hand(found: Mapping[str, str]) -> Counter[str]:
    """How many of these translations, by their sentences' numbers, got each verdict."""
    known = verdicts()
    return Counter(known[read]["verdict"] for id, text in found.items() if (read := (int(id), text)) in known)


def judged(half: str, found: Mapping[str, str]) -> list[dict[str, Any]]:
    """The translations that were read by hand, the worst first: 'en', 'german', 'de', 'verdict', 'why', 'chrf'.

    Parameters
    ----------
    half
        Of the sentences.
    found
        Translations by the sentence's number, as the record has them.
    """
    known, rows = verdicts(), []
    for row in sentences(half):
        text = found[str(row["id"])]
        if verdict := known.get((row["id"], text)):
            score = round(sacrebleu.sentence_chrf(text, row["de"]).score)
            rows.append({"en": row["en"], "german": text, "de": row["de"][0], "chrf": score, "why": "", **verdict})
    return sorted(rows, key=lambda row: (-VERDICTS.index(row["verdict"]), row["chrf"]))


def greedy(translator: Translator, english: list[str]) -> list[str]:
    """Translations by greedy search, with which the panels of the pages begin."""
    return [str(text) for text in translator.translate(english, beam_size=1)]


def main(arguments: Sequence[str]) -> None:
    """Print each translation, and the scores."""
    parser = argparse.ArgumentParser(prog="strangers", description=__doc__)
    parser.add_argument("model", nargs="?", default="classroom-wide", help="a name, or a folder of a model or a run")
    parser.add_argument("--half", choices=HALVES, default="looked_at")
    chosen = parser.parse_args(arguments)
    rows, known = sentences(chosen.half), verdicts()
    found = greedy(load(chosen.model), [row["en"] for row in rows])
    for text, row in zip(found, rows, strict=True):
        verdict = "exact" if is_exact(text, row) else known.get((row["id"], text), {}).get("verdict", "not read")
        print(f"{row['id']:4} {verdict:14} {row['en']}  |  {text}  |  {row['de'][0]}")
    print(json.dumps(scores(found, rows)))


if __name__ == "__main__":
    main(sys.argv[1:])

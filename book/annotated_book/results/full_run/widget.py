"""A recorded training run to browse: its curves, the translations it wrote, and where its heads looked.

It shows what the live panel (`training_panel`) shows while a run goes on, from the same log and the same files, and
needs no kernel.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from annotated.runs.validation_callbacks import SentenceHeads
from annotated_book.viz.heads import kept_heads
from annotated_book.viz.javascript import KIT, esm
from annotated_book.viz.log_chart import Records, validations
from annotated_book.viz.training_numbers import fraction_of_peak

_HERE = Path(__file__).parent
MOST_POINTS = 150
"""Of one curve; a longer one is thinned."""


class RunPlayback(anywidget.AnyWidget):
    """The widget; `run_playback` makes one from a training run's log.

    `moment` says which validation is shown, from 0, and `price` what an hour costs; both may be set from Python in a
    live notebook.
    """

    _esm = esm(_HERE / "widget.js")
    _css = "\n".join(file.read_text(encoding="utf-8") for file in (KIT / "heads.css", _HERE / "widget.css"))
    run = traitlets.Dict().tag(sync=True)
    heads = traitlets.Bytes().tag(sync=True)
    moment = traitlets.Int(0).tag(sync=True)
    price = traitlets.Float(0.0).tag(sync=True)


def run_playback(
    records: Records,
    heads: Mapping[int, Sequence[SentenceHeads]] | None = None,
    *,
    mark: str,
    title: str = "",
    moment: int | None = None,
    layer: int = 0,
    price: float = 0.0,
) -> RunPlayback:
    """A training run to go through, validation by validation.

    Parameters
    ----------
    records
        Of its log, as `annotated.runs.read_records` gives them.
    heads
        Where its heads looked, by update, as `annotated.runs.validation_callbacks.read_heads` reads them; may be
        empty.
    mark
        What this run is, and what it is not: always in view.
    title
        What to see in it; none unless told.
    moment
        Which validation is shown first, from 0; None for the last.
    layer
        Whose heads are shown first, from 0.
    price
        What an hour costs at first; with 0 no cost is shown.

    Raises
    ------
    ValueError
        If the log has no start or no validation, or there is no such moment.
    """
    starts = [r for r in records if r["kind"] == "start"]
    moments = _moments(records)
    if not starts or not moments:
        raise ValueError("the log has no start, or no validation: there is nothing to go through yet")
    chosen = len(moments) - 1 if moment is None else moment
    if not 0 <= chosen < len(moments):
        raise ValueError(f"moment must be one of the {len(moments)} validations, counted from 0, not {moment}")
    kept, packed = _packed(heads or {})
    start = starts[-1]
    run = {
        "mark": mark,
        "title": title,
        "updates": start["configuration"]["training"]["updates"],
        "curves": _curves(records),
        "moments": moments,
        "events": _events(records),
        "elapsed": _seconds(records, moments, start["configuration"]["training"]["updates"]),
        "peak": fraction_of_peak(start, 1.0),
        "heads": kept,
        "layer": layer,
    }
    return RunPlayback(run=run, heads=packed, moment=chosen, price=price)


def _curves(records: Records) -> dict[str, list[dict[str, list[float]]]]:
    """By measure, one line or two: updates and values; a measure that the log does not hold is left out."""
    train, valid = [r for r in records if r["kind"] == "train"], validations(records)

    def line(rows: Records, field: str) -> list[dict[str, list[float]]]:
        found = [r for r in rows if r.get(field) is not None]
        found = found[:: max(1, math.ceil(len(found) / MOST_POINTS))]
        return [{"u": [r["update"] for r in found], "v": [float(f"{r[field]:.4g}") for r in found]}] if found else []

    perplexities = [{"update": r["update"], "perplexity": math.exp(min(r["valid_loss"], 50.0))} for r in valid]
    found = {
        "loss": line(train, "loss") + line(valid, "valid_loss"),
        "perplexity": line(perplexities, "perplexity"),
        "bleu": line(valid, "bleu"),
        "rate": line(train, "learning_rate"),
        "norm": line(train, "gradient_norm"),
        "speed": line(train, "tokens_per_second"),
    }
    return {name: lines for name, lines in found.items() if lines}


def _moments(records: Records) -> list[dict[str, Any]]:
    said = {r["update"]: r["samples"] for r in records if r["kind"] == "samples" and not r.get("averaged")}
    return [
        {
            "u": r["update"],
            "loss": round(r["valid_loss"], 4),
            "bleu": r.get("bleu"),
            "elapsed": round(r.get("elapsed") or 0.0, 1),
            "samples": [[one["source"], one["translation"]] for one in said.get(r["update"], ())],
        }
        for r in validations(records)
    ]


def _seconds(records: Records, moments: Sequence[Mapping[str, Any]], updates: int) -> float:
    """The time of all updates: what follows the last of them, as the average's validation, is none of it."""
    if moments[-1]["u"] == updates:
        return float(moments[-1]["elapsed"])
    return max(float(r.get("elapsed") or 0.0) for r in records)


def _events(records: Records) -> list[dict[str, Any]]:
    """Where the run was stopped and taken up again."""
    found = []
    for n, record in enumerate(records):
        if record["kind"] == "start" and n:
            text = f"Here, at update {record['update']}, it was stopped and taken up again from its checkpoint."
            found.append({"u": record["update"], "text": text})
    return found


def _packed(heads: Mapping[int, Sequence[SentenceHeads]]) -> tuple[list[dict[str, Any]], bytes]:
    """What is where, and all weights of all moments, a byte each, compressed."""
    kept: list[dict[str, Any]] = []
    chunks: list[bytes] = []
    begin = 0
    for update, sentences in sorted(heads.items()):
        titles = [
            f"{n + 1}. {''.join(s.source_tokens[:-1]).replace('▁', ' ').strip()}" for n, s in enumerate(sentences)
        ]
        shown, weights = kept_heads(sentences, titles)
        kept.append({"u": update, "start": begin, "size": len(weights), "sentences": shown})
        chunks.append(weights)
        begin += len(weights)
    return kept, zlib.compress(b"".join(chunks), 9)

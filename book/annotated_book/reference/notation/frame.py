"""Data of the shape tracer, for its script to take over, and its static twin: a table of the base model's shapes."""

from __future__ import annotations

import inspect
import json
from html import escape
from typing import Any

from annotated.config import ModelConfig, base, big, tiny
from annotated_book.reference.notation.steps import STAGES, Line, TracedStep
from annotated_book.reference.notation.traced import traced

START = {"B": 2, "S": 12, "T": 10}
PRESETS = {"the base model": base(), "the big model": big(), "this library's tiny model": tiny()}


def line_of(line: Line | None) -> str:
    """The line of the library's source, without its comment; empty if there is none.

    Raises
    ------
    ValueError
        If the function has no such line, or several.
    """
    if line is None:
        return ""
    function, fragment = line
    body = inspect.getsource(function).split('"""')[-1]  # behind the docstring, which may speak of it
    found = [text for text in body.splitlines() if fragment in text]
    if len(found) != 1:
        raise ValueError(f"{function.__qualname__} has {len(found)} lines with {fragment!r}; one is needed")
    return found[0].partition("  #")[0].strip()


def sizes(config: ModelConfig) -> dict[str, int]:
    """The numbers of a model, by the letters of the page; K follows from them."""
    return {
        "D": config.d_model,
        "H": config.num_heads,
        "F": config.d_ff,
        "V": config.vocab_size,
        "L": config.num_encoder_layers,
    }


def page_data() -> dict[str, Any]:
    """What the script needs: stages with their steps, presets, and the numbers to start with."""
    return {
        "start": START,
        "presets": [[name, sizes(config)] for name, config in PRESETS.items()],
        "stages": [
            {"title": stage.title, "repeated": stage.repeated, "steps": [_step(step) for step in stage.steps]}
            for stage in STAGES
        ],
    }


def _step(step: TracedStep) -> dict[str, Any]:
    where = step.line[0].__qualname__ if step.line else ""
    return {**step._asdict(), "line": line_of(step.line), "where": where}


def shapes(sentence: str | None) -> str:
    """The data as a script that is not run, and the table that stands there without scripts."""
    data = json.dumps(page_data(), ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    found = traced(base(), START["B"], START["S"], START["T"])
    numbers = ", ".join(f"{letter} = {number}" for letter, number in START.items())
    head = "<thead><tr><th>tensor</th><th>shape</th><th>base model</th></tr></thead>"
    body = "".join(
        f'<tbody><tr><th colspan="3" scope="rowgroup">{escape(stage.title)}</th></tr>'
        + "".join(_row(step, found[step.key]) for step in stage.steps)
        + "</tbody>"
        for stage in STAGES
    )
    caption = f"<caption>Shapes on the way through the base model, {numbers}</caption>"
    return (
        f'<script type="application/json" class="tracer-data">{data}</script>'
        f'<table class="tracer-table">{caption}{head}{body}</table>'
    )


def _row(step: TracedStep, shape: list[int]) -> str:
    name = "".join(
        f"<code>{escape(part)}</code>" if n % 2 else escape(part) for n, part in enumerate(step.name.split("`"))
    )
    shown = ", ".join(f"{number:,}" for number in shape)
    return f"<tr><td>{name}</td><td><code>[{', '.join(step.shape)}]</code></td><td>{shown}</td></tr>"

"""Dropout in the page: its share and its mean, and the translation that it leaves alone at rate 0."""

from __future__ import annotations

from typing import Any

import pytest

from annotated_book.pages import page_folder
from book.tests.javascript import PACKAGE, RANDOM, evaluate

FILE = page_folder("dropout") / "dropped.js"
WORK = """async ({ writtenInTraining }, { data, engine, loader, text }) => {
  const { Engine } = await import(engine), { bytesOfBase64 } = await import(loader);
  const made = new Engine({ ...data, bytes: bytesOfBase64(data.bytes) });
  const written = (p, seed) => writtenInTraining(made, text, p, seed);
  return { whole: made.translation(text).text, none: written(0, 1), again: [written(0.5, 1), written(0.5, 1)],
    calls: [1, 2, 3, 4, 5].map(seed => written(0.5, seed)), after: made.translation(text + " ").text };
}"""


def test_what_is_kept_is_scaled() -> None:
    code = """async ({ drop }, random) => {
      const { randomFrom } = await import(random), x = new Float32Array(20000).fill(1);
      drop(x, 19999, 0.3, randomFrom(7));
      return [...x];
    }"""
    x = evaluate(FILE, code, RANDOM.as_uri())
    assert x[-1] == 1, "beyond the count nothing changes"
    dropped = sum(value == 0 for value in x)
    assert dropped / 20000 == pytest.approx(0.3, abs=0.02)
    assert all(value == 0 or value == pytest.approx(1 / 0.7) for value in x[:-1])


def test_training_mode_changes_translations_and_leaves_the_model_alone(data: dict[str, Any]) -> None:
    engine = PACKAGE / "viz" / "engine"
    job = {"data": data, "engine": (engine / "engine.js").as_uri(), "loader": (engine / "loader.js").as_uri()}
    found = evaluate(FILE, WORK, {**job, "text": "The grandmother opened the green school bag."})
    assert found["none"] == found["whole"] == found["after"]
    assert found["again"][0] == found["again"][1], "a seed repeats"
    assert len(set(found["calls"])) > 1 and any(call != found["whole"] for call in found["calls"])

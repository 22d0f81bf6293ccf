"""The shared matrix in the page: rows, sums and logits are those of the library's model."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import annotated
from annotated.config import BOS, EOS
from annotated_book.pages import page_folder
from book.tests.javascript import PACKAGE, evaluate

USES = page_folder("embeddings") / "uses.js"
TEXT, TARGET = "The old king hears a bird.", "Der alte"
WORK = """async ({ wayIn, wayOut, outputs }, { data, text, target, engineFile, loader, at }) => {
  const { Engine } = await import(engineFile), { bytesOfBase64 } = await import(loader);
  const engine = new Engine({ ...data, bytes: bytesOfBase64(data.bytes) }), found = engine.trace(text, target);
  const { sum, share } = wayIn(engine.transformer, found.source[at], at);
  const z = outputs(found, engine.config.num_decoder_layers)(found.read.length - 1);
  return { id: found.source[at], sum: Array.from(sum), share, ...wayOut(engine.transformer, z) };
}"""
FILES = {
    "engineFile": (PACKAGE / "viz" / "engine" / "engine.js").as_uri(),
    "loader": (PACKAGE / "viz" / "engine" / "loader.js").as_uri(),
}


@torch.no_grad()
def test_both_ways_are_the_librarys(data: dict[str, Any], translator: annotated.Translator) -> None:
    model, at = translator.model.eval(), 2
    source = [*translator.tokenizer.encode(TEXT), EOS]
    given = {"data": data, "text": TEXT, "target": TARGET, "at": at, **FILES}
    found = evaluate(USES, WORK, given)
    assert found["id"] == source[at]
    word, place = model.embedding(torch.tensor([source]))[0, at], model.positions(at + 1)[at]
    assert found["sum"] == pytest.approx((word + place).tolist(), abs=1e-4)
    assert found["share"] == pytest.approx(float(word.square().sum() / (word.square().sum() + place.square().sum())))
    read = [BOS, *translator.tokenizer.encode(TARGET)]
    logits = model(torch.tensor([source]), torch.tensor([read]))[0, -1]
    top = logits.topk(9)
    assert [row[0] for row in found["top"]] == top.indices[:8].tolist()
    assert [row[1] for row in found["top"]] == pytest.approx(top.values[:8].tolist(), abs=2e-2)
    chances = logits.softmax(-1)
    assert found["top"][0][2] == pytest.approx(float(chances.max()), abs=5e-3)
    rest = found["rest"]
    assert rest["count"] == len(logits) - 8 and rest["high"] == pytest.approx(float(top.values[8]), abs=2e-2)
    assert rest["low"] == pytest.approx(float(logits.min()), abs=2e-2)
    assert rest["share"] == pytest.approx(1 - sum(row[2] for row in found["top"]), abs=1e-6)


def test_eight_rows_are_listed_the_chosen_among_them() -> None:
    code = "({ listed }) => [[5, 6, 5, 7], [...Array(12).keys()]].map((ids, i) => listed(ids, i ? 11 : 7))"
    short, long = evaluate(USES, code)
    assert short == [5, 6, 7] and long == list(range(4, 12))

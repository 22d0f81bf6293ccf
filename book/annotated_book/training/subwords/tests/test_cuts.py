"""The cuts of the live panel: those of the library's smaller vocabularies, and the model's translation of each."""

from __future__ import annotations

from typing import Any

import torch

from annotated.config import EOS
from annotated.decoding import greedy_decode
from annotated_book.pages import page_folder
from annotated_book.training.subwords.merges import first_entries
from book.tests.javascript import PACKAGE, evaluate

WORK = """async ({ cutOf, writtenFrom }, { data, engine, loader, texts, merges }) => {
  const { Engine } = await import(engine), { bytesOfBase64 } = await import(loader);
  const made = new Engine({ ...data, bytes: bytesOfBase64(data.bytes) });
  return texts.map(text => merges.map(count => {
    const cut = cutOf(made.tokenizer, text, count);
    return { ...cut, written: writtenFrom(made, cut.ids) };
  }));
}"""
TEXTS = ["The grandmother sells apples.", "Grandmother buys 🍎.", "Grüße!"]
MERGES = [0, 500, 1740]


def test_cuts_are_those_of_the_first_entries(data: dict[str, Any], translator: Any) -> None:
    engine = PACKAGE / "viz" / "engine"
    job = {"data": data, "engine": (engine / "engine.js").as_uri(), "loader": (engine / "loader.js").as_uri()}
    found = evaluate(page_folder("subwords") / "cuts.js", WORK, {**job, "texts": TEXTS, "merges": MERGES})
    for text, rows in zip(TEXTS, found, strict=True):
        for count, row in zip(MERGES, rows, strict=True):
            tokenizer = first_entries(translator.tokenizer, 260 + count)
            assert row["ids"] == tokenizer.encode(text)
            assert row["tokens"] == tokenizer.tokens(row["ids"])
    ids = torch.tensor([[*translator.tokenizer.encode(TEXTS[0]), EOS]])
    written = greedy_decode(translator.model, ids)[0].tokens
    assert found[0][2]["written"] == translator.tokenizer.decode(written) == "Die Großmutter verkauft Äpfel."
    assert found[0][0]["written"] != found[0][2]["written"], "from bytes the model writes something else"

"""The reader's own sentence: desk and head show in the page what the library computes with the same weights."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import annotated
from annotated.analysis.tracing import trace
from annotated_book.attention.query_key_value.desk import CallSite, attention_desk
from annotated_book.attention.query_key_value.projection import head_numbers
from annotated_book.pages import page_folder
from annotated_book.viz.engine.script import model_data, page_translator
from book.tests.javascript import PACKAGE, evaluate

FOLDER = page_folder("query_key_value")
PAIRS = [
    ("The small dog sees the cat.", None),
    ("The small dog sees the cat.", "Der Hund schläft."),
    ("Because the teacher sleeps, the children sing.", None),
]
SITES = [
    CallSite("cross", [[1.0]], ["?"], ["?"], "target", "source", "decoder.3.cross_attention", 3),
    CallSite("encoder", [[1.0]], ["?"], ["?"], "source", "source", "encoder.2.self_attention", 2),
    CallSite("decoder", [[1.0]], ["?"], ["?"], "target", "target", "decoder.1.self_attention", 4),
    CallSite("of no box", [[1.0]], ["q"], ["k"], "target", "target"),
]


@pytest.fixture(scope="module")
def translator() -> annotated.Translator:
    return page_translator()


def traced(file: str, work: str, given: Any) -> Any:
    """What `work`, with the names of a script and `found`, the trace of a sentence and the tensors, returns."""
    engine = PACKAGE / "viz" / "engine"
    code = f"""async (names, {{ model, text, target, given }}) => {{
      const {{ Engine }} = await import({json.dumps((engine / "engine.js").as_uri())});
      const {{ bytesOfBase64 }} = await import({json.dumps((engine / "loader.js").as_uri())});
      const engine = new Engine({{ ...model, bytes: bytesOfBase64(model.bytes) }});
      const found = {{ ...engine.trace(text, target), tensors: engine.transformer.tensors }};
      {work}
    }}"""
    return evaluate(FOLDER / file, code, {"model": model_data(), **given})


@pytest.mark.parametrize(("text", "target"), PAIRS)
def test_the_desk_has_the_librarys_weights(translator: annotated.Translator, text: str, target: str | None) -> None:
    sites = attention_desk(SITES).sites
    shown = traced(
        "desk.js", "return names.onSentence(given, found);", {"text": text, "target": target, "given": sites}
    )
    expected = trace(translator, text, target or translator.translate([text], beam_size=1)[0])
    sides = {"source": expected.source_tokens, "target": expected.target_tokens}
    for site, now in zip(SITES[:3], shown, strict=False):
        assert now["queries"] == sides[site.asks] and now["keys"] == sides[site.answers]
        weights = expected.maps[site.box][site.head - 1]
        assert np.allclose(now["weights"], weights.numpy(), atol=2e-4), site.name
        assert now["writes"] == (expected.next_tokens if site.asks == "target" else []), site.name
    assert shown[3] == sites[3], "what has no box stays as it was recorded"


@pytest.mark.parametrize(("layer", "head"), [(1, 2), (2, 3), (3, 4)])
def test_a_head_has_the_librarys_numbers(translator: annotated.Translator, layer: int, head: int) -> None:
    text, sizes = PAIRS[2][0], {"D": 128, "K": 32, "layer": layer, "head": head}
    work = """const { tokens, numbers, found: shown } = names.headNumbers(found, given);
      const table = ({ rows, columns, at }) =>
        Array.from({ length: rows }, (_, r) => Array.from({ length: columns }, (_, c) => at(r, c)));
      const tables = Object.entries(shown).map(([name, one]) => [name, table(one)]);
      return { tokens, numbers, shown: Object.fromEntries(tables) };"""
    made = traced("head_numbers.js", work, {"text": text, "target": None, "given": sizes})
    tokens, expected = head_numbers(translator, text, layer, head)
    assert made["tokens"] == tokens
    for name in ("q", "k", "v", "scores", "weights", "output"):
        assert np.allclose(made["numbers"][name], expected[name].numpy(), atol=1e-3), name
    for name in ("x", "q", "k", "v", "output"):
        assert np.allclose(made["shown"][name], expected[name].numpy(), atol=1e-3), name
    assert np.allclose(made["numbers"]["first"], expected["x"][:, :4].numpy(), atol=1e-3)


def test_a_sentence_reaches_a_widget_that_is_ready_before_or_after() -> None:
    code = """({ tellWidget, onOwnSentence }) => {
      globalThis.document = new EventTarget();
      const heard = [];
      const stop = onOwnSentence("desk", found => heard.push(["early", found]));
      tellWidget("head", 0);
      tellWidget("desk", 1);
      onOwnSentence("desk", found => heard.push(["late", found]));
      stop();
      tellWidget("desk", 2);
      return heard;
    }"""
    found = evaluate(PACKAGE / "viz" / "own_sentence.js", code)
    assert found == [["early", 1], ["late", 1], ["late", 2]]

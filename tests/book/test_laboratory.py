"""The laboratory: the model in the page is the model in the library, and its switches do what they say."""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import annotated
from annotated.classroom import classroom_pairs
from annotated.config import BOS, EOS

pytest.importorskip("sphinx", reason="the book's extension needs the extra `book`")

PAGE = "start/laboratory.html"
ODD = [
    "",
    " ",
    "  two  spaces ",
    "Übergrößen\tnaïve\n",
    "the🦊fox 12,345.67",
    "don't WE'LL it's",
    "日本語 text",
    "\x00\u0301e<s>",
]
LOADED = """async () => {
  document.querySelector('.laboratory-start').click();
  while (!document.querySelector('.laboratory[data-state=done]')) await new Promise(go => setTimeout(go, 50));
  const bytes = Uint8Array.from(atob(annotatedModel.bytes), c => c.charCodeAt(0)).buffer;
  window.lab = { tokenizer: new annotatedLaboratory.Tokenizer(annotatedModel.tokenizer),
    model: new annotatedLaboratory.Transformer({ ...annotatedModel, bytes }) };
}"""
LOG_PROBABILITIES = """([source, target, set]) =>
  Array.from(lab.model.decode(target, lab.model.encode(source, set), set).logProbabilities)"""


@pytest.fixture(scope="module")
def laboratory(repository: Path) -> Any:
    sys.path.insert(0, str(repository / "book" / "_ext"))
    try:
        from annotated_book import laboratory
    finally:
        sys.path.pop(0)
    return laboratory


def test_a_packed_number_is_off_by_half_a_step_at_most(laboratory: Any) -> None:
    torch.manual_seed(0)
    matrix, vector = torch.randn(5, 6), torch.randn(7)
    manifest, content = laboratory.pack({"matrix": matrix, "vector": vector, "zero": torch.zeros(1, 4)})
    kind, offset, rows, columns = manifest["matrix"]
    assert (kind, rows, columns) == ("matrix", 5, 6)
    scales = np.frombuffer(content, "<f4", rows, offset)
    whole = np.frombuffer(content, np.int8, rows * columns, offset + 4 * rows).reshape(rows, columns)
    assert np.abs(whole * scales[:, None] - matrix.numpy()).max() <= scales.max() / 2 + 1e-6
    assert manifest["vector"][0] == "vector" and manifest["vector"][1] % 4 == 0
    assert np.array_equal(np.frombuffer(content, "<f4", 7, manifest["vector"][1]), vector.numpy())


def test_the_page_and_the_library_agree(visit: Any, laboratory: Any) -> None:
    """Pieces are equal; so are log-probabilities, to 1e-4, once the library has the page's rounded weights."""
    translator = annotated.load("classroom")
    model, tokenizer = translator.model, translator.tokenizer
    data = json.loads(laboratory.model_script().partition("=")[2].rstrip(";\n"))
    content = base64.b64decode(data["bytes"])
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            kind, offset, rows, columns = data["tensors"][name]
            if kind == "matrix":
                scales = np.frombuffer(content, "<f4", rows, offset)
                whole = np.frombuffer(content, np.int8, rows * columns, offset + 4 * rows).reshape(rows, columns)
                parameter.copy_(torch.from_numpy(whole * scales[:, None]))
    pairs = list(classroom_pairs("test", 300))
    texts = ODD + [text for pair in pairs for text in (pair.source, pair.target)]
    with visit(PAGE) as v:
        v.page.evaluate(LOADED)
        assert v.page.evaluate("texts => texts.map(t => lab.tokenizer.encode(t))", texts) == tokenizer.encode_batch(
            texts
        )
        ids = [tokenizer.encode(text) for text in texts]
        assert v.page.evaluate("ids => ids.map(i => lab.tokenizer.decode(i))", ids) == texts
        for pair in pairs[:4]:
            source, target = tokenizer.encode(pair.source) + [EOS], [BOS, *tokenizer.encode(pair.target)]
            for cut in (1, len(target) // 2, len(target)):
                with torch.no_grad():
                    expected = model(torch.tensor([source]), torch.tensor([target[:cut]]))[0, -1].log_softmax(-1)
                found = torch.tensor(v.page.evaluate(LOG_PROBABILITIES, [source, target[:cut], {}]))
                torch.testing.assert_close(found, expected, atol=1e-4, rtol=0)
        # A switch against the library: without positions the order of the source cannot matter.
        source = tokenizer.encode(pairs[0].source) + [EOS]
        a, b = (v.page.evaluate(LOG_PROBABILITIES, [s, [BOS], {"positions": False}]) for s in (source, source[::-1]))
        assert max(abs(x - y) for x, y in zip(a, b, strict=True)) < 1e-4
        assert v.errors == [] and v.foreign == []


def test_a_reader_types_takes_apart_and_puts_back(visit: Any) -> None:
    with visit(PAGE, viewport={"width": 390, "height": 900}) as v:
        box = v.page.locator(".laboratory")
        box.get_by_role("button", name="Load the model").click()
        done = v.page.locator(".laboratory[data-state=done]")
        done.wait_for()
        result, whole = box.locator(".laboratory-result"), box.locator(".laboratory-whole")
        first = result.inner_text()
        assert first == "Die Großmutter hat die grüne Schultasche aufgemacht."
        assert v.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0

        box.get_by_role("checkbox", name="feed-forward").uncheck()
        v.page.wait_for_function("document.querySelector('.laboratory-whole').textContent.includes('The whole model')")
        assert result.inner_text() != first and first in whole.inner_text()
        assert "did not stop by itself" in whole.inner_text()
        box.get_by_role("button", name="Put everything back").click()
        v.page.wait_for_function("text => document.querySelector('.laboratory-result').textContent === text", arg=first)

        box.locator("summary").click()
        head = box.get_by_role("button", name="Cross-attention, layer 1, head 1")
        head.press("Enter")
        assert head.get_attribute("aria-pressed") == "false"
        v.page.wait_for_function("document.querySelector('.laboratory-whole').textContent.includes('The whole model')")

        box.get_by_role("textbox", name="English").fill("The small dog sees the cat.")
        v.page.wait_for_function("document.querySelector('.laboratory-result').textContent.includes('Hund')")
        box.locator(".laboratory-pieces button").nth(1).click()
        assert box.locator(".laboratory-bars li").count() == 5
        assert v.errors == []


def test_a_model_that_does_not_load_leaves_the_explanation(visit: Any) -> None:
    with visit(PAGE, alone=True) as v:
        v.context.route("**/laboratory/model.js", lambda route: route.abort())
        v.page.get_by_role("button", name="Load the model").click()
        v.page.wait_for_selector(".laboratory-note:has-text('did not load')")
        assert "With scripts you could type a sentence here" in v.page.locator(".laboratory").inner_text()
        assert v.page.get_by_role("button", name="Load the model").is_enabled()


def test_without_scripts_the_box_says_what_it_would_do(visit: Any) -> None:
    with visit(PAGE, java_script_enabled=False) as v:
        assert "needs scripts" in v.page.locator(".laboratory").inner_text()

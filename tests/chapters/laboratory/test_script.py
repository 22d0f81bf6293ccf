"""The laboratory: the model in the page is the model in the library, and its switches do what they say."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import pytest
import torch

import annotated
from annotated.chapters.laboratory.script import model_data, pack, unpack
from annotated.classroom import classroom_pairs
from annotated.config import BOS, EOS
from tests.javascript import CHAPTERS, evaluate

FOLDER = CHAPTERS / "laboratory"
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
LOAD = """const bytes = Uint8Array.from(atob(data.bytes), c => c.charCodeAt(0)).buffer;
  const model = new Transformer({ ...data, bytes });"""
LOG_PROBABILITIES = f"""({{ Transformer }}, {{ data, jobs }}) => {{
  {LOAD}
  return jobs.map(([source, target, set]) =>
    Array.from(model.decode(target, model.encode(source, set), set).logProbabilities));
}}"""


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    return model_data()


@pytest.fixture(scope="module")
def translator(data: dict[str, Any]) -> annotated.Translator:
    """The classroom model with the weights as the page rounds them."""
    translator = annotated.load("classroom")
    weights = unpack(data["tensors"], base64.b64decode(data["bytes"]))
    with torch.no_grad():
        for name, parameter in translator.model.named_parameters():
            parameter.copy_(torch.from_numpy(weights[name].copy()))
    return translator


def test_a_packed_number_is_off_by_half_a_step_at_most() -> None:
    torch.manual_seed(0)
    matrix, vector = torch.randn(5, 6), torch.randn(7)
    manifest, content = pack({"matrix": matrix, "vector": vector, "zero": torch.zeros(1, 4)})
    kind, offset, rows, columns = manifest["matrix"]
    assert (kind, rows, columns) == ("matrix", 5, 6)
    scales = np.frombuffer(content, "<f4", rows, offset)
    whole = np.frombuffer(content, np.int8, rows * columns, offset + 4 * rows).reshape(rows, columns)
    assert np.abs(whole * scales[:, None] - matrix.numpy()).max() <= scales.max() / 2 + 1e-6
    assert manifest["vector"][0] == "vector" and manifest["vector"][1] % 4 == 0
    assert np.array_equal(np.frombuffer(content, "<f4", 7, manifest["vector"][1]), vector.numpy())
    back = unpack(manifest, content)
    assert np.array_equal(back["matrix"], whole * scales[:, None]) and not back["zero"].any()


def test_pieces_are_those_of_the_library(data: dict[str, Any], translator: annotated.Translator) -> None:
    tokenizer = translator.tokenizer
    texts = ODD + [text for pair in classroom_pairs("test", 300) for text in (pair.source, pair.target)]
    code = """({ Tokenizer }, { tokenizer, texts }) => {
      const one = new Tokenizer(tokenizer);
      return texts.map(text => [one.encode(text), one.decode(one.encode(text))]);
    }"""
    found = evaluate(FOLDER / "tokenizer.js", code, {"tokenizer": data["tokenizer"], "texts": texts})
    assert [ids for ids, _ in found] == tokenizer.encode_batch(texts)
    assert [text for _, text in found] == texts


def test_log_probabilities_are_those_of_the_library(data: dict[str, Any], translator: annotated.Translator) -> None:
    """To 1e-4, at the beginning, in the middle and at the end of sentences."""
    tokenizer, jobs, expected = translator.tokenizer, [], []
    for pair in list(classroom_pairs("test", 4)):
        source, target = tokenizer.encode(pair.source) + [EOS], [BOS, *tokenizer.encode(pair.target)]
        for cut in (1, len(target) // 2, len(target)):
            jobs.append([source, target[:cut], {}])
            with torch.no_grad():
                logits = translator.model(torch.tensor([source]), torch.tensor([target[:cut]]))
            expected.append(logits[0, -1].log_softmax(-1))
    found = evaluate(FOLDER / "transformer.js", LOG_PROBABILITIES, {"data": data, "jobs": jobs})
    torch.testing.assert_close(torch.tensor(found), torch.stack(expected), atol=1e-4, rtol=0)


def test_switches_change_what_they_name(data: dict[str, Any], translator: annotated.Translator) -> None:
    source = translator.tokenizer.encode("The small dog sees the cat.") + [EOS]
    target = [BOS, *translator.tokenizer.encode("Der kleine")]
    swapped = [*reversed(source)]
    jobs = [
        [source, [BOS], {"positions": False}],
        [swapped, [BOS], {"positions": False}],
        [source, [BOS], {}],
        [swapped, [BOS], {}],
        *([source, target, {name: False}] for name in ("embedScale", "residual", "norm", "feedForward")),
        [source, target, {"divisor": "one"}],
        [source, target, {"divisor": "d_k"}],
        [source, target, {"causal": False}],
        [source, target, {}],
    ]
    answer = evaluate(FOLDER / "transformer.js", LOG_PROBABILITIES, {"data": data, "jobs": jobs})
    found = torch.tensor([[-1e3 if x is None else x for x in row] for row in answer])  # JSON has no infinity
    same = (found[0] - found[1]).abs().max()
    assert same < 1e-4, "without positions the order of the source cannot matter"
    assert (found[2] - found[3]).abs().max() > 0.1
    for row in found[4:-1]:
        assert (row - found[-1]).abs().max() > 0.01


def test_greedy_translations_are_those_of_the_library(data: dict[str, Any], translator: annotated.Translator) -> None:
    texts = ["The grandmother opened the green school bag.", "The small dog sees the cat.", "A cat sleeps."]
    code = f"""async ({{ translate }}, {{ data, texts, folder }}) => {{
      const {{ Tokenizer }} = await import(`${{folder}}/tokenizer.js`);
      const {{ Transformer }} = await import(`${{folder}}/transformer.js`);
      {LOAD}
      const parts = {{ tokenizer: new Tokenizer(data.tokenizer), transformer: model }}, found = [];
      for (const text of texts) found.push(await translate(parts, text, {{}}));
      return [...found, await translate(parts, texts[0], {{}}, () => false)];
    }}"""
    *found, stopped = evaluate(
        FOLDER / "translation.js", code, {"data": data, "texts": texts, "folder": FOLDER.as_uri()}
    )
    assert stopped is None, "a reader who types on does not wait for an old sentence"
    for text, one in zip(texts, found, strict=True):
        source = torch.tensor([translator.tokenizer.encode(text) + [EOS]])
        (best,) = annotated.greedy_decode(translator.model, source)
        assert [step["id"] for step in one["steps"]] == [*best.tokens, EOS]
        assert one["text"] == translator.tokenizer.decode(best.tokens) and one["ended"]
        for step in one["steps"]:
            assert sum(step["looks"]) == pytest.approx(1, abs=1e-4) and step["best"][0][0] == step["id"]

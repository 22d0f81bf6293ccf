"""The panel of rules: the model in the page with a softmax in its top network is the library's with the same."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import annotated
from annotated.config import BOS
from annotated_book.pages import page_folder
from book.tests.javascript import PACKAGE, evaluate

FOLDER = page_folder("feed_forward_as_attention")
TEXT, TARGET = "The old baker has 21 brown goats.", "Der alte Bäcker hat 21 braune Ziegen."
WORK = """async ({ engineWith }, { data, text, target, rule, engineFile, loader }) => {
  const { Engine } = await import(engineFile), { bytesOfBase64 } = await import(loader);
  const engine = new Engine({ ...data, bytes: bytesOfBase64(data.bytes) });
  return engineWith(engine, rule).score(text, target).steps.map(step => step.logProbability);
}"""
FILES = {
    "engineFile": (PACKAGE / "viz" / "engine" / "engine.js").as_uri(),
    "loader": (PACKAGE / "viz" / "engine" / "loader.js").as_uri(),
}


def weights(rule: str, scores: torch.Tensor) -> torch.Tensor:
    if rule == "relu":
        return scores.relu()
    return scores.softmax(-1) * (scores.relu().sum(-1, keepdim=True) if rule == "scaled" else 1)


@pytest.mark.parametrize("rule", ["relu", "softmax", "scaled"])
def test_the_page_computes_what_the_library_does(
    rule: str, data: dict[str, Any], translator: annotated.Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = translator.model.decoder.layers[-1].feed_forward
    monkeypatch.setattr(network, "forward", lambda x: network.outer(weights(rule, network.inner(x))))
    source = torch.tensor([[*translator.tokenizer.encode(TEXT), 2]])
    target = translator.tokenizer.encode(TARGET)
    with torch.no_grad():
        rows = translator.model(source, torch.tensor([[BOS, *target]]))[0].log_softmax(-1)
    expected = [float(row[i]) for row, i in zip(rows, [*target, 2], strict=True)]
    found = evaluate(FOLDER / "rules.js", WORK, {"data": data, "text": TEXT, "target": TARGET, "rule": rule, **FILES})
    assert found == pytest.approx(expected, abs=2e-3)


def test_the_weights_of_one_token() -> None:
    code = """({ weigh }, scores) => ["relu", "softmax", "scaled"].map(rule => {
      const row = Float64Array.from(scores); weigh(row, rule); return Array.from(row); })"""
    relu, soft, scaled = evaluate(FOLDER / "rules.js", code, [2.0, -1.0, 1.0])
    assert relu == [2, 0, 1] and sum(soft) == pytest.approx(1) and min(soft) > 0
    assert scaled == pytest.approx([3 * weight for weight in soft])


def test_the_verdict_compares_the_two_rules() -> None:
    code = "({ ruleText }) => [ruleText('relu', true, -1, -1), ruleText('softmax', false, -1, -4)]"
    same, other = evaluate(FOLDER / "live.js", code)
    assert same == "The model as trained. Log-probability of its translation: −1.00 nats."
    assert "sum to one. The words change." in other and "20 times less probable" in other

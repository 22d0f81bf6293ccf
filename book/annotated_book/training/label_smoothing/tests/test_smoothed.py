"""The smoothed loss of the live panel: that of the library, on the model as the page has it."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from annotated.config import BOS, EOS
from annotated.training.loss import label_smoothed_cross_entropy
from annotated_book.pages import page_folder
from book.tests.javascript import PACKAGE, evaluate

TEXT = "The small dog sees the cat."
WORK = """async ({ lossesOf, meanLoss, floorOf }, { data, engine, loader, text, epsilon, temperature }) => {
  const { Engine } = await import(engine), { bytesOfBase64 } = await import(loader);
  const made = new Engine({ ...data, bytes: bytesOfBase64(data.bytes) });
  const ids = made.translation(text).steps.map(step => step.id);
  return { ...meanLoss(lossesOf(made, text, temperature), epsilon), ids, paper: floorOf(0.1, 37000) };
}"""


@pytest.mark.parametrize(("epsilon", "temperature"), [(0.0, 1.0), (0.1, 1.0), (0.4, 1.0), (0.1, 1.5)])
def test_losses_are_those_of_the_library(
    data: dict[str, Any], translator: Any, epsilon: float, temperature: float
) -> None:
    engine = PACKAGE / "viz" / "engine"
    job = {"data": data, "engine": (engine / "engine.js").as_uri(), "loader": (engine / "loader.js").as_uri()}
    found = evaluate(
        page_folder("label_smoothing") / "smoothed.js",
        WORK,
        {**job, "text": TEXT, "epsilon": epsilon, "temperature": temperature},
    )
    ids = found["ids"]
    source = torch.tensor([[*translator.tokenizer.encode(TEXT), EOS]])
    with torch.no_grad():
        logits = translator.model(source, torch.tensor([[BOS, *ids[:-1]]]))[0] / temperature
    for name, strength in (("plain", 0.0), ("smoothed", epsilon)):
        loss, count = label_smoothed_cross_entropy(logits, torch.tensor(ids), strength)
        assert found[name] == pytest.approx(loss.item() / count, abs=2e-3)
    assert found["paper"] == pytest.approx(1.377, abs=5e-4) and math.exp(found["paper"]) == pytest.approx(
        3.96, abs=5e-3
    )

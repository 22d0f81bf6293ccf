"""The networks in the page write what the library's write, with the same probabilities and weights."""

from __future__ import annotations

import base64
from typing import Any

import pytest
import torch

from annotated.config import EOS
from annotated.int8_rows import restored_rows, rounded_rows
from annotated_book.pages import page_folder
from annotated_book.why.before_2017.encoder_decoder import RecurrentEncoderDecoder
from annotated_book.why.before_2017.experiment import FIRST, build
from annotated_book.why.before_2017.own_letters import own_letters
from book.tests.javascript import evaluate

SCRIPT = page_folder("before_2017") / "own_letters.js"
RECURRENT = page_folder("before_2017") / "recurrent.js"
CODE = """({ Recurrent }, { manifest, content, letters }) => {
  const network = new Recurrent(manifest, Uint8Array.from(atob(content), c => c.charCodeAt(0)).buffer);
  return network.write(letters).map(({ weights, ...step }) => ({ ...step, weights: weights && [...weights] }));
}"""


def pair() -> dict[str, RecurrentEncoderDecoder]:
    torch.manual_seed(3)
    models: Any = {"without": build("plain", hidden=24), "attending": build("attention", hidden=24)}
    with torch.no_grad():
        for model in models.values():
            for parameter in model.parameters():
                parameter.mul_(2)  # so that the probabilities are not all alike
    return {name: model.eval() for name, model in models.items()}


@pytest.mark.parametrize("name", ["without", "attending"])
def test_the_page_computes_what_the_library_computes(name: str) -> None:
    models = pair()
    widget, model = own_letters(**models, longest=7), models[name]
    content, manifest = getattr(widget, name), widget.manifests[name]
    with torch.no_grad():  # the library with the page's weights, which are rounded
        for key, values in restored_rows(rounded_rows(dict(model.named_parameters()))).items():
            model.get_parameter(key).copy_(values)
        letters = [FIRST + i for i in (3, 8, 0, 12, 14)]
        source = torch.tensor([[*letters, EOS]])
        logits, weights = model._write(source, len(letters), None)
    given = {"manifest": manifest, "content": base64.b64encode(content).decode(), "letters": letters}
    steps = evaluate(RECURRENT, CODE, given)
    p, tokens = logits[0].softmax(-1).max(-1)
    assert [step["token"] for step in steps] == tokens.tolist()
    torch.testing.assert_close(torch.tensor([step["probability"] for step in steps]), p, atol=1e-5, rtol=1e-4)
    if weights is None:
        assert all(step["weights"] is None for step in steps)
    else:
        torch.testing.assert_close(torch.tensor([step["weights"] for step in steps]), weights[0], atol=1e-5, rtol=1e-4)


def test_letters_are_those_of_the_alphabet_in_capitals() -> None:
    code = "({ lettersOf }) => [lettersOf('diaMond'), lettersOf('xyz q!'), lettersOf('ab cq dabcdabcdabcd')]"
    assert evaluate(SCRIPT, code) == ["DIAMOND", "", "ABCDABCDABCD"]


def test_letters_are_counted_backwards() -> None:
    code = """({ rightOf, tokensOf, saying }) => {
      const written = tokensOf("DBA").map(token => ({ token }));
      return [rightOf("ABD", written), rightOf("ABC", written),
        saying("ABC", { without: written, attending: written }, 2)];
    }"""
    whole, some, said = evaluate(SCRIPT, code)
    assert (whole, some) == (3, 2)
    assert "without attention 2 of 3" in said and "longer than 2" in said


def test_the_share_is_over_letters() -> None:
    code = """({ shareRight, tokensOf }) => shareRight({ write: letters => letters.toReversed().map((token, i) =>
        ({ token: i ? token : 0 })) }, 4, Math.random, 10)"""
    assert evaluate(SCRIPT, code) == 0.75  # the first letter written is always wrong


def test_other_networks_are_refused() -> None:
    models = pair()
    with pytest.raises(ValueError, match="no attention"):
        own_letters(models["attending"], models["without"], longest=7)

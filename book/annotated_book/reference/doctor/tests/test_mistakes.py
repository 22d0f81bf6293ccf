"""Each model of the game computes what the library computes with the mistake of that name switched on."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest
import torch

import annotated
from annotated.classroom import classroom_pairs
from annotated.config import BOS, EOS, PAD
from annotated_book.pages import page_folder
from annotated_book.reference.doctor.cases import CASES, HEALTHY, SENTENCES
from annotated_book.reference.doctor.experiment import CASES as EXAMINED
from annotated_book.viz.engine.script import model_data, page_translator
from annotated_grader.doctor.mutants import switched_on
from book.tests.javascript import PACKAGE, evaluate

FOLDER = page_folder("doctor")
PAIRS = [(pair.source, pair.target) for pair in classroom_pairs("test", 2)]
CLOSE = 1e-3
"""Nats: two tokens that are closer may change places by rounding."""

WORK = """async ({ patient }, { data, ids, pairs, pads, engineFile, loader, examination }) => {
  const { Engine } = await import(engineFile), { bytesOfBase64 } = await import(loader);
  const { readAtOnce, readInSteps } = await import(examination);
  const engine = new Engine({ ...data, bytes: bytesOfBase64(data.bytes) });
  const lists = heads => heads.map(head => Array.from(head));
  const plain = ({ rows, maps = {} }) => ({ rows: rows.map(row => Array.from(row, x => +x.toFixed(5))),
    maps: Object.fromEntries(Object.entries(maps).map(([name, heads]) => [name, lists(heads)])) });
  return ids.map(id => pairs.map(([text, target]) => {
    const ill = patient(engine, id), source = engine.read(text), read = [1, ...engine.ids(target)];
    const written = ill.engine.translation(text, ill.switches);
    return { ids: written.steps.map(step => step.id), whole: plain(readAtOnce(ill, source, read)),
      padded: plain(readAtOnce(ill, [...source, ...Array(pads).fill(0)], read)),
      steps: plain(readInSteps(ill, source, read)) };
  }));
}"""
FILES = {
    "engineFile": (PACKAGE / "viz" / "engine" / "engine.js").as_uri(),
    "loader": (PACKAGE / "viz" / "engine" / "loader.js").as_uri(),
    "examination": (FOLDER / "examination.js").as_uri(),
}
PADS = 3


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    return model_data()


@pytest.fixture(scope="module")
def translator() -> annotated.Translator:
    return page_translator()


@pytest.fixture(scope="module")
def in_the_page(data: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """What each model computes for each pair; in one process, which reads the weights once."""
    given = {"data": data, "ids": list(CASES), "pairs": PAIRS, "pads": PADS, **FILES}
    return dict(zip(CASES, evaluate(FOLDER / "mistakes.js", WORK, given), strict=True))


def close(found: list[list[float]], expected: torch.Tensor) -> None:
    size = float(expected.abs().max())
    torch.testing.assert_close(torch.tensor(found), expected, atol=2e-4 * size, rtol=0)


def in_steps(model: annotated.Transformer, source: torch.Tensor, read: list[int]) -> torch.Tensor:
    state, rows = model.start_state(source, 1, max_new_tokens=len(read)), []
    for token in read:
        logits, state = model.decode_step(torch.tensor([token]), state)
        rows.append(logits[0])
    return torch.stack(rows)


def check_maps(found: dict[str, list[list[float]]], maps: annotated.AttentionMaps) -> None:
    names = {"encoder": "encoder.{}.self_attention", "decoder": "decoder.{}.self_attention"}
    names["cross"] = "decoder.{}.cross_attention"
    for kind, name in names.items():
        for layer, weights in enumerate(getattr(maps, kind), 1):
            expected = weights[0].flatten(1)
            torch.testing.assert_close(torch.tensor(found[name.format(layer)]), expected, atol=2e-4, rtol=0)


@pytest.mark.parametrize("id", CASES)
@torch.no_grad()
def test_the_page_makes_the_mistake_of_the_bank(
    in_the_page: dict[str, list[dict[str, Any]]], translator: annotated.Translator, id: str
) -> None:
    model, tokenizer = translator.model, translator.tokenizer
    for (text, target), one in zip(PAIRS, in_the_page[id], strict=True):
        source, read = [*tokenizer.encode(text), EOS], [BOS, *tokenizer.encode(target)]
        asked = torch.tensor([source]), torch.tensor([read])
        with nullcontext() if id == HEALTHY else switched_on(id):
            check_model(model, one, *asked)


def check_model(model: annotated.Transformer, one: dict[str, Any], source: torch.Tensor, read: torch.Tensor) -> None:
    close(one["whole"]["rows"], model(source, read)[0])
    check_maps(one["whole"]["maps"], model(source, read, return_attention=True)[1])
    padded = torch.nn.functional.pad(source, (0, PADS), value=PAD)
    close(one["padded"]["rows"], model(padded, read)[0])
    close(one["steps"]["rows"], in_steps(model, source, read[0].tolist()))
    (best,) = annotated.greedy_decode(model, source, max_new_tokens=2 * source.size(1) + 10)
    written = [*best.tokens, EOS] if best.finished else best.tokens
    if written != one["ids"]:  # only where two tokens are equally probable but for rounding
        at = next(t for t, (a, b) in enumerate(zip(written, one["ids"], strict=False)) if a != b)
        first, second = in_steps(model, source, [BOS, *written[:at]])[-1].topk(2).values.tolist()
        assert first - second < CLOSE


TESTS = """async ({ patient }, { data, sentences, ids, engineFile, loader, examination }) => {
  const { Engine } = await import(engineFile), { bytesOfBase64 } = await import(loader);
  const { MOVED, leakTest, paddingTest, cacheTest, orderTest } = await import(examination);
  const engine = new Engine({ ...data, bytes: bytesOfBase64(data.bytes) });
  const read = sentences.map(text => ({ text, source: engine.read(text), right: engine.translation(text) }));
  return Object.fromEntries(ids.map(id => {
    const ill = patient(engine, id), moves = { leak: [], padding: [], cache: [], order: [], text: [] };
    for (const { text, source, right } of read) {
      const tokens = right.tokens;
      const moved = row => row.some(x => x >= MOVED);
      moves.leak.push(moved(leakTest(ill, source, tokens, 4, tokens[0] + 1).slice(0, 4)));
      moves.padding.push(moved(paddingTest(ill, source, tokens)));
      moves.cache.push(moved(cacheTest(ill, source, tokens)));
      moves.order.push(moved(orderTest(ill, source, tokens, 1, 3)));
      moves.text.push(ill.engine.translation(text, ill.switches).text !== right.text);
    }
    return [id, moves];
  }));
}"""

SIGNS = {
    "leak": {"causal_mask_missing", "causal_mask_too_wide", "softmax_over_queries", "mask_fill_tiny"},
    "padding": {"padding_seen_by_encoder", "softmax_over_queries", "mask_fill_tiny"},
    "cache": {
        "causal_mask_missing",
        "causal_mask_too_wide",
        "softmax_over_queries",
        "mask_fill_tiny",
        "cache_forgets_values",
        "cached_position_restarts",
    },
    "order": set(CASES) - {"positions_missing"},
}
"""The models whose logits move in each test of the page."""
TEXT_IS_RIGHT = {
    HEALTHY,
    "causal_mask_missing",
    "causal_mask_too_wide",
    "mask_fill_tiny",
    "padding_seen_by_encoder",
    "cached_position_restarts",
    "encoder_is_causal",
}
"""The models whose translations show nothing: only a test or a map does."""


def test_the_tests_of_the_page_show_what_is_wrong_on_every_sentence(data: dict[str, Any]) -> None:
    given = {"data": data, "sentences": SENTENCES, "ids": list(CASES), **FILES}
    found = evaluate(FOLDER / "mistakes.js", TESTS, given)
    for test, moving in SIGNS.items():
        for id in CASES:
            assert found[id][test] == [id in moving] * len(SENTENCES), f"{test} of {id}"
    assert {id for id, moves in found.items() if not any(moves["text"])} == TEXT_IS_RIGHT


def test_what_the_page_runs_is_what_was_examined() -> None:
    keys = evaluate(FOLDER / "mistakes.js", "({ MISTAKES }) => Object.keys(MISTAKES)")
    assert set(keys) == {*EXAMINED} == {*CASES} - {HEALTHY}


def test_two_maps_are_compared_where_they_differ_most() -> None:
    work = """async ({ compared, widestGap }, { own, whole, rows, columns }) =>
      [widestGap(own, whole), compared(own, whole, rows, columns), compared(own, own, rows, columns)]"""
    own, whole = [1.0, 0.0, 0.5, 0.5, 0.25, 0.75], [0.9, 0.1, 0.5, 0.5, 1.0, 0.0]
    given = {"own": own, "whole": whole, "rows": ["der", "die", "das"], "columns": ["a", "the"]}
    far, told, same = evaluate(FOLDER / "maps.js", work, given)
    assert far == {"cell": 4, "most": 0.75} and same == "The two maps are equal."
    assert told == "They differ most where “das” reads “a”: 0.25 in this model, 1.00 in the healthy one."

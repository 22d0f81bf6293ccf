"""Forcing against writing in the page: the library's predictions, and no change before a piece that is changed."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import annotated
from annotated.classroom import classroom_pairs
from annotated.config import BOS, EOS, PAD
from annotated_book.pages import page_folder
from book.tests.javascript import PACKAGE, evaluate

FOLDER = page_folder("teacher_forcing")
ENGINE = PACKAGE / "viz" / "engine"
SENTENCES, SLOT = 20, 3
CLOSE = 1e-3  # of a probability or a nat
LOAD = """const { Engine } = await import(`${engines}/engine.js`);
  const { bytesOfBase64 } = await import(`${engines}/loader.js`);
  const engine = new Engine({ ...data, bytes: bytesOfBase64(data.bytes) });"""
WORK = f"""async ({{ bothRows, changesOf, oneWordChanged }}, {{ data, engines, jobs }}) => {{
  {LOAD}
  const plain = steps => steps.map(({{ id, logProbability, best }}) => ({{ id, logProbability, best: best[0] }}));
  return jobs.map(([text, target, fed]) => {{
    const whole = bothRows(engine, text, target), rows = bothRows(engine, text, target, fed);
    return {{ reads: rows.reads, forced: plain(rows.forced), free: plain(rows.free),
      other: oneWordChanged(engine, text), own: engine.translation(text).text,
      changes: ["forced", "free"].map(row => changesOf(whole[row], rows[row], fed ? fed.slot : 0)) }};
  }});
}}"""


def run(data: dict[str, Any], jobs: list[Any]) -> list[dict[str, Any]]:
    given = {"data": data, "engines": ENGINE.as_uri(), "jobs": jobs}
    return list(evaluate(FOLDER / "forced.js", WORK, given))


@pytest.fixture(scope="module")
def jobs(translator: annotated.Translator) -> list[tuple[str, str, dict[str, int] | None]]:
    """Sentences with references that the model would not write, the first half with another piece fed to one slot."""
    pairs = list(classroom_pairs("test", SENTENCES + 1))
    (piece,) = translator.tokenizer.encode(" und")
    feds = [{"slot": SLOT, "id": piece}] * (SENTENCES // 2) + [None] * (SENTENCES // 2)
    return [(a.source, b.target, fed) for a, b, fed in zip(pairs, pairs[1:], feds, strict=False)]


@torch.no_grad()
def predictions(translator: annotated.Translator, text: str, read: list[int]) -> torch.Tensor:
    """Probabilities `[T, V]` after each prefix of what is read, with nothing that no search writes."""
    source = torch.tensor([[*translator.tokenizer.encode(text), EOS]])
    return translator.model(source, torch.tensor([read]))[0].softmax(-1)


def test_both_rows_are_those_of_the_library(translator: annotated.Translator, data: dict[str, Any], jobs: Any) -> None:
    for (text, target, fed), one in zip(jobs, run(data, jobs), strict=True):
        source = torch.tensor([[*translator.tokenizer.encode(text), EOS]])
        reference = translator.tokenizer.encode(target)
        (own,) = annotated.greedy_decode(translator.model, source, max_new_tokens=2 * source.size(1) + 10)
        read, prefix = [BOS, *reference], []
        if fed:
            read[SLOT], prefix = fed["id"], [*own.tokens[: SLOT - 1], fed["id"]]
        most = 2 * source.size(1) + 10
        (free,) = annotated.greedy_decode(translator.model, source, most, prefix=[prefix])
        written = [*free.tokens, EOS][: free.steps]
        assert one["reads"] == {"forced": read, "free": [BOS, *written[:-1]]}
        for row, ids, wanted in (("forced", read, [*reference, EOS]), ("free", [BOS, *written[:-1]], written)):
            p = predictions(translator, text, ids)
            assert [step["id"] for step in one[row]] == wanted
            chosen = p.gather(1, torch.tensor(wanted)[:, None])[:, 0].log()
            assert [step["logProbability"] for step in one[row]] == pytest.approx(chosen.tolist(), abs=CLOSE)
            p[:, [PAD, BOS]] = 0
            for step, best in zip(one[row], p, strict=True):
                token, probability = step["best"]
                assert probability == pytest.approx(float(best.max()), abs=CLOSE)
                assert float(best[token]) == pytest.approx(float(best.max()), abs=CLOSE)


def test_a_changed_piece_changes_later_slots_and_none_before_it(data: dict[str, Any], jobs: Any) -> None:
    changes = [(one["changes"], fed) for (_, _, fed), one in zip(jobs, run(data, jobs), strict=True)]
    assert all(row["same"] and row["early"] == 0 for rows, _ in changes for row in rows)
    later = [[row["later"] for row in rows] for rows, fed in changes if fed]
    assert sum(forced for forced, _ in later) > 10 and sum(free for _, free in later) > 10
    assert all(row["changed"] == [] for rows, fed in changes if not fed for row in rows)


def test_a_leak_would_be_seen() -> None:
    """Two rows that differ before the slot: pieces or only their probabilities."""
    code = """({ changesOf }) => {
      const row = (...ids) => ids.map(id => ({ best: [[id, 0.5], [9, 0.25]] })), near = row(1, 2, 3);
      near[0].best[1][1] += 1e-12;
      return [row(4, 2, 3), near, row(1, 2, 5), row(1, 2)].map(other => changesOf(row(1, 2, 3), other, 1));
    }"""
    piece, digit, later, shorter = evaluate(FOLDER / "forced.js", code)
    assert (piece["early"], piece["same"]) == (1, False) and (digit["early"], digit["same"]) == (0, False)
    assert later == {"changed": [2], "early": 0, "later": 1, "slots": 2, "same": True}
    assert (shorter["later"], shorter["slots"]) == (1, 2)


def test_the_models_own_translation_gets_one_other_word(data: dict[str, Any]) -> None:
    texts = [pair.source for pair in classroom_pairs("test", SENTENCES)] + ["The bats were old."]
    found = run(data, [[text, "Ja.", None] for text in texts])
    for one in found:
        own, other = one["own"].split(), one["other"].split()
        assert len(own) == len(other) and sum(a != b for a, b in zip(own, other, strict=True)) == 1
    assert (found[-1]["own"], found[-1]["other"]) == ("Die Schläger waren alt.", "Die Fledermäuse waren alt.")

"""The search for a reader's own sentence: its tree, step by step, is the one that the library records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

import annotated
from annotated.classroom import classroom_pairs
from annotated.config import EOS
from annotated.decoding.search import decoding_mode
from annotated_book.decoding.beam_search.search_tree import SearchTree, _RecordedSearch, record_search
from annotated_book.pages import page_folder
from book.tests.javascript import PACKAGE, evaluate

FOLDER = page_folder("beam_search")
ENGINE = PACKAGE / "viz" / "engine"
SENTENCES = [range(6), pytest.param(range(6, 20), marks=pytest.mark.nightly)]
EXTRA = 8
SETTINGS = [(1, 0.6, 1), (2, 0.0, 2), (3, 1.0, 1), (4, 0.6, 4), (4, 0.6, 1), (6, 1.3, 6), (8, 0.6, 8), (8, 2.0, 8)]
SLOWLY = (4, 0.6, 4)  # the setting whose tree is looked at after each step
CLOSE = 1e-3  # nats
WORK = """async ({ ownSearch }, { data, folder, engines, jobs, settings, slowly }) => {
  const { Engine } = await import(`${engines}/engine.js`), { bytesOfBase64 } = await import(`${engines}/loader.js`);
  const { search, pathOf } = await import(`${folder}/search.js`);
  const { compare, cutAt, nodesOf } = await import(`${folder}/tree.js`);
  const engine = new Engine({ ...data, bytes: bytesOfBase64(data.bytes) });
  const shows = { greedy: false, reference: true, force: -1 };
  return jobs.map(text => {
    const { one, cap, words } = ownSearch(engine, text);
    const runs = settings.map(setting => {
      const [beam, alpha, places] = setting;
      const state = { beam, alpha, all: places > 1, graveyard: true, ...shows };
      const about = compare(one, cap, state), { found } = about;
      const after = settings.indexOf(setting) === slowly && found.steps.map((_, t) => {
        const nodes = nodesOf(about, state);
        cutAt(nodes, found, t + 1);
        return [...nodes.shown.values()].filter(n => n.step).map(n => [n.step, n.token, n.fate, n.lp]);
      });
      return { stopped: found.stopped, returned: found.returned.map(node => pathOf(one, node.at)), after,
        nodes: found.nodes.map(n => [n.step, n.token, n.fate, n.lp, n.score]) };
    });
    const last = one.token.indexOf(2), forced = [3, 9, 30].filter(at => one.forcible(at));
    return { cap, runs, texts: words, ends: one.forcible(last), best: forced.map(at => {
      const { base, suffix, lp } = one.bestFrom(at);
      return [pathOf(one, at), [...pathOf(one, base), ...suffix], lp];
    }) };
  });
}"""


@pytest.fixture(scope="module", params=SENTENCES, ids=["6 sentences", "14 more"])
def texts(request: pytest.FixtureRequest) -> list[str]:
    return [pair.source for pair in classroom_pairs("test", request.param.stop)][request.param.start :]


@pytest.fixture(scope="module")
def found(data: dict[str, Any], texts: list[str]) -> list[dict[str, Any]]:
    """What the page makes of each sentence."""
    given = {"data": data, "folder": FOLDER.as_uri(), "engines": ENGINE.as_uri(), "settings": SETTINGS}
    return evaluate(FOLDER / "own.js", WORK, {**given, "jobs": texts, "slowly": SETTINGS.index(SLOWLY)})


def source_of(translator: annotated.Translator, text: str) -> torch.Tensor:
    return torch.tensor([[*translator.tokenizer.encode(text), EOS]])


def recorded_tree(translator: annotated.Translator, text: str, setting: tuple[int, float, int]) -> SearchTree:
    beam, alpha, places = setting
    source = source_of(translator, text)
    return record_search(translator.model, source, beam, alpha, num_return=places, extra_tokens=EXTRA)


def test_every_candidate_has_the_place_the_score_and_the_fate_that_the_library_gives_it(
    translator: annotated.Translator, texts: list[str], found: list[dict[str, Any]]
) -> None:
    candidates = 0
    for text, one in zip(texts, found, strict=True):
        assert one["cap"] == source_of(translator, text).size(1) + EXTRA
        for setting, run in zip(SETTINGS, one["runs"], strict=True):
            tree = recorded_tree(translator, text, setting)
            assert run["stopped"] == tree.stopped_by
            assert run["returned"] == [h.tokens + [EOS] * h.finished for h in tree.hypotheses]
            assert [node[:3] for node in run["nodes"]] == [[n.step, n.token, n.fate] for n in tree.nodes]
            candidates += len(tree.nodes)
            for node, n in zip(run["nodes"], tree.nodes, strict=True):
                assert node[3:] == pytest.approx([n.log_probability, n.score], abs=CLOSE)
    assert candidates > 500 * len(texts)


def steps_of(model: Any, source: torch.Tensor, setting: tuple[int, float, int]) -> Iterator[list[tuple[Any, ...]]]:
    """The library's candidates and their fates after each step, while it is being searched."""
    beam, alpha, places = setting
    with decoding_mode(model):
        search = _RecordedSearch(model, source, [source.size(1) + EXTRA], beam, alpha, places)
        while search.active:
            search.step(search.grow())
            search.harvest()
            yield [(n.step, n.token, n.fate, n.log_probability) for n in search.nodes]


def test_the_tree_after_some_steps_is_the_search_at_that_moment(
    translator: annotated.Translator, texts: list[str], found: list[dict[str, Any]]
) -> None:
    number = SETTINGS.index(SLOWLY)
    changed = 0
    for text, one in zip(texts, found, strict=True):
        after = one["runs"][number]["after"]
        expected = list(steps_of(translator.model, source_of(translator, text), SLOWLY))
        assert len(after) == len(expected)
        for shown, nodes in list(zip(after, expected, strict=True))[:-1]:
            assert sorted(node[:3] for node in shown) == sorted([list(n[:3]) for n in nodes])
            changed += sum(fate == "evicted" for _, _, fate, _ in nodes)
        assert sorted(n[3] for n in after[-1]) == pytest.approx(sorted(n[3] for n in expected[-1]), abs=CLOSE)
    assert changed > 0, "no hypothesis was displaced: the fates after each step are all final, and nothing is tested"


def test_the_best_with_a_forced_prefix_is_that_of_the_library(
    translator: annotated.Translator, texts: list[str], found: list[dict[str, Any]]
) -> None:
    count = 0
    for text, one in zip(texts, found, strict=True):
        assert not one["ends"], "nothing follows the end token"
        assert one["texts"]["2"] == "</s>" and len(one["texts"]) == translator.tokenizer.vocab_size
        for prefix, tokens, log_probability in one["best"]:
            source = source_of(translator, text)
            ((best,),) = annotated.beam_search(translator.model, source, extra_tokens=EXTRA, prefix=[prefix])
            assert tokens == best.tokens + [EOS] * best.finished and tokens[: len(prefix)] == prefix
            assert log_probability == pytest.approx(best.log_probability, abs=CLOSE)
            count += 1
    assert count >= len(texts)

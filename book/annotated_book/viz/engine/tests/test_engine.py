"""The engine of the live panels: the model in the page is the model in the library, whatever it computes."""

from __future__ import annotations

import gzip
import math
import random
from typing import Any

import pytest
import torch

import annotated
from annotated.analysis.tracing import trace
from annotated.classroom import classroom_pairs
from annotated.classroom.wide.corpus import wide_pairs
from annotated.config import BOS, EOS
from annotated.data.batch import pad
from annotated.text.normal_form import normalise
from annotated_book.viz.engine.script import model_script
from annotated_book.viz.engine.tests.changes import CHANGES, changed, log_probabilities, written_by
from book.tests.javascript import PACKAGE, evaluate
from tests.test_one_way_in import WRITTEN

FOLDER = PACKAGE / "viz" / "engine"
ODD = [
    "",
    " ",
    "  two  spaces ",
    "Übergrößen\tnaïve\n",
    "the🦊fox 12,345.67",
    "don't WE'LL it's",
    "日本語 text",
    "\x00\u0301e<s>",
    *WRITTEN,
]
SENTENCES = [range(8), pytest.param(range(8, 200), marks=pytest.mark.nightly)]
CHANGED_SENTENCES = [range(2), pytest.param(range(2, 10), marks=pytest.mark.nightly)]  # for each change
SIGNS = (
    "\t\n\r\x00\x1c\x1f\x7f \x85\xa0\xad\u0301\u0308\u061c\u1680\u200b\u200c\u200d\u200e\u2028\u202e\u202f\u2060"
    "\u2065\u2069\u3000\ufe0f\ufeff"
)
WIDE_SENTENCES = [range(12), pytest.param(range(12, 300), marks=pytest.mark.nightly)]
CLOSE = 1e-3  # nats: two tokens that are closer may change places by rounding


def run(data: dict[str, Any], work: str, jobs: Any) -> Any:
    """What `work`, JavaScript with `engine`, `finish` and `jobs`, returns."""
    code = f"""async ({{ Engine, finish }}, {{ data, jobs, loader }}) => {{
      const {{ bytesOfBase64 }} = await import(loader);
      const engine = new Engine({{ ...data, bytes: bytesOfBase64(data.bytes) }});
      const switches = values => ({{ ...values, off: new Set(values.off) }});
      {work}
    }}"""
    return evaluate(FOLDER / "engine.js", code, {"data": data, "jobs": jobs, "loader": (FOLDER / "loader.js").as_uri()})


def source_of(translator: annotated.Translator, text: str) -> list[int]:
    return [*translator.tokenizer.encode(text), EOS]


def some_pairs(numbers: range) -> list[Any]:
    return list(classroom_pairs("test", numbers.stop))[numbers.start :]


@pytest.fixture(scope="module", params=SENTENCES, ids=["8 sentences", "192 more"])
def pairs(request: pytest.FixtureRequest) -> list[Any]:
    return some_pairs(request.param)


def test_tokens_are_those_of_the_library(
    data: dict[str, Any], translator: annotated.Translator, pairs: list[Any]
) -> None:
    tokenizer = translator.tokenizer
    texts = ODD + [text for pair in pairs for text in (pair.source, pair.target)]
    code = """({ Tokenizer }, { tokenizer, texts }) => {
      const one = new Tokenizer(tokenizer);
      return texts.map(text => {
        const ids = one.encode(text), spell = one.speller();
        return [ids, one.decode(ids), ids.map(spell)];
      });
    }"""
    found = evaluate(FOLDER / "tokenizer.js", code, {"tokenizer": data["tokenizer"], "texts": texts})
    assert [ids for ids, _, _ in found] == tokenizer.encode_batch(texts)
    assert [text for _, text, _ in found] == texts
    for text, (_, _, spelled) in list(zip(texts, found, strict=True))[len(ODD) :]:
        words = "".join(" " * token["begins"] + token["text"] for token in spelled)
        assert words.strip().replace("␣", "") == text, "a token that is a space alone is shown; the rest reads as text"


def test_the_readers_line_is_prepared_as_the_library_prepares_text() -> None:
    """Whatever is pasted into a panel: white space, forms and invisible signs, at both ends and inside."""
    signs = random.Random(3)
    mixed = ["".join(signs.choices([*SIGNS, "a", "ä", "م", "👩"], k=signs.randint(1, 12))) for _ in range(2000)]
    texts = [*WRITTEN, *ODD, *mixed]
    code = "({ normalise }, { texts }) => texts.map(normalise)"
    assert evaluate(FOLDER / "normal_form.js", code, {"texts": texts}) == [normalise(text) for text in texts]


def test_greedy_translations_are_those_of_the_library(
    data: dict[str, Any], translator: annotated.Translator, pairs: list[Any]
) -> None:
    work = """return jobs.map(text => {
      const { source, tokens, text: found, ended, logProbability, steps } = engine.translation(text);
      const looks = steps.map(step => step.looks.reduce((a, b) => a + b));
      const first = steps.every(step => step.best[0][0] === step.id);
      const least = Math.min(...steps.map(step => step.best[4][1]));
      return { source, tokens, found, ended, logProbability, looks, first, least };
    });"""
    found = run(data, work, [pair.source for pair in pairs])
    for pair, one in zip(pairs, found, strict=True):
        source = source_of(translator, pair.source)
        (best,) = annotated.greedy_decode(translator.model, torch.tensor([source]), max_new_tokens=2 * len(source) + 10)
        assert (one["source"], one["tokens"], one["ended"]) == (source, best.tokens, best.finished)
        assert one["found"] == translator.tokenizer.decode(best.tokens)
        assert one["logProbability"] == pytest.approx(best.log_probability, abs=1e-3)
        assert one["looks"] == pytest.approx([1] * len(one["looks"]), abs=1e-4) and one["first"] and one["least"] > 0


def test_beams_are_those_of_the_library(
    data: dict[str, Any], translator: annotated.Translator, pairs: list[Any]
) -> None:
    """Each sentence with a beam of 4; some with other beams, three hypotheses, and a cap that they reach."""
    others = [{"size": 1}, {"size": 3, "count": 3}, {"size": 4, "alpha": 0.0}, {"size": 2, "count": 2, "most": 6}] * 3
    settings = [{"size": 4}] * len(pairs) + others
    texts = [pair.source for pair in [*pairs, *(pairs * 2)[: len(others)]]]
    work = """return jobs.map(([text, options]) => finish(engine.beam(text, options)));"""
    found = run(data, work, list(zip(texts, settings, strict=True)))
    for text, options, hypotheses in zip(texts, settings, found, strict=True):
        source = source_of(translator, text)
        (expected,) = annotated.beam_search(
            translator.model,
            torch.tensor([source]),
            beam_size=options["size"],
            alpha=options.get("alpha", 0.6),
            max_new_tokens=options.get("most", 2 * len(source) + 10),
            num_return=options.get("count", 1),
        )
        assert [(h["tokens"], h["finished"]) for h in hypotheses] == [(h.tokens, h.finished) for h in expected]
        assert [h["logProbability"] for h in hypotheses] == pytest.approx(
            [h.log_probability for h in expected], abs=1e-3
        )
        assert [h["score"] for h in hypotheses] == pytest.approx([h.score for h in expected], abs=1e-3)
        assert [h["text"] for h in hypotheses] == [translator.tokenizer.decode(h.tokens) for h in expected]


def test_scores_are_those_of_the_library(
    data: dict[str, Any], translator: annotated.Translator, pairs: list[Any]
) -> None:
    work = """return jobs.map(([text, target]) =>
      engine.score(text, target).steps.map(step => [step.id, step.logProbability]));"""
    found = run(data, work, [[pair.source, pair.target] for pair in pairs])
    for pair, steps in zip(pairs, found, strict=True):
        target = translator.tokenizer.encode(pair.target)
        with torch.no_grad():
            logits = translator.model(
                torch.tensor([source_of(translator, pair.source)]), torch.tensor([[BOS, *target]])
            )
        expected = logits[0].log_softmax(-1).gather(1, torch.tensor([*target, EOS])[:, None])[:, 0]
        assert [token for token, _ in steps] == [*target, EOS]
        assert [p for _, p in steps] == pytest.approx(expected.tolist(), abs=1e-3)


@pytest.mark.parametrize("numbers", CHANGED_SENTENCES, ids=["2 sentences", "8 more"])
@pytest.mark.parametrize(("switches", "change"), CHANGES, ids=[str(switches) for switches, _ in CHANGES])
def test_a_switch_does_to_the_page_what_the_change_does_to_the_library(
    data: dict[str, Any], translator: annotated.Translator, switches: dict[str, Any], change: Any, numbers: range
) -> None:
    check_switch(data, translator, some_pairs(numbers), switches, change)


def check_switch(
    data: dict[str, Any], translator: annotated.Translator, some: list[Any], switches: dict[str, Any], change: Any
) -> None:
    """What is written, what the given target scores, and that both differ from the whole model's."""
    causal = switches.get("causal", True)
    work = """return jobs.map(([text, target, set]) => ({
      ids: engine.translation(text, switches(set)).steps.map(step => step.id),
      scores: engine.score(text, target, switches(set)).steps.map(step => step.logProbability),
      loss: engine.loss(text, switches(set)), whole: engine.translation(text).tokens,
    }));"""
    found = run(data, work, [[pair.source, pair.target, switches] for pair in some])
    model, losses = changed(translator.model, change), []
    for pair, one in zip(some, found, strict=True):
        source, target = source_of(translator, pair.source), translator.tokenizer.encode(pair.target)

        def score(ids: list[int], source: list[int] = source) -> list[float]:
            read = [BOS, *ids]
            rows = log_probabilities(model, source, read, causal)
            return [float(row[token]) for row, token in zip(rows, [*ids, EOS], strict=True)]

        assert one["scores"] == pytest.approx(score(target), abs=1e-3, rel=1e-4)
        assert one["loss"]["after"] == pytest.approx(sum(score(one["whole"])), abs=1e-2, rel=1e-4)
        losses.append(one["loss"]["change"])
        written, leads = written_by(model, source, 2 * len(source) + 10, causal)
        agree = next((t for t, (a, b) in enumerate(zip(written, one["ids"], strict=False)) if a != b), len(written))
        assert written == one["ids"] or leads[agree] < CLOSE
    assert max(abs(loss) for loss in losses) > 0.01


def test_a_forced_beginning_is_scored_and_gone_on_from(data: dict[str, Any], translator: annotated.Translator) -> None:
    text, prefix = "The small dog sees the cat.", "Eine"
    ((ids, p),) = run(
        data,
        """return jobs.map(([text, prefix]) => {
          const found = finish(engine.write(text, { prefix }));
          return [found.tokens, found.logProbability];
        });""",
        [[text, prefix]],
    )
    source = torch.tensor([source_of(translator, text)])
    (best,) = annotated.greedy_decode(translator.model, source, prefix=[translator.tokenizer.encode(prefix)])
    assert ids == best.tokens and p == pytest.approx(best.log_probability, abs=1e-3)


def test_what_does_not_end_is_cut_off_at_the_bound(data: dict[str, Any]) -> None:
    (steps, ended, source, short) = run(
        data,
        """const found = engine.translation(jobs, { norm: false });
        const short = finish(engine.write(jobs, { most: 3 }));
        return [found.steps.length, found.ended, found.source.length, short.steps.length];""",
        "The small dog sees the cat.",
    )
    assert not ended and steps == 2 * source + 10 and short == 3


def test_a_trace_has_the_tensors_of_the_library(data: dict[str, Any], translator: annotated.Translator) -> None:
    text, target = "The small dog sees the cat.", "Der kleine Hund sieht."
    work = """return jobs.map(([text, target]) => {
      const { boxes, maps, readTokens, nextTokens, sourceTokens } = engine.trace(text, target);
      const plain = array => Array.from(array);
      const each = (values, change) => Object.fromEntries(Object.entries(values).map(([name, x]) => [name, change(x)]));
      return { readTokens, nextTokens, sourceTokens, maps: each(maps, heads => heads.map(plain)),
        boxes: each(boxes, ({ data, rows, columns }) => [plain(data), rows, columns]) };
    });"""
    for given, one in zip((target, None), run(data, work, [[text, target], [text, None]]), strict=True):
        expected = trace(translator, text, given if given is not None else greedy_text(translator, text))
        assert one["boxes"].keys() == expected.boxes.keys()
        for name, (values, rows, columns) in one["boxes"].items():
            assert expected.boxes[name].shape == (rows, columns), name
            torch.testing.assert_close(
                torch.tensor(values).view(rows, columns), expected.boxes[name], atol=2e-4, rtol=1e-4
            )
        assert one["maps"].keys() == expected.maps.keys()
        for name, heads in one["maps"].items():
            weights = torch.tensor(heads).view(expected.maps[name].shape)
            torch.testing.assert_close(weights, expected.maps[name], atol=1e-4, rtol=0)
        assert len(one["sourceTokens"]) == len(expected.source_tokens)
        assert (len(one["readTokens"]), len(one["nextTokens"])) == (
            len(expected.target_tokens),
            len(expected.next_tokens),
        )


def greedy_text(translator: annotated.Translator, text: str) -> str:
    (best,) = annotated.greedy_decode(translator.model, torch.tensor([source_of(translator, text)]))
    return translator.tokenizer.decode(best.tokens)


def test_without_positions_the_order_of_the_source_cannot_matter(data: dict[str, Any]) -> None:
    """The same tokens in another order: the first step is the same without positions, and another with them."""
    work = """const { transformer } = engine, ids = engine.read(jobs), found = [];
      const { greedy } = await import(new URL("decoding.js", loader));
      const { complete } = await import(new URL("switches.js", loader));
      for (const set of [{ positions: false }, {}]) {
        const [one, other] = [ids, [...ids].reverse()].map(source =>
          greedy(transformer, source, complete(set)).next().value.best.map(([, p]) => p));
        found.push(Math.max(...one.map((p, i) => Math.abs(p - other[i]))));
      }
      return found;"""
    same, other = run(data, work, "The small dog sees the cat.")
    assert same < 1e-4 < 0.01 < other


def test_beam_steps_tell_which_candidate_continues_which_hypothesis(data: dict[str, Any]) -> None:
    work = """const steps = [...engine.beam(jobs, { size: 3 })];
      return steps.map(({ candidates, alive, finished }) => ({ candidates, alive, finished: finished.length }));"""
    steps = run(data, work, "The small dog sees the cat.")
    before = [{"tokens": [], "logProbability": 0.0}]
    for step in steps:
        scores = [c["logProbability"] for c in step["candidates"]]
        assert scores == sorted(scores, reverse=True) and len(scores) <= 6
        for candidate in step["candidates"]:
            parent = before[candidate["parent"]]
            assert candidate["logProbability"] == pytest.approx(parent["logProbability"] + candidate["own"], abs=1e-9)
            assert candidate["ends"] == (candidate["token"] == EOS)
            if candidate["place"] >= 0:
                assert step["alive"][candidate["place"]]["tokens"] == [*parent["tokens"], candidate["token"]]
        assert sorted(c["place"] for c in step["candidates"] if c["place"] >= 0) == list(range(len(step["alive"])))
        before = step["alive"]
    assert steps[-1]["finished"] == 1 and math.isfinite(before[0]["logProbability"])


def wide_sentences(numbers: range) -> list[Any]:
    return list(wide_pairs("test", numbers.stop))[numbers.start :]


def test_tokens_of_the_wide_model_are_those_of_the_library(
    wide_data: dict[str, Any], wide_translator: annotated.Translator
) -> None:
    """Its tokenizer has a normal form of its own."""
    tokenizer = wide_translator.tokenizer
    texts = ODD + [text for pair in wide_sentences(range(300)) for text in (pair.source, pair.target)]
    code = """({ Tokenizer }, { tokenizer, texts }) => {
      const one = new Tokenizer(tokenizer);
      return texts.map(text => [one.encode(text), one.decode(one.encode(text))]);
    }"""
    found = evaluate(FOLDER / "tokenizer.js", code, {"tokenizer": wide_data["tokenizer"], "texts": texts})
    assert [ids for ids, _ in found] == tokenizer.encode_batch(texts)
    assert [text for _, text in found] == [tokenizer.decode(ids) for ids, _ in found]


@pytest.mark.parametrize("numbers", WIDE_SENTENCES, ids=["12 sentences", "288 more"])
def test_translations_of_the_wide_model_are_those_of_the_library(
    wide_data: dict[str, Any], wide_translator: annotated.Translator, numbers: range
) -> None:
    """The library translates many sentences at once; where padding has changed a rounding, one alone."""
    texts = [pair.source for pair in wide_sentences(numbers)]
    work = """return jobs.map(text => {
      const { source, tokens, ended, logProbability } = engine.translation(text);
      return { source, tokens, ended, logProbability };
    });"""
    found = run(wide_data, work, texts)
    assert [one["source"] for one in found] == [source_of(wide_translator, text) for text in texts]
    found.sort(key=lambda one: len(one["source"]))
    for first in range(0, len(found), 50):
        some = found[first : first + 50]
        for one, together in zip(some, greedy(wide_translator, [one["source"] for one in some]), strict=True):
            best = together
            if (one["tokens"], one["ended"]) != (best.tokens, best.finished):
                (best,) = greedy(wide_translator, [one["source"]])
            assert (one["tokens"], one["ended"]) == (best.tokens, best.finished)
            assert one["logProbability"] == pytest.approx(best.log_probability, abs=1e-3)


def greedy(translator: annotated.Translator, sources: list[list[int]]) -> list[annotated.Hypothesis]:
    """As the page writes, each up to its bound or beyond it."""
    most = 2 * max(map(len, sources)) + 10
    return annotated.greedy_decode(translator.model, pad(sources), max_new_tokens=most)


@pytest.mark.parametrize(("switches", "change"), [one for one in CHANGES if {"norm", "residual"} & one[0].keys()])
def test_a_switch_does_to_the_wide_model_what_the_change_does_to_the_library(
    wide_data: dict[str, Any], wide_translator: annotated.Translator, switches: dict[str, Any], change: Any
) -> None:
    check_switch(wide_data, wide_translator, wide_sentences(range(2)), switches, change)


def test_the_wide_models_memory_maps_and_scores_are_those_of_the_library(
    wide_data: dict[str, Any], wide_translator: annotated.Translator
) -> None:
    work = """const { boxes, maps, source, read } = engine.trace(jobs);
      const plain = ({ data }) => Array.from(data);
      return { source, read, memory: plain(boxes.memory), linear: plain(boxes.linear),
        maps: Object.fromEntries(Object.entries(maps).map(([name, all]) => [name, all.map(one => Array.from(one))])) };
    """
    found, model = run(wide_data, work, "Hello, how are you?"), wide_translator.model
    source, read = torch.tensor([found["source"]]), torch.tensor([found["read"]])
    with torch.no_grad():
        logits, weights = model(source, read, return_attention=True)
        memory = model.encode(source)
    kinds = zip(("encoder.{}.self", "decoder.{}.self", "decoder.{}.cross"), weights, strict=True)
    for name, layers in kinds:
        for number, layer in enumerate(layers, 1):
            mine = torch.tensor(found["maps"][f"{name.format(number)}_attention"]).view(layer[0].shape)
            torch.testing.assert_close(mine, layer[0], atol=1e-4, rtol=0)
    for mine, theirs in ((found["memory"], memory), (found["linear"], logits)):
        torch.testing.assert_close(torch.tensor(mine).view(theirs.shape), theirs, atol=2e-3, rtol=1e-3)


def test_the_page_names_the_size_of_the_wide_model() -> None:
    """What a reader fetches, compressed as servers do it."""
    named = evaluate(FOLDER / "loader.js", "({ WIDE_SIZE }) => WIDE_SIZE")
    fetched = len(gzip.compress(model_script("classroom-wide").encode(), 6)) / 1e6
    assert float(named.removesuffix(" MB")) == pytest.approx(fetched, abs=0.6) and fetched < 8


def test_a_text_longer_than_all_of_training_is_told_so(wide_data: dict[str, Any]) -> None:
    work = "return jobs.map(text => engine.overlong(text).join());"
    fits, long = run(wide_data, work, ["Hello, how are you?", "The old man sleeps and " * 20])
    assert fits == "" and f"has {wide_data['longest']} tokens; this text has" in long

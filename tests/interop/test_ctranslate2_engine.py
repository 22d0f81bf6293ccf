"""CTranslate2 as a translator's engine: the tokens of our own search, and clear words where it cannot serve."""

from __future__ import annotations

import builtins
import copy
import dataclasses
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

import annotated
from annotated import Transformer, Translator, tiny
from annotated.classroom import classroom_pairs
from annotated.config import EngineConfig
from annotated.data import Tokenizer
from annotated.decoding import Ensemble
from annotated.interop import ctranslate2_engine
from annotated.translator import OutOfMemory, OverlongSource, OverlongSourceWarning

pytestmark = pytest.mark.process

package = pytest.importorskip("ctranslate2", reason="CTranslate2 needs the extra `export`")

ODD = ["", "  ", "Ä", "日本 🙂 and ▁ <0xC3>", "cat " * 40, "<s> the cat </s>"]
SHAPE = {"d_model": 16, "d_ff": 24, "num_heads": 2, "d_k": 8, "d_v": 8}
TEXTS = ["The cat sleeps.", "Yes.", "A big dog sees the cat and the house.", "No, thank you.", "日本 🙂", "the " * 20]


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache of the tests' own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANNOTATED_CACHE", str(folder := tmp_path_factory.mktemp("cache")))
        yield folder


@pytest.fixture(scope="module")
def trained() -> tuple[Translator, Translator]:
    """The classroom model by both engines."""
    return annotated.load("classroom"), annotated.load("classroom", engine="ctranslate2")


@pytest.fixture(scope="module")
def drawn() -> tuple[Translator, Translator]:
    """A model that nobody trained by both engines; its end token is likely, so that some sentences end."""
    tokenizer = Tokenizer.train(TEXTS * 2, 300)
    model = drawn_model(tokenizer, seed=7, pull=4)
    return Translator(model, tokenizer), Translator(model, tokenizer, engine="ctranslate2")


def drawn_model(tokenizer: Tokenizer, seed: int, pull: float, **changes) -> Transformer:
    """Random weights, those of eos `pull` times as long, so that some sentences end.

    Of random models not every one translates alike in both searches: their probabilities are flat, and an ending among
    the weaker half of the candidates may win. With these seeds none does.
    """
    torch.manual_seed(seed)
    model = Transformer(tiny(vocab_size=tokenizer.vocab_size, **SHAPE).replace(**changes)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.5)
        model.embedding.weight[2].mul_(pull)
    return model


def tokens(found: list) -> list[list[list[int]]]:
    return [[one.hypothesis.tokens for one in translations] for translations in found]


@pytest.fixture
def decided(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each sentence that the engine was given, whether it answered."""
    answers: list[bool] = []
    search = ctranslate2_engine.CTranslate2Engine.search

    def counted(self, sources, config):
        found = search(self, sources, config)
        answers.extend(one is not None for one in found)
        return found

    monkeypatch.setattr(ctranslate2_engine.CTranslate2Engine, "search", counted)
    return answers


@pytest.mark.parametrize(
    ("beam_size", "alpha"),
    [
        *[(1, 0.6), (2, 0.0), (4, 0.6), (8, 0.0)],
        *[pytest.param(*other, marks=pytest.mark.nightly) for other in ((1, 0.0), (2, 0.6), (4, 0.0), (8, 0.6))],
    ],
)
def test_the_trained_model_finds_the_same_tokens(trained, decided, beam_size: int, alpha: float) -> None:
    """Empty lines, unknown characters and long lines too; the engine answers for nearly all itself."""
    own, engine = trained
    texts = [pair.source for pair in classroom_pairs("test", 40)] + ODD
    wanted = own.hypotheses(texts, 1, beam_size=beam_size, alpha=alpha)
    found = engine.hypotheses(texts, 1, beam_size=beam_size, alpha=alpha)
    assert tokens(found) == tokens(wanted)
    assert len(decided) == len(texts) - 2 and sum(decided) >= 40
    for (one,), (other,) in zip(found, wanted, strict=True):
        assert (one.text, one.hypothesis.finished) == (other.text, other.hypothesis.finished)
        assert one.hypothesis.score == pytest.approx(other.hypothesis.score, abs=1e-3 * max(one.hypothesis.steps, 1))


@pytest.mark.parametrize("beam_size", [1, 4])
def test_an_alpha_above_one_finds_the_same_tokens(drawn, decided, beam_size: int) -> None:
    """The best translation of a beam ends late then, after CTranslate2 has stopped, so our own search answers."""
    tokenizer = drawn[0].tokenizer
    model = drawn_model(tokenizer, seed=3, pull=4)
    own, engine = Translator(model, tokenizer), Translator(model, tokenizer, engine="ctranslate2")
    options = {"beam_size": beam_size, "alpha": 2.0, "extra_tokens": 20}
    assert tokens(engine.hypotheses(TEXTS, 1, **options)) == tokens(own.hypotheses(TEXTS, 1, **options))
    assert any(decided) is (beam_size == 1)


def test_log_probabilities_without_pad_and_bos(trained) -> None:
    """The engine gives the probability of the two to the other tokens; the rest is the model's own."""
    own, engine = trained
    for text in (pair.source for pair in classroom_pairs("test", 8)):
        found = engine.hypotheses([text], 1, alpha=0.6)[0][0].hypothesis
        with torch.no_grad():
            logits = own.model(own.encode([text]), torch.tensor([[1, *found.tokens]]))[0].double()
        logits[:, :2] = -torch.inf
        total = logits.log_softmax(-1)[range(found.steps), [*found.tokens, 2]].sum().item()
        assert found.log_probability == pytest.approx(total, abs=1e-4)
        assert found.score == pytest.approx(total / ((5 + found.steps) / 6) ** 0.6, abs=1e-4)


@pytest.mark.parametrize(
    ("beam_size", "num_return", "alpha"),
    [
        *[(1, 1, 0.6), (2, 2, 0.0), (4, 1, 0.0), (4, 2, 0.6)],
        *[
            pytest.param(*other, marks=pytest.mark.nightly)
            for other in ((1, 1, 0.0), (2, 1, 0.0), (2, 1, 0.6), (2, 2, 0.6), (4, 1, 0.6), (4, 2, 0.0))
        ],
    ],
)
def test_a_model_that_nobody_trained_finds_the_same_tokens(drawn, decided, beam_size, num_return, alpha) -> None:
    """Some of its sentences end, which the engine finds; some reach their cap, which is left to our search."""
    own, engine = drawn
    options = {"beam_size": beam_size, "alpha": alpha}
    assert tokens(engine.hypotheses(TEXTS, num_return, **options)) == tokens(
        own.hypotheses(TEXTS, num_return, **options)
    )
    assert 0 < sum(decided) < len(decided)


@pytest.mark.parametrize("limits", [{"max_new_tokens": 4}, {"max_new_tokens": 1}, {"extra_tokens": 0}])
@pytest.mark.parametrize("beam_size", [1, 4])
def test_caps_are_each_sentences_own(trained, limits: dict[str, int], beam_size: int) -> None:
    own, engine = trained
    texts = [pair.source for pair in classroom_pairs("test", 12)]
    wanted = own.hypotheses(texts, 1, beam_size=beam_size, **limits)
    assert not all(found.hypothesis.finished for (found,) in wanted)  # or no cap was reached
    assert tokens(engine.hypotheses(texts, 1, beam_size=beam_size, **limits)) == tokens(wanted)


def test_the_best_few_in_the_same_order(trained) -> None:
    own, engine = trained
    texts = [pair.source for pair in classroom_pairs("test", 20)]
    found, wanted = (one.hypotheses(texts, 3, beam_size=4) for one in (engine, own))
    assert tokens(found) == tokens(wanted)
    assert all(len({tuple(h.hypothesis.tokens) for h in best}) == 3 for best in found)


def test_neither_batches_nor_order_matter(trained, decided) -> None:
    engine = trained[1]
    texts = [pair.source for pair in classroom_pairs("test", 15)]
    alone = [engine(text) for text in texts]
    for batch_tokens in (1, 30, 2048):
        assert engine.translate(texts, batch_tokens=batch_tokens) == alone
    assert engine.translate(texts[::-1]) == alone[::-1]
    assert all(decided)


def test_what_the_model_itself_answers(trained) -> None:
    """Scores of given translations and attention maps are the model's own."""
    own, engine = trained
    assert engine.score("The cat sleeps.", "Die Katze schläft.") == own.score("The cat sleeps.", "Die Katze schläft.")
    mine, theirs = own.attention("The cat sleeps."), engine.attention("The cat sleeps.")
    assert theirs.target_tokens == mine.target_tokens
    assert torch.equal(theirs.maps.cross[0], mine.maps.cross[0])
    assert engine.attention("").source_tokens == ["</s>"]


def test_long_sources_are_refused_or_cut_as_ever(trained) -> None:
    short = Translator(trained[0].model, trained[0].tokenizer, max_source_tokens=6, engine="ctranslate2")
    with pytest.raises(OverlongSource, match="more than the 6"):
        short.translate(["cat " * 20])
    with pytest.warns(OverlongSourceWarning):
        cut = short.translate(["cat " * 20], overlong="truncate")
    own = Translator(trained[0].model, trained[0].tokenizer, max_source_tokens=6)
    with pytest.warns(OverlongSourceWarning):
        assert own.translate(["cat " * 20], overlong="truncate") == cut


def test_beyond_the_engines_positions_our_own_search_answers(drawn, decided, monkeypatch) -> None:
    own, engine = drawn
    assert engine._engine.positions > 512  # its sinusoids as they were converted; fewer are sooner passed
    monkeypatch.setattr(engine._engine, "positions", 20)
    options = {"max_new_tokens": 21, "beam_size": 1}
    assert tokens(engine.hypotheses(["Yes."], 1, **options)) == tokens(own.hypotheses(["Yes."], 1, **options))
    assert decided == [False]


def test_weights_that_change_are_converted_anew() -> None:
    """Training goes on while a translator is open: it must not translate with the weights of before."""
    tokenizer = Tokenizer.train(TEXTS * 2, 300)
    model = drawn_model(tokenizer, seed=7, pull=1)
    engine = Translator(model, tokenizer, engine="ctranslate2")
    before = engine._engine
    engine("Yes.")
    assert engine._engine is before
    with torch.no_grad():
        model.embedding.weight[2].mul_(40)
    assert engine(TEXTS[2]) == Translator(model, tokenizer)(TEXTS[2])
    assert engine._engine is not before and engine._engine.is_current


FORKED = """
import os, sys, torch, annotated
torch.set_num_threads(1)
translator = annotated.load("classroom", engine="ctranslate2")
text, before = "The cat sleeps.", translator._engine
translation = translator(text)
if child := os.fork():
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
assert translator(text) == translation and translator._engine is not before
"""
"""Forks after a translation; the child ends as programs do, which destroys what it holds."""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_opens_its_own_engine() -> None:
    """The parent's has no threads there: a translation would wait for ever, and its end would abort the child."""
    subprocess.run([sys.executable, "-c", FORKED], check=True, timeout=300)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_opens_its_own_engine_at_first_use(drawn, copied) -> None:
    engine = drawn[1]
    other = copied(engine)
    assert other._engine is None
    assert other(TEXTS[2]) == engine(TEXTS[2])
    assert other._engine is not None and other._engine is not engine._engine
    assert other._engine.model is other.model


def test_eight_bits_are_another_model_that_translates_nearly_as_well() -> None:
    if "int8" not in package.get_supported_compute_types("cpu"):
        pytest.skip("this processor computes in no int8")
    engine = annotated.load("classroom", engine="ctranslate2", compute_type="int8")
    assert engine._engine.translator.compute_type.startswith("int8")
    pairs = list(classroom_pairs("test", 30))
    right = sum(found == pair.target for found, pair in zip(engine([p.source for p in pairs]), pairs, strict=True))
    assert right >= 15  # float32: 28; a processor without VNNI saturates


def test_without_the_package_the_extra_is_named(monkeypatch, drawn) -> None:
    real = builtins.__import__

    def absent(name, *rest, **options):
        if name.startswith("ctranslate2"):
            raise ImportError("No module named 'ctranslate2'")
        return real(name, *rest, **options)

    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(ImportError, match=r"needs the package ctranslate2 .* extra export"):
        Translator(drawn[0].model, drawn[0].tokenizer, engine="ctranslate2")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"d_v": 4}, "one width of heads; this model has d_k 8 and d_v 4; it is translated by the engine torch"),
        ({"final_norm": True}, r"no LayerNorm on top of post-norm stacks.*engine torch"),
    ],
)
def test_models_that_it_does_not_know_are_refused(drawn, changes, message) -> None:
    config = dataclasses.replace(drawn[0].model.config, **changes)
    with pytest.raises(ValueError, match=message):
        Translator(Transformer(config), drawn[0].tokenizer, engine="ctranslate2")


@pytest.mark.parametrize(
    ("seed", "pull", "changes"),
    [(9, 3, {"positions": "learned", "max_positions": 80}), (7, 2.5, {"d_k": 6, "d_v": 6, "norm": "pre"})],
)
def test_models_of_other_choices_find_the_same_tokens(drawn, decided, seed, pull, changes) -> None:
    """Learned positions end where the table ends; heads need not be d_model / h wide."""
    tokenizer = drawn[0].tokenizer
    model = drawn_model(tokenizer, seed, pull, **changes)
    own, engine = Translator(model, tokenizer), Translator(model, tokenizer, engine="ctranslate2")
    for beam_size, extra_tokens in ((1, 100), (4, 40)):
        options = {"beam_size": beam_size, "extra_tokens": extra_tokens}
        assert tokens(engine.hypotheses(TEXTS, 1, **options)) == tokens(own.hypotheses(TEXTS, 1, **options))
    assert any(decided)


def test_an_ensemble_is_refused(drawn) -> None:
    both = Ensemble([drawn[0].model, drawn[0].model])
    both.config = drawn[0].model.config
    with pytest.raises(
        TypeError, match="one Transformer, and not Ensemble: an ensemble is translated by the engine torch"
    ):
        Translator(both, drawn[0].tokenizer, engine="ctranslate2")


def test_numbers_that_this_processor_lacks_are_refused(drawn, monkeypatch) -> None:
    monkeypatch.setattr(package, "get_supported_compute_types", lambda *_: {"float32", "int8"})
    with pytest.raises(ValueError, match="this cpu does not compute in float16: here CTranslate2 has float32, int8"):
        Translator(drawn[0].model, drawn[0].tokenizer, engine="ctranslate2", compute_type="float16")


def test_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="engine must be one of torch, ctranslate2, not 'tensorrt'"):
        EngineConfig("tensorrt")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="compute_type must be one of float32, .*, not 'int4'"):
        EngineConfig("ctranslate2", "int4")
    with pytest.raises(ValueError, match="compute_type int8 is for the engine ctranslate2"):
        EngineConfig(compute_type="int8")


def test_the_device_is_the_models() -> None:
    """With calls that answer as those of a machine with two GPUs would; nothing runs on one."""

    def machine(gpus: int) -> SimpleNamespace:
        known = {"cpu": {"float32"}, "cuda": {"float32", "float16"}}
        return SimpleNamespace(
            __version__="9", get_cuda_device_count=lambda: gpus,
            get_supported_compute_types=lambda device, number: known[device],
        )  # fmt: skip

    required = ctranslate2_engine._require_device
    assert required(machine(2), torch.device("cuda:1"), "float16") == {"device": "cuda", "device_index": 1}
    assert required(machine(2), torch.device("cuda"), "float32") == {"device": "cuda", "device_index": 0}
    assert required(machine(0), torch.device("cpu"), "float32") == {"device": "cpu", "device_index": 0}
    with pytest.raises(ValueError, match="sees no GPU 0 here, though torch does: translate on the cpu"):
        required(machine(0), torch.device("cuda"), "float32")
    with pytest.raises(ValueError, match="runs on cpu and cuda, and not on meta"):
        required(machine(0), torch.device("meta"), "float32")


@pytest.mark.parametrize("error", [RuntimeError("CUDA failed with error out of memory"), MemoryError()])
def test_memory_that_does_not_suffice_is_said(drawn, monkeypatch, error: Exception) -> None:
    def search(*_: object) -> None:
        raise error

    monkeypatch.setattr(ctranslate2_engine.CTranslate2Engine, "search", search)
    with pytest.raises(OutOfMemory, match="make batch_tokens"):
        drawn[1]("Yes.")

"""Text in, text out; and the ways to a model."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
import torch

import annotated
from annotated import Transformer, Translator, loading, tiny
from annotated.config import DecodingConfig
from annotated.data import Tokenizer
from annotated.decoding import length_penalty
from annotated.loading import UnknownModel, find_model
from annotated.runs.validation_callbacks import validation_bleu
from annotated.saving import save_pretrained
from annotated.training import CheckpointError
from annotated.translator import LongSourceWarning, OutOfMemory, OverlongSource, OverlongSourceWarning

TEXTS = ["The cat sleeps.", "Yes.", "A big dog sees the cat and the house.", "No, thank you.", "the big cat"]


@pytest.fixture(scope="module")
def translator() -> Translator:
    tokenizer = Tokenizer.train(TEXTS * 2, 290)
    torch.manual_seed(3)
    shape = {"d_model": 16, "d_ff": 24, "num_heads": 2, "d_k": 8, "d_v": 8}
    model = Transformer(tiny(vocab_size=tokenizer.vocab_size, **shape)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.5)
    return Translator(model, tokenizer, DecodingConfig(extra_tokens=5))


@pytest.mark.parametrize("beam_size", [1, 3])
@pytest.mark.parametrize("batch_tokens", [1, 20, 2048])
def test_order_is_kept_however_the_batches_are_cut(translator: Translator, beam_size: int, batch_tokens: int) -> None:
    alone = [translator.translate([text], beam_size=beam_size)[0] for text in TEXTS]
    assert len(set(alone)) > 1  # or any order would do
    assert translator.translate(TEXTS, beam_size=beam_size, batch_tokens=batch_tokens) == alone
    assert translator.translate(TEXTS[::-1], beam_size=beam_size, batch_tokens=batch_tokens) == alone[::-1]


def test_one_text_and_no_text(translator: Translator) -> None:
    assert translator(TEXTS[0]) == translator.translate([TEXTS[0]])[0]
    assert translator.translate([]) == []
    assert translator.translate(["", TEXTS[1], "  "]) == ["", translator(TEXTS[1]), ""]
    with pytest.raises(TypeError, match="a list of texts"):
        translator.translate("The cat")


def test_a_call_with_several_texts_translates_each(translator: Translator) -> None:
    assert translator(TEXTS[:2]) == translator.translate(TEXTS[:2])
    assert translator([]) == []
    for wrong in (None, b"The cat", [b"The cat"], 7, ["a", None]):
        with pytest.raises(TypeError, match="give a text, or a list of texts"):
            translator(wrong)  # type: ignore[call-overload, arg-type]
    with pytest.raises(TypeError, match="text 1 is NoneType, not str"):
        translator(["a", None])  # type: ignore[list-item]


def test_what_can_be_read_once_is_read(translator: Translator, tmp_path: Path) -> None:
    expected = translator(TEXTS)
    (tmp_path / "texts.txt").write_text("".join(f"{text}\n" for text in TEXTS), encoding="utf-8")
    with (tmp_path / "texts.txt").open(encoding="utf-8") as file:
        assert translator(file) == expected
    assert translator(map(str.strip, TEXTS)) == translator(text for text in TEXTS) == expected
    assert translator.hypotheses(iter(TEXTS), 1) == translator.hypotheses(TEXTS, 1)


def test_white_space_at_the_ends_changes_nothing(translator: Translator) -> None:
    source, target = TEXTS[0], translator(TEXTS[0])
    for space in " \t\u00a0\u3000\u2028\r\n":
        text = f"{space}{source}{space}"
        assert translator(text) == target
        assert torch.equal(translator.encode([text]), translator.encode([source]))
        assert translator.score(text, target) == translator.score(source, target)
    with pytest.raises(ValueError, match="no device 'gpu'"):
        translator.to("gpu")


def test_saved_loaded_and_moved_by_the_names_that_others_use(translator: Translator, tmp_path: Path) -> None:
    translator.save_pretrained(tmp_path / "model")
    loaded = Translator.from_pretrained(tmp_path / "model", decoding=translator.decoding)
    assert loaded(TEXTS[0]) == translator(TEXTS[0]) and loaded.decoding == translator.decoding
    assert loaded.to("meta") is loaded and loaded.model.embedding.weight.device.type == "meta"
    annotated.save_pretrained(tmp_path / "mute", translator.model)
    model, tokenizer = annotated.load_model(tmp_path / "mute")
    assert tokenizer is None and model.config == translator.model.config


@pytest.mark.parametrize("error", [RuntimeError("[...] DefaultCPUAllocator: can't allocate memory: you tried to ...")])
def test_too_wide_a_beam_for_the_memory_is_said(translator: Translator, monkeypatch, error: Exception) -> None:
    def search(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("annotated.translator.beam_search", search)
    with pytest.raises(OutOfMemory, match=r"2 sentences of up to \d+ tokens with a beam of 100000 .* batch_tokens"):
        translator.translate(TEXTS[:2], beam_size=100_000)
    error.args = ("something else",)
    with pytest.raises(RuntimeError, match="something else"):
        translator.translate(TEXTS[:2], beam_size=100_000)


def test_n_best_and_score_agree(translator: Translator) -> None:
    found = translator.hypotheses(TEXTS[:2], max_new_tokens=4)
    assert [len(translations) for translations in found] == [4, 4]  # all of the beam
    assert [len(translations) for translations in translator.hypotheses(TEXTS[:2], 2)] == [2, 2]
    for translations in found:
        assert len({t.hypothesis.steps for t in translations}) >= 1
        assert all(t.text == translator.tokenizer.decode(t.hypothesis.tokens) for t in translations)
    scored = translator.score(TEXTS[0], TEXTS[1])
    assert scored.tokens == translator.tokenizer.encode(TEXTS[1])
    assert scored.score == pytest.approx(scored.log_probability / length_penalty(len(scored.tokens) + 1, 0.6))
    ends = [t for ts in translator.hypotheses(TEXTS) for t in ts if t.hypothesis.finished]
    again = {t.text: t.hypothesis for t in ends if translator.tokenizer.encode(t.text) == t.hypothesis.tokens}
    for number, translations in enumerate(translator.hypotheses(TEXTS)):
        for text, hypothesis in translations:
            if text in again and hypothesis.finished and again[text].tokens == hypothesis.tokens:
                expected = translator.score(TEXTS[number], text).log_probability
                assert hypothesis.log_probability == pytest.approx(expected, rel=1e-4, abs=1e-3)


def test_attention_between_readable_tokens(translator: Translator) -> None:
    given = translator.attention(TEXTS[0], TEXTS[1])
    assert given.source_tokens[-1] == given.target_tokens[-1] == "</s>"
    s, t = len(given.source_tokens), len(given.target_tokens)
    assert given.maps.cross[0].shape == (2, t, s) and given.maps.encoder[0].shape == (2, s, s)
    assert float((given.maps.cross[1].sum(-1) - 1).abs().max()) < 1e-5
    own = translator.attention(TEXTS[0])
    hypothesis = translator.hypotheses([TEXTS[0]], 1)[0][0].hypothesis
    assert len(own.target_tokens) == hypothesis.steps == own.maps.decoder[0].size(1)


def test_texts_become_ids_as_the_model_reads_them(translator: Translator) -> None:
    ids = translator.encode(["", TEXTS[0]])
    assert ids[0].tolist() == [2] + [0] * (ids.size(1) - 1)
    assert ids[1].tolist() == [*translator.tokenizer.encode(TEXTS[0]), 2]


def test_overlong_sources_are_named_or_cut(translator: Translator) -> None:
    short = Translator(translator.model, translator.tokenizer, translator.decoding, max_source_tokens=6)
    texts = ["Yes.", "cat " * 20, "dog " * 30]
    with pytest.raises(OverlongSource, match=r"sentence 2 \(and 1 more\) has \d+ tokens, more than the 6") as caught:
        short.translate(texts)
    assert caught.value.number == 1 and caught.value.limit == 6
    with pytest.warns(OverlongSourceWarning, match="sentence 2, 3"):
        cut = short.translate(texts, overlong="truncate")
    five = short.tokenizer.decode(short.tokenizer.encode(texts[1].strip())[:5])
    assert cut == short.translate(["Yes.", five, "Yes."])[:2] + cut[2:]
    assert len(cut) == 3


def test_sources_longer_than_any_in_training_are_warned_of_and_translated(
    translator: Translator, tmp_path: Path
) -> None:
    """A model that never saw two sentences on a line leaves one out; the model folder knows how long they were."""
    lengths = [len(translator.tokenizer.encode(text)) + 1 for text in TEXTS]  # eos included
    save_pretrained(tmp_path / "model", translator.model, translator.tokenizer, longest_source=sorted(lengths)[-2])
    loaded = annotated.load(tmp_path / "model")
    loaded.max_source_tokens = max(lengths) + 1
    longest = lengths.index(max(lengths)) + 1
    with pytest.warns(LongSourceWarning, match="one sentence a line") as said:
        assert loaded.translate(TEXTS, extra_tokens=5) == translator.translate(TEXTS)
    assert [one.message.numbers for one in said] == [[longest]]
    with pytest.warns() as said:
        loaded.translate([*TEXTS, "cat " * 100], overlong="truncate")
    assert [(type(one.message), one.message.numbers) for one in said] == [
        (OverlongSourceWarning, [len(TEXTS) + 1]),
        (LongSourceWarning, [longest]),
    ], "what is cut is said once"
    loaded.save_pretrained(tmp_path / "again")
    translator.save_pretrained(tmp_path / "unknown")
    assert annotated.load(tmp_path / "again").longest_source == sorted(lengths)[-2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for folder in ("again", "unknown"):  # where it is not known, nothing is longer
            texts = [text for text, length in zip(TEXTS, lengths, strict=True) if length < max(lengths)]
            annotated.load(tmp_path / folder).translate(texts if folder == "again" else TEXTS)


def test_model_and_tokenizer_must_belong_together(translator: Translator) -> None:
    other = Tokenizer.train(["abcabcabc"] * 3, 262)
    with pytest.raises(ValueError, match="do not belong together"):
        Translator(translator.model, other)


def test_load_finds_model_folders_and_training_runs(translator: Translator, tmp_path: Path) -> None:
    save_pretrained(tmp_path / "run" / "model", translator.model, translator.tokenizer)
    for folder in (tmp_path / "run" / "model", str(tmp_path / "run")):
        loaded = annotated.load(folder, beam_size=2, extra_tokens=5)
        assert loaded.decoding.beam_size == 2
        assert loaded.translate(TEXTS[:2]) == translator.translate(TEXTS[:2], beam_size=2)
    assert find_model(tmp_path / "run") == tmp_path / "run" / "model"


def test_names_inside_the_package(translator: Translator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_pretrained(tmp_path / "assets" / "pocket", translator.model, translator.tokenizer)
    (tmp_path / "assets" / "not-a-model").mkdir()
    monkeypatch.setattr(loading, "files", lambda package: tmp_path)
    assert loading.builtin_models() == ["pocket"]
    assert annotated.load("pocket").tokenizer.fingerprint == translator.tokenizer.fingerprint
    with pytest.raises(UnknownModel, match="no model 'poket'.*pocket.*path"):
        annotated.load("poket")


def test_folders_that_hold_no_model(translator: Translator, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="holds no model"):
        annotated.load(tmp_path)
    save_pretrained(tmp_path / "mute", translator.model)
    with pytest.raises(CheckpointError, match="without a tokenizer"):
        annotated.load(tmp_path / "mute")
    save_pretrained(tmp_path / "torn", translator.model, translator.tokenizer)
    weights = tmp_path / "torn" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(CheckpointError, match="torn"):
        annotated.load(tmp_path / "torn")


def test_validation_bleu_is_bleu_of_greedy_translations(translator: Translator) -> None:
    model, tokenizer = translator.model, translator.tokenizer
    own = Translator(model, tokenizer).translate(TEXTS, beam_size=1)
    assert validation_bleu(model, tokenizer, list(zip(TEXTS, own, strict=True))) == pytest.approx(100.0)


def test_public_names_are_there() -> None:
    for name in annotated.__all__:
        assert getattr(annotated, name) is not None
    with pytest.raises(AttributeError, match="nonsense"):
        annotated.nonsense  # noqa: B018

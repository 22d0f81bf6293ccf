"""The shared byte-pair vocabulary: lossless, deterministic, and deaf to special tokens in a user's text."""

from __future__ import annotations

import json
import pickle

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

from annotated.config import BOS, EOS, PAD, SPECIAL_TOKENS, UNK
from annotated.data.tokenizer import Tokenizer, TokenizerError

pytestmark = pytest.mark.oldest_torch

SENTENCES = [
    "The cat sleeps.",
    "Die Katze schläft.",
    "The small cats are sleeping on the sofa.",
    "Die kleinen Katzen schlafen auf dem Sofa.",
    "<s> the markup </s> <pad> of <unk> tokens <s> <s> </s> <pad>",
] * 5


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train(SENTENCES, 320)


pieces = st.sampled_from([*SPECIAL_TOKENS, " ", "\n", "\t", "Katze", "cats", "😀", "é", "e\u0301", "\u2028", "\0", "Ġ"])


@given(st.one_of(st.text(max_size=60), st.lists(pieces, max_size=12).map("".join)))
def test_text_comes_back_exactly_and_never_makes_special_ids(tokenizer, text):
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert all(UNK < index < tokenizer.vocab_size for index in ids)


@pytest.mark.parametrize("text", ["", " ", "  leading", "trailing  ", "a\n\nb", "<s>", "x</s>y", "\ufeff", "👩‍👩‍👧"])
def test_round_trip_of_awkward_texts(tokenizer, text):
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_special_tokens_have_the_ids_of_the_design_and_disappear_when_decoded(tokenizer):
    assert tokenizer.tokens([PAD, BOS, EOS, UNK]) == ["<pad>", "<s>", "</s>", "<unk>"]
    ids = tokenizer.encode("Die Katze")
    assert tokenizer.decode([BOS, *ids[:1], UNK, *ids[1:], EOS, PAD, PAD]) == "Die Katze"


def test_the_vocabulary_has_the_size_asked_for_and_merges_frequent_words(tokenizer):
    assert tokenizer.vocab_size == 320
    assert len(tokenizer.encode("The cat")) < len(b"The cat")


def test_a_text_that_cannot_fill_the_vocabulary_gives_a_smaller_one():
    # "aaaa" twice: the merges are a+a and aa+aa, so 4 special tokens, 256 bytes and 2 merges.
    assert Tokenizer.train(["aaaa", "aaaa"], 1000).vocab_size == 262


def test_training_is_deterministic_and_streams(tokenizer):
    again = Tokenizer.train((text for text in SENTENCES), 320)
    assert again.fingerprint == tokenizer.fingerprint
    assert Tokenizer.train(SENTENCES, 319).fingerprint != tokenizer.fingerprint


@pytest.mark.parametrize("size", [0, 4, 259])
def test_a_vocabulary_too_small_for_the_bytes(size):
    with pytest.raises(TokenizerError, match="260"):
        Tokenizer.train(SENTENCES, size)


def test_bytes_alone_are_a_vocabulary():
    tokenizer = Tokenizer.train(SENTENCES, 260)
    assert tokenizer.vocab_size == 260
    assert len(tokenizer.encode("schläft")) == 8


@pytest.mark.parametrize("texts", [[], ["", ""]])
def test_no_text_to_train_on(texts):
    with pytest.raises(TokenizerError, match="no text"):
        Tokenizer.train(texts, 300)


def test_saved_and_loaded_it_is_the_same(tokenizer, tmp_path):
    path = tmp_path / "model" / "tokenizer.json"
    tokenizer.save(path)
    loaded = Tokenizer.load(path)
    assert loaded.fingerprint == tokenizer.fingerprint
    assert loaded.encode_batch(SENTENCES) == tokenizer.encode_batch(SENTENCES)
    assert [file.name for file in path.parent.iterdir()] == ["tokenizer.json"]


def test_any_reader_of_the_file_gets_the_same_ids(tokenizer, tmp_path):
    tokenizer.save(tmp_path / "tokenizer.json")
    bare = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in [*SENTENCES, "<s>a</s><pad>"]:
        assert bare.encode(text).ids == tokenizer.encode(text)


def test_the_fingerprint_ignores_how_the_file_is_written(tokenizer, tmp_path):
    tokenizer.save(tmp_path / "one.json")
    content = json.loads((tmp_path / "one.json").read_text(encoding="utf-8"))
    content["model"]["merges"] = [" ".join(merge) for merge in content["model"]["merges"]]  # as older versions did
    (tmp_path / "two.json").write_text(json.dumps(content, sort_keys=True), encoding="utf-8")
    assert Tokenizer.load(tmp_path / "two.json").fingerprint == tokenizer.fingerprint


def test_an_interrupted_save_leaves_the_old_file(tokenizer, tmp_path, monkeypatch):
    path = tmp_path / "tokenizer.json"
    tokenizer.save(path)
    before = path.read_bytes()

    def fail(*paths):
        raise OSError("no more")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="no more"):
        Tokenizer.train(SENTENCES, 300).save(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["tokenizer.json"]


def test_missing_and_damaged_files(tokenizer, tmp_path):
    with pytest.raises(TokenizerError, match=r"nowhere\.json: no such file"):
        Tokenizer.load(tmp_path / "nowhere.json")
    path = tmp_path / "tokenizer.json"
    tokenizer.save(path)
    whole = path.read_bytes()
    for content in (b"", whole[: len(whole) // 2], b"\xff\xfe"):
        path.write_bytes(content)
        with pytest.raises(TokenizerError, match="damaged or incomplete"):
            Tokenizer.load(path)


def change(content: dict, where: list[str], value: object) -> None:
    for key in where[:-1]:
        content = content[key]
    content[where[-1]] = value


@pytest.mark.parametrize(
    "where, value, reason",
    [
        (["model", "type"], "WordPiece", "not a byte-pair tokenizer"),
        (["model"], 3, "not a tokenizer"),
        (["model", "vocab", "<s>"], 7, "special tokens"),
        (["decoder"], None, "not byte-level"),
        (["pre_tokenizer", "add_prefix_space"], True, "changes the text"),
        (["normalizer"], {"type": "Lowercase"}, "changes the text"),
        (["added_tokens"], [{"id": 0, "content": "<pad>"}], "adds tokens"),
        (["model", "vocab", "Q!"], 100_000, "gaps"),
        (["model", "vocab", "Q!"], ["x"], "gaps"),
        (["model", "merges"], [["Q", "Ж"]], "damaged"),
    ],
)
def test_tokenizers_that_are_not_ours(tokenizer, tmp_path, where, value, reason):
    path = tmp_path / "tokenizer.json"
    tokenizer.save(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content, where, value)
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(TokenizerError, match=reason):
        Tokenizer.load(path)


def test_a_file_without_all_bytes(tokenizer, tmp_path):
    path = tmp_path / "tokenizer.json"
    content = {
        "model": {"type": "BPE", "vocab": {token: index for index, token in enumerate(SPECIAL_TOKENS)}, "merges": []},
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False},
        "decoder": {"type": "ByteLevel"},
    }
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(TokenizerError, match="256 of the 256 bytes are missing"):
        Tokenizer.load(path)


@pytest.mark.parametrize("wrong", [-1, 320, 99_999])
def test_ids_out_of_range(tokenizer, wrong):
    for use in (tokenizer.decode, tokenizer.tokens):
        with pytest.raises(TokenizerError, match=f"id {wrong} is outside the vocabulary of 320"):
            use([5, wrong])


def test_lone_surrogates_and_things_that_are_no_text(tokenizer):
    with pytest.raises(TokenizerError, match=r"text 1 holds a lone surrogate \(U\+D800\) at character 2"):
        tokenizer.encode_batch(["fine", "ab\ud800"])
    with pytest.raises(TypeError, match="text 0 is int"):
        tokenizer.encode_batch([3])


def test_readable_pieces():
    tokenizer = Tokenizer.train(["Die Katze"] * 2, 400)  # room for every merge: both words become one token
    shown = tokenizer.tokens(tokenizer.encode("Die Katze é😀"))
    assert shown == ["Die", "▁Katze", "▁", "<0xC3>", "<0xA9>", "<0xF0>", "<0x9F>", "<0x98>", "<0x80>"]


def test_half_a_character_decodes_to_the_replacement_character(tokenizer):
    assert tokenizer.decode(tokenizer.encode("😀")[:2]) == "\ufffd"


def test_offsets_point_at_the_characters_of_each_token():
    tokenizer = Tokenizer.train(["Die Katze"] * 2, 400)
    text = "Die Katze  é."
    assert [text[start:end] for start, end in tokenizer.offsets(text)] == ["Die", "Katze", " ", " ", "é", "é", "."]
    assert len(tokenizer.encode(text)) == 7


def test_a_pickled_tokenizer_is_the_same(tokenizer):
    copy = pickle.loads(pickle.dumps(tokenizer))
    assert copy.fingerprint == tokenizer.fingerprint
    assert copy.vocab_size == 320


def test_real_text_comes_back(shared_data):
    lines = (shared_data / "valid.tsv").read_text(encoding="utf-8").split("\n")
    texts = [text for line in lines for text in line.split("\t")]
    tokenizer = Tokenizer.train(texts, 4000)
    assert [tokenizer.decode(ids) for ids in tokenizer.encode_batch(texts)] == texts


@pytest.mark.parametrize("run", ["." * 100_000, "x" * 300_000, " " * 100_000, "\u00e4" * 50_000, "ab." * 40_000])
def test_a_long_run_neither_stops_learning_nor_fills_the_vocabulary(run: str) -> None:
    tokenizer = Tokenizer.train([*SENTENCES, f"Contents{run}1"], 400)  # by the square of its length it took minutes
    assert max(len(tokenizer.decode([index]).encode()) for index in range(260, tokenizer.vocab_size)) <= 64
    assert tokenizer.decode(tokenizer.encode(run)) == run


def test_a_long_text_of_ordinary_words_is_learned_as_its_sentences_are() -> None:
    long = " ".join(SENTENCES * 50)
    assert len(long) > 1000
    words = [word for text in SENTENCES * 50 for word in text.split(" ")]
    apart = [words[0], *(f" {word}" for word in words[1:])]
    assert Tokenizer.train([long], 320).fingerprint == Tokenizer.train(apart, 320).fingerprint


def test_one_text_and_several_are_not_taken_for_each_other(tokenizer: Tokenizer) -> None:
    with pytest.raises(TypeError, match="`encode_batch` takes several"):
        tokenizer.encode(["The cat", "sleeps"])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="`encode` takes one"):
        tokenizer.encode_batch("The cat")
    with pytest.raises(TypeError, match="text 1 is list, not str"):
        tokenizer.encode_batch(["a", ["b", "c"]])  # type: ignore[list-item]

"""torchtext's Vocab and Multi30k beside ours. Runs in the environment of `make torchtext-test`."""

import hashlib
import importlib
import importlib.util
import io
import os
import runpy
import tarfile

import pytest
import tokenizers
import torch

from annotated.config import SPECIAL_TOKENS
from annotated.data.tokenizer import Tokenizer
from annotated.interop.torchtext import from_torchtext_vocab, read_multi30k, save_multi30k, to_torchtext_vocab

pytestmark = pytest.mark.oldest_torch

REQUIRED = os.environ.get("ANNOTATED_REQUIRE_TORCHTEXT") == "1"
INSTALLED = importlib.util.find_spec("torchtext") is not None
needs_torchtext = pytest.mark.skipif(
    not INSTALLED and not REQUIRED, reason="torchtext has an environment of its own: make torchtext-test"
)
TEXTS = ["A dog runs.", "Ein Hund läuft über die Straße.", "Two dogs, <s> and </s>."]

# Pairs for archives of the published layout, which names its validation files val.*
PAIRS = {
    "train": [("A dog runs.", "Ein Hund läuft."), ("Two dogs.", "Zwei Hunde."), ("The end.", "Das Ende.")],
    "valid": [("A cat.", "Eine Katze.")],
    "test": [("A “quoted” street.", "Eine „zitierte“ Straße.")],
}


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer.train(TEXTS * 4, 300)


@pytest.fixture
def archives(tmp_path, monkeypatch):
    """Small archives of the published layout in torchtext's cache, and any download forbidden."""
    importlib.import_module("torchtext.datasets")
    multi30k = importlib.import_module("torchtext.datasets.multi30k")
    folder = tmp_path / "datasets" / "Multi30k"
    folder.mkdir(parents=True)
    for split, pairs in PAIRS.items():
        path = folder / os.path.basename(multi30k.URL[split])
        with tarfile.open(path, "w:gz") as archive:
            for side, language in enumerate(("en", "de")):
                content = "".join(pair[side] + "\n" for pair in pairs).encode()
                member = tarfile.TarInfo(f"{multi30k._PREFIX[split]}.{language}")
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        monkeypatch.setitem(multi30k.MD5, split, hashlib.sha256(path.read_bytes()).hexdigest())
        monkeypatch.setitem(multi30k.URL, split, f"http://127.0.0.1:9/{path.name}")
    return tmp_path


@pytest.mark.skipif(not REQUIRED, reason="only where torchtext must be there")
def test_this_environment_has_torchtext():
    import torchtext

    assert torchtext.__version__.startswith("0.18.0")
    assert torch.__version__.startswith("2.3.1")


@needs_torchtext
def test_vocab_looks_up_what_the_tokenizer_cuts(tokenizer, tmp_path):
    tokenizer.save(tmp_path / "tokenizer.json")
    cutter = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    vocab = to_torchtext_vocab(tokenizer)
    assert len(vocab) == tokenizer.vocab_size
    assert vocab.lookup_tokens([0, 1, 2, 3]) == list(SPECIAL_TOKENS)
    for text in TEXTS:
        assert vocab(cutter.encode(text).tokens) == tokenizer.encode(text)
    assert vocab["never seen"] == 3


@needs_torchtext
def test_there_and_back(tokenizer):
    vocab = to_torchtext_vocab(tokenizer)
    back = from_torchtext_vocab(vocab)
    assert back.tokens == tuple(vocab.get_itos())
    assert back.theirs == tuple(range(tokenizer.vocab_size))
    ids = tokenizer.encode(TEXTS[1])
    assert back.encode(back.decode(ids)) == ids


@needs_torchtext
def test_a_vocab_of_words_moves_to_our_numbering():
    """The recipe of 2022: special tokens first, in an order of its own, then words by frequency."""
    from torchtext.vocab import build_vocab_from_iterator

    special = ["<unk>", "<pad>", "<bos>", "<eos>"]
    vocab = build_vocab_from_iterator([["dog", "runs", "dog"]], specials=special, special_first=True)
    vocab.set_default_index(vocab["<unk>"])
    table = from_torchtext_vocab(vocab, special=("<pad>", "<bos>", "<eos>", "<unk>"))
    assert table.tokens == ("<pad>", "<bos>", "<eos>", "<unk>", "dog", "runs")
    assert table.theirs == (1, 2, 3, 0, 4, 5)
    assert table.encode(["runs", "dog", "cat"]) == [5, 4, 3]
    assert table.decode([4, 5, 0, 0]) == ["dog", "runs"]


@needs_torchtext
def test_a_vocab_that_does_not_fit_is_refused(tokenizer):
    from torchtext.vocab import build_vocab_from_iterator

    with pytest.raises(ValueError, match="no <pad>, <s>, </s>, <unk>: say what it calls"):
        from_torchtext_vocab(build_vocab_from_iterator([["dog"]]))
    vocab = to_torchtext_vocab(tokenizer)
    vocab.set_default_index(0)
    with pytest.raises(ValueError, match="takes unknown tokens for '<pad>'"):
        from_torchtext_vocab(vocab)


@needs_torchtext
@pytest.mark.parametrize("split", ["train", "valid", "test"])
def test_multi30k_from_local_archives(archives, split):
    assert list(read_multi30k(split, archives)) == PAIRS[split]
    turned = list(read_multi30k(split, archives, language_pair=("de", "en")))
    assert turned == [(german, english) for english, german in PAIRS[split]]


@needs_torchtext
def test_multi30k_as_files_that_every_command_reads(archives, tmp_path):
    paths = save_multi30k(tmp_path / "tsv", archives)
    assert [path.name for path in paths] == ["train.tsv", "valid.tsv", "test.tsv"]
    assert paths[0].read_text(encoding="utf-8").splitlines()[1] == "Two dogs.\tZwei Hunde."


@needs_torchtext
def test_the_appendix_shows_what_its_code_prints(repository):
    """Recorded again: .venv-torchtext/bin/python book/annotated_book/appendix/torchtext/torchtext_pipeline.py"""
    printed = runpy.run_path(
        str(repository / "book" / "annotated_book" / "appendix" / "torchtext" / "torchtext_pipeline.py")
    )["run"]()
    recorded = repository / "book" / "annotated_book" / "appendix" / "torchtext" / "recorded"
    assert printed == {path.stem: path.read_text(encoding="utf-8") for path in recorded.glob("*.txt")}


def test_unknown_split_is_refused():
    with pytest.raises(ValueError, match="no split 'validation'; it has train, valid, test"):
        next(read_multi30k("validation"))


@pytest.mark.skipif(INSTALLED, reason="torchtext is installed here")
def test_without_torchtext_the_message_names_the_extra(tokenizer):
    with pytest.raises(ImportError, match=r"pip install '\.\[torchtext\]'"):
        to_torchtext_vocab(tokenizer)

"""Encoded corpora on disk: what is kept, constant memory, and builds that are interrupted."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import tracemalloc
from itertools import islice

import numpy as np
import pytest

from annotated import storage
from annotated.config import EOS, DataConfig
from annotated.data import store_files
from annotated.data.corpora import open_corpus
from annotated.data.store import StoreError, TokenStore
from annotated.data.tokenizer import Tokenizer
from annotated.storage import DiskFull

pytestmark = [pytest.mark.process, pytest.mark.oldest_torch]

PAIRS = [(f"the {n} cat", f"die {n} Katze") for n in range(50)]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train([text for pair in PAIRS for text in pair], 300)


def contents(store: TokenStore, tokenizer: Tokenizer) -> list[tuple[str, str]]:
    return [(tokenizer.decode(store.source(i)), tokenizer.decode(store.target(i))) for i in range(len(store))]


def files(folder) -> set[str]:
    return {path.name for path in folder.iterdir()} - {"store.lock"}


def test_every_pair_comes_back_with_eos(tokenizer, tmp_path, monkeypatch):
    monkeypatch.setattr(store_files, "CHUNK_PAIRS", 7)
    store = TokenStore.build(tmp_path, iter(PAIRS), tokenizer, max_length=100)
    assert contents(store, tokenizer) == PAIRS
    for index, (source, target) in enumerate(PAIRS):
        assert store.source(index).tolist() == [*tokenizer.encode(source), EOS]
        assert store.target(index).tolist() == [*tokenizer.encode(target), EOS]
    assert store.source_lengths.tolist() == [len(tokenizer.encode(source)) + 1 for source, _ in PAIRS]
    assert store.target_lengths.tolist() == [len(tokenizer.encode(target)) + 1 for _, target in PAIRS]
    assert [side.tolist() for side in store.lengths(np.array([3, 0]))] == [
        [store.source_lengths[3], store.source_lengths[0]],
        [store.target_lengths[3], store.target_lengths[0]],
    ]
    assert store.source(-1).tolist() == store.source(49).tolist()
    for index in (50, -51):
        with pytest.raises(IndexError, match="50 pairs"):
            store.source(index)


def test_long_and_empty_pairs_are_left_out_and_counted(tmp_path):
    tokenizer = Tokenizer.train(["x"], 260)  # one token a byte
    pairs = [("abc", "abc"), ("abcd", "a"), ("a", "abcd"), ("", "a"), ("a", ""), ("a", "b")]
    store = TokenStore.build(tmp_path, pairs, tokenizer, max_length=4)  # three bytes and eos
    assert contents(store, tokenizer) == [("abc", "abc"), ("a", "b")]
    assert (store.info.pairs, store.info.too_long, store.info.empty) == (2, 2, 2)
    assert (store.info.source_tokens, store.info.target_tokens) == (6, 6)


def test_nothing_left_is_an_error_and_leaves_nothing(tokenizer, tmp_path):
    with pytest.raises(StoreError, match="2 were longer than 2 tokens"):
        TokenStore.build(tmp_path, PAIRS[:2], tokenizer, max_length=2)
    with pytest.raises(StoreError, match="no sentence pairs"):
        TokenStore.build(tmp_path, [], tokenizer, max_length=2)
    assert files(tmp_path) == set()


@pytest.mark.parametrize("vocab_size, width", [(65_536, 2), (65_537, 4)])
def test_tokens_take_two_bytes_while_they_fit(vocab_size, width):
    store = TokenStore.from_ids([([vocab_size - 1], [4])], vocab_size)
    assert store.source_tokens.itemsize == width
    assert store.source(0).tolist() == [vocab_size - 1, EOS]


def test_a_store_in_memory():
    store = TokenStore.from_ids([([5, 6], [7]), ([], [8, 9, 10])])
    assert [store.source(i).tolist() for i in range(2)] == [[5, 6, EOS], [EOS]]
    assert [store.target(i).tolist() for i in range(2)] == [[7, EOS], [8, 9, 10, EOS]]
    assert store.info.vocab_size == 11
    assert len(TokenStore.from_ids([])) == 0
    with pytest.raises(StoreError, match="id 11 is outside"):
        TokenStore.from_ids([([11], [4])], vocab_size=11)


def test_a_build_holds_one_chunk_at_a_time(tokenizer, tmp_path, monkeypatch):
    monkeypatch.setattr(store_files, "CHUNK_PAIRS", 10)
    batches: list[int] = []
    drawn = 0

    def pairs():
        nonlocal drawn
        for drawn in range(1, 96):
            yield PAIRS[drawn % 50]

    class Counting:
        vocab_size, fingerprint = tokenizer.vocab_size, tokenizer.fingerprint

        def encode_batch(self, texts):
            batches.append(len(texts))
            chunk = (len(batches) - 1) // 2  # two calls a chunk: sources, then targets
            assert drawn == min(10 * (chunk + 1), 95), "pairs were drawn ahead of the chunk that needs them"
            return tokenizer.encode_batch(texts)

    TokenStore.build(tmp_path, pairs(), Counting(), max_length=100)
    assert batches == [size for size in [10] * 9 + [5] for _ in range(2)]


def test_memory_does_not_grow_with_the_corpus(tokenizer, tmp_path, monkeypatch):
    monkeypatch.setattr(store_files, "CHUNK_PAIRS", 200)

    def peak(pairs: int) -> int:
        stream = (PAIRS[n % 50] for n in range(pairs))
        tracemalloc.start()
        store = TokenStore.build(tmp_path / str(pairs), stream, tokenizer, max_length=100)
        highest = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert len(store) == pairs
        return highest

    peak(200)  # warm
    assert peak(20_000) < 1.5 * peak(1_000)


def test_tokens_are_mapped_not_read(tokenizer, tmp_path):
    store = TokenStore.build(tmp_path, PAIRS, tokenizer, max_length=100)
    for array in (store.source_tokens, store.target_tokens, store.source_offsets, store.target_offsets):
        assert isinstance(array.base, np.memmap)
        assert not array.flags.writeable


def broken_stream(after: int, error: BaseException):
    yield from islice(PAIRS, after)
    raise error


@pytest.mark.parametrize("error", [ValueError("bad line"), KeyboardInterrupt()])
def test_an_interrupted_build_leaves_nothing_or_the_old_store(tokenizer, tmp_path, monkeypatch, error):
    monkeypatch.setattr(store_files, "CHUNK_PAIRS", 7)
    with pytest.raises(type(error)):
        TokenStore.build(tmp_path, broken_stream(20, error), tokenizer, max_length=100)
    assert files(tmp_path) == set()
    TokenStore.build(tmp_path, PAIRS[:9], tokenizer, max_length=100)
    before = files(tmp_path)
    with pytest.raises(type(error)):
        TokenStore.build(tmp_path, broken_stream(20, error), tokenizer, max_length=100)
    assert files(tmp_path) == before
    assert contents(TokenStore.open(tmp_path), tokenizer) == PAIRS[:9]


def test_a_failing_rename_leaves_the_old_store(tokenizer, tmp_path, monkeypatch):
    TokenStore.build(tmp_path, PAIRS[:9], tokenizer, max_length=100)
    before = files(tmp_path)

    def fail(*paths):
        raise PermissionError(errno.EACCES, "not allowed")

    with monkeypatch.context() as patch:
        patch.setattr(storage.os, "replace", fail)
        with pytest.raises(PermissionError, match="not allowed"):
            TokenStore.build(tmp_path, PAIRS, tokenizer, max_length=100)
    assert files(tmp_path) == before
    assert contents(TokenStore.open(tmp_path), tokenizer) == PAIRS[:9]


KILLED = """
import os, signal, sys
from annotated.data import store_files
from annotated.data.store import TokenStore
from annotated.data.tokenizer import Tokenizer
folder, when = sys.argv[1:]
store_files.CHUNK_PAIRS = 4
pairs = [(f"the {n} cat", f"die {n} Katze") for n in range(50)]
def stream():
    for number, pair in enumerate(pairs):
        if when == "encoding" and number == 30:
            os.kill(os.getpid(), signal.SIGKILL)
        yield pair
def replace(*paths):
    os.kill(os.getpid(), signal.SIGKILL)
if when == "renaming":
    os.replace = replace
TokenStore.build(folder, stream(), Tokenizer.load(os.path.join(folder, "..", "tokenizer.json")), 100)
"""


@pytest.mark.parametrize("when", ["encoding", "renaming"])
def test_a_killed_build_leaves_the_old_store_and_the_next_build_cleans_up(tokenizer, tmp_path, repository, when):
    tokenizer.save(tmp_path / "tokenizer.json")
    folder = tmp_path / "store"
    TokenStore.build(folder, PAIRS[:9], tokenizer, max_length=100)
    killed = subprocess.run([sys.executable, "-c", KILLED, str(folder), when], cwd=repository, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(files(folder)) > 5, "the killed build has left its files"
    assert contents(TokenStore.open(folder), tokenizer) == PAIRS[:9]
    store = TokenStore.open_or_build(folder, PAIRS, tokenizer, 100)
    assert contents(store, tokenizer) == PAIRS
    assert len(files(folder)) == 5


def test_a_full_disk_says_what_to_free_and_gives_the_space_back(tokenizer, tmp_path, monkeypatch):
    monkeypatch.setattr(store_files, "CHUNK_PAIRS", 7)
    TokenStore.build(tmp_path, PAIRS[:9], tokenizer, max_length=100)
    before = files(tmp_path)
    syncs = iter([None, OSError(errno.ENOSPC, "No space left on device")])

    def full(descriptor):
        if error := next(syncs):
            raise error

    monkeypatch.setattr(storage.os, "fsync", full)
    with pytest.raises(DiskFull, match=f"full: {tmp_path} could.* 0.0 MB were written.* Free more than that") as caught:
        TokenStore.build(tmp_path, PAIRS, tokenizer, max_length=100)
    assert caught.value.errno == errno.ENOSPC
    assert files(tmp_path) == before
    assert contents(TokenStore.open(tmp_path), tokenizer) == PAIRS[:9]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full on this system")
def test_a_disk_that_is_full_while_writing(tokenizer, tmp_path, monkeypatch):
    def full(path, *arguments, **options):
        return open("/dev/full", *arguments, **options)  # noqa: SIM115 (the caller closes it)

    monkeypatch.setattr(store_files, "open", full, raising=False)
    with pytest.raises(DiskFull, match="is full"):
        store_files.write(tmp_path, PAIRS * 2000, tokenizer, 100, "")


def test_opening_what_is_not_there_or_damaged(tokenizer, tmp_path):
    with pytest.raises(StoreError, match="no token store here"):
        TokenStore.open(tmp_path)
    TokenStore.build(tmp_path, PAIRS, tokenizer, max_length=100)
    metadata = tmp_path / "store.json"
    whole = json.loads(metadata.read_text())
    tokens = tmp_path / whole["files"]["source.tokens"]
    content = tokens.read_bytes()
    tokens.write_bytes(content[:-2])
    with pytest.raises(StoreError, match=rf"has {len(content) - 2:,} bytes where {len(content):,} belong"):
        TokenStore.open(tmp_path)
    tokens.unlink()
    with pytest.raises(StoreError, match=r"source\.tokens.*No such file"):
        TokenStore.open(tmp_path)
    tokens.write_bytes(content)
    offsets = tmp_path / whole["files"]["target.offsets"]
    offsets.write_bytes(bytes(offsets.stat().st_size))
    with pytest.raises(StoreError, match="does not fit the tokens"):
        TokenStore.open(tmp_path)
    for text, reason in [
        ("{", "cannot be read"),
        ("[]", "not the metadata"),
        ("{}", "not the metadata"),
        (json.dumps({**whole, "format": 0}), "another version"),
        (json.dumps({**whole, "info": {"pears": 3}}), "not the metadata"),
    ]:
        metadata.write_text(text)
        with pytest.raises(StoreError, match=reason):
            TokenStore.open(tmp_path)


def unread():
    raise AssertionError("the corpus was read again")
    yield


def test_a_store_is_reused_only_for_the_same_corpus_tokenizer_and_length(tokenizer, tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS), encoding="utf-8")
    folder = tmp_path / "store"
    corpus = open_corpus(str(path), "train", DataConfig())
    first = TokenStore.open_or_build(folder, corpus, tokenizer, 100)
    again = TokenStore.open_or_build(folder, unread(), tokenizer, 100, corpus.identity)
    assert again.identity == first.identity
    with pytest.raises(AssertionError, match="read again"):
        TokenStore.open_or_build(folder, unread(), tokenizer, 99, corpus.identity)
    with pytest.raises(AssertionError, match="read again"):
        TokenStore.open_or_build(folder, unread(), Tokenizer.train(["a"], 260), 100, corpus.identity)
    path.write_text("one\teins\n", encoding="utf-8")
    corpus = open_corpus(str(path), "train", DataConfig())
    rebuilt = TokenStore.open_or_build(folder, corpus, tokenizer, 100)
    assert contents(rebuilt, tokenizer) == [("one", "eins")]
    assert rebuilt.identity != first.identity
    assert contents(first, tokenizer) == PAIRS, "a store in use survives its replacement"


def test_a_valid_store_is_opened_without_writing_so_its_folder_may_be_read_only(tokenizer, tmp_path):
    TokenStore.build(tmp_path, PAIRS, tokenizer, 100, "corpus")
    (tmp_path / "store.lock").unlink()
    TokenStore.open_or_build(tmp_path, unread(), tokenizer, 100, "corpus")
    assert not (tmp_path / "store.lock").exists()


def test_a_damaged_store_is_built_again(tokenizer, tmp_path):
    store = TokenStore.open_or_build(tmp_path, PAIRS, tokenizer, 100, "corpus")
    del store
    next(tmp_path.glob("target.tokens.*")).write_bytes(b"short")
    assert contents(TokenStore.open_or_build(tmp_path, PAIRS, tokenizer, 100, "corpus"), tokenizer) == PAIRS


def test_several_builders_at_once_build_once(tokenizer, tmp_path):
    builds = []

    def pairs():
        builds.append(1)
        yield from PAIRS

    def open_it():
        assert len(TokenStore.open_or_build(tmp_path, pairs(), tokenizer, 100, "corpus")) == 50

    threads = [threading.Thread(target=open_it) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert builds == [1]


def test_the_identity_of_a_store_follows_its_contents():
    one, two = TokenStore.from_ids([([5], [6])]), TokenStore.from_ids([([4], [6])])
    assert one.identity == TokenStore.from_ids([([5], [6])]).identity
    assert one.identity != two.identity

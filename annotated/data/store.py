"""Token store: a corpus as numbers on disk, encoded once, mapped into memory, so that its size does not matter.

A store is a folder with four flat files and `store.json`. The tokens of all sources lie one after the other in one
file, each sentence ending with eos, and a second file says where each begins; the targets likewise. Training maps
the files and touches only the pairs of the current batch, so the operating system decides how much is in memory.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from annotated.config import EOS
from annotated.data import store_files
from annotated.data.store_files import StoreError, StoreInfo, token_dtype
from annotated.data.tokenizer import Tokenizer
from annotated.locks import exclusive_lock
from annotated.ownership import output_path

__all__ = ["StoreError", "StoreInfo", "TokenStore"]

Lengths = NDArray[np.int64]


class TokenStore:
    """Encoded pairs, read by position: `store.source(i)` and `store.target(i)` both end with eos.

    Made by `TokenStore.open_or_build` (the usual way), `build`, `open`, or, in memory, `from_ids`.
    `store.info` says how many pairs were kept and how many were left out, and why.
    """

    def __init__(self, info: StoreInfo, arrays: Mapping[str, NDArray]) -> None:
        self.info = info
        self.source_tokens, self.target_tokens = arrays["source.tokens"], arrays["target.tokens"]
        self.source_offsets, self.target_offsets = arrays["source.offsets"], arrays["target.offsets"]

    def __len__(self) -> int:
        return self.info.pairs

    def source(self, index: int) -> NDArray:
        """Source of one pair, eos included; [S], uint16 or uint32."""
        return self.source_tokens[slice(*self.source_offsets[self._position(index) :][:2])]

    def target(self, index: int) -> NDArray:
        """Target of one pair, eos included, no bos; [T], uint16 or uint32."""
        return self.target_tokens[slice(*self.target_offsets[self._position(index) :][:2])]

    @property
    def source_lengths(self) -> Lengths:
        """Lengths of all sources, eos included: takes 8 bytes of memory for each pair of the corpus."""
        return np.diff(self.source_offsets)

    @property
    def target_lengths(self) -> Lengths:
        """Lengths of all targets, eos included: takes 8 bytes of memory for each pair of the corpus."""
        return np.diff(self.target_offsets)

    def lengths(self, indices: Lengths) -> tuple[Lengths, Lengths]:
        """Source and target lengths of the pairs at `indices`, eos included."""
        source = self.source_offsets[indices + 1] - self.source_offsets[indices]
        return source, self.target_offsets[indices + 1] - self.target_offsets[indices]

    @property
    def identity(self) -> str:
        """Short hash of what the store holds: a data position in one store means nothing in another."""
        content = hashlib.sha256(json.dumps(self.info.content, sort_keys=True).encode())
        if not self.info.corpus:  # nothing names the corpus, so look at the ends of it
            for tokens in (self.source_tokens, self.target_tokens):
                content.update(tokens[:65_536].tobytes() + tokens[-65_536:].tobytes())
        return content.hexdigest()[:16]

    @classmethod
    def from_ids(
        cls, pairs: Iterable[tuple[Sequence[int], Sequence[int]]], vocab_size: int | None = None
    ) -> TokenStore:
        """A store in memory, for tests and small sets; every pair is kept.

        Parameters
        ----------
        pairs
            (source ids, target ids), neither with bos or eos.
        vocab_size
            V; None takes the largest id plus one.
        """
        pairs = list(pairs)
        arrays: dict[str, NDArray] = {}
        for side, name in enumerate(store_files.SIDES):
            ends = np.cumsum([len(pair[side]) + 1 for pair in pairs])
            flat = itertools.chain.from_iterable([*pair[side], EOS] for pair in pairs)
            arrays[f"{name}.tokens"] = np.fromiter(flat, dtype=np.int64)
            arrays[f"{name}.offsets"] = np.concatenate([[0], ends]).astype(np.int64)
        largest = max(int(arrays[f"{name}.tokens"].max(initial=EOS)) for name in store_files.SIDES)
        longest = max(int(np.diff(arrays[f"{name}.offsets"]).max(initial=0)) for name in store_files.SIDES)
        vocab_size = vocab_size or largest + 1
        if largest >= vocab_size:
            raise StoreError(f"id {largest} is outside the vocabulary of {vocab_size} entries")
        for name in store_files.SIDES:
            arrays[f"{name}.tokens"] = arrays[f"{name}.tokens"].astype(token_dtype(vocab_size))
        info = StoreInfo(
            pairs=len(pairs),
            source_tokens=len(arrays["source.tokens"]),
            target_tokens=len(arrays["target.tokens"]),
            vocab_size=vocab_size,
            max_length=longest,
        )
        return cls(info, arrays)

    @classmethod
    def build(
        cls,
        folder: str | Path,
        pairs: Iterable[tuple[str, str]],
        tokenizer: Tokenizer,
        max_length: int,
        corpus: str | None = None,
    ) -> TokenStore:
        """Encode a corpus into a folder, in constant memory, and open it.

        The new files get new names and `store.json` is replaced last: a build that is killed, or runs out of
        disk, leaves the old store (or none) as it was.

        Parameters
        ----------
        folder
            Made if missing.
        pairs
            (source, target) texts: read once, in a stream.
        max_length
            Pairs with a side of more tokens, its eos included, are left out and counted.
        corpus
            Identity of the corpus, for `open_or_build`; None takes `pairs.identity` if there is one.

        Raises
        ------
        StoreError
            If no pair is left.
        FileExistsError
            If the folder holds files that no build wrote, under names that it writes.
        DiskFull
            If there is no space for it; the message says what to free.
        OSError
            If the files cannot be written for another reason.
        """
        folder = store_files.require_own_folder(folder)
        with exclusive_lock(folder / store_files.LOCK):
            store_files.write(folder, pairs, tokenizer, max_length, _identity(pairs, corpus))
            return cls.open(folder)

    @classmethod
    def open(cls, folder: str | Path) -> TokenStore:
        """Map a store that `build` made.

        Raises
        ------
        StoreError
            If there is none, or a file is missing or has the wrong size.
        """
        return cls(*store_files.read(Path(folder)))

    @classmethod
    def open_or_build(
        cls,
        folder: str | Path,
        pairs: Iterable[tuple[str, str]],
        tokenizer: Tokenizer,
        max_length: int,
        corpus: str | None = None,
    ) -> TokenStore:
        """Open the folder's store if it was made from the same corpus, tokenizer and length; else build it.

        Several processes may call this at once: one builds and the others wait, then open. Parameters and errors
        are those of `build`; `pairs` is read only if needed. A corpus without an identity is always built anew.
        """
        folder = output_path(folder)
        wanted = (_identity(pairs, corpus), tokenizer.fingerprint, max_length)
        if store := cls._matching(folder, wanted):  # without the lock, which a folder that is read-only cannot have
            return store
        store_files.require_own_folder(folder)
        with exclusive_lock(folder / store_files.LOCK):
            if store := cls._matching(folder, wanted):  # another process has built it meanwhile
                return store
            store_files.write(folder, pairs, tokenizer, max_length, wanted[0])
            return cls.open(folder)

    @classmethod
    def _matching(cls, folder: Path, wanted: tuple[str, str, int]) -> TokenStore | None:
        with contextlib.suppress(StoreError):
            store = cls.open(folder)
            if wanted[0] and wanted == (store.info.corpus, store.info.tokenizer, store.info.max_length):
                return store
        return None

    def _position(self, index: int) -> int:
        if not -len(self) <= index < len(self):
            raise IndexError(f"the store holds {len(self)} pairs; there is no pair {index}")
        return index % len(self)


def _identity(pairs: Iterable[tuple[str, str]], corpus: str | None) -> str:
    return str(getattr(pairs, "identity", "")) if corpus is None else corpus

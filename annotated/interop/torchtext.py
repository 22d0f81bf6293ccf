"""torchtext: our vocabulary as a `torchtext.vocab.Vocab` and back, and its Multi30k as a corpus.

torchtext's last release, 0.18.0, loads with torch 2.3 and nothing newer, so all this lives in an environment of
its own: the extra `torchtext`, built and tested by `make torchtext-test`. Only `Vocab` and Multi30k need it;
`Pieces` works anywhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from annotated.config import PAD, SPECIAL_TOKENS, UNK
from annotated.data.tokenizer import Tokenizer
from annotated.interop._common import optional, pieces
from annotated.ownership import new_texts

MULTI30K_SPLITS = ("train", "valid", "test")


@dataclass(frozen=True)
class Pieces:
    """A table of tokens by id, with pad, bos, eos and unk as 0 to 3: what torchtext calls a Vocab.

    It knows which tokens there are, not how text is cut into them: encode takes tokens, not text.
    """

    tokens: tuple[str, ...]
    """V distinct strings; the first four are special."""
    theirs: tuple[int, ...]
    """For each id the index that the token had in torchtext's Vocab."""

    @cached_property
    def ids(self) -> dict[str, int]:
        """The id of each token."""
        return {token: index for index, token in enumerate(self.tokens)}

    def encode(self, tokens: Iterable[str]) -> list[int]:
        """Ids of tokens; a token that is not in the table is unk, 3."""
        return [self.ids.get(token, UNK) for token in tokens]

    def decode(self, ids: Iterable[int]) -> list[str]:
        """Tokens of ids, padding left out."""
        return [self.tokens[index] for index in ids if index != PAD]


def to_torchtext_vocab(tokenizer: Tokenizer) -> Any:
    """Our vocabulary as a `torchtext.vocab.Vocab` with the same indices, and unk as its default index.

    The tokens are the strings that `tokenizer.json` holds (a space shows as "Ġ"), which Hugging Face's
    `tokenizers` gives for a text. A Vocab holds no merges: it can look tokens up and cannot cut text.

    Raises
    ------
    ImportError
        Where torchtext is not installed or does not load; the message says how to get it.
    """
    vocab = _torchtext("torchtext.vocab").vocab(dict.fromkeys(pieces(tokenizer), 1))
    vocab.set_default_index(UNK)
    return vocab


def from_torchtext_vocab(vocab: Any, special: Sequence[str] = SPECIAL_TOKENS) -> Pieces:
    """A `torchtext.vocab.Vocab` as a table in our numbering: the four special tokens first, then the others.

    Parameters
    ----------
    vocab
        Made by anyone: from our tokenizer (then the numbering stays), or from words with
        `build_vocab_from_iterator` (then its special tokens, wherever they stand, move to 0 to 3).
    special
        What the Vocab calls pad, bos, eos and unk, in this order.

    Raises
    ------
    ValueError
        If the Vocab lacks one of them, or its default index is set to another token than unk.
    """
    itos = vocab.get_itos()
    if missing := [token for token in special if token not in vocab]:
        raise ValueError(
            f"the Vocab has no {', '.join(missing)}: say what it calls pad, bos, eos and unk, "
            "for example special=('<pad>', '<bos>', '<eos>', '<unk>')"
        )
    default = vocab.get_default_index()
    if default is not None and default != vocab[special[UNK]]:
        raise ValueError(f"the Vocab takes unknown tokens for {itos[default]!r}, our models for {special[UNK]!r}")
    order = [vocab[token] for token in special]
    order += [index for index in range(len(itos)) if index not in set(order)]
    return Pieces(tuple(itos[index] for index in order), tuple(order))


def read_multi30k(
    split: str = "train", root: str | Path | None = None, language_pair: tuple[str, str] = ("en", "de")
) -> Iterator[tuple[str, str]]:
    """Sentence pairs of torchtext's Multi30k: 29,000, 1,014 and 1,000 of them.

    Parameters
    ----------
    split
        'train', 'valid' or 'test'.
    root
        Where torchtext keeps its archives, downloaded when they are not there; None for its own cache.
    language_pair
        Source and target: ('en', 'de') or ('de', 'en').

    Raises
    ------
    ImportError
        Where torchtext is not installed or does not load; the message says how to get it.
    ValueError
        If there is no such split.
    """
    if split not in MULTI30K_SPLITS:
        raise ValueError(f"Multi30k has no split {split!r}; it has {', '.join(MULTI30K_SPLITS)}")
    datasets = _torchtext("torchtext.datasets")
    where = {} if root is None else {"root": os.fspath(root)}
    for source, target in datasets.Multi30k(split=split, language_pair=language_pair, **where):
        if source.strip() and target.strip():  # an empty line is no sentence
            yield source, target


def save_multi30k(
    folder: str | Path, root: str | Path | None = None, language_pair: tuple[str, str] = ("en", "de")
) -> list[Path]:
    """Multi30k as `train.tsv`, `valid.tsv` and `test.tsv`, which every command and both environments read.

    Returns
    -------
    list[Path]
        The three files.

    Raises
    ------
    FileExistsError
        If a file of that name holds something else; none of the three is written then.
    """
    names = [f"{split}.tsv" for split in MULTI30K_SPLITS]
    with new_texts(folder, names) as files:
        for split, name in zip(MULTI30K_SPLITS, names, strict=True):
            for pair in read_multi30k(split, root, language_pair):
                files[name].write("\t".join(" ".join(side.split()) for side in pair) + "\n")
    return [Path(folder) / name for name in names]


def _torchtext(name: str) -> ModuleType:
    try:
        return optional(name, "torchtext")
    except OSError as error:  # its C++ library misses symbols of the torch that it was built for
        raise ImportError(
            f"torchtext does not load with this torch ({error}): it needs torch 2.3.1, in an environment of its own; "
            "make torchtext-test builds one in .venv-torchtext"
        ) from error

"""Dataset of a run: from the names of corpora to a tokenizer and encoded pairs."""

from __future__ import annotations

import hashlib
import itertools
import json
import shutil
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from annotated.config import DataConfig
from annotated.data.corpora import Corpus, open_corpus
from annotated.data.store import TokenStore
from annotated.data.tokenizer import Tokenizer
from annotated.runs.own_folder import ORIGIN, require_own_folder
from annotated.saving import CheckpointError, read_json
from annotated.speed.machine.distributed import Processes
from annotated.storage import sha256, write_json
from annotated.text.formats import PLAIN
from annotated.text.recognition import FormatNotice

TOKENIZER = "tokenizer.json"
_OFFSETS_AT_ONCE = 1 << 20


@dataclass
class PreparedData:
    """What the loop trains and validates on."""

    tokenizer: Tokenizer
    train: TokenStore
    valid: TokenStore
    valid_corpus: Corpus

    @cached_property
    def longest_source(self) -> int:
        """Tokens of the longest source that is trained on, eos included."""
        offsets = self.train.source_offsets
        ends = (offsets[start : start + _OFFSETS_AT_ONCE + 1] for start in range(0, len(offsets) - 1, _OFFSETS_AT_ONCE))
        return max(int(np.diff(part).max()) for part in ends)

    def valid_pairs(self, count: int) -> list[tuple[str, str]]:
        """The first pairs of the validation set as text, for BLEU."""
        return list(itertools.islice(self.valid_corpus, count))

    def left_out(self) -> dict[str, dict[str, int]]:
        """How many pairs of each set are left out: `too_long`, and `empty`, with an empty side."""
        stores = {"train": self.train.info, "valid": self.valid.info}
        return {name: {"too_long": info.too_long, "empty": info.empty + info.blank} for name, info in stores.items()}

    def notices(self, asked: Mapping[str, Any]) -> Iterator[str]:
        """What the text does not give or loses: entries of the vocabulary, pairs that are too long or empty.

        Parameters
        ----------
        asked
            The `DataConfig` as a dictionary.
        """
        size = self.tokenizer.vocab_size
        if asked["prepared"] is None and asked["tokenizer"] is None and size < asked["vocab_size"]:
            yield f"the text yields {size:,} vocabulary entries, fewer than the {asked['vocab_size']:,} wanted"
        left_out = self.left_out()
        for store, left, named in (
            (self.train, left_out["train"], "training"),
            (self.valid, left_out["valid"], "validation"),
        ):
            read = store.info.pairs + sum(left.values())
            if left["too_long"]:
                yield (
                    f"{left['too_long']:,} of {read:,} {named} pairs are left out: a side has more than "
                    f"{store.info.max_length} tokens (--data.max-length)"
                )
            if left["empty"]:
                yield f"{left['empty']:,} of {read:,} {named} pairs are left out: a side is empty"


def prepare_data(data: DataConfig, folder: Path, processes: Processes, checkpoint: Path | None) -> PreparedData:
    """Open the corpora, get the tokenizer, encode both; the main process works and the others wait.

    Parameters
    ----------
    folder
        Of the run: gets `tokenizer.json` and `data/`, which are used again when nothing has changed. Of a prepared
        corpus only the validation set is encoded here.
    checkpoint
        Of a run to go on with: its tokenizer is the only one that fits.

    Raises
    ------
    CheckpointError
        If the checkpoint was trained with another tokenizer than the configuration names.
    FileExistsError
        If the folder holds files that no run wrote, under names that a run writes.
    """
    prepare = _from_text if data.prepared is None else _from_prepared
    if processes.is_main:
        require_own_folder(folder)
        ready = prepare(data, folder, checkpoint, True)
        processes.wait_for_main("data")
        return ready
    processes.wait_for_main("data")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FormatNotice)  # the main process has said it
        return prepare(data, folder, checkpoint, False)


def prepared_identity(data: DataConfig) -> str | None:
    """What is in the prepared folder that a configuration names, as a hash; None if it names none."""
    from annotated.wmt14 import PreparedCorpus

    return None if data.prepared is None else PreparedCorpus.open(data.prepared).identity


def _from_text(data: DataConfig, folder: Path, checkpoint: Path | None, make: bool) -> PreparedData:
    train, valid = open_corpus(data.train, "train", data), open_corpus(data.valid, "valid", data)
    identity = _identity(data.train, train)
    if make and checkpoint is not None:
        shutil.copyfile(_checked_tokenizer(data.tokenizer, checkpoint), folder / TOKENIZER)
    elif make and not _tokenizer_fits(data, folder, identity):
        _make_tokenizer(data, folder, train, identity)
    tokenizer = Tokenizer.load(folder / TOKENIZER)
    encoded = TokenStore.open_or_build(folder / "data" / "train", train, tokenizer, data.max_length, identity)
    return PreparedData(
        tokenizer, encoded, _encoded_valid(data.valid, valid, folder, tokenizer, data.max_length), valid
    )


def _from_prepared(data: DataConfig, folder: Path, checkpoint: Path | None, make: bool) -> PreparedData:
    from annotated.wmt14 import PreparedCorpus  # here, because most training runs need none of it

    corpus = PreparedCorpus.open(Path(str(data.prepared)))
    if make and checkpoint is not None:
        _checked_tokenizer(str(corpus.tokenizer), checkpoint)
    if make:
        write_json(folder / ORIGIN, {"prepared": corpus.identity})
        shutil.copyfile(corpus.tokenizer, folder / TOKENIZER)
    tokenizer, train = Tokenizer.load(folder / TOKENIZER), corpus.train
    valid = open_corpus(str(corpus.valid), "valid", data.replace(format="tsv"))
    encoded = _encoded_valid(str(corpus.valid), valid, folder, tokenizer, train.info.max_length)
    return PreparedData(tokenizer, train, encoded, valid)


def _encoded_valid(spec: str, corpus: Corpus, folder: Path, tokenizer: Tokenizer, max_length: int) -> TokenStore:
    return TokenStore.open_or_build(folder / "data" / "valid", corpus, tokenizer, max_length, _identity(spec, corpus))


def _make_tokenizer(data: DataConfig, folder: Path, train: Corpus, identity: str) -> None:
    given = data.tokenizer
    tokenizer = (
        Tokenizer.train(train.texts(), data.vocab_size, normal_form=True) if given is None else Tokenizer.load(given)
    )
    (folder / TOKENIZER).unlink(missing_ok=True)  # what is written first must not speak of another
    write_json(folder / ORIGIN, _origin(data, identity))
    tokenizer.save(folder / TOKENIZER)


def _tokenizer_fits(data: DataConfig, folder: Path, identity: str) -> bool:
    """Is the folder's tokenizer the one that would be made now?"""
    try:
        return (folder / TOKENIZER).is_file() and read_json(folder / ORIGIN) == _origin(data, identity)
    except CheckpointError:
        return False


def _origin(data: DataConfig, identity: str) -> dict[str, str | int | None]:
    if data.tokenizer is not None:
        return {"fingerprint": Tokenizer.load(data.tokenizer).fingerprint}
    return {"corpus": identity, "vocab_size": data.vocab_size}


def _checked_tokenizer(given: str | None, checkpoint: Path) -> Path:
    path = checkpoint / TOKENIZER
    tokenizer = Tokenizer.load(path)
    expected = read_json(checkpoint / "config.json")["tokenizer"]["fingerprint"]
    if tokenizer.fingerprint != expected:
        raise CheckpointError(f"{path}: not the tokenizer that this checkpoint was trained with; put that one back")
    if given is not None and Tokenizer.load(given).fingerprint != expected:
        raise CheckpointError(
            f"{checkpoint} was trained with another tokenizer than {given}: give that one, or a new folder"
        )
    return path


def _identity(spec: str, corpus: Corpus) -> str:
    """A hash of what a corpus contains and how it is read: a run can be moved to another machine and resumed there."""
    paths = [Path(spec)] if Path(spec).is_file() else [Path(part.strip()) for part in spec.split(",")]
    if not all(path.is_file() for path in paths):  # generated, from what its own identity describes
        return corpus.identity
    content = [sha256(path) for path in paths] + ([] if corpus.format == PLAIN else [corpus.format.key])
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]

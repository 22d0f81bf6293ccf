"""The shared byte-pair vocabulary: text to ids and back without loss, on top of Hugging Face `tokenizers`.

The alphabet is the 256 bytes, so every text has ids, nothing is ever unknown, and `decode(encode(text)) == text`; of a
tokenizer with a normal form, which those of training runs have, the text comes back in that form.
The four special tokens are entries of the vocabulary that no text can produce: a user who types "</s>" gets
the pieces "</", "s" and ">", and gets them in every program that reads the file, not only in this one.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import decoders, models, pre_tokenizers, trainers

from annotated.config import SPECIAL_TOKENS
from annotated.data.byte_level import normalizer, readable, why_foreign
from annotated.ownership import require_our_file
from annotated.storage import atomic_write

_BYTES = len(pre_tokenizers.ByteLevel.alphabet())
SMALLEST_VOCABULARY = len(SPECIAL_TOKENS) + _BYTES


_LONGEST_PIECE = 64
"""Bytes."""
_LONGEST_RUN = 1000
"""Characters without a space, or of spaces alone, that merges are learned in."""
_WORD = re.compile(rf"\s{{0,{_LONGEST_RUN}}}\S{{1,{_LONGEST_RUN}}}|\s{{1,{_LONGEST_RUN}}}")


class TokenizerError(ValueError):
    """A tokenizer cannot be trained, read, or used as asked; the message says what to do."""


class Tokenizer:
    """Byte-level byte-pair encoding with fixed special ids: pad 0, bos 1, eos 2, unk 3.

    Made by `Tokenizer.train` or `Tokenizer.load`. Encoding adds no special tokens: the data pipeline does.

    Paper: section 5.1
    """

    def __init__(self, inner: tokenizers.Tokenizer) -> None:
        self._inner = inner
        self.vocab_size: int = inner.get_vocab_size()
        """V: entries, the special tokens included."""
        self.normal_form = inner.normalizer is not None
        """Whether texts are put into the normal form of `annotated.text` before they are encoded. The rule is part of
        the file: other programs that read it do the same."""

    @classmethod
    def train(cls, texts: Iterable[str], vocab_size: int, normal_form: bool = False) -> Tokenizer:
        """Learn merges from texts: source and target sentences together, for a shared vocabulary.

        The same texts give the same tokenizer. Texts are read once, in a stream; memory grows with the number
        of distinct words, not with the length of the corpus. No piece is longer than 64 bytes, and of a run without
        a space nothing is learned across more than 1,000 characters: learning would take the square of its length.

        Parameters
        ----------
        texts
            Sentences, in any order.
        vocab_size
            V: entries wanted, special tokens and the 256 bytes included. A text in which too few pairs of
            pieces occur twice yields fewer: then `Tokenizer.vocab_size` is the number to build the model with.
        normal_form
            Whether this tokenizer writes each text in one way before it encodes it: white space, Unicode's NFC,
            characters that nobody sees. Training runs ask for it.

        Raises
        ------
        TokenizerError
            If `vocab_size` is below 260, or there is no text.
        """
        if vocab_size < SMALLEST_VOCABULARY:
            raise TokenizerError(
                f"a vocabulary of {vocab_size} is too small: {_BYTES} bytes and {len(SPECIAL_TOKENS)} special tokens "
                f"alone take {SMALLEST_VOCABULARY}"
            )
        stream = _bounded(texts)
        first = next((text for text in stream if text), None)
        if first is None:
            raise TokenizerError("there is no text to train a tokenizer on: every sentence is empty, or there is none")
        inner = tokenizers.Tokenizer(models.BPE())
        if normal_form:
            inner.normalizer = normalizer()
        inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        inner.decoder = decoders.ByteLevel()
        trainer = trainers.BpeTrainer(
            vocab_size=vocab_size,
            min_frequency=2,
            special_tokens=list(SPECIAL_TOKENS),
            initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
            show_progress=False,
            max_token_length=_LONGEST_PIECE,
        )
        inner.train_from_iterator(itertools.chain([first], stream), trainer)
        # The library looks for "added tokens" in every text before it encodes it. Without that list the special
        # tokens stay in the vocabulary under their ids, and a text that contains "<s>" is encoded as any other.
        content = json.loads(inner.to_str())
        content["added_tokens"] = []
        return cls(tokenizers.Tokenizer.from_str(json.dumps(content)))

    @classmethod
    def load(cls, path: str | Path) -> Tokenizer:
        """Read a tokenizer that `save` wrote.

        Raises
        ------
        TokenizerError
            If the file is missing, damaged, or a tokenizer of another kind.
        """
        path = Path(path)
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise TokenizerError(f"{path}: no such file; train a tokenizer, or give the path of another") from None
        except OSError as error:
            raise TokenizerError(f"{path}: cannot be read ({error.strerror or error})") from None
        except ValueError:
            raise TokenizerError(
                f"{path}: not valid JSON, so damaged or incomplete; copy it anew, or train again"
            ) from None
        if reason := why_foreign(content):
            raise TokenizerError(
                f"{path}: {reason}. Give a tokenizer.json that `Tokenizer.save` wrote: byte-level pieces, "
                f"with {', '.join(SPECIAL_TOKENS)} as ids 0 to {len(SPECIAL_TOKENS) - 1}"
            )
        try:
            return cls(tokenizers.Tokenizer.from_str(json.dumps(content)))
        except Exception as error:  # the Rust library raises bare Exception
            raise TokenizerError(f"{path}: damaged ({error}); copy it anew, or train again") from None

    def save(self, path: str | Path) -> None:
        """Write `tokenizer.json`: whole or not at all, also when the process is killed.

        Raises
        ------
        FileExistsError
            If there is a file that is no tokenizer of ours.
        ValueError
            If the path is ''.
        """
        require_our_file(path, _is_tokenizer)
        with atomic_write(path) as file:
            file.write(self._inner.to_str(pretty=True))

    def encode(self, text: str) -> list[int]:
        """Ids of one text, without special tokens; the empty text has none."""
        if not isinstance(text, str):
            raise TypeError(f"give one text, and not {type(text).__name__}: `encode_batch` takes several")
        return self.encode_batch([text])[0]

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Ids of many texts, on all cores.

        Raises
        ------
        TokenizerError
            If a text holds a lone surrogate, which no file in UTF-8 can hold.
        TypeError
            If something is no text.
        """
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
            raise self._unencodable(texts)
        try:
            encoded = self._inner.encode_batch_fast(texts, add_special_tokens=False)
        except TypeError:
            raise self._unencodable(texts) from None
        return [one.ids for one in encoded]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Where each token of `encode(text)` lies in the text: [start, end) in characters.

        The space that a token begins with is left out, unless it is all of it; tokens that are parts of one
        character have all the same span.
        """
        try:
            spans = self._inner.encode(text, add_special_tokens=False).offsets
        except TypeError:
            raise self._unencodable([text]) from None
        return [(end - len(text[start:end].lstrip() or text[start:end]), end) for start, end in spans]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of ids; special tokens are dropped, all else comes back exactly as it was encoded.

        Ids that break a character off in its middle (a model may write them) give the replacement character U+FFFD.

        Raises
        ------
        TokenizerError
            If an id lies outside the vocabulary.
        """
        kept = [index for index in self._checked(ids) if index >= len(SPECIAL_TOKENS)]
        return self._inner.decode(kept, skip_special_tokens=False)

    def tokens(self, ids: Iterable[int]) -> list[str]:
        """A readable piece for each id: a space shows as "▁", a byte that is only part of a character as "<0xC3>".

        Raises
        ------
        TokenizerError
            If an id lies outside the vocabulary.
        """
        return [self._pieces[index] for index in self._checked(ids)]

    @functools.cached_property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of the ids, the pieces and the order of the merges, and of whether there is a normal form.

        Two tokenizers with one fingerprint encode alike. It leaves out how the file is written, so that another
        version of the `tokenizers` library does not change it.
        """
        model = json.loads(self._inner.to_str())["model"]
        merges = [merge.split(" ") if isinstance(merge, str) else merge for merge in model["merges"]]
        content: dict[str, Any] = {"pieces": sorted(model["vocab"], key=model["vocab"].__getitem__), "merges": merges}
        if self.normal_form:  # else those of older tokenizers stay as they are
            content["normal_form"] = True
        return hashlib.sha256(json.dumps(content, separators=(",", ":")).encode()).hexdigest()

    @functools.cached_property
    def _pieces(self) -> list[str]:
        pieces = [self._inner.id_to_token(index) or "" for index in range(self.vocab_size)]
        return pieces[: len(SPECIAL_TOKENS)] + [readable(piece) for piece in pieces[len(SPECIAL_TOKENS) :]]

    def _checked(self, ids: Iterable[int]) -> list[int]:
        ids = [int(index) for index in ids]
        if ids and (min(ids) < 0 or max(ids) >= self.vocab_size):
            wrong = next(index for index in ids if not 0 <= index < self.vocab_size)
            raise TokenizerError(
                f"id {wrong} is outside the vocabulary of {self.vocab_size} entries: it comes from another tokenizer"
            )
        return ids

    @staticmethod
    def _unencodable(texts: Sequence[str]) -> Exception:
        if isinstance(texts, str):
            return TypeError("give a list of texts, and not one text: `encode` takes one")
        for number, text in enumerate(texts):
            if not isinstance(text, str):
                return TypeError(f"text {number} is {type(text).__name__}, not str")
            try:
                text.encode("utf-8")
            except UnicodeEncodeError as error:
                return TokenizerError(
                    f"text {number} holds a lone surrogate (U+{ord(text[error.start]):04X}) at character "
                    f"{error.start}: it was decoded wrongly; read its file as UTF-8"
                )
        return TypeError("texts must be a sequence of str")

    def __getstate__(self) -> str:
        return self._inner.to_str()

    def __setstate__(self, state: str) -> None:
        self.__init__(tokenizers.Tokenizer.from_str(state))  # type: ignore[misc]

    def __repr__(self) -> str:
        return f"Tokenizer(vocab_size={self.vocab_size}, fingerprint={self.fingerprint[:8]}...)"


def _bounded(texts: Iterable[str]) -> Iterator[str]:
    """The texts, those with a long run word by word: the run is cut, and all other words are the same as before."""
    for text in texts:
        if len(text) <= _LONGEST_RUN:
            yield text
        else:
            yield from (match[0] for match in _WORD.finditer(text))


def _is_tokenizer(path: Path) -> bool:
    try:
        return not why_foreign(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return False

"""Validation callbacks: BLEU, translations and attention of a few sentences, computed during a training run.

Each is handed to `annotated.runs.train`, which calls it at every validation. The attention goes into a file for each
validation, with a weight in one byte, which is exact to a fifth of a per cent: a run of 100 validations of the base
model takes some ten megabytes. Observers read the files; the training run never does.
"""

from __future__ import annotations

import json
import warnings
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from annotated.config import DecodingConfig
from annotated.data.tokenizer import Tokenizer
from annotated.model import Transformer
from annotated.saving import CheckpointError
from annotated.storage import atomic_write
from annotated.text.normal_form import normalise

HEADS = "heads"
"""Folder of a run that holds the files."""
MOST_TOKENS = 40
"""Of a source; a longer one has no heads."""
EXTRA_TOKENS = 6
"""A translation may have so many more tokens than its source; newborn models write without end, and are cut."""
_USES = ("encoder", "decoder", "cross")


class SentenceHeads(NamedTuple):
    """Where all heads look while one sentence is read and its translation written; 255 is all of the attention."""

    source_tokens: Sequence[str]
    """The S tokens that the encoder reads, the end of the sentence included."""
    target_tokens: Sequence[str]
    """The T tokens that were written: row t belongs to the step that wrote `target_tokens[t]`."""
    encoder: NDArray[Any]
    """uint8 `[L, H, S, S]`."""
    decoder: NDArray[Any]
    """uint8 `[L, H, T, T]`: column k is what was read at step k, the beginning of the sentence first."""
    cross: NDArray[Any]
    """uint8 `[L, H, T, S]`."""


BleuFunction = Callable[[Transformer, Tokenizer, list[tuple[str, str]]], float]
"""From a model, its tokenizer and pairs (source, reference) to BLEU, in percent."""
SamplesFunction = Callable[[Transformer, Tokenizer], Sequence[tuple[str, str]]]
"""From a model and its tokenizer to pairs (source, translation) for the log; it leaves random numbers alone."""
HeadsFunction = Callable[[Transformer, Tokenizer], Sequence[SentenceHeads]]
"""From a model and its tokenizer to where the heads look in a few sentences; it leaves random numbers alone."""


class ValidationCallbacks(NamedTuple):
    """Functions that are called with the model at each validation; none of them changes the training."""

    bleu: BleuFunction | None = None
    samples: SamplesFunction | None = None
    heads: HeadsFunction | None = None


def validation_bleu(model: Transformer, tokenizer: Tokenizer, pairs: Sequence[tuple[str, str]]) -> float:
    """BLEU of greedy translations, in percent: what `train(..., bleu=validation_bleu)` follows a training run by.

    Beam search would score a little higher and take several times as long. References are read in the normal form that
    the model was taught to write, if it was taught one.
    """
    from annotated.evaluation import bleu

    translations = _translate(model, tokenizer, [source for source, _ in pairs])
    references = [normalise(reference) if tokenizer.normal_form else reference for _, reference in pairs]
    return bleu(translations, references).bleu


def sample_translations(sentences: Sequence[str]) -> Callable[[Transformer, Tokenizer], list[tuple[str, str]]]:
    """What `train(..., samples=sample_translations(sentences))` writes into the log at each validation.

    Greedy search, so it takes a fraction of a second; it draws no random numbers, so the training is the same with it.
    """
    return _SampleTranslations(tuple(sentences))


@dataclass(frozen=True)
class _SampleTranslations:
    """Says what it translates, so that a run's README.md can name the whole command."""

    sentences: tuple[str, ...]

    def __call__(self, model: Transformer, tokenizer: Tokenizer) -> list[tuple[str, str]]:
        return list(zip(self.sentences, _translate(model, tokenizer, self.sentences), strict=True))


def _translate(model: Transformer, tokenizer: Tokenizer, sentences: Sequence[str]) -> list[str]:
    from annotated.translator import OverlongSourceWarning, Translator  # here: who reads the files needs no translator

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OverlongSourceWarning)
        return Translator(model, tokenizer).translate(list(sentences), beam_size=1, overlong="truncate")


def sample_heads(sentences: Sequence[str]) -> Callable[[Transformer, Tokenizer], list[SentenceHeads]]:
    """What `train(..., heads=sample_heads(sentences))` keeps at each validation: where all heads look.

    While each sentence is read and translated, by greedy search, by the model as it is at that moment. A sentence of
    more than `MOST_TOKENS` tokens is left out; a longer translation is cut.
    """
    texts = list(sentences)

    from annotated.translator import Translator

    def look(model: Transformer, tokenizer: Tokenizer) -> list[SentenceHeads]:
        config = DecodingConfig(beam_size=1, extra_tokens=EXTRA_TOKENS)
        translator = Translator(model, tokenizer, config)
        short = [
            text
            for text in texts
            if len(tokenizer.encode(text.strip())) < min(MOST_TOKENS, translator.max_source_tokens)
        ]
        found = [translator.attention(text) for text in short]
        return [
            SentenceHeads(
                one.source_tokens,
                one.target_tokens,
                *(as_bytes(torch.stack(list(maps)).float().cpu()) for maps in one.maps),
            )
            for one in found
        ]

    return look


def as_bytes(weights: ArrayLike) -> NDArray[np.uint8]:
    """Attention weights from 0 to 1, rounded to one byte each."""
    return (np.asarray(weights, dtype=np.float64) * 255).round().clip(0, 255).astype(np.uint8)


def write_heads(folder: Path, update: int, sentences: Sequence[SentenceHeads]) -> Path:
    """Write the heads after an update; a process that is killed leaves a whole file, or none."""
    path = folder / HEADS / f"update-{update:09d}.npz"
    tokens = [[list(one.source_tokens), list(one.target_tokens)] for one in sentences]
    arrays: dict[str, NDArray[Any]] = {f"{use}_{n}": getattr(s, use) for n, s in enumerate(sentences) for use in _USES}
    with atomic_write(path, "wb") as file:
        np.savez_compressed(file, tokens=np.array(json.dumps(tokens)), **arrays)  # type: ignore[arg-type]
    return path


def read_heads(path: str | Path | IO[bytes]) -> list[SentenceHeads]:
    """The inverse of `write_heads`.

    Parameters
    ----------
    path
        The file, or one that is open.

    Raises
    ------
    CheckpointError
        If the file is missing, damaged, or holds something else.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            tokens = json.loads(str(file["tokens"]))
            return [
                SentenceHeads(source, target, *(file[f"{use}_{n}"] for use in _USES))
                for n, (source, target) in enumerate(tokens)
            ]
    except FileNotFoundError:
        raise CheckpointError(f"{path}: no such file; the heads of a run are written at each validation") from None
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise CheckpointError(
            f"{path}: damaged or not a file of heads ({error}); delete it, it is for looking only"
        ) from None

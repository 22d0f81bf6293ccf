"""Drafts for draft-and-verify decoding: a table of token triples, copies, a small model, and two extremes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from annotated.config import BOS, EOS
from annotated.decoding.search import decoding_mode
from annotated.model import Transformer
from annotated_book.results.plans.verifying import BlockReader


class TripleDraft:
    """The token that most often followed the last two, or the last one, in training targets. It never sees the source.

    Parameters
    ----------
    targets
        Sentences as ids, without bos and eos.
    """

    def __init__(self, targets: Iterable[Sequence[int]]) -> None:
        counts: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
        for target in targets:
            row = [BOS, BOS, *target, EOS]
            for a, b, c in zip(row, row[1:], row[2:], strict=False):
                counts[a, b][c] += 1
                counts[(b,)][c] += 1
        self.best = {context: found.most_common(1)[0][0] for context, found in counts.items()}

    def __call__(self, source: Sequence[int], written: Sequence[int], count: int) -> list[int]:
        """Up to `count` ids; fewer where it has never seen the last token, or after the end token."""
        row = [BOS, BOS, *written]
        while len(row) < len(written) + 2 + count and row[-1] != EOS:
            guess = self.best.get((row[-2], row[-1]), self.best.get((row[-1],)))
            if guess is None:
                break
            row.append(guess)
        return row[len(written) + 2 :]


def copy_draft(source: Sequence[int], written: Sequence[int], count: int) -> list[int]:
    """What followed the last token where it stood before, in the source or in what is written: *prompt lookup*."""
    row = [*source, BOS, *written]
    for place in range(len(row) - 2, -1, -1):
        if row[place] == row[-1]:
            return row[place + 1 : place + 1 + count]
    return []


class ModelDraft:
    """Greedy search of a smaller model. It keeps its keys and values from call to call, as long as they hold.

    Parameters
    ----------
    model
        With the vocabulary of the model that it guesses for.
    """

    def __init__(self, model: Transformer) -> None:
        self.model = model
        self._source: list[int] = []
        self._reader: BlockReader | None = None
        self._read: list[int] = []

    def __call__(self, source: Sequence[int], written: Sequence[int], count: int) -> list[int]:
        """`count` ids, or fewer if the end token is among them."""
        with decoding_mode(self.model):
            reader, row = self._ready(source), [BOS, *written]
            same = next((i for i, (a, b) in enumerate(zip(row, self._read, strict=False)) if a != b), None)
            keep = min(len(row) - 1, len(self._read)) if same is None else same
            reader.forget(keep)
            guesses: list[int] = []
            for _ in range(count):
                new = [*row, *guesses][reader.length :]
                logits = reader.read(new)[-1]
                logits[:2] = float("-inf")  # pad and bos
                guesses.append(int(logits.argmax()))
                if guesses[-1] == EOS:
                    break
            self._read = [*row, *guesses][: reader.length]
        return guesses

    def _ready(self, source: Sequence[int]) -> BlockReader:
        if self._reader is None or list(source) != self._source:
            import torch

            self._source, self._read = list(source), []
            self._reader = BlockReader(self.model, torch.tensor([self._source]), 2 * len(source) + 120)
        return self._reader


class KnownDraft:
    """Guesses a sentence that is given: the right one, as the best draft that there can be, or a wrong one.

    Parameters
    ----------
    answers
        For each source, as a tuple of ids, the target ids.
    shift
        Added to every guess, modulo the vocabulary; with 1 each guess is wrong.
    vocab_size
        Size of the vocabulary, V.
    """

    def __init__(self, answers: dict[tuple[int, ...], list[int]], shift: int = 0, vocab_size: int = 1) -> None:
        self.answers, self.shift, self.vocab_size = answers, shift, vocab_size

    def __call__(self, source: Sequence[int], written: Sequence[int], count: int) -> list[int]:
        """The next `count` ids of the answer."""
        rest = [*self.answers[tuple(source)], EOS][len(written) : len(written) + count]
        return [(token + self.shift) % self.vocab_size if self.shift else token for token in rest]

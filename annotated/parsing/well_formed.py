"""Well-formed brackets only: which tokens keep the beginning of a linear form on the way to a tree.

An unrestricted model may leave a bracket open, close one under another label, or write a leaf too many. `WellFormed` is
what `beam_search` and `greedy_decode` take as `allowed`: after each beginning it allows what some tree of the sentence
goes on with, so whatever is written is the linear form of one tree with as many leaves as the sentence has words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor

from annotated.config import EOS, SPECIAL_TOKENS
from annotated.data.tokenizer import Tokenizer
from annotated.parsing.written import CLOSE, written

Pieces = tuple[int, ...]
NESTED = 8
"""The classroom's treebank opens at most three in a row; noun phrases of newspapers, more."""


@dataclass
class _Choice:
    """The words that may stand at one place, as a trie of their pieces."""

    tokens: dict[Pieces, str] = field(default_factory=dict)
    """Pieces of a whole word -> the token of the linear form; '' for the end."""
    after: dict[Pieces, set[int]] = field(default_factory=dict)
    """Pieces of the beginning of a word -> ids that lead on to a whole one."""

    def add(self, token: str, pieces: Pieces) -> None:
        """Let one more word be written."""
        self.tokens[pieces] = token
        for length, piece in enumerate(pieces):
            self.after.setdefault(pieces[:length], set()).add(piece)


class _State(NamedTuple):
    """Where a beginning stands: whole words, then the pieces of the one that is being written."""

    choice: _Choice
    """What that word may be."""
    partial: Pieces
    open: tuple[tuple[str, bool], ...]
    """Labels of the open brackets, outermost first, each with whether anything is in it."""
    leaves: int
    steps: int
    """Pieces of the whole words."""


def labels_of(tokenizer: Tokenizer) -> list[str]:
    """The labels whose closing bracket is one piece of the vocabulary, sorted."""
    pieces = tokenizer.tokens(range(len(SPECIAL_TOKENS), tokenizer.vocab_size))
    words = (piece[1:] for piece in pieces if piece.startswith("▁"))
    return sorted(word[:-1] for word in words if word.endswith(CLOSE) and word != CLOSE)


def may_follow(
    filled: Sequence[bool],
    missing: int,
    nested: int = NESTED,
) -> tuple[bool, bool, bool]:
    """Whether a closing bracket, an opening one and a word may be written next.

    Parameters
    ----------
    filled
        For each open bracket, outermost first, whether anything is in it; one at least.
    missing
        Words of the sentence that are still to be written.
    nested
        Most brackets that may be opened one after the other.

    Examples
    --------
    >>> may_follow([True, False], missing=2)  # after '(S (NP The )NP (VP': a VP with nothing in it
    (False, True, True)
    >>> may_follow([True], missing=0)  # all words are written
    (True, False, False)
    """
    last_bracket = len(filled) == 1
    may_close = filled[-1] and not (last_bracket and missing)
    empty = 0  # brackets that were opened in a row, with nothing in them yet
    while empty < len(filled) and not filled[-1 - empty]:
        empty += 1
    return may_close, missing > 0 and empty < nested, missing > 0


class WellFormed:
    """The mask of a search for trees: `beam_search(..., allowed=WellFormed(...))`.

    Brackets and leaves may be several pieces of the vocabulary. A bracket is opened only while there is room to close
    it before the cap, so that every search ends with a tree.

    Parameters
    ----------
    tokenizer
        Of linear forms as `annotated.parsing.written` spells them.
    labels
        Those that constituents may have.
    leaves
        For each sentence and each word of it the tokens that may stand for it: the word itself, all parts of speech,
        or 'XX'.
    limits
        Most symbols that may be written for each, the end included.
    nested
        Most brackets that may be opened one after the other. Without a bound a model that has lost its way opens
        brackets up to the cap.

    Raises
    ------
    ValueError
        If there are no labels, a sentence has no words, a word nothing that may stand for it, or a tree no room.

    Paper: section 6.3
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        labels: Iterable[str],
        leaves: Sequence[Sequence[Sequence[str]]],
        limits: Sequence[int],
        nested: int = NESTED,
    ) -> None:
        self.nested = nested
        self.labels = sorted(set(labels))
        if not self.labels:
            raise ValueError("there are no labels, so no tree can be written")
        self.size, self.limits = tokenizer.vocab_size, list(limits)
        self.leaves = [[tuple(tokens) for tokens in sentence] for sentence in leaves]
        self._spell(tokenizer)
        self.needed = [self._needed(number) for number in range(len(self.leaves))]
        self._choices: dict[tuple[str, bool, tuple[str, ...], bool, bool], _Choice] = {}
        self._masks: dict[frozenset[int], Tensor] = {}
        self._states: dict[tuple[int, bytes], _State | None] = {}

    def _spell(self, tokenizer: Tokenizer) -> None:
        """The pieces of every token, and the choices that are always the same: at the beginning, and of the end."""
        leaves = {token for sentence in self.leaves for tokens in sentence for token in tokens}
        tokens = [*leaves, *(bracket + label for label in self.labels for bracket in "()")]
        # Inside a text, behind the one piece "x": the normal form takes a space off a text's beginning.
        inside = tokenizer.encode_batch(["x " + written([token]) for token in tokens])
        self.pieces: dict[str, Pieces] = {token: tuple(ids[1:]) for token, ids in zip(tokens, inside, strict=True)}
        bracket = max(len(self.pieces["(" + label]) + len(self.pieces[")" + label]) for label in self.labels)
        self.spare = max([bracket, *(len(self.pieces[leaf]) for leaf in leaves)])
        """Room beyond what is needed at least, from which on everything may be written."""
        self._first, self._end, self._nothing = _Choice(), _Choice(), _Choice()
        for label in self.labels:  # no space stands before the first word
            self._first.add("(" + label, tuple(tokenizer.encode(written(["(" + label]))))
        self._end.add("", (EOS,))

    def _needed(self, number: int) -> list[int]:
        """Pieces that the leaves from each word on take at least, and the end."""
        sentence = self.leaves[number]
        if not sentence or not all(sentence):
            raise ValueError(f"sentence {number} has no words, or one that nothing may stand for")
        needed = [1]
        for tokens in reversed(sentence):
            needed.append(needed[-1] + min(len(self.pieces[token]) for token in tokens))
        if self.limits[number] < needed[-1] + self.spare:
            raise ValueError(f"sentence {number}: {self.limits[number]} tokens leave no room for a tree")
        return needed[::-1]

    def __call__(self, written: Tensor, sentences: Sequence[int]) -> Tensor:
        """The mask `[R, V]` after ids `[R, t]`, of which row r belongs to `sentences[r]`."""
        states: dict[tuple[int, bytes], _State | None] = {}
        masks = []
        for row, sentence in zip(written.cpu().numpy(), sentences, strict=True):
            key = (sentence, row.tobytes())
            if key not in states:
                states[key] = self._reached(row.tolist(), sentence, (sentence, row[:-1].tobytes()))
            masks.append(self._mask(self._next(states[key], sentence)))
        self._states = states  # all that the next step can ask for
        return torch.stack(masks).to(written.device)

    def _reached(self, ids: list[int], sentence: int, parent: tuple[int, bytes]) -> _State | None:
        """The state after ids; None after ids that no tree begins with."""
        if ids and parent in self._states:
            return self._after(self._states[parent], ids[-1], sentence)
        state: _State | None = _State(self._first, (), (), 0, 0)
        for token in ids:
            state = self._after(state, token, sentence)
        return state

    def _after(self, state: _State | None, token: int, sentence: int) -> _State | None:
        """The state after one more token."""
        if state is None:
            return None
        if token not in state.choice.after.get(state.partial, ()):  # it does not go on with this word
            if state.partial not in state.choice.tokens:
                return None
            state = self._completed(state, sentence)
            if token not in state.choice.after.get((), ()):
                return None
        return state._replace(partial=(*state.partial, token))

    def _next(self, state: _State | None, sentence: int) -> frozenset[int]:
        """The ids that may follow: those that go on with this word, and if it is whole, those that begin another."""
        if state is None:
            return frozenset()
        found = state.choice.after.get(state.partial, set())
        if state.partial in state.choice.tokens:
            found = found | self._completed(state, sentence).choice.after.get((), set())
        return frozenset(found)

    def _completed(self, state: _State, sentence: int) -> _State:
        """The state after the word whose pieces are all there."""
        token, steps = state.choice.tokens[state.partial], state.steps + len(state.partial)
        if not token:
            return _State(self._nothing, (), (), state.leaves, steps)
        leaves = state.leaves + (token[0] not in "()")
        if token[0] == "(":
            opened = (*state.open, (token[1:], False))
        else:
            rest = state.open[:-1] if token[0] == ")" else state.open
            opened = (*rest[:-1], (rest[-1][0], True)) if rest else ()
        return _State(self._choice(opened, leaves, steps, sentence), (), opened, leaves, steps)

    def _choice(self, opened: tuple[tuple[str, bool], ...], leaves: int, steps: int, sentence: int) -> _Choice:
        """What may follow whole words: of those that are allowed, the ones that leave room for the rest."""
        if not opened:
            return self._end
        closing = sum(len(self.pieces[")" + label]) for label, _ in opened)
        room = self.limits[sentence] - steps - closing - self.needed[sentence][leaves]
        missing = len(self.leaves[sentence]) - leaves
        may_close, may_open, _ = may_follow([filled for _, filled in opened], missing, self.nested)
        roomy = room >= self.spare
        key = (opened[-1][0], may_close, self.leaves[sentence][leaves] if missing else (), roomy, roomy and may_open)
        if key not in self._choices:
            self._choices[key] = self._made(*key)
        return self._choices[key]

    def _made(self, label: str, may_close: bool, leaves: tuple[str, ...], roomy: bool, may_open: bool) -> _Choice:
        least = min((len(self.pieces[leaf]) for leaf in leaves), default=0)
        words = [leaf for leaf in leaves if roomy or len(self.pieces[leaf]) == least]
        words += ["(" + name for name in self.labels if leaves and may_open]
        words += [")" + label] if may_close else []
        choice = _Choice()
        for word in words:
            choice.add(word, self.pieces[word])
        return choice

    def _mask(self, ids: frozenset[int]) -> Tensor:
        if ids not in self._masks:
            mask = torch.zeros(self.size, dtype=torch.bool)
            mask[list(ids)] = True
            self._masks[ids] = mask
        return self._masks[ids]

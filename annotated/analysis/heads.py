"""Roles of attention heads, their alignment with known word links, and the baselines that both are compared with.

Everything here is counted on the classroom corpus, whose grammar says which word translates which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from annotated.classroom import ClassroomPair
from annotated.classroom.lexicon import ADJECTIVES, NOUN
from annotated.classroom.morphology import DETERMINERS
from annotated.config import BOS, EOS
from annotated.data.batch import pad
from annotated.data.tokenizer import Tokenizer
from annotated.model.masks import padding_mask, target_mask
from annotated.model.transformer import AttentionMaps

KINDS = ("encoder", "decoder", "cross")
Links = set[tuple[int, int]]

_NOUNS = {word for noun in NOUN.values() for form in (noun.singular, noun.plural) for word in form}
_ADJECTIVES = {adjective.english for adjective in ADJECTIVES}
_MARKS = frozenset(".,?!")


class PairTokens(NamedTuple):
    """One pair as the model reads it, with the word that each piece belongs to.

    `source` ends in eos; `target` has neither bos nor eos. `source_word[s]` and `target_word[t]` are the numbers of
    the words; eos belongs to none and has no entry.
    """

    pair: ClassroomPair
    source: list[int]
    target: list[int]
    source_word: list[int]
    target_word: list[int]

    @classmethod
    def of(cls, pair: ClassroomPair, tokenizer: Tokenizer) -> PairTokens:
        """Cut a pair into pieces and give each piece back to its word."""
        return cls(
            pair,
            [*tokenizer.encode(pair.source), EOS],
            tokenizer.encode(pair.target),
            words_of_pieces(tokenizer, pair.source, pair.source_words),
            words_of_pieces(tokenizer, pair.target, pair.target_words),
        )


def words_of_pieces(tokenizer: Tokenizer, text: str, words: Sequence[str]) -> list[int]:
    """For each piece of the text, the number of the word in which it ends."""
    ends, at = [], 0
    for word in words:
        at = text.index(word, at) + len(word)
        ends.append(at)
    spans = tokenizer.offsets(text)
    return [next(n for n, last in enumerate(ends) if end <= last) for _, end in spans]


def gold_cells(one: PairTokens) -> Links:
    """The cells (row t, column s) of cross-attention where a translator would look.

    Row t has read the target up to piece t - 1 and is about to write piece t.
    """
    links = set(one.pair.alignment)
    return {
        (t, s)
        for t, j in enumerate(one.target_word)
        for s, i in enumerate(one.source_word)
        if (i, j) in links
    }  # fmt: skip


class HeadCorpus(NamedTuple):
    """A batch of pairs, ready for `model(source, target_in, return_attention=True)`.

    `source` `[B, S]`, `target_in` and `target_out` `[B, T]`, padded with 0; `items` says what they hold.
    """

    items: list[PairTokens]
    source: Tensor
    target_in: Tensor
    target_out: Tensor

    @classmethod
    def of(cls, pairs: Iterable[ClassroomPair], tokenizer: Tokenizer) -> HeadCorpus:
        """Tokenise and pad."""
        items = [PairTokens.of(pair, tokenizer) for pair in pairs]
        rows = ([i.source for i in items], [[BOS, *i.target] for i in items], [[*i.target, EOS] for i in items])
        return cls(items, *map(pad, rows))


def noun_of_determiner(words: Sequence[str]) -> dict[int, int]:
    """English determiners and their nouns, as word numbers; adjectives may stand between.

    In a compound of two words the second is the one that decides the German gender.
    """
    found = {}
    for i, word in enumerate(words):
        if word.lower() not in DETERMINERS:
            continue
        j = i + 1
        while j < len(words) and words[j] in _ADJECTIVES:
            j += 1
        while j + 1 < len(words) and words[j] in _NOUNS and words[j + 1] in _NOUNS:
            j += 1
        if j < len(words) and words[j] in _NOUNS:
            found[i] = j
    return found


def _self_roles(word: list[int | None], texts: Sequence[str], end: bool) -> dict[str, Links]:
    """Roles that make sense in any self-attention over n tokens; word[i] is None where a token is of no word."""
    n = len(word)
    known = [(i, w) for i, w in enumerate(word) if w is not None]
    roles = {
        "itself": {(i, i) for i in range(n)},
        "token before": {(i, i - 1) for i in range(1, n)},
        "token after": {(i, i + 1) for i in range(n - 1)},
        "rest of its word": {(i, j) for i, a in known for j, b in known if a == b and i != j},
        "first token": {(i, 0) for i in range(1, n)},
        "mark . , ? !": {(i, j) for i in range(n) for j, w in known if texts[w] in _MARKS and i != j},
    }
    return {**roles, "end </s>": {(i, n - 1) for i in range(n - 1)}} if end else roles


def _cells(rows: Iterable[int], columns: Iterable[int]) -> Links:
    return {(r, c) for r in rows for c in columns}


def roles_of(one: PairTokens) -> dict[str, dict[str, Links]]:
    """For each kind of attention, the named sets of cells (row, column) that a head might prefer.

    Rows of the decoder are the tokens read, bos first; row t of the cross-attention is about to write piece t.
    """
    source, target = one.pair.source_words, one.pair.target_words
    pieces = {i: [s for s, w in enumerate(one.source_word) if w == i] for i in range(len(source))}
    writes = {j: [t for t, w in enumerate(one.target_word) if w == j] for j in range(len(target))}
    nouns = noun_of_determiner(source)
    encoder = _self_roles([*one.source_word, None], source, end=True)
    encoder["noun of its article"] = set().union(*(_cells(pieces[i], pieces[j]) for i, j in nouns.items()))
    decoder = _self_roles([None, *one.target_word], target, end=False)
    del decoder["token after"]  # the mask hides it
    gold = gold_cells(one)
    eos, rows = len(one.source) - 1, range(len(one.target) + 1)
    cross = {
        "word it writes": gold,
        "word it read": {(t + 1, s) for t, s in gold},
        "noun of its article": set().union(
            *(_cells(writes[j], pieces[nouns[i]]) for i, j in one.pair.alignment if i in nouns)
        ),
        "first token": _cells(rows, [0]),
        "mark . , ? !": _cells(rows, [s for s, w in enumerate(one.source_word) if source[w] in _MARKS]),
        "end </s>": _cells(rows, [eos]),
    }
    return {"encoder": encoder, "decoder": decoder, "cross": cross}


def role_scores(maps: AttentionMaps, corpus: HeadCorpus) -> list[dict[str, object]]:
    """How much of its attention each head gives to each role, and how much an even spread would give.

    Only rows count in which the role exists (the first token has none before it), for both numbers alike.

    Returns
    -------
    list of dict
        kind, layer, head (from 0), role, score, chance: shares between 0 and 1.
    """
    wanted = [roles_of(one) for one in corpus.items]
    found: list[dict[str, object]] = []
    for kind in KINDS:
        layers = torch.stack(getattr(maps, kind))  # [L, B, H, q, k]
        allowed = _allowed(kind, corpus)
        for role in wanted[0][kind]:
            places = [(n, *cell) for n, roles in enumerate(wanted) for cell in roles[kind][role]]
            sentence, row, column = torch.tensor(places).T
            cells = torch.zeros(allowed.shape)
            cells[sentence, row, column] = 1
            cells *= allowed
            rows = cells.any(-1)
            chance = float((cells.sum(-1) / allowed.sum(-1).clamp(min=1)).sum() / rows.sum())
            sentence, row, column = cells.nonzero().T
            scores = layers[:, sentence, :, row, column].sum(0, dtype=torch.float64) / rows.sum()  # [L, H]
            found += [
                {"kind": kind, "layer": layer, "head": head, "role": role, "score": float(score), "chance": chance}
                for layer, line in enumerate(scores)
                for head, score in enumerate(line)
            ]
    return found


def _allowed(kind: str, corpus: HeadCorpus) -> Tensor:
    """Which cells the masks leave open, `[B, q, k]`, for real rows."""
    queries = corpus.source if kind == "encoder" else corpus.target_in
    keys = target_mask(corpus.target_in) if kind == "decoder" else padding_mask(corpus.source)
    return (padding_mask(queries).mT & keys)[:, 0]


def mean_entropy(maps: AttentionMaps, corpus: HeadCorpus) -> dict[tuple[str, int, int], float]:
    """The mean entropy of each head's rows, as a share of the most it could be: 0 one key, 1 an even spread.

    Rows with a single key to look at are left out. Keys of the result: (kind, layer, head).
    """
    found: dict[tuple[str, int, int], float] = {}
    for kind in KINDS:
        layers = torch.stack(getattr(maps, kind))
        choices = _allowed(kind, corpus).sum(-1)  # [B, q]
        rows = (choices > 1)[None, :, None]
        entropy = torch.special.entr(layers).sum(-1) / choices.clamp(min=2).log()[None, :, None]
        means = (entropy * rows).sum((1, 3), dtype=torch.float64) / rows.sum()
        found |= {(kind, i, h): float(m) for i, line in enumerate(means) for h, m in enumerate(line)}
    return found


def varied(pairs: Iterable[ClassroomPair], count: int, longest: Callable[[ClassroomPair], bool]) -> list[ClassroomPair]:
    """The first pairs that each show a construction not seen before, then others, `count` in all, shortest first.

    `longest` says of a pair whether it is short enough to be shown.
    """
    fresh: list[ClassroomPair] = []
    others: list[ClassroomPair] = []
    seen: set[str] = set()
    for pair in filter(longest, pairs):
        (others if pair.features <= seen else fresh).append(pair)
        seen |= pair.features
    return sorted([*fresh, *others][:count], key=lambda pair: len(pair.source))


def score_table(found: Sequence[Mapping[str, object]]) -> dict[tuple[str, int, int, str], tuple[float, float]]:
    """`role_scores` as (kind, layer, head, role) to (score, chance), for looking things up."""
    return {(r["kind"], r["layer"], r["head"], r["role"]): (r["score"], r["chance"]) for r in found}  # type: ignore[misc]

"""Search tree of a beam search: every candidate, its score, and whether it was kept."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from torch import Tensor

from annotated.config import EOS
from annotated.decoding.beam import BeamSearch, Candidates, check_options
from annotated.decoding.hypothesis import Hypothesis, length_penalty
from annotated.decoding.search import DEFAULTS, StepModel, decoding_mode, max_lengths
from annotated.translator import Translator

Fate = Literal["alive", "pruned", "finished", "evicted", "cap"]


@dataclass
class Node:
    """One candidate.

    `fate`: *alive*, it was kept and went on (or was still alive when the search could stop); *pruned*,
    it did not make the beam; *finished*, it ended with eos and is returned; *evicted*, it ended with eos
    and better ones took its place; *cap*, it was alive when the length cap was reached.
    """

    id: int
    parent: int | None
    """The node that it continues; None at the first step."""
    step: int
    """Counted from 1: how many symbols the hypothesis has with this one."""
    token: int
    log_probability: float
    """Of the whole hypothesis up to here."""
    score: float
    """`log_probability` divided by the length penalty of `step` symbols."""
    fate: Fate


@dataclass
class SearchTree:
    """All candidates of one sentence's search, in the order in which they were ranked."""

    source: list[int]
    beam_size: int
    alpha: float
    max_new_tokens: int
    nodes: list[Node]
    stopped_by: Literal["bound", "cap"]
    hypotheses: list[Hypothesis]
    """What the search returned."""

    def path(self, node: int) -> list[int]:
        """The tokens from the beginning to a node, eos included if it is one."""
        tokens: list[int] = []
        current: int | None = node
        while current is not None:
            tokens.append(self.nodes[current].token)
            current = self.nodes[current].parent
        return tokens[::-1]

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionaries, lists, numbers and strings, for JSON."""
        record = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        record["nodes"] = [dataclasses.asdict(node) for node in self.nodes]
        names = ("tokens", "log_probability", "score", "finished")
        record["hypotheses"] = [{name: getattr(h, name) for name in names} for h in self.hypotheses]
        return record


def record_search(
    model: StepModel,
    source: Tensor,
    beam_size: int = DEFAULTS.beam_size,
    alpha: float = DEFAULTS.alpha,
    max_new_tokens: int | None = DEFAULTS.max_new_tokens,
    num_return: int = DEFAULTS.num_return,
    *,
    extra_tokens: int = DEFAULTS.extra_tokens,
    prefix: Sequence[int] = (),
) -> SearchTree:
    """Search for one sentence as `beam_search` does, and keep every candidate that was ranked.

    Parameters
    ----------
    source
        Token ids `[S]` or `[1, S]`, without padding, ending in eos.
    model, beam_size, alpha, max_new_tokens, num_return, extra_tokens
        As in `beam_search`.
    prefix
        Token ids that every hypothesis must begin with; each is the only candidate of its step.

    Raises
    ------
    ValueError
        If there is not exactly one sentence, or as `beam_search` raises.
    """
    check_options(beam_size, alpha, max_new_tokens, num_return, extra_tokens)
    source = source[None] if source.dim() == 1 else source
    if source.size(0) != 1:
        raise ValueError(f"a search is recorded for one sentence, not for {source.size(0)}")
    with decoding_mode(model):
        limits = max_lengths(model, source, max_new_tokens, extra_tokens)
        forced = [prefix] if prefix else None
        search = _RecordedSearch(model, source, limits, beam_size, alpha, num_return, prefix=forced)
        hypotheses = search.run()[0]
    cap = search.active.max_lengths[0]
    by_cap = not search.proven
    if by_cap:
        for node in search.alive_nodes:
            if node is not None:
                search.nodes[node].fate = "cap"
    stopped_by: Literal["bound", "cap"] = "cap" if by_cap else "bound"
    return SearchTree(source[0].tolist(), beam_size, alpha, cap, search.nodes, stopped_by, hypotheses)


def search_tree(translator: Translator, text: str, prefix: str = "", **options: Any) -> SearchTree:
    """A beam search for one text, with every candidate on record.

    Parameters
    ----------
    translator
        Its model and tokenizer, and its own way to search where `options` does not say otherwise.
    prefix
        How every translation must begin, in whole words.
    **options
        Fields of `DecodingConfig`: beam_size, alpha, ...

    Raises
    ------
    OverlongSource
        If the text is too long for the translator.
    """
    config = translator.decoding.replace(**options)
    return record_search(
        translator.model,
        translator.encode([text]),
        config.beam_size,
        config.alpha,
        config.max_new_tokens,
        config.num_return,
        extra_tokens=config.extra_tokens,
        prefix=translator.tokenizer.encode(prefix),
    )


class _RecordedSearch(BeamSearch):
    """A beam search of one sentence that writes down each step."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.nodes: list[Node] = []
        self.alive_nodes: list[int | None] = [None] * self.alive.log_probability.size(1)
        self.finished_nodes: list[int | None] = [None] * self.finished.scores.size(1)
        self.proven = False

    def step(self, candidates: Candidates) -> tuple[Tensor, Tensor | None]:
        """Take the step, then note every candidate that was one."""
        kept, placed = super().step(candidates)
        penalty = length_penalty(self.alive.steps, self.alpha)
        ids: list[int | None] = []
        for log_probability, parent, token in zip(*(column[0].tolist() for column in candidates), strict=True):
            if log_probability == -math.inf:  # a free slot, or a forbidden token: no candidate at all
                ids.append(None)
                continue
            ids.append(len(self.nodes))
            fate: Fate = "evicted" if token == EOS else "pruned"
            score = log_probability / penalty
            origin = self.alive_nodes[parent]
            self.nodes.append(Node(len(self.nodes), origin, self.alive.steps, token, log_probability, score, fate))
        self._note_alive(ids, kept[0].tolist())
        if placed is not None:
            self._note_finished(ids, placed[0].tolist())
        return kept, placed

    def is_done(self) -> list[bool]:
        """As the search decides; remember whether the bound alone would have stopped it."""
        done = super().is_done()
        bound = self.alive.log_probability.amax() / self.penalty_at_cap[0]
        self.proven = bool(self.finished.scores[0, -1] >= bound)
        return done

    def _note_alive(self, ids: list[int | None], kept: list[int]) -> None:
        slots = [ids[index] for index in kept]
        self.alive_nodes = [None if n is None or self.nodes[n].token == EOS else n for n in slots]
        for node in self.alive_nodes:
            if node is not None:
                self.nodes[node].fate = "alive"

    def _note_finished(self, ids: list[int | None], placed: list[int]) -> None:
        slots = len(self.finished_nodes)
        both = self.finished_nodes + ids
        for node in self.finished_nodes:
            if node is not None:
                self.nodes[node].fate = "evicted"
        scores = self.finished.scores[0].tolist()
        pairs = zip(placed, scores, strict=True)
        self.finished_nodes = [both[index] if score > -math.inf else None for index, score in pairs]
        assert len(self.finished_nodes) == slots
        for node in self.finished_nodes:
            if node is not None:
                self.nodes[node].fate = "finished"

"""Greedy search: the most probable token at every step."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import torch
from torch import Tensor

from annotated.config import BOS, EOS
from annotated.decoding.hypothesis import Hypothesis, length_penalty
from annotated.decoding.prefix import Prefixes
from annotated.decoding.search import (
    DEFAULTS,
    ActiveBatch,
    Allowed,
    StepModel,
    decoding_mode,
    forbidden_ids,
    max_lengths,
    may_follow,
    top_tokens,
    with_attention,
)


def greedy_decode(
    model: StepModel,
    source: Tensor,
    max_new_tokens: int | None = None,
    *,
    alpha: float = DEFAULTS.alpha,
    extra_tokens: int = DEFAULTS.extra_tokens,
    forbidden: Sequence[int] = (),
    prefix: Sequence[Sequence[int]] | None = None,
    allowed: Allowed | None = None,
    return_attention: bool = False,
) -> list[Hypothesis]:
    """Write the most probable token, again and again, until eos or the cap.

    Parameters
    ----------
    model
        A `Transformer`; it decodes in evaluation mode, and its mode is put back.
    source
        Token ids `[B, S]`, padded with 0 on the right, each sentence ending in eos.
    max_new_tokens
        Most tokens to write, eos included; None for each source's own length + `extra_tokens`, eos included.
    alpha
        Exponent of the length penalty in `score`; it changes nothing else.
    extra_tokens
        See `max_new_tokens`.
    forbidden
        Ids never to write, besides pad and bos; a prefix may hold them all the same.
    prefix
        For each sentence the token ids that its translation must begin with (perhaps none); they count in
        log-probability, score and cap.
    allowed
        Called at each step with what each row has written, ids `[R, t]`, and the sentence that each row belongs to, for
        a boolean mask `[R, V]` of what may come next (`annotated.decoding.Allowed`); None allows everything. As with
        `forbidden`, the probabilities stay the model's own, so a hypothesis has the same log-probability with and
        without the mask. It must leave a token wherever it leads: greedy
        search cannot turn back, and where nothing is allowed the log-probability is minus infinity.
    return_attention
        Give each hypothesis its attention maps.

    Returns
    -------
    list of Hypothesis
        One for each sentence.

    Raises
    ------
    ValueError
        If a sentence is empty, ids lie outside the vocabulary, or a prefix makes no sense.

    Paper: section 3.1 (auto-regression)
    """
    # A changed copy of the configuration checks the values.
    dataclasses.replace(DEFAULTS, alpha=alpha, max_new_tokens=max_new_tokens, extra_tokens=extra_tokens)
    with decoding_mode(model):
        limits = max_lengths(model, source, max_new_tokens, extra_tokens)
        prefixes = Prefixes(prefix, limits) if prefix is not None else None
        found = _search(model, source, limits, alpha, forbidden_ids(forbidden, source.device), prefixes, allowed)
    return with_attention(model, source, found) if return_attention else found


def _search(
    model: StepModel,
    source: Tensor,
    limits: list[int],
    alpha: float,
    forbidden: Tensor,
    prefixes: Prefixes | None,
    allowed: Allowed | None,
) -> list[Hypothesis]:
    if not limits:
        return []
    device, active = source.device, ActiveBatch(limits)
    state = model.start_state(source, 1, max_new_tokens=max(limits))
    token = torch.full((len(limits),), BOS, device=device)
    written = torch.empty(len(limits), max(limits), dtype=torch.long, device=device)
    total = torch.zeros(len(limits), device=device)
    ended = torch.zeros(len(limits), dtype=torch.bool, device=device)
    found: dict[int, Hypothesis] = {}
    steps = 0
    while active:
        logits, state = model.decode_step(token, state)
        mask = may_follow(allowed, written[:, :steps], active.sentences)
        if prefixes is None or steps >= prefixes.longest:
            log_probability, best = top_tokens(logits, 1, forbidden, mask)
        else:
            log_probability, best = prefixes.top_tokens(logits, 1, forbidden, steps, active.sentences, mask)
        token, steps = best.squeeze(1), steps + 1
        written[:, steps - 1] = token
        total = total + log_probability.squeeze(1).masked_fill(ended, 0.0)
        ended = ended | (token == EOS)
        if not active.must_look(steps, device):
            continue
        for row, (end, cap) in enumerate(zip(ended.tolist(), active.at_cap(steps), strict=True)):
            if (end or cap) and not active.done[row]:
                active.done[row] = True
                found[active.sentences[row]] = _hypothesis(written[row, :steps].tolist(), float(total[row]), alpha)
        if (keep := active.compact()) is not None:
            rows = torch.tensor(keep, device=device)
            state.select(rows)
            token, written, total, ended = (x.index_select(0, rows) for x in (token, written, total, ended))
    return [found[sentence] for sentence in range(len(limits))]


def _hypothesis(tokens: list[int], log_probability: float, alpha: float) -> Hypothesis:
    finished = EOS in tokens
    if finished:
        tokens = tokens[: tokens.index(EOS)]
    score = log_probability / length_penalty(len(tokens) + finished, alpha)
    return Hypothesis(tokens, log_probability, score, finished)

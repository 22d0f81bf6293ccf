"""Causality: logits depend on no later target token, on every earlier one and on the whole source."""

from __future__ import annotations

import itertools
import math

import torch
from torch.nn import functional as F

from annotated_grader.doctor.finding import Mistake
from annotated_grader.doctor.invariants.dependence import encoder_reach, other_tokens, target_reach
from annotated_grader.doctor.invariants.mistakes import TINY_FILL
from annotated_grader.doctor.invariants.registry import invariant, not_applicable, require
from annotated_grader.doctor.probe import CLOSE, SAME, Probe, of_size, relative_difference

NO_CAUSAL_MASK = Mistake("The decoder's self-attention has no causal mask while training.", 7, "C12")
OFF_BY_ONE = Mistake("The causal mask is off by one: its diagonal is the wrong one.", 7, "C15")
TRANSPOSED = Mistake("The causal mask is transposed, or True means the opposite of what it is used for.", 7)
WRONG_SOFTMAX = Mistake("The softmax runs over the queries instead of the keys.", 5, "C09")
NORM_ALONG = Mistake("A norm runs along the sentence, where it belongs to the vector of one position.", 12)

LENGTH = 6


@invariant(
    "leak-by-change",
    TINY_FILL,
    NO_CAUSAL_MASK,
    OFF_BY_ONE,
    TRANSPOSED,
    WRONG_SOFTMAX,
    NORM_ALONG,
    paper="sections 3.1, 3.2.3",
)
def leak_by_change(probe: Probe) -> str:
    """Changing later target tokens leaves the logits before them as they were."""
    target, worst, where = probe.targets_in(LENGTH), 0.0, 0
    sources = probe.sources(5), probe.sources(LENGTH)  # shorter than the target, and as long
    for source, position in itertools.product(sources, range(1, LENGTH)):
        first, changed = probe.logits(source, target), target.clone()
        changed[0, position:] = other_tokens(probe, target[0, position:])
        difference = relative_difference(probe.logits(source, changed)[:, :position], first[:, :position])
        if difference > worst:
            worst, where = difference, position
    require(
        worst <= SAME,
        f"New tokens from target position {where} on change the logits before it by {of_size(worst)}.",
    )
    return f"New tokens at later positions change the logits before them by {of_size(worst)}."


@invariant(
    "leak-by-gradient",
    TINY_FILL,
    NO_CAUSAL_MASK,
    OFF_BY_ONE,
    TRANSPOSED,
    WRONG_SOFTMAX,
    paper="sections 3.1, 3.2.3",
    needs=("modules",),
)
def leak_by_gradient(probe: Probe) -> str:
    """The gradient of a position's logits with respect to later target embeddings is exactly zero."""
    reach = target_reach(probe, probe.sources(5), probe.targets_in(LENGTH))
    later = reach.triu(1)
    require(
        float(later.max()) == 0.0,
        f"The gradient that reaches later target tokens is {float(later.max()):.1e}; the one that reaches earlier "
        f"tokens and the own is {float(reach.tril().max()):.1e}.",
    )
    return "No gradient at all reaches later target tokens."


@invariant(
    "target-past-is-seen",
    OFF_BY_ONE,
    TRANSPOSED,
    Mistake("The decoder's self-attention reads something else than the shifted target.", 6, "C22"),
    paper="section 3.2.3",
)
def target_past_is_seen(probe: Probe) -> str:
    """Every position's logits depend on all target tokens up to and with its own."""
    source, target = probe.sources(5), probe.targets_in(LENGTH)
    first = probe.logits(source, target)
    for position in range(1, LENGTH):
        changed = target.clone()
        changed[0, position] = other_tokens(probe, target[0, position])
        moved = (probe.logits(source, changed) - first)[0, position:].abs().amax(dim=-1)
        blind = [position + i for i in (moved == 0).nonzero().flatten().tolist()]
        require(not blind, f"Another token at target position {position} changes nothing at positions {blind}.")
    return f"Each of {LENGTH} positions answers to a change of every token up to its own."


@invariant(
    "source-is-reached",
    Mistake("Cross-attention takes keys and values from the decoder instead of the memory.", 6, "C19"),
    Mistake("A mask hides real source tokens: it is inverted, or the causal one is used on the source.", 7),
    Mistake("The mask is cut to the target's length.", 7),
    paper="section 3.2.3",
)
def source_is_reached(probe: Probe) -> str:
    """Every target position's logits depend on every source token."""
    source, target = probe.sources(7), probe.targets_in(LENGTH)
    first = probe.logits(source, target)
    for position in range(source.size(1) - 1):
        changed = source.clone()
        changed[0, position] = other_tokens(probe, source[0, position])
        moved = (probe.logits(changed, target) - first)[0].abs().amax(dim=-1)
        deaf = (moved == 0).nonzero().flatten().tolist()
        require(not deaf, f"Another token at source position {position} changes nothing at target positions {deaf}.")
    return "Another token at any source position changes the logits of every target position."


@invariant(
    "encoder-sees-both-sides",
    Mistake("The encoder's self-attention has a causal mask.", 7, "C15"),
    Mistake("The encoder's mask hides real tokens, or means the opposite of what it is used for.", 7),
    paper="section 3.2.3",
    needs=("encode",),
)
def encoder_sees_both_sides(probe: Probe) -> str:
    """Every position of the memory depends on every source token."""
    reach = encoder_reach(probe, probe.sources(6))
    blind = (reach == 0).nonzero().tolist()
    require(not blind, f"Memory position {blind and blind[0][0]} does not see source token {blind and blind[0][1]}.")
    if not probe.subject.claims.local_attention and probe.close == CLOSE:  # 16 bits may round a faint trace away
        _examine_far_memory(probe)
    return f"Each of {len(reach)} memory positions answers to a change of every source token."


WINDOW = Mistake("The encoder's self-attention reads a window around each token, or a mask has a fixed size.", 7)


def _examine_far_memory(probe: Probe) -> None:
    """In a long source too, its first and its last token change every position of the memory."""
    length = min(FAR_SOURCE, probe.subject.claims.longest or FAR_SOURCE)
    source = probe.sources(length)
    with torch.no_grad():
        memory = probe.subject.encode(source)
    if memory.size(1) != length:
        return  # it is cut, which is a failure of far-source
    for position in (0, length - 2):
        changed = source.clone()
        changed[0, position] = other_tokens(probe, source[0, position])
        with torch.no_grad():
            moved = (probe.subject.encode(changed) - memory)[0].abs().amax(dim=-1)
        blind = (moved == 0).nonzero().flatten().tolist()
        said = f"In a source of {length} tokens, memory position {blind and blind[0]} does not see token {position}."
        require(not blind, said, WINDOW)


FAR_SOURCE = 100
"""Tokens of the long source: two layers that see 48 tokens to either side do not reach its other end."""


@invariant(
    "leak-canary",
    TINY_FILL,
    NO_CAUSAL_MASK,
    Mistake("The target is not shifted: the decoder reads the token that it has to write.", 18, "C22"),
    Mistake("Mask and shift make up for each other, and only one of them is right.", 7, "C14"),
    paper="section 3.1",
    needs=("fresh", "modules"),
)
def leak_canary(probe: Probe) -> str:
    """Trained briefly on random tokens, the loss does not fall below the entropy of the tokens."""
    subject = probe.subject.fresh()
    parameters = [parameter for module in subject.modules() for parameter in module.parameters()]
    size = sum(parameter.numel() for parameter in parameters)
    if size > CANARY_SIZE:
        not_applicable(f"{size:,} parameters are too many to train here")
    words = probe.words[: min(8, len(probe.words))]
    floor = math.log(len(words))
    optimizer = torch.optim.Adam(parameters, lr=8e-3, betas=(0.9, 0.98))

    def loss(rows: int) -> torch.Tensor:
        draw = torch.randint(len(words), (rows, CANARY_LENGTH), generator=probe.generator)
        read, write = probe.shifted(torch.cat((words[draw], torch.full((rows, 1), subject.eos)), dim=1))
        source = probe.rectangle([[subject.eos]] * rows)  # which says nothing
        logits = subject.logits(source, read)[:, :CANARY_LENGTH]
        return F.cross_entropy(logits.flatten(0, 1), write[:, :CANARY_LENGTH].flatten())

    for _ in range(CANARY_UPDATES):
        optimizer.zero_grad()
        loss(32).backward()
        optimizer.step()
    with torch.no_grad():
        final = float(loss(500))
    said = f"{final:.3f} nats a token after {CANARY_UPDATES} updates; independent tokens have {floor:.3f}."
    require(final > 0.95 * floor, f"The loss is {said} Only a model that sees its answers gets below.")
    return f"The loss is {said}"


CANARY_SIZE = 300_000
"""Parameters of the largest model that is trained here."""
CANARY_UPDATES, CANARY_LENGTH = 40, 3
"""Short sequences: a leak is learnt the faster, the fewer positions there are to look at."""

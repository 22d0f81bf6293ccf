"""Training: the shift, the loss, the schedule, accumulated gradients, averaged checkpoints."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from annotated_grader.doctor.finding import Mistake
from annotated_grader.doctor.invariants.registry import invariant, not_applicable, require
from annotated_grader.doctor.probe import CLOSE, Probe, of_size, relative_difference
from annotated_grader.doctor.subject import Update

MICRO_BATCHES = Mistake("The schedule counts micro-batches, so warm-up is over too early.", 20, "A2")
IN_PLACE = Mistake("The first checkpoint is summed up in place.", 25)
MEAN_OF_MEANS = Mistake("Means of micro-batches are averaged although they hold different numbers of tokens.", 17)


def _targets(probe: Probe, *lengths: int) -> Tensor:
    """Targets that end in eos, these many symbols long, padded."""
    rows = [[*probe.tokens(1, n - 1)[0].tolist(), probe.subject.eos] for n in probe.lengths(*lengths)]
    return probe.rectangle(rows)


@invariant(
    "shift",
    Mistake("The decoder reads the target itself: it has to write what it sees.", 18, "C22"),
    Mistake("The target is shifted by two places, or to the left.", 18, "C14"),
    Mistake("The end of the sentence is never asked for, or bos is.", 18, "C22"),
    paper="section 3.1",
    needs=("shift",),
)
def shift(probe: Probe) -> str:
    """target_in is bos and the target without its last token; target_out is the target."""
    subject, targets = probe.subject, _targets(probe, 5, 3, 4)
    read, write = subject.shift(targets)
    real = targets != subject.pad
    width = targets.size(1)
    same = write.shape == targets.shape and torch.equal(write, targets)
    require(same, f"Of the target {targets[0].tolist()} the decoder is to write {write[0].tolist()}.")
    expected = torch.cat((torch.full((len(targets), 1), subject.bos), targets[:, :-1]), dim=1)
    right = read.size(1) >= width and torch.equal(read[:, :width][real], expected[real])
    require(right, f"To write {targets[0].tolist()}, the decoder reads {read[0].tolist()}.")
    return f"To write {targets[0].tolist()}, the decoder reads {read[0].tolist()}."


@invariant(
    "loss-ignores-padding",
    Mistake("The loss counts padding, or ignores another id.", 17),
    Mistake("The sum is divided by all positions, padding included.", 17),
    paper="section 5.4",
    needs=("loss",),
)
def loss_ignores_padding(probe: Probe) -> str:
    """The loss does not depend on logits at padding, nor on how much there is."""
    subject, targets = probe.subject, _targets(probe, 5, 3)
    logits = _random_logits(probe, targets)
    loss = float(subject.loss(logits, targets))
    other = logits.clone()
    other[targets == subject.pad] = torch.randn(subject.vocab_size, generator=probe.generator)
    moved = abs(float(subject.loss(other, targets)) - loss)
    require(moved <= CLOSE * abs(loss), f"Other logits at padding change the loss from {loss:.4f} by {moved:.2g}.")
    longer, wider = F.pad(logits, (0, 0, 0, 3)), F.pad(targets, (0, 3), value=subject.pad)
    moved = abs(float(subject.loss(longer, wider)) - loss)
    require(moved <= CLOSE * abs(loss), f"Three more places of padding change the loss from {loss:.4f} by {moved:.2g}.")
    return "Neither logits at padding nor more padding change the loss."


@invariant(
    "loss-per-token",
    Mistake("The loss is a mean of sentences' means: tokens of short sentences weigh more.", 17),
    Mistake("The loss is a sum: its gradient grows with the batch.", 17),
    paper="sections 5.1, 5.4",
    needs=("loss",),
)
def loss_per_token(probe: Probe) -> str:
    """The loss of a batch is the mean over its real tokens, not over sentences."""
    return [_mean_over_tokens(probe, *lengths) for lengths in ((6, 2), (3, 2, 1))][0]  # as many sentences as tokens


def _mean_over_tokens(probe: Probe, *lengths: int) -> str:
    subject, targets = probe.subject, _targets(probe, *lengths)
    logits = _random_logits(probe, targets)
    each = [float(subject.loss(logits[i : i + 1, :n], targets[i : i + 1, :n])) for i, n in enumerate(lengths)]
    expected = sum(n * loss for n, loss in zip(lengths, each, strict=True)) / sum(lengths)
    loss = float(subject.loss(logits, targets))
    said = f"Sentences of {_and(lengths, 'd')} tokens have losses {_and(each, '.4f')}, and together"
    require(abs(loss - expected) <= CLOSE * expected, f"{said} {loss:.4f}; the mean over tokens is {expected:.4f}.")
    return f"{said} {loss:.4f}, the mean over tokens."


def _and(numbers: Sequence[float], form: str) -> str:
    *first, last = (format(number, form) for number in numbers)
    return f"{', '.join(first)} and {last}"


@invariant(
    "loss-target",
    Mistake("There is no label smoothing, or another than is claimed.", 19, "C43"),
    Mistake("The smoothed target is no distribution: what is shared out does not add up to epsilon.", 19, "C43"),
    Mistake("The softmax is applied twice.", 19),
    paper="section 5.4",
    needs=("loss",),
    claims=("smoothing",),
)
def loss_target(probe: Probe) -> str:
    """The loss is a cross-entropy against the claimed smoothed target: its gradient says so, and its floor."""
    subject, epsilon = probe.subject, probe.subject.claims.smoothing or 0.0
    targets = _targets(probe, 6)
    logits = _random_logits(probe, targets).requires_grad_(True)
    with torch.enable_grad():
        loss = subject.loss(logits, targets)
        (gradient,) = torch.autograd.grad(loss, logits)
    # The gradient of a cross-entropy is (softmax - target) / tokens: so the target can be read from it.
    target = (logits.detach().softmax(dim=-1) - targets.numel() * gradient)[0]
    total, gold = target.sum(dim=-1), target.gather(1, targets[0][:, None]).squeeze(1)
    require(float((total - 1).abs().max()) < 1e-3, f"The target distribution sums to {float(total[0]):.4f}.")
    least, v = float(target.min()), subject.vocab_size
    require(least > -1e-4, f"The target distribution goes down to {least:.4f}.")
    accepted = (1 - epsilon, 1 - epsilon + epsilon / v)  # the rest shared by the others, or by all
    off = min(float((gold - value).abs().max()) for value in accepted)
    require(off < 1e-3, f"The right token has {float(gold[0]):.4f} of the target; claimed is {accepted[0]:.4f}.")
    crossed = -(target * logits.detach()[0].log_softmax(dim=-1)).sum(dim=-1).mean()
    entropy = float(-(target.clamp_min(0) * target.clamp_min(1e-30).log()).sum(dim=-1).mean())
    constant = float(loss.detach() - crossed)
    kinds = {0.0: "a cross-entropy", -entropy: "a KL divergence"}  # which leaves the target's own entropy out
    nearest = min(kinds, key=lambda value: abs(value - constant))
    said = f"The loss is off the cross-entropy with its own target by {constant:.4f}."
    require(abs(constant - nearest) < 1e-3, said)
    floor = max(entropy + nearest, 0.0)
    return f"The loss is {kinds[nearest]} with {float(gold[0]):.4f} on the right token; its floor is {floor:.4f}."


def _random_logits(probe: Probe, targets: Tensor) -> Tensor:
    return torch.randn(*targets.shape, probe.subject.vocab_size, generator=probe.generator)


@invariant(
    "schedule",
    Mistake("Updates are counted from 0, or the rate is set after the update.", 20),
    Mistake("The minimum of the two branches is taken the wrong way, or a power has the wrong sign.", 20),
    paper="section 5.3, equation 3",
    needs=("learning_rate",),
    claims=("d_model", "warmup"),
)
def schedule(probe: Probe) -> str:
    """The rates are equation 3 for updates 1, 2, 3, around the peak and after it."""
    subject = probe.subject
    d_model, warmup = subject.claims.d_model or 1, subject.claims.warmup or 1
    for update in (1, 2, 3, warmup - 1, warmup, warmup + 1, 4 * warmup):
        if update < 1:
            continue
        expected = d_model**-0.5 * min(update**-0.5, update * warmup**-1.5)
        rate = subject.learning_rate(update)
        said = f"Update {update} has the rate {rate:.4e}; equation 3 gives {expected:.4e}."
        require(math.isclose(rate, expected, rel_tol=1e-4), said)
    peak = subject.learning_rate(warmup)
    return f"Equation 3 with its peak of {peak:.2e} at update {warmup}."


def _batches(probe: Probe) -> list[tuple[Tensor, Tensor]]:
    """Two micro-batches of different size."""
    sources, targets = probe.lengths(4, 3, 5), probe.lengths(6, 5, 2)
    return [(probe.sources(*sources[part]), _targets(probe, *targets[part])) for part in (slice(2), slice(2, 3))]


def _updates(probe: Probe, batches: Sequence[tuple[Tensor, Tensor]], accumulate: int) -> list[Update]:
    """What training makes of these batches without dropout; the weights are put back."""
    parameters = [parameter for module in probe.subject.modules() for parameter in module.parameters()]
    kept = [parameter.detach().clone() for parameter in parameters]
    for parameter in parameters:
        parameter.grad = None
    try:
        with torch.enable_grad(), probe.training(dropout=False):
            return probe.subject.updates(batches, accumulate)
    finally:
        with torch.no_grad():
            for parameter, value in zip(parameters, kept, strict=True):
                parameter.copy_(value)
                parameter.grad = None


@invariant("warmup-unit", MICRO_BATCHES, paper="section 5.3", needs=("updates", "modules"))
def warmup_unit(probe: Probe) -> str:
    """Update k is made with the rate of update k, with or without accumulation."""
    batches = _batches(probe)
    plain = [update.rate for update in _updates(probe, batches * 2, 1)]
    accumulated = [update.rate for update in _updates(probe, batches * 4, 2)]
    if probe.subject.offers("learning_rate"):
        expected = [probe.subject.learning_rate(k) for k in range(1, len(plain) + 1)]
        same = all(math.isclose(a, b, rel_tol=1e-4) for a, b in zip(plain, expected, strict=True))
        require(same, f"Updates 1 to {len(plain)} have rates {_few(plain)}; the schedule gives {_few(expected)}.")
    same = all(math.isclose(a, b, rel_tol=1e-4) for a, b in zip(plain, accumulated, strict=False))
    said = f"Without accumulation the rates are {_few(plain)}, with two micro-batches to an update {_few(accumulated)}."
    require(same, said)
    return said


def _few(rates: Sequence[float]) -> str:
    return ", ".join(f"{rate:.3e}" for rate in rates[:4])


@invariant(
    "accumulation",
    MEAN_OF_MEANS,
    Mistake("The parameters change after every micro-batch, or after the first of each group.", 20, "A2"),
    paper="section 5.1",
    needs=("updates", "modules"),
)
def accumulation(probe: Probe) -> str:
    """Accumulated micro-batches give the gradient of the whole batch, one update for each group."""
    first, second = _batches(probe)
    rows = [
        [row[row != probe.subject.pad].tolist() for part in side for row in part]
        for side in zip(first, second, strict=True)
    ]
    whole = [(probe.rectangle(rows[0]), probe.rectangle(rows[1]))]
    parts = _updates(probe, [first, second, first, second], 2)
    require(len(parts) == 2, f"Four micro-batches, two to an update, make {len(parts)} updates.")
    (expected,) = _updates(probe, whole, 1)
    worst = _difference(parts[0].gradient, expected.gradient)
    said = f"The gradient of two micro-batches differs from that of their union by {of_size(worst, 'its')}."
    enough = max(10 * CLOSE, probe.close)
    if worst > enough and _differs_by_chance(probe, whole, expected):
        not_applicable("two training passes over one batch differ by chance: its dropout could not be switched off")
    require(worst <= enough, said)
    return said


def _differs_by_chance(probe: Probe, batches: Sequence[tuple[Tensor, Tensor]], first: Update) -> bool:
    """Whether the same batch gives another gradient when it is trained on again."""
    torch.manual_seed(7)
    (again,) = _updates(probe, batches, 1)
    return _difference(first.gradient, again.gradient) > 10 * CLOSE


def _difference(one: dict[str, Tensor], other: dict[str, Tensor]) -> float:
    """Of all parameters' gradients together."""
    if one.keys() != other.keys():
        return math.inf
    flat = [torch.cat([gradient[name].flatten() for name in sorted(one)]) for gradient in (one, other)]
    return relative_difference(flat[0], flat[1])


@invariant(
    "gradient-cleared",
    Mistake("The gradient is not set to zero after an update.", 20),
    Mistake("The remainder of a group of micro-batches leaks into the next update.", 20),
    paper="section 5.3",
    needs=("updates", "modules"),
)
def gradient_cleared(probe: Probe) -> str:
    """Nothing of one update's gradient is left in the next."""
    batch = _batches(probe)[0]
    made = _updates(probe, [batch] * 3, 1)
    require(len(made) == 3, f"Three batches make {len(made)} updates.")
    norms = [math.sqrt(sum(float(g.square().sum()) for g in update.gradient.values())) for update in made]
    shown = ", ".join(f"{norm:.3f}" for norm in norms)
    said = f"Three updates on one batch, at rates up to {made[-1].rate:.0e}, have gradients of norm {shown}."
    require(norms[1] < 1.5 * norms[0] and norms[2] < 1.5 * norms[0], said)
    return said


@invariant(
    "averaging",
    Mistake("The sum is not divided by the number of checkpoints, or divided twice.", 25),
    IN_PLACE,
    Mistake("A running mean of two: the later checkpoints weigh more.", 25, "C40"),
    paper="section 6.1",
    needs=("average",),
)
def averaging(probe: Probe) -> str:
    """The average of checkpoints is their mean, and leaves them as they were."""
    states = [{"a": torch.randn(3, 2, generator=probe.generator)} for _ in range(3)]
    before = [state["a"].clone() for state in states]
    averaged = probe.subject.average(states)["a"]
    difference = relative_difference(averaged, torch.stack(before).mean(dim=0))
    require(difference <= CLOSE, f"The average of three checkpoints differs from their mean by {difference:.2g}.")
    intact = all(torch.equal(state["a"], kept) for state, kept in zip(states, before, strict=True))
    require(intact, "Averaging changed the checkpoints.", IN_PLACE)
    return "Three checkpoints are averaged to their mean."

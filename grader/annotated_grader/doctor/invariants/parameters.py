"""Parameters: shared where claimed, different elsewhere, saved whole; and dropout, which acts on them in training."""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional as F

from annotated_grader.doctor.finding import Mistake
from annotated_grader.doctor.invariants.registry import invariant, not_applicable, require
from annotated_grader.doctor.probe import CLOSE, SAME, Probe, of_size, relative_difference
from annotated_grader.doctor.subject import SIDES, Subject


@invariant(
    "tied-tables",
    Mistake("The tables were copied from one another, and part ways with the first update.", 13, "C36"),
    Mistake("The tying is written and never reached.", 13),
    paper="section 3.4",
    needs=("tables",),
    claims=("tied_embeddings",),
)
def tied_tables(probe: Probe) -> str:
    """What is claimed to be one matrix is one tensor, and the logits are computed with the tables that are named."""
    tables = probe.subject.tables()
    places = {(table.data_ptr(), tuple(table.shape)) for table in tables}
    for name, table in tables._asdict().items():
        require(_is_used(probe, table.detach(), name), f"Another vector in the {name} table changes no logits.", UNUSED)
    if not probe.subject.claims.tied_embeddings:
        return f"Source, target and output tables are {len(places)} tensors, and all are used."
    require(len(places) == 1, f"Source, target and output tables are {len(places)} tensors.")
    return "Source, target and output share one tensor."


UNUSED = Mistake("A table is made, and another one is used in its place.", 13)


def _is_used(probe: Probe, table: torch.Tensor, name: str) -> bool:
    source, target = probe.sources(5), probe.targets_in(4)
    token = int(source[0, 0] if name == "source" else target[0, 1])
    before, kept = probe.logits(source, target), table[token].clone()
    with torch.no_grad():
        table[token] += torch.randn(len(kept), generator=probe.generator).to(table) * table.std()
        after = probe.logits(source, target)
        table[token] = kept
    return not torch.equal(before, after)


@invariant(
    "layers-differ",
    Mistake("Layers were made by copying one layer, weights included.", 15),
    Mistake("A stack is one layer used again and again, or two sub-layers share one module.", 15),
    Mistake("The seed is set anew for every layer.", 22),
    paper="section 3.1",
    needs=("modules",),
)
def layers_differ(probe: Probe) -> str:
    """In a new model no two matrices hold the same numbers."""
    subject = probe.subject.fresh() if probe.subject.offers("fresh") else probe.subject
    shared = _tables_of_tokens(subject)
    named = {}
    for module in subject.modules():
        # A matrix that is used twice comes twice; only tables of tokens or positions are meant to be shared.
        for name, p in module.named_parameters(remove_duplicate=False):
            if p.dim() > 1 and p.requires_grad and bool(p.detach().std() > 0) and p.data_ptr() not in shared:
                named[name] = p
    names = list(named)
    for i, one in enumerate(names):
        for other in names[i + 1 :]:
            same = named[one].shape == named[other].shape and torch.equal(named[one], named[other])
            require(not same, f"{one} and {other} hold the same numbers.")
    return f"{len(names)} matrices, no two alike."


def _tables_of_tokens(subject: Subject) -> set[int]:
    """Where the tables of section 3.4, and all that modules embed with, lie in memory: one may stand in two places."""
    tables = list(subject.tables()) if subject.offers("tables") else []
    for top in subject.modules():
        tables += [module.weight for module in top.modules() if isinstance(module, nn.Embedding)]
        tables += [p for p in top.parameters() if p.dim() == 2 and p.size(0) == subject.vocab_size]
    return {table.data_ptr() for table in tables}


@invariant(
    "initial-loss",
    Mistake("Embeddings drawn with standard deviation 1 make tied logits too large by the root of d_model.", 13),
    Mistake("The output is scaled by the root of d_model as well.", 13, "C37"),
    paper="section 3.4",
    needs=("fresh",),
)
def initial_loss(probe: Probe) -> str:
    """A new model's loss is near ln V."""
    subject = probe.subject.fresh()
    if subject.offers("modules"):
        for module in subject.modules():
            module.eval()
    source, target = probe.sources(*[6] * 16), probe.targets_in(*[6] * 16)
    with torch.no_grad():
        logits = subject.logits(source, target).flatten(0, 1)
    right = probe.tokens(len(logits))
    loss, uniform = float(F.cross_entropy(logits, right)), math.log(subject.vocab_size)
    said = f"The loss of a new model on random targets is {loss:.2f}; ln V is {uniform:.2f}."
    require(abs(loss - uniform) < 1.5, said)
    return said


@invariant(
    "state-round-trip",
    Mistake("Something that the model computes with is not in the state dict: a plain tensor with random numbers.", 22),
    Mistake("A model is rebuilt with another configuration than it was trained with.", 22),
    Mistake("Loading replaces a shared matrix by several, which go their own ways from there.", 13, "C36"),
    paper="section 5",
    needs=("fresh", "modules"),
)
def state_round_trip(probe: Probe) -> str:
    """The state dict, loaded into a new model, gives the same logits, and what is shared stays shared."""
    torch.manual_seed(1_000_003)  # else what is random and not saved might be the same by chance
    copy = probe.subject.fresh()
    for module, other in zip(probe.subject.modules(), copy.modules(), strict=True):
        other.load_state_dict({name: tensor.clone() for name, tensor in module.state_dict().items()})
        other.eval()
    source, target = probe.sources(5, 3), probe.targets_in(4, 6)
    with torch.no_grad():
        difference = relative_difference(copy.logits(source, target).float(), probe.logits(source, target))
    require(difference <= SAME, f"The logits of the copy differ by {of_size(difference)}.")
    if copy.offers("tables"):
        before, after = (len({table.data_ptr() for table in one.tables()}) for one in (probe.subject, copy))
        require(after == before, f"Loading makes {after} matrices of the {before} between tokens and vectors.")
    return "A new model with the saved state computes the same logits."


@invariant(
    "dropout-on",
    Mistake("Dropout is configured and never called, on embeddings or behind a sub-layer.", 21),
    Mistake("p is taken for the probability of keeping.", 21),
    Mistake("What is kept is not multiplied by 1 / (1 - p).", 21),
    paper="section 5.4",
    needs=("modules",),
    claims=("dropout",),
)
def dropout_on(probe: Probe) -> str:
    """In training mode dropout acts, with the claimed probability and the factor 1 / (1 - p)."""
    subject, p = probe.subject, probe.subject.claims.dropout or 0.0
    if p == 0:
        not_applicable("it claims no dropout")
    source, target = probe.sources(6, 6), probe.targets_in(6, 6)
    with probe.training():
        difference = relative_difference(probe.logits(source, target), probe.logits(source, target))
    require(difference > CLOSE, "Two calls in training mode give the same logits: nothing is dropped.")
    said = [f"In training mode the logits of two calls differ by {of_size(difference)}."]
    if subject.offers("embed"):
        said.append(_examine_embeddings(probe, p))
    if subject.offers("residuals"):
        said.append(_examine_sublayers(probe, source, target))
    return " ".join(said)


def _examine_embeddings(probe: Probe, p: float) -> str:
    ids = probe.tokens(32, 8)
    with torch.no_grad():
        for side in SIDES:
            clean = probe.subject.embed(ids, side)
            with probe.training():
                noisy = probe.subject.embed(ids, side)
            dropped = (noisy == 0) & (clean != 0)
            share, spread = float(dropped.float().mean()), math.sqrt(p * (1 - p) / clean.numel())
            require(
                abs(share - p) < 6 * spread,
                f"On the {side} side {share:.1%} of embeddings are dropped; claimed is {p:.1%}.",
            )
            factor = float((noisy[~dropped] * clean[~dropped]).sum() / clean[~dropped].square().sum())
            require(
                abs(factor * (1 - p) - 1) < 1e-2, f"What is kept is multiplied by {factor:.3f}, not {1 / (1 - p):.3f}."
            )
    return f"{p:.0%} of the embeddings are dropped, the others multiplied by {1 / (1 - p):.3f}."


def _examine_sublayers(probe: Probe, source: torch.Tensor, target: torch.Tensor) -> str:
    with probe.training(), torch.no_grad():
        steps = probe.subject.residuals(source, target)
    for step in steps:
        total = step.before + step.output
        if probe.subject.claims.norm == "post":
            total = step.normalised(total, probe.subject.claims.rms_norm)
        require(relative_difference(total, step.after) > CLOSE, f"Nothing is dropped behind {step.where}.")
    return "Every sub-layer's output is dropped from."

"""Precision: numbers that float32 holds and 16-bit types do not."""

from __future__ import annotations

import torch

from annotated_grader.doctor.finding import Mistake
from annotated_grader.doctor.invariants.registry import InvariantViolated, invariant, not_applicable, require
from annotated_grader.doctor.probe import Probe


@invariant(
    "half-precision",
    Mistake("Hidden scores are filled with -1e9, which float16 cannot hold.", 7),
    Mistake("Something is added or divided by that vanishes in float16, such as an epsilon of 1e-9.", 12),
    paper="section 3.2.3",
    needs=("fresh", "modules"),
)
def half_precision(probe: Probe) -> str:
    """In float16 a new model computes finite logits, with padding and a future to hide."""
    subject = probe.subject.fresh()
    for module in subject.modules():
        module.half().eval()
    source, target = probe.sources(5, 3), probe.targets_in(6, 4)
    with torch.no_grad():
        try:
            logits = subject.logits(source, target)
        except RuntimeError as error:
            said = str(error).splitlines()[0]
            if "overflow" in said:  # a number that float16 cannot hold, written into a float16 tensor
                raise InvariantViolated(f"In float16: {said}.") from error
            if "not implemented" in said:
                not_applicable(f"this release of PyTorch computes no float16 here ({said})")
            not_applicable(f"the model holds to other types inside when its modules are made float16 ({said})")
    real = target != subject.pad
    wrong = int((~logits[real].isfinite()).sum())
    require(wrong == 0, f"In float16, {wrong} of {logits[real].numel()} logits are NaN or infinite.")
    return "In float16 all logits are finite."

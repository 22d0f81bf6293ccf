"""Steps: an update made fast, and the objects that do one part of it each. Read step, then loss and precision.

exchange adds gradients up over processes; static_micro_step, cuda_graphs and recorded_optimizer are for a GPU that
replays what it was told once; fp8 computes two products in eight bits.
"""

from annotated.speed.steps.loss import layout_loss, packed_loss, projected_cross_entropy
from annotated.speed.steps.step import FastStep

__all__ = ["FastStep", "layout_loss", "packed_loss", "projected_cross_entropy"]

"""Modes of our training, and names of the peers: all that `python -m benchmarks gpu` sets beside each other."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from annotated.config import TrainingConfig


@dataclass(frozen=True)
class Mode:
    """How our model is trained."""

    training: Mapping[str, Any] = field(default_factory=dict)
    """Fields of `TrainingConfig`; the rest are its defaults, and `precision` is bf16 unless it says otherwise."""
    graphs: bool = True
    """False takes the CUDA graphs away from a mode that would have them."""
    recorded_optimizer: bool = True
    """False leaves the optimiser outside the graphs."""
    tf32: bool = False
    autotune: bool = False
    """Let the compiler try out kernels for the matrix products; minutes at the start."""
    cudnn_attention: bool = False
    """Let attention go to cuDNN where PyTorch prefers it; it builds a plan for every new shape of a batch."""
    paper: bool = True
    """False if the arithmetic is not that of the paper's promises: such a mode keeps none."""

    @property
    def precision(self) -> str:
        """'fp32' or 'bf16'."""
        return str(self.training.get("precision", "bf16"))

    @property
    def compiles(self) -> bool:
        """True if kernels are compiled, which takes a minute."""
        return bool(self.training.get("compile"))

    @property
    def needs_gpu(self) -> bool:
        """True for a mode that a CPU cannot even try, or in which it has no part."""
        return self.cudnn_attention or self.training.get("attention_kernel") == "flex"

    @property
    def known(self) -> bool:
        """True if this version's `TrainingConfig` has all its fields and takes their values."""
        if not set(self.training) <= {field.name for field in dataclasses.fields(TrainingConfig)}:
            return False
        try:
            TrainingConfig(**{"precision": self.precision, **self.training})
        except ValueError:
            return False
        return True


_GRAPHS: dict[str, Any] = {"layout": "static", "compile": True}
_LEVERS: dict[str, Mapping[str, Any]] = {
    "row_classes": {"row_classes": True},
    "residual_bf16": {"residual_precision": "bf16"},
}
"""Options that each change one thing of `bf16_static_graphs`; all of them together are `bf16_all_levers`."""
_FLEX: dict[str, Any] = {"attention_kernel": "flex"}
"""Apart from these, for it takes a GPU, and another kernel may fail where they work."""


def _with_all_levers() -> dict[str, Any]:
    known = [lever for lever in _LEVERS.values() if Mode(_GRAPHS | dict(lever)).known]
    return _GRAPHS | {name: value for lever in known for name, value in lever.items()}


def _modes() -> dict[str, Mode]:
    modes = {
        "fp32": Mode({"precision": "fp32"}),
        "tf32": Mode({"precision": "fp32"}, tf32=True),
        "bf16": Mode(),
        "bf16_compiled": Mode({"compile": True}),
        "bf16_compiled_cudnn": Mode({"compile": True}, cudnn_attention=True),
        "bf16_static": Mode({"layout": "static"}),
        "bf16_static_compiled": Mode(_GRAPHS, graphs=False),
        "bf16_static_graphs_adam_outside": Mode(_GRAPHS, recorded_optimizer=False),
        "bf16_static_graphs": Mode(_GRAPHS),
        **{f"bf16_static_graphs_{name}": Mode(_GRAPHS | dict(lever)) for name, lever in _LEVERS.items()},
        "bf16_static_graphs_flex": Mode(_GRAPHS | _FLEX),
        "bf16_all_levers": Mode(_with_all_levers()),
        "bf16_all_levers_flex": Mode(_with_all_levers() | _FLEX),
        "bf16_all_levers_fp8": Mode(_with_all_levers() | {"vocabulary_precision": "fp8"}, paper=False),
        "bf16_static_graphs_autotuned": Mode(_GRAPHS, autotune=True),
    }
    known = {name: mode for name, mode in modes.items() if mode.known}
    if known["bf16_all_levers"] == known["bf16_static_graphs"]:
        del known["bf16_all_levers"]
    return known


MODES = _modes()
"""By name; a mode with an option that this version does not have is not among them."""

PEERS = {
    "torch_nn": "torch_nn_bucketed_same_dropout_fused_adam",
    "hf_marian": "hf_marian_same_dropout_fused_adam",
}
"""The peers' names in benchmarks/peers."""
NO_CUDNN = "_no_cudnn"
COMPILED = "_compiled"
PEER_SIDES = tuple(f"{peer}{how}" for peer in PEERS for how in ("", COMPILED, COMPILED + NO_CUDNN))
"""Each eager, compiled, and compiled without cuDNN's attention: the best one counts. PyTorch's own choice is what a
user of theirs gets, and on batches of many shapes it may not be their best."""
SIDES = (*MODES, *PEER_SIDES)

PROMISED = tuple(
    name
    for name in (
        "bf16_static_graphs",
        "bf16_all_levers",
        "bf16_all_levers_flex",
        *(peer for peer in PEER_SIDES if peer.endswith(NO_CUDNN)),
    )
    if name in SIDES
)
"""The sides on which the promises hang: they are measured first."""


def needs_gpu(side: str) -> bool:
    """True for a side that has nothing to show on a CPU."""
    return MODES[side].needs_gpu if side in MODES else side.endswith(NO_CUDNN)


def compiles(side: str) -> bool:
    """True if a side of ours or of the peers compiles kernels."""
    return MODES[side].compiles if side in MODES else COMPILED in side


def uncompiled(side: str) -> str:
    """The side that does the same without a compiler and graphs: for a CPU, where they take minutes for nothing."""
    return side.removesuffix(NO_CUDNN).removesuffix(COMPILED).removesuffix("_graphs")


def counts_for_promises(side: str, precision: str = "bf16") -> bool:
    """True for a mode of ours in the arithmetic that the promises are about."""
    return side in MODES and MODES[side].precision == precision and MODES[side].paper

"""Peers by name; a suffix makes a variant."""

from __future__ import annotations

import importlib
import importlib.util

from benchmarks.peers.adapter import Adapter, PeerAbsent, source_dir

PROJECT = "annotated"

PEERS: dict[str, tuple[str, str, str]] = {
    # name: module and class of the adapter, and what must be there: a package, or a folder of PEERS_SRC
    "annotated": ("project", "Project", "annotated"),
    "annotated_padded": ("project", "ProjectPadded", "annotated"),
    "annotated_all_dropout": ("project", "ProjectAllDropout", "annotated"),
    "harvardnlp": ("repositories", "Harvard", "src:annotated-transformer"),
    "hyunwoongko": ("repositories", "Hyunwoongko", "src:transformer"),
    "jadore801120": ("repositories", "Jadore", "src:attention-is-all-you-need-pytorch"),
    "torch_nn": ("torch_peers", "PlainTorch", "torch"),
    "torch_nn_bucketed": ("torch_peers", "BucketedTorch", "torch"),
    "hf_marian": ("packages", "HFMarian", "transformers"),
    "joeynmt": ("packages", "JoeyNMT", "joeynmt"),
    "ctranslate2_fp32": ("packages", "CTranslate2", "ctranslate2"),
    "ctranslate2_int8": ("packages", "CTranslate2Int8", "ctranslate2"),
}

VARIANTS = {"_fused_adam": "fused_adam", "_same_dropout": "same_dropout"}
"""Suffixes: Adam with the fused kernel; dropout in the paper's places only, as in `annotated`."""

DEFAULT: tuple[str, ...] = (
    "annotated",
    "harvardnlp",
    "hyunwoongko",
    "jadore801120",
    "torch_nn",
    "torch_nn_bucketed",
    "hf_marian",
)
DEFAULT += ("joeynmt", "ctranslate2_fp32", "ctranslate2_int8")
SAME_DROPOUT = tuple(f"{name}_same_dropout" for name in ("jadore801120", "torch_nn_bucketed", "hf_marian"))


def split(name: str) -> tuple[str, dict[str, bool]]:
    """The peer's own name, and its variants.

    Raises
    ------
    ValueError
        If there is no such peer; the message lists them.
    """
    flags = {}
    found = True
    while found:
        found = False
        for suffix, flag in VARIANTS.items():
            if name.endswith(suffix):
                name, flags[flag], found = name.removesuffix(suffix), True, True
    if name not in PEERS:
        raise ValueError(f"no peer {name!r}; there are {', '.join(PEERS)}, with suffixes {', '.join(VARIANTS)}")
    return name, flags


def adapter_class(name: str) -> type[Adapter]:
    """The adapter of a peer; its libraries are not imported yet."""
    module, attribute, _ = PEERS[split(name)[0]]
    return getattr(importlib.import_module(f"benchmarks.peers.{module}"), attribute)


def require(name: str) -> None:
    """Check that a peer is installed.

    Raises
    ------
    PeerAbsent
        If it is not; the message says what is missing.
    """
    needs = PEERS[split(name)[0]][2]
    if needs.startswith("src:"):
        source_dir(needs.removeprefix("src:"))
    elif importlib.util.find_spec(needs) is None:
        raise PeerAbsent(f"the package {needs} is not installed (benchmarks/README.md)")


def create(name: str) -> Adapter:
    """A fresh adapter."""
    return adapter_class(name)(**split(name)[1])

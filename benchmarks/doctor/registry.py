"""The public implementations: where each comes from, which state of it this is, and its adapter."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
from dataclasses import dataclass
from typing import Any

import annotated
from annotated_grader.doctor import Subject
from benchmarks.doctor.common import blob_id
from benchmarks.peers.adapter import PeerAbsent, source_dir

LIBRARY, OURS = "annotated_grader.doctor.adapters", "annotated-attention"


@dataclass(frozen=True)
class Implementation:
    """One implementation."""

    adapter: str
    """'module:name' of what makes the subject; a module of this package, or of annotated_grader.doctor.adapters."""
    title: str
    url: str
    package: str = ""
    """Its version is this package's."""
    folder: str = ""
    """Or it is a folder of PEERS_SRC, in the state of a commit."""
    commit: str = ""
    date: str = ""
    """Of the commit."""
    files: tuple[tuple[str, str], ...] = ()
    """Files and git's ids of their content at that commit: the folder is known to be in that state if they agree."""

    def subject(self) -> Subject:
        """A new model of it, to be examined.

        Raises
        ------
        PeerAbsent
            If it is not installed here, or the folder holds another state; the message says what to do.
        """
        self._require()
        module, name = self.adapter.split(":")
        found: Any = importlib.import_module(module if "." in module else f"benchmarks.doctor.{module}")
        return getattr(found, name)()

    def version(self) -> str:
        """Of the package, or the short commit."""
        if self.package == OURS:  # which may be a checkout
            return annotated.__version__
        return importlib.metadata.version(self.package) if self.package else self.commit[:7]

    def _require(self) -> None:
        if self.folder:
            root = source_dir(self.folder)
            for name, expected in self.files:
                if not (root / name).is_file() or blob_id(root / name) != expected:
                    raise PeerAbsent(f"{self.folder}/{name} is not that of commit {self.commit[:7]}: check it out")
        elif self.package != OURS and importlib.util.find_spec(self.package.replace("-", "_")) is None:
            raise PeerAbsent(f"the package {self.package} is not installed (benchmarks/README.md)")


IMPLEMENTATIONS: dict[str, Implementation] = {
    "annotated_transformer": Implementation(
        "harvardnlp:Harvard",
        "The Annotated Transformer",
        "https://github.com/harvardnlp/annotated-transformer",
        folder="annotated-transformer",
        commit="debc9fd747bb2123160a98046ad1c2d4da44a567",
        date="2022-05-02",
        files=(("the_annotated_transformer.py", "4aa1d4608dfa3af2c9f17edd416b4c159c469b7d"),),
    ),
    "hyunwoongko": Implementation(
        "hyunwoongko:Hyunwoongko",
        "hyunwoongko/transformer",
        "https://github.com/hyunwoongko/transformer",
        folder="transformer",
        commit="63286547b9cd174a6cfc204832271814d685181f",
        date="2025-07-15",
        files=(
            ("train.py", "b942b220e7697e33bbb111e0dd903069f4184a0a"),
            ("models/model/transformer.py", "c6fcf1a6dc7bd0be7cffeedb9b78bbe31a1402ea"),
            ("util/bleu.py", "c1af8b8c06c714d9f0868f309e11041a6e54d648"),
        ),
    ),
    "jadore801120": Implementation(
        "jadore801120:Jadore",
        "jadore801120/attention-is-all-you-need-pytorch",
        "https://github.com/jadore801120/attention-is-all-you-need-pytorch",
        folder="attention-is-all-you-need-pytorch",
        commit="132907dd272e2cc92e3c10e6c4e783a87ff8893d",
        date="2021-02-17",
        files=(
            ("transformer/Translator.py", "47a1bd5051142679a29dd6e0ed1614f6438c3984"),
            ("train.py", "f84a4fbd6bf11cee3ba98e4ed95a1a0b0b572ae5"),
        ),
    ),
    "joeynmt": Implementation(
        "joeynmt:JoeyNMT",
        "Joey NMT",
        "https://github.com/joeynmt/joeynmt",
        package="joeynmt",
        commit="cdc4d03d430a1b0f29793a0d95743c5e72ae2f6c",  # whose files are those of the package
        date="2024-01-25",
    ),
    "x_transformers": Implementation(
        "xtransformers:XTransformers",
        "x-transformers",
        "https://github.com/lucidrains/x-transformers",
        package="x-transformers",
    ),
    "x_transformers_earlier": Implementation(
        "xtransformers:Earlier",
        "x-transformers, an earlier commit",
        "https://github.com/lucidrains/x-transformers",
        folder="x-transformers",
        commit="9252ed7838021ee61e6c5be0930b3a9a88efdf06",
        date="2026-08-21",
        files=(
            ("x_transformers/autoregressive_wrapper.py", "7a1c9dd3e25af2720e217bc3663cfdce11237ee3"),
            ("x_transformers/x_transformers.py", "e3f1c83548ece60482371a18d48ac85426029e7c"),
        ),
    ),
    "torch": Implementation(
        f"{LIBRARY}:small_torch", "torch.nn.Transformer", "https://github.com/pytorch/pytorch", package="torch"
    ),
    "marian": Implementation(
        f"{LIBRARY}:small_marian",
        "MarianMT",
        "https://github.com/huggingface/transformers",
        package="transformers",
    ),
    "annotated": Implementation(f"{LIBRARY}:small_ours", "This book's library", "", package=OURS),
}

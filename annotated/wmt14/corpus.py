"""Prepared corpora: folders that training starts from, opened, and where their data come from.

- `tokenizer.json`: the shared vocabulary
- `train/`: the training pairs as token ids (`TokenStore`)
- `valid.tsv`, `test.tsv`, `test-NAME.tsv`: evaluation sets as text: source, tab, target
- `train.tsv`: the training pairs as text; nothing needs it any more
- `manifest/`: what each stage was given, told and made
- `README.md`: the same for people
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from annotated.data.store import TokenStore
from annotated.wmt14.manifest import MANIFESTS, compare_file, read_manifest
from annotated.wmt14.options import PreparationError

_LAST = "encode"


@dataclass(frozen=True)
class PreparedCorpus:
    """What `prepare` made; opened with `PreparedCorpus.open`."""

    folder: Path
    manifest: dict[str, Any]
    """`corpus` (name, pair, note, train, valid, test, further, sacrebleu), `archives` (name: bytes, sha256, pinned,
    url), `missing` (archives that could not be had, and why), `fallbacks` (test sets that were taken from another
    archive: `archive`, `members`, `instead_of`), `stages` (name: version, options, counts, seconds, inputs, outputs),
    `pairs`, `files` (name: bytes, sha256)"""

    @classmethod
    def open(cls, folder: str | Path) -> PreparedCorpus:
        """Open a prepared folder. The sizes of its files are checked; `verify` checks their hashes.

        Raises
        ------
        PreparationError
            If the folder was not prepared, or not to the end, or a file is missing or has another size.
        """
        folder = Path(folder)
        stages = {}
        for path in sorted((folder / MANIFESTS).glob("[0-9][0-9]-*.json")):
            content = read_manifest(path) or {}
            stages[content["stage"]] = content
        if not stages:
            raise PreparationError(
                f"{folder}: not a prepared corpus (no {MANIFESTS}/ in it); make one: {preparing_command(folder)}"
            )
        if _LAST not in stages:
            raise PreparationError(
                f"{folder}: not prepared to the end (stage {_LAST} is missing); run the command that prepares it "
                "again: it goes on where it stopped"
            )
        prepared = cls(folder, _assemble(stages))
        for name, record in prepared.manifest["files"].items():
            _check_size(folder / name, record["bytes"])
        return prepared

    @property
    def tokenizer(self) -> Path:
        """The shared vocabulary, for `Tokenizer.load`."""
        return self.folder / "tokenizer.json"

    @cached_property
    def train(self) -> TokenStore:
        """The training pairs, mapped."""
        return TokenStore.open(self.folder / "train")

    @property
    def valid(self) -> Path:
        """The validation set as TSV."""
        return self.folder / "valid.tsv"

    @property
    def test(self) -> Path:
        """The test set as TSV."""
        return self.folder / "test.tsv"

    @property
    def further_tests(self) -> dict[str, Path]:
        """Other test sets, by name, as TSV; without those whose archives could not be had."""
        files = {name: f"test-{name}.tsv" for name in self.manifest["corpus"]["further"]}
        return {name: self.folder / file for name, file in files.items() if file in self.manifest["files"]}

    @property
    def source_language(self) -> str:
        """Two letters: 'en'."""
        return self.manifest["corpus"]["pair"].partition("-")[0]

    @property
    def target_language(self) -> str:
        """Two letters: 'de'."""
        return self.manifest["corpus"]["pair"].partition("-")[2]

    @cached_property
    def identity(self) -> str:
        """Hash of all that a training run takes from the folder, wherever it lies: 16 hexadecimal digits."""
        content = {name: record["sha256"] for name, record in self.manifest["files"].items()}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]

    def verify(self) -> None:
        """Read every file and compare its hash: some seconds a gigabyte.

        Raises
        ------
        PreparationError
            If one has changed.
        """
        for name, record in self.manifest["files"].items():
            if (found := compare_file(self.folder / name, record, thorough=True)) != "same":
                raise PreparationError(f"{self.folder / name}: {found}; {_again(self.folder)}")


def preparing_command(folder: str | Path) -> str:
    """What prepares a folder that is not there yet; its name says which corpus, as the recipes have it."""
    name = Path(folder).name
    for other in ("multi30k", "iwslt14"):
        if other in name:
            return f"annotated data {other} {folder}"
    return f"annotated data wmt14 {folder}" + (" --pair en-fr" if "en-fr" in name else "")


def _assemble(stages: dict[str, dict[str, Any]]) -> dict[str, Any]:
    files: dict[str, dict[str, Any]] = {}
    for name in ("split", "tokenizer", "encode"):
        files |= {file: record for file, record in stages[name]["outputs"].items() if file != "train.tsv"}
    return {
        "corpus": stages["split"]["options"]["corpus"],
        "archives": stages["download"]["counts"]["archives"] if "download" in stages else {},
        "missing": stages["download"]["counts"].get("missing", {}) if "download" in stages else {},
        "fallbacks": stages["extract"]["counts"].get("fallbacks", {}) if "extract" in stages else {},
        "stages": stages,
        "pairs": stages["encode"]["counts"]["pairs"],
        "files": {name: {"bytes": record["bytes"], "sha256": record["sha256"]} for name, record in files.items()},
    }


def _check_size(path: Path, expected: int) -> None:
    try:
        found = path.stat().st_size
    except OSError as error:
        raise PreparationError(f"{path}: {error.strerror or error}; {_again(path.parent)}") from None
    if found != expected:
        raise PreparationError(
            f"{path}: has {found:,} bytes in place of {expected:,}; delete it, then {_again(path.parent)}"
        )


def _again(folder: Path) -> str:
    return f"run the command that prepared {folder} again, and it is made again"

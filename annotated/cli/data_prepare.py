"""`annotated data wmt14`, `multi30k` and `texts`: from archives, or from text of your own, to a prepared folder."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from annotated.config import DataConfig
from annotated.wmt14.options import PreparationOptions

if TYPE_CHECKING:
    from annotated.wmt14.sources import Sources

StageName = Literal["download", "extract", "clean", "deduplicate", "split", "tokenizer", "encode"]


@dataclass(kw_only=True)
class _Common:
    """What the three commands share."""

    jobs: int | None = None
    """Processes at work; one a core if not given. The result does not depend on it."""
    dry_run: bool = False
    """Only say what is to be done: stages, bytes to download, disk."""
    stage: StageName | None = None
    """Stop after this stage."""
    again: StageName | None = None
    """Make this stage and all after it again, with the options given now."""
    keep_texts: bool = False
    """Keep what the stages between hand on (extract/, clean/, deduplicate/)."""
    options: Annotated[PreparationOptions, tyro.conf.arg(name="")] = field(default_factory=PreparationOptions)

    def _prepare(self, sources: Sources, out: Path) -> int:
        from annotated.wmt14 import Preparation

        preparation = Preparation(sources, out, self.options, jobs=self.jobs, keep_texts=self.keep_texts)
        if self.dry_run:
            self._show(preparation)
            return 0
        preparation.run(self.stage, self.again)
        if self.stage in (None, "encode"):
            paper = {"en-de": "wmt14-base", "en-fr": "wmt14-base-en-fr"}.get(sources.pair)
            run = paper if sources.name == "wmt14" and paper else "RUN"  # RUN alone would be the preset tiny
            print(f"{out}: ready; annotated train {run} --data.prepared {out}")
        return 0

    def _show(self, preparation) -> None:
        from annotated.storage import format_bytes

        needs = preparation.needs(self.stage)
        later = False
        for stage in preparation.stages:
            other = "not asked for" if later else "done before"
            print(f"{stage.name:<12} {'to do' if stage.name in needs.stages else other}")
            later = later or stage.name == self.stage
        more = f" and {needs.unknown} archives of unknown size" if needs.unknown else ""
        print(f"download     {format_bytes(needs.download)}{more}")
        print(
            f"disk         up to {format_bytes(needs.disk)}, the download included; {format_bytes(needs.free)} are free"
        )
        if needs.disk > needs.free:
            print(f"annotated: {format_bytes(needs.disk - needs.free)} of disk are missing", file=sys.stderr)


@dataclass(kw_only=True)
class _Catalogued(_Common):
    """What the two corpora with a catalogue share."""

    mirror: Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(metavar="URL-OR-FOLDER")] = ()
    """Where to look for the archives first; may be given several times. A folder may hold archives that you have."""
    catalogue: Path | None = None
    """A catalogue of your own (JSON), in the place of the built-in one."""
    keep_downloads: bool = True
    """Keep the archives; if not, they are removed when the folder is ready."""

    def _prepare_catalogued(self, name: str, pair: str, out: Path) -> int:
        import shutil

        from annotated.wmt14.catalogue import Catalogue, catalogue
        from annotated.wmt14.fetch_steps import DOWNLOADS, of_catalogue

        for mirror in self.mirror:
            if "://" not in mirror and not mirror.startswith("file:") and not Path(mirror).expanduser().is_dir():
                raise ValueError(f"--mirror {mirror}: no such folder; an address begins with https:// or http://")
        chosen = Catalogue.read(self.catalogue) if self.catalogue else catalogue(name, pair)
        status = self._prepare(of_catalogue(chosen, self.mirror), out)
        if not self.keep_downloads and not self.dry_run and self.stage in (None, "encode"):
            shutil.rmtree(out / DOWNLOADS, ignore_errors=True)
        return status


@dataclass
class Wmt14(_Catalogued):
    """Prepare the paper's corpora: download, extract, clean, deduplicate, split, tokenizer, encode.

    Interrupt it when you like: the same command goes on where it stopped. English-German downloads 1.7 GB,
    English-French 6.7 GB. Once an archive is here it is not fetched again.
    """

    out: tyro.conf.Positional[Path | None] = None
    """Folder to prepare; data/wmt14-en-de or data/wmt14-en-fr if not given."""
    pair: Literal["en-de", "en-fr"] = "en-de"
    """Languages, from and to."""

    def run(self) -> int:
        """Prepare."""
        return self._prepare_catalogued("wmt14", self.pair, self.out or Path("data") / f"wmt14-{self.pair}")


@dataclass
class Multi30k(_Catalogued):
    """Prepare Multi30k, 29,000 captions in English and German: the same stages, in a minute.

    Where torchtext is installed, `annotated.interop.torchtext.save_multi30k` writes the same sentences from its own
    download as TSV files, and `annotated data texts` prepares them.
    """

    out: tyro.conf.Positional[Path] = Path("data/multi30k")
    """Folder to prepare."""

    def run(self) -> int:
        """Prepare."""
        return self._prepare_catalogued("multi30k", "en-de", self.out)


@dataclass
class Texts(_Common):
    """Prepare text of your own: the same stages, from cleaning on."""

    out: tyro.conf.Positional[Path]
    """Folder to prepare."""
    train: tuple[str, ...]
    """One or more: each a file of pairs (.tsv, .csv, .jsonl, .tmx ...), or two text files as 'SOURCE,TARGET'; .gz and
    .zst as well."""
    valid: str
    """Watched during training: as one of `train`."""
    test: str
    """Evaluated at the end: as one of `train`."""
    pair: str = "en-de"
    """Languages, from and to."""
    format: str = DataConfig.format
    """Of all files of pairs: auto, tsv, csv, jsonl, bars, tmx, xliff, as --data.format of annotated train."""

    def run(self) -> int:
        """Prepare."""
        from annotated.wmt14.sources import of_files

        names = {f"part-{number}": spec for number, spec in enumerate(self.train, start=1)}
        return self._prepare(of_files(names, self.valid, self.test, self.pair, format=self.format), self.out)

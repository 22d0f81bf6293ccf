"""`annotated data wmt14`, `iwslt14`, `multi30k` and `texts`: from archives, or own text, to a prepared folder."""

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

_RECIPES = {
    ("wmt14", "en-de"): "wmt14-base",
    ("wmt14", "en-fr"): "wmt14-base-en-fr",
    ("iwslt14", "de-en"): "iwslt14-de-en",
    ("multi30k", "en-de"): "multi30k",
}
"""The recipe to begin with, by corpus and languages."""

StageName = Literal["download", "extract", "clean", "deduplicate", "split", "tokenizer", "encode"]


@dataclass(kw_only=True)
class _Common:
    """What the four commands share."""

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
            run = _RECIPES.get((sources.name, sources.pair), "RUN")  # RUN alone would be the preset tiny
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
class _Fetched(_Common):
    """What the corpora share that are downloaded."""

    mirror: Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(metavar="URL-OR-FOLDER")] = ()
    """Where to look for the archives first; may be given several times. A folder may hold archives that you have."""
    keep_downloads: bool = True
    """Keep the archives; if not, they are removed when the folder is ready."""

    def _check_mirrors(self) -> None:
        for mirror in self.mirror:
            if "://" not in mirror and not mirror.startswith("file:") and not Path(mirror).expanduser().is_dir():
                raise ValueError(f"--mirror {mirror}: no such folder; an address begins with https:// or http://")

    def _prepare_fetched(self, sources: Sources, out: Path) -> int:
        import shutil

        from annotated.wmt14.fetch_steps import DOWNLOADS

        status = self._prepare(sources, out)
        if not self.keep_downloads and not self.dry_run and self.stage in (None, "encode"):
            shutil.rmtree(out / DOWNLOADS, ignore_errors=True)
        return status


@dataclass(kw_only=True)
class _Catalogued(_Fetched):
    """What the two corpora with a catalogue share."""

    catalogue: Path | None = None
    """A catalogue of your own (JSON), in the place of the built-in one."""

    def _prepare_catalogued(self, name: str, pair: str, out: Path) -> int:
        from annotated.wmt14.catalogue import Catalogue, catalogue
        from annotated.wmt14.fetch_steps import of_catalogue

        self._check_mirrors()
        chosen = Catalogue.read(self.catalogue) if self.catalogue else catalogue(name, pair)
        return self._prepare_fetched(of_catalogue(chosen, self.mirror), out)


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
class Iwslt14(_Fetched):
    """Prepare the talks of IWSLT 2014, German to English: the same stages, from an archive that you name.

    No address of the archive, de-en.tgz, is built in, because the host of the evaluation is gone: name a folder or an
    address that has it with --mirror, or put it into download/ of the folder to prepare. Its hash was never published
    either: the first archive that comes is the right one from then on, and another is refused.

    Before all else pairs are left out of which a side has no words, more than 175, or more than 1.5 times those of the
    other. Every 23rd of the rest validates.
    """

    out: tyro.conf.Positional[Path] = Path("data/iwslt14-de-en")
    """Folder to prepare."""

    def run(self) -> int:
        """Prepare."""
        from annotated.wmt14.iwslt14 import of_iwslt14

        self._check_mirrors()
        return self._prepare_fetched(of_iwslt14(self.mirror), self.out)


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

"""Preparation of a corpus as a whole: what it needs, before it starts; then its stages; then its folder."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from annotated.config import DataConfig
from annotated.locks import Locked, exclusive_lock
from annotated.ownership import is_json_of, is_lock, output_path, require_our_folder
from annotated.storage import atomic_write, format_bytes, sweep
from annotated.wmt14 import readme
from annotated.wmt14.corpus import PreparedCorpus
from annotated.wmt14.manifest import MANIFESTS
from annotated.wmt14.options import DEFAULTS, PreparationError, PreparationOptions
from annotated.wmt14.progress import Reporter
from annotated.wmt14.runner import PARTIAL, Runner, Stage
from annotated.wmt14.sources import Sources, of_files
from annotated.wmt14.steps import CLEAN, TRAIN, build_stages
from annotated.wmt14.workers import default_jobs

if TYPE_CHECKING:
    from annotated.wmt14.catalogue import Catalogue

LOCK = "preparation.lock"
_LOCK_SECONDS = 2.0
"""To try for the lock: the processes of a killed preparation end a moment after it."""


@dataclass(frozen=True)
class Needs:
    """What is to be done, and what it takes."""

    stages: tuple[str, ...]
    """Stages to run."""
    download: int
    """Bytes to fetch, as far as sizes are known."""
    unknown: int
    """Archives to fetch whose size is not known."""
    disk: int
    """Bytes of disk at most, the downloads included."""
    free: int
    """Bytes of disk that are free."""

    def __str__(self) -> str:
        if not self.stages:
            return "nothing to do: all of it was done before"
        parts = [format_bytes(self.download)] if self.download else []
        parts += [f"{self.unknown} archives of unknown size"] if self.unknown else []
        fetch = f"{' and '.join(parts) or 'nothing'} to download"
        disk = f"up to {format_bytes(self.disk)} of disk ({format_bytes(self.free)} are free)"
        return f"{', '.join(self.stages)}: {fetch}, {disk}"


class Preparation:
    """One folder and all that is to be done in it.

    Parameters
    ----------
    sources
        Where text comes from: `fetch_steps.of_catalogue` or `sources.of_files`.
    folder
        Made if missing.
    jobs
        Processes; None for one a core. The result does not depend on it.
    progress
        Called with a stage's name, how much is done, and how much there is.
    keep_texts
        Keep extract/, clean/ and deduplicate/, which are removed as soon as no stage needs them.
    """

    def __init__(
        self,
        sources: Sources,
        folder: str | Path,
        options: PreparationOptions = DEFAULTS,
        *,
        jobs: int | None = None,
        progress: Callable[[str, int, int | None], None] | None = None,
        quiet: bool = False,
        keep_texts: bool = False,
    ) -> None:
        if jobs is not None and jobs < 1:
            raise PreparationError(f"jobs must be at least 1, not {jobs}")
        self.sources, self.folder, self.options = sources, output_path(folder), options
        self.reporter = Reporter(quiet, progress)
        self._runner = Runner(
            self.folder, build_stages(sources, options), self.reporter, jobs or default_jobs(), keep_texts
        )

    @property
    def stages(self) -> list[Stage]:
        """All stages, in order."""
        return list(self._runner.stages)

    def needs(self, until: str | None = None) -> Needs:
        """What a run would do and take; nothing is started.

        Raises
        ------
        PreparationError
            If something has changed since a stage was run.
        """
        chosen = self._runner.to_run(self._wanted(until))
        names = tuple(stage.name for stage in chosen)
        missing = [count for name, count in self.sources.archives.items() if not (self.folder / name).exists()]
        fetch = missing if "download" in names else []
        download = sum(count or 0 for count in fetch)
        disk = download + self._bytes_of(chosen)
        return Needs(names, download, sum(count is None for count in fetch), disk, _free(self.folder))

    def run(self, until: str | None = None, again: str | None = None) -> None:
        """Run the stages that have not been run, up to `until`.

        Parameters
        ----------
        again
            Forget this stage and all after it first.

        Raises
        ------
        PreparationError
            If the disk cannot hold it, another process prepares in the folder, or an input or option has changed.
        FileExistsError
            If the folder holds files that no preparation wrote, under names that it writes.
        OSError
            If the disk is full all the same; the message says how to go on.
        """
        require_our_folder(self.folder, self._names(), _is_prepared)
        with _alone(self.folder):
            for folder in (self.folder, self.folder / MANIFESTS):
                sweep(folder)
            if again is not None:
                self._runner.forget(again)
            needs = self.needs(until)
            self.reporter.say(f"{self.folder}: {needs}")
            self._check(needs.disk)
            wanted = self._wanted(until)
            self._runner.run(wanted, lambda stage: self._check(self._bytes_of([stage])))
            if wanted[-1].name == self.stages[-1].name:
                self._tidy()
                self._explain()

    def _explain(self) -> None:
        path, text = self.folder / "README.md", readme.text(PreparedCorpus.open(self.folder))
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            with atomic_write(path) as file:
                file.write(text)

    def _names(self) -> set[str]:
        """All that is written at the top of the folder."""
        made = {name.split("/")[0] for stage in self.stages for name in stage.outputs}
        return {LOCK, MANIFESTS, PARTIAL, "README.md"} | made

    def _wanted(self, until: str | None) -> list[Stage]:
        names = [stage.name for stage in self.stages]
        if until is None:
            return self.stages
        if until not in names:
            raise PreparationError(f"there is no stage {until!r}; the stages are {', '.join(names)}")
        return self.stages[: names.index(until) + 1]

    def _bytes_of(self, stages: Sequence[Stage]) -> int:
        """Disk that stages need besides downloads: from the size of the text, as far as that is known by now."""
        found = [path.stat().st_size for name in (CLEAN, TRAIN) if (path := self.folder / name).exists()]
        text = found[0] if found else self.sources.text_bytes
        peak = live = 0.0
        for stage in stages:
            live += stage.weight
            peak = max(peak, live)
            if stage.name == "split" and not self._runner.keep:
                live -= sum(one.weight for one in stages if one.temporary)
        return int(text * peak)

    def _check(self, disk: int) -> None:
        free = _free(self.folder)
        if disk > free:
            raise PreparationError(
                f"{self.folder}: this takes up to {format_bytes(disk)} of disk and {format_bytes(free)} are free; free "
                f"{format_bytes(disk - free)}, or prepare into a folder on another disk"
            )

    def _tidy(self) -> None:
        """Remove what a finished folder has no need of."""
        shutil.rmtree(self.folder / PARTIAL, ignore_errors=True)
        made = set(PreparedCorpus.open(self.folder).manifest["files"])
        for path in (self.folder / "train").glob("*.*"):  # of the store that this one replaces
            if f"train/{path.name}" not in made:
                path.unlink()


def prepare(
    catalogue: Catalogue,
    folder: str | Path,
    options: PreparationOptions = DEFAULTS,
    *,
    mirrors: Sequence[str] = (),
    jobs: int | None = None,
    quiet: bool = False,
) -> PreparedCorpus:
    """Download a corpus and make training data of it; what was done before is not done again.

    `Preparation` does the same, tells how far it is, and makes a stage again where it is asked to.

    Parameters
    ----------
    catalogue
        What to fetch: `annotated.wmt14.catalogue.catalogue("wmt14", "en-de")`.
    folder
        Made if missing; about 8 GB for English-German.
    mirrors
        Addresses or folders with the same archives, tried before the publishers'.
    jobs
        Processes; None for one a core. The result does not depend on it.

    Raises
    ------
    PreparationError
        If something has changed since a stage was run, the disk is too small, or another process is at work there.
    DownloadError
        If an archive cannot be had.
    OSError
        If the disk is full; the message says how to go on.

    Paper: section 5.1
    """
    from annotated.wmt14.fetch_steps import of_catalogue

    sources = of_catalogue(catalogue, mirrors)
    Preparation(sources, folder, options, jobs=jobs, quiet=quiet).run()
    return PreparedCorpus.open(folder)


def prepare_files(
    train: Mapping[str, str | Path],
    valid: str | Path,
    test: str | Path,
    folder: str | Path,
    options: PreparationOptions = DEFAULTS,
    *,
    pair: str = "en-de",
    format: str = DataConfig.format,
    jobs: int | None = None,
    quiet: bool = False,
) -> PreparedCorpus:
    """The same for text that a reader has: the stages from `clean` on.

    Parameters
    ----------
    train
        Parts by name: each a file of pairs, or 'SOURCE,TARGET' for two files of lines; .gz and .zst as well.
    pair
        Languages: 'en-de' from English to German.
    format
        Of files of pairs, as `DataConfig.format`.
    options, jobs, quiet
        As for `prepare`.

    Raises
    ------
    PreparationError
        As `prepare`, and if a file is missing.
    """
    sources = of_files(train, valid, test, pair, format=format)
    Preparation(sources, folder, options, jobs=jobs, quiet=quiet).run()
    return PreparedCorpus.open(folder)


def _is_prepared(folder: Path) -> bool:
    """Whether a preparation was begun in a folder: its lock tells, or a manifest."""
    return is_lock(folder / LOCK) or any(is_json_of(one, "stage") for one in (folder / MANIFESTS).glob("*.json"))


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep a second preparation out of a folder."""
    try:
        with exclusive_lock(folder / LOCK, _LOCK_SECONDS):
            yield
    except Locked as error:
        raise PreparationError(
            f"{folder}: another process prepares data in this folder ({error.holder}); wait for it, stop it, or choose "
            "another folder"
        ) from None


def _free(folder: Path) -> int:
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free

"""Steps that fetch: the archives of a catalogue, downloaded, checked and unpacked."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from annotated.storage import write_json
from annotated.wmt14.archives import extract
from annotated.wmt14.catalogue import Catalogue, CorpusPart
from annotated.wmt14.download import DownloadError, DownloadProgress, RemoteFile, download
from annotated.wmt14.manifest import MANIFESTS
from annotated.wmt14.options import PreparationError
from annotated.wmt14.runner import Stage, StageWork
from annotated.wmt14.sources import EXPANSION, Sources, Text

DOWNLOADS, EXTRACTS = "download", "extract"

_SUFFIX = {"plain": "", "sgm": ".sgm", "gzip": ".gz"}

_PAIR_BYTES = 370
"""Text of a training pair, at most: the Hugging Face library's files have 302 bytes a pair for en-de, 363 for en-fr."""

FIRST_USE = "first-use.json"
"""In the folder of manifests: the SHA-256 of archives of which no hash was known, when they first came."""


def of_catalogue(catalogue: Catalogue, mirrors: Sequence[str] = ()) -> Sources:
    """Archives to download and unpack."""
    parts = {"train": catalogue.train, "valid": (catalogue.valid,), "test": (catalogue.test,)}
    parts["further"] = tuple(catalogue.further_tests)
    texts = {kind: tuple(_text(kind, part) for part in each) for kind, each in parts.items()}
    archives = tuple(f"{DOWNLOADS}/{file.name}" for file in catalogue.archives())
    extracted = tuple(name for each in texts.values() for text in each for name in text.files)
    known = sum(file.size or 0 for file in catalogue.archives())
    listed = [(text, part) for kind, each in parts.items() for text, part in zip(texts[kind], each, strict=True)]
    stages = (
        Stage(
            "download",
            1,
            (),
            archives,
            partial(_download, catalogue, tuple(mirrors)),
            options=_identity(catalogue),
            resumes=True,
        ),
        Stage("extract", 1, archives, extracted, partial(_extract, listed), weight=1.0, temporary=True),
    )
    return Sources(
        catalogue.name,
        catalogue.pair,
        texts["train"],
        texts["valid"][0],
        texts["test"][0],
        texts["further"],
        vocab_size=catalogue.vocab_size,
        stages=stages,
        archives=dict(zip(archives, (file.size for file in catalogue.archives()), strict=True)),
        text_bytes=_PAIR_BYTES * catalogue.train_pairs if catalogue.train_pairs else EXPANSION * known,
        sacrebleu={part.name: part.sacrebleu for part in catalogue.parts() if part.sacrebleu},
        note=catalogue.note,
    )


def _identity(catalogue: Catalogue) -> dict[str, Any]:
    """What of a catalogue decides the data: which files of which archives. The addresses do not."""
    hashes = {file.name: file.sha256 or file.md5 for file in catalogue.archives()}
    files = {part.name: [part.source_member, part.target_member, part.format] for part in catalogue.parts()}
    return {"catalogue": catalogue.name, "pair": catalogue.pair, "archives": hashes, "files": files}


def _text(kind: str, part: CorpusPart) -> Text:
    stem = f"{EXTRACTS}/{kind}-{part.name}"
    source, target = (f"{stem}.{side}{_SUFFIX[part.format]}" for side in ("source", "target"))
    return Text(part.name, source, target, part.pairs)


def _download(catalogue: Catalogue, mirrors: Sequence[str], work: StageWork) -> dict[str, Any]:
    """All archives, one after the other; without those that the catalogue can do without and nobody has."""
    files = catalogue.archives()
    total = sum(file.size or 0 for file in files)
    before, archives, missing = 0, dict[str, dict[str, Any]](), dict[str, str]()
    for file in files:
        done = before

        def advance(count: int, _: int | None, start: int = done) -> None:
            work.advance(start + count, total or None)

        try:
            archives[file.name] = fetch(file, mirrors, work, advance)
        except DownloadError as error:
            if not _dispensable(catalogue, file, archives):
                raise
            missing[file.name] = str(error)
            work.say(f"{error}.\n{_without(catalogue, file)}")
            continue
        before += archives[file.name]["bytes"]
    absent = [f"{DOWNLOADS}/{name}" for name in missing]
    return {"archives": archives, "bytes": before, "missing": missing, "absent": absent}


def fetch(file: RemoteFile, mirrors: Sequence[str], work: StageWork, advance: DownloadProgress) -> dict[str, Any]:
    """One archive, and its record for the manifest: bytes, sha256, whether a known hash pins it, and its url.

    Raises
    ------
    DownloadError
        If nobody has it, or what they have is another file.
    PreparationError
        If no hash is known, and it is another file than when it first came.
    """
    got = download(file, work.folder / DOWNLOADS, mirrors=mirrors, progress=advance)
    if not got.pinned:
        _same_as_first(work.folder / MANIFESTS / FIRST_USE, file.name, got.sha256)
    return {"bytes": got.size, "sha256": got.sha256, "pinned": got.pinned, "url": got.url}


def _dispensable(catalogue: Catalogue, file: RemoteFile, there: Collection[str]) -> bool:
    """Whether all that is wanted from an archive is in one that is there, too, or is not required."""
    wanted = [part for part in catalogue.parts() if part.archive == file]
    return all(not part.required or part.found_in(there) is not None for part in wanted)


def _without(catalogue: Catalogue, file: RemoteFile) -> str:
    """What follows for a person from an archive that is not to be had."""
    said = []
    for part in catalogue.parts():
        if part.archive == file and part.fallback is not None:
            said.append(
                f"{part.name} is taken from {part.fallback.archive.name} instead: {part.fallback.source_member}"
            )
        elif part.archive == file:
            said.append(f"The corpus is prepared without {part.name}")
    return f"{'. '.join(said)}. To try again later: --again download"


def _same_as_first(record: Path, name: str, sha256: str) -> None:
    """Nobody says which hash this archive should have; at least it must not change from one time to the next.

    Raises
    ------
    PreparationError
        If it has changed.
    """
    known = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
    if known.setdefault(name, sha256) != sha256:
        raise PreparationError(
            f"{name} is another file than when it was first downloaded here (SHA-256 {sha256}, then {known[name]}); "
            f"find out why. If it is right as it is now, delete {record} and run the same command again"
        )
    write_json(record, known)


def _extract(listed: Sequence[tuple[Text, CorpusPart]], work: StageWork) -> dict[str, Any]:
    """The files that are wanted, out of each archive in one go."""
    by_archive: dict[str, dict[str, str]] = {}
    archives = {Path(name).name for name in work.inputs}
    fallbacks, absent = {}, list[str]()
    for text, part in listed:
        found = part.found_in(archives)
        if found is None:
            absent += text.files
            continue
        if found is not part:
            names = [found.source_member, found.target_member]
            fallbacks[part.name] = {"archive": found.archive.name, "members": names, "instead_of": part.archive.name}
        members = by_archive.setdefault(found.archive.name, {})
        for member, name in zip((found.source_member, found.target_member), text.files, strict=True):
            if member in members:
                raise PreparationError(f"{found.archive.name}: {member} is named twice in the catalogue")
            members[member] = name
    for number, (archive, members) in enumerate(by_archive.items()):
        work.advance(number, len(by_archive))
        names_there = {member: Path(name).name for member, name in members.items()}
        extract(work.folder / DOWNLOADS / archive, names_there, work.out / EXTRACTS)
    return {"files_extracted": sum(map(len, by_archive.values())), "fallbacks": fallbacks, "absent": absent}

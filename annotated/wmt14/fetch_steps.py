"""Steps that fetch: the archives of a catalogue, downloaded, checked and unpacked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from annotated.wmt14.archives import extract
from annotated.wmt14.catalogue import Catalogue, CorpusPart
from annotated.wmt14.download import download
from annotated.wmt14.manifest import MANIFESTS, write_json
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
    return Text(part.name, *(f"{stem}.{side}{_SUFFIX[part.format]}" for side in ("source", "target")))


def _download(catalogue: Catalogue, mirrors: Sequence[str], work: StageWork) -> dict[str, Any]:
    """All archives, one after the other."""
    files = catalogue.archives()
    total = sum(file.size or 0 for file in files)
    before, archives = 0, {}
    for file in files:
        done = before

        def advance(count: int, _: int | None, start: int = done) -> None:
            work.advance(start + count, total or None)

        got = download(file, work.folder / DOWNLOADS, mirrors=mirrors, progress=advance)
        before += got.size
        if not got.pinned:
            _same_as_first(work.folder / MANIFESTS / FIRST_USE, file.name, got.sha256)
        archives[file.name] = {"bytes": got.size, "sha256": got.sha256, "pinned": got.pinned, "url": got.url}
    return {"archives": archives, "bytes": before}


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
    for text, part in listed:
        members = by_archive.setdefault(part.archive.name, {})
        for member, name in zip((part.source_member, part.target_member), text.files, strict=True):
            if member in members:
                raise PreparationError(f"{part.archive.name}: {member} is named twice in the catalogue")
            members[member] = name
    for number, (archive, members) in enumerate(by_archive.items()):
        work.advance(number, len(by_archive))
        names = {member: Path(name).name for member, name in members.items()}
        extract(work.folder / DOWNLOADS / archive, names, work.out / EXTRACTS)
    return {"files_extracted": sum(map(len, by_archive.values()))}

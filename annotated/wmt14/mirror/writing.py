"""Archives of the mirror: with a corpus's names and layout, written from classroom sentences, always the same bytes.

For English to French, the target side is not French, but the classroom German with other letters.
"""

from __future__ import annotations

import gzip
import hashlib
import html
import io
import json
import random
import tarfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from annotated.classroom import classroom_pairs
from annotated.ownership import is_json_of, require_our_folder
from annotated.wmt14.catalogue import Catalogue, CatalogueError, CorpusPart, catalogue
from annotated.wmt14.download import RemoteFile
from annotated.wmt14.mirror.faults import Pair, Planted, planted_training

_CATALOGUE, _PLANTED = "catalogue.json", "planted.json"
_SHARES = {
    "europarl-v7": 4,
    "commoncrawl": 4,
    "news-commentary-v9": 1,
    "undoc-2000": 4,
    "giga-fren": 7,
    "train": 1,
}
_OTHER_LANGUAGES = {"europarl-v7": "cs", "news-commentary-v9": "ru", "commoncrawl": "es", "undoc-2000": "es"}
_LETTERS = str.maketrans("äöüÄÖÜßkw", "éèùÉÈÙçqv")
_DOCUMENT_SENTENCES = 20
_LEAST_SENTENCES, _MOST_SENTENCES = 40, 1000


def write_mirror(
    folder: Path,
    *,
    name: str = "wmt14",
    pair: Literal["en-de", "en-fr"] = "en-de",
    pairs: int = 5000,
    seed: int = 0,
    vocab_size: int = 1000,
) -> Catalogue:
    """Write archives with the names and the layout of a corpus, made of classroom sentences, with planted faults.

    The same arguments give the same bytes (for one version of the grammar and of zlib). Beside the archives lie
    `catalogue.json`, the catalogue with their sizes and hashes, and `planted.json`, which `read_planted` reads.

    Parameters
    ----------
    folder
        Where to; made if it is not there.
    name, pair
        The corpus to imitate: 'wmt14' for 'en-de' or 'en-fr', or 'multi30k'.
    pairs
        Sound training pairs; faults come on top, about a tenth more. Validation and test sets have a fiftieth, but at
        least 40 and at most 1,000.
    seed
        Another seed, other sentences.
    vocab_size
        What the catalogue proposes for the vocabulary.

    Raises
    ------
    CatalogueError
        If the corpus is not known, or `pairs` is below 500.
    FileExistsError
        If the folder holds files that no call wrote, under names that it writes.
    """
    imitated = catalogue(name, pair)
    if pairs < 500:
        raise CatalogueError(f"a mirror needs at least 500 pairs, not {pairs}: each fault is to happen a few times")
    texts, planted = _texts(imitated, pairs, seed)
    content = {part: vars(counts) for part, counts in planted.items()}
    names = [_CATALOGUE, _PLANTED, *(archive.name for archive in imitated.archives())]
    folder = require_our_folder(folder, names, lambda place: is_json_of(place / _PLANTED, *content))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _PLANTED).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")  # first: the mark
    made = {
        archive: _write_archive(folder / archive.name, _members(imitated, archive, texts), archive)
        for archive in imitated.archives()
    }
    result = replace(
        imitated,
        train=tuple(_part(part, made, texts) for part in imitated.train),
        valid=_part(imitated.valid, made, texts),
        test=_part(imitated.test, made, texts),
        further_tests=tuple(_part(part, made, texts) for part in imitated.further_tests),
        vocab_size=vocab_size,
        train_pairs=None,
        note=f"Not {name}: archives of its layout, made of classroom sentences with planted faults.",
    )
    result.write(folder / _CATALOGUE)
    return result


def read_planted(folder: Path) -> dict[str, Planted]:
    """What `write_mirror` planted, by training part; `sum(planted.values(), Planted())` is all of it."""
    content = json.loads((folder / _PLANTED).read_text(encoding="utf-8"))
    return {part: Planted(**counts) for part, counts in content.items()}


# -- sentences --


def _texts(imitated: Catalogue, pairs: int, seed: int) -> tuple[dict[str, list[Pair]], dict[str, Planted]]:
    """The sentence pairs of each part, and what was planted in those to train on."""
    size = min(max(pairs // 50, _LEAST_SENTENCES), _MOST_SENTENCES)
    valid, test = (list(_drawn(imitated, split, size, seed)) for split in ("valid", "test"))
    test[-1] = ("Anna & Otto read the book.", _target(imitated, "Anna & Otto lesen das Buch."))
    reserved = {text for both in (*valid, *test) for text in both}
    clean = (both for both in _drawn(imitated, "train", 2 * pairs, seed) if not reserved.intersection(both))
    texts, planted = {}, {}
    chance = random.Random(f"mirror {seed}")
    total = sum(_SHARES[part.name] for part in imitated.train)
    earlier: list[Pair] = []
    for part in imitated.train:
        wanted = pairs * _SHARES[part.name] // total
        lines, sound, counts = planted_training(clean, wanted, test, earlier, chance, crlf=part.name == "commoncrawl")
        texts[part.name], planted[part.name] = lines, counts
        earlier += sound
    texts[imitated.valid.name], texts[imitated.test.name] = valid, test
    for part in imitated.further_tests:  # the official set is the full one without some of its sentences
        texts[part.name] = [both for number, both in enumerate(test) if number % 11 != 5]
    return texts, planted


def _drawn(imitated: Catalogue, split: Literal["train", "valid", "test"], size: int, seed: int) -> Iterator[Pair]:
    for pair in classroom_pairs(split, size, seed):
        yield pair.source, _target(imitated, pair.target)


def _target(imitated: Catalogue, german: str) -> str:
    return german if imitated.target_language == "de" else german.translate(_LETTERS)


# -- archives --


def _part(part: CorpusPart, made: Mapping[RemoteFile, RemoteFile], texts: Mapping[str, Sequence[Pair]]) -> CorpusPart:
    other = None if part.fallback is None else _part(part.fallback, made, texts)
    return replace(part, archive=made[part.archive], pairs=len(texts[part.name]), sacrebleu="", fallback=other)


def _members(imitated: Catalogue, archive: RemoteFile, texts: Mapping[str, Sequence[Pair]]) -> dict[str, bytes]:
    """What goes into an archive, by name; beside the wanted files some in other languages, as in the original."""
    members: dict[str, bytes] = {}
    listed = [one for part in imitated.parts() for one in (part, part.fallback) if one is not None]
    for part in listed:
        if part.archive != archive:
            continue
        for side, name in enumerate((part.source_member, part.target_member)):
            lines = [both[side] for both in texts[part.name]]
            if part.format == "sgm":
                members[name] = _sgm(lines, imitated, is_source=not side).encode()
            else:
                content = "".join(line + "\n" for line in lines).encode()
                members[name] = _gzip(content) if part.format == "gzip" else content
        if other := _OTHER_LANGUAGES.get(part.name):
            stem = part.source_member.rsplit(".", 2)[0]
            for language in (other, "en"):
                members[f"{stem}.{other}-en.{language}"] = b"Not wanted.\n"
    return dict(sorted(members.items()))


def _sgm(sentences: Sequence[str], imitated: Catalogue, is_source: bool) -> str:
    """A test set in the form of the evaluation: documents of some sentences, segments counted anew in each."""
    kind, language = ("srcset", "en") if is_source else ("refset", imitated.target_language)
    lines = [f'<{kind} setid="newstest2014" srclang="any" trglang="{imitated.target_language}">']
    for start in range(0, len(sentences), _DOCUMENT_SENTENCES):
        number = start // _DOCUMENT_SENTENCES
        lines.append(f'<doc docid="{1000 + number}-classroom" genre="news" origlang="{language}">\n<p>')
        block = sentences[start : start + _DOCUMENT_SENTENCES]
        lines += [f'<seg id="{k}">{html.escape(text, quote=False)}</seg>' for k, text in enumerate(block, start=1)]
        lines.append("</p>\n</doc>")
    return "\n".join([*lines, f"</{kind}>", ""])


def _write_archive(path: Path, members: Mapping[str, bytes], archive: RemoteFile) -> RemoteFile:
    content = _tar(members.items())
    if not path.name.endswith(".tar"):
        content = _gzip(content)
    path.write_bytes(content)
    return RemoteFile(archive.name, size=len(content), sha256=hashlib.sha256(content).hexdigest())


def _tar(members: Iterable[tuple[str, bytes]]) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            info.mtime = 1_388_534_400  # the first day of 2014; owners and modes are the same everywhere
            tar.addfile(info, io.BytesIO(content))
    return file.getvalue()


def _gzip(content: bytes) -> bytes:
    return gzip.compress(content, 6, mtime=0)

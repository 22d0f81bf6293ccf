"""Talks of IWSLT 2014, German to English: one archive, whose training text is also the text that validates.

The split follows the rules of fairseq's `prepare-iwslt14.sh`: of the training pairs whose lengths fit, every 23rd is
for validation, and five sets of talks together are the test. Two things are ours, so the lines are not those of
fairseq's split one by one. It counts tokens of Moses' tokeniser, and here words between spaces are counted. It keeps
titles and descriptions as sentences, and here all lines about a talk are dropped.

Nobody has published a hash of the archive, so it is the first download that says which one is right
(`fetch_steps.FIRST_USE`). The host of the evaluation is gone; who has the archive, or knows a copy, names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from annotated.text.text_files import CorpusError, read_lines
from annotated.wmt14.archives import extract
from annotated.wmt14.download import RemoteFile
from annotated.wmt14.fetch_steps import DOWNLOADS, EXTRACTS, FIRST_USE, fetch
from annotated.wmt14.manifest import MANIFESTS
from annotated.wmt14.runner import Stage, StageWork
from annotated.wmt14.sgm import read_parallel
from annotated.wmt14.sources import Sources, Text

ARCHIVE = RemoteFile("de-en.tgz")
PAIR = "de-en"
TRAINING = "train.tags.de-en"
TESTS = (
    "IWSLT14.TED.dev2010",
    "IWSLT14.TEDX.dev2012",
    "IWSLT14.TED.tst2010",
    "IWSLT14.TED.tst2011",
    "IWSLT14.TED.tst2012",
)
"""The sets of talks that the test is made of, in this order."""
VALID_EVERY = 23
MOST_WORDS, MOST_RATIO = 175, 1.5
VOCABULARY = 10_000

_TEXT_BYTES = 64_000_000
"""Of the training text, at most: some 170,000 pairs of 370 bytes, which are WMT14's longest on average."""
_ABOUT = re.compile(
    r"\s*</?(?:url|keywords|speaker|talkid|title|description|reviewer|translator|doc|transcript)\b", re.IGNORECASE
)
"""How a line begins that says something about a talk, and is no sentence of it."""


def of_iwslt14(mirrors: Sequence[str] = ()) -> Sources:
    """The archive to download, and the training, validation and test text that are made of it.

    Parameters
    ----------
    mirrors
        Addresses or folders that have `de-en.tgz`; without one it has to lie in the prepared folder's `download/`.
    """
    archive = f"{DOWNLOADS}/{ARCHIVE.name}"
    train, valid, test = texts = _text("train"), _text("valid"), _text("test")
    stages = (
        Stage(
            "download",
            1,
            (),
            (archive,),
            partial(_download, tuple(mirrors)),
            options={"archives": [ARCHIVE.name]},
            resumes=True,
        ),
        Stage(
            "extract",
            1,
            (archive,),
            tuple(name for text in texts for name in text.files),
            partial(_extract, texts),
            options={
                "tests": list(TESTS), "every": VALID_EVERY, "most_words": MOST_WORDS, "most_ratio": MOST_RATIO,
            },
            weight=2.0,
            temporary=True,
        ),
    )  # fmt: skip
    return Sources(
        "iwslt14",
        PAIR,
        (train,),
        valid,
        test,
        vocab_size=VOCABULARY,
        stages=stages,
        archives={archive: None},
        text_bytes=_TEXT_BYTES,
        note="IWSLT 2014 de-en, from an archive of which no hash is published, split by the rules of fairseq's script",
    )


def _text(kind: str) -> Text:
    stem = f"{EXTRACTS}/{kind}-talks"
    return Text(f"iwslt14-{kind}", f"{stem}.source", f"{stem}.target")


def _download(mirrors: Sequence[str], work: StageWork) -> dict[str, Any]:
    record = fetch(ARCHIVE, mirrors, work, work.advance)
    return {"archives": {ARCHIVE.name: record}, "bytes": record["bytes"], "missing": {}}


def _extract(texts: Sequence[Text], work: StageWork) -> dict[str, Any]:
    """The files that are wanted, and of these the three texts."""
    source, target = PAIR.split("-")
    training = f"{TRAINING}.{source}", f"{TRAINING}.{target}"
    tests = [(f"{name}.{PAIR}.{source}.xml", f"{name}.{PAIR}.{target}.xml") for name in TESTS]
    wanted = {f"{PAIR}/{name}": name for both in (training, *tests) for name in both}
    archive, record = work.folder / DOWNLOADS / ARCHIVE.name, work.folder / MANIFESTS / FIRST_USE
    advice = f"If this is not IWSLT 2014's archive, or not all of it, delete {archive} and {record}, and name another"
    raw = work.out / "talks"
    extract(archive, wanted, raw, advice=advice)
    try:
        pairs = talk_pairs(raw / training[0], raw / training[1])
        test = [pair for one, other in tests for pair in read_parallel(raw / one, raw / other, "sgm")]
    except CorpusError as error:
        raise CorpusError(f"{str(error).replace(str(raw), str(archive))}. {advice}") from None
    fitting = [pair for pair in pairs if lengths_fit(*pair)]
    kept: dict[str, list[tuple[str, str]]] = {"train": [], "valid": [], "test": test}
    for number, pair in enumerate(fitting, start=1):
        kept["valid" if number % VALID_EVERY == 0 else "train"].append(pair)
    for text, chosen in zip(texts, kept.values(), strict=True):
        for side, name in enumerate(text.files):
            with work.path(name).open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(f"{pair[side]}\n" for pair in chosen)
    return {"talk_pairs": len(pairs), "other_lengths": len(pairs) - len(fitting)} | {
        f"{kind}_pairs": len(chosen) for kind, chosen in kept.items()
    }


def talk_pairs(source: Path, target: Path) -> list[tuple[str, str]]:
    """The sentence pairs of two files of talks, without the lines about a talk.

    These lines need not be as many on both sides: only a translation has a translator.

    Raises
    ------
    CorpusError
        If a file is missing, damaged or not UTF-8, if there are no sentences, or not as many on both sides.
    """
    sides = [list(_sentences(path)) for path in (source, target)]
    counts = [len(side) for side in sides]
    if counts[0] != counts[1]:
        raise CorpusError(
            f"{target}: has {counts[1]:,} sentences where {source} has {counts[0]:,}; one of them is incomplete"
        )
    if not counts[0]:
        raise CorpusError(f"{source}: holds no sentences, only lines about talks")
    return list(zip(*sides, strict=True))


def _sentences(path: Path) -> Iterator[str]:
    return (line.strip() for line in read_lines(path) if not _ABOUT.match(line))


def lengths_fit(source: str, target: str) -> bool:
    """Whether both sides have 1 to `MOST_WORDS` words, the longer at most `MOST_RATIO` times those of the other."""
    fewest, most = sorted((len(source.split()), len(target.split())))
    return fewest >= 1 and most <= MOST_WORDS and most <= MOST_RATIO * fewest

"""The test set of a run, and what its training data were: by hashes, which need no text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from annotated.config import DataConfig
from annotated.data.corpora import corpus_of, open_corpus, read_pairs
from annotated.runs.report.translating import digest
from annotated.saving import read_json

if TYPE_CHECKING:
    from annotated.wmt14 import PreparedCorpus

NOT_WMT14 = "not WMT14"
TITLES = {"wmt14": "WMT14", "multi30k": "Multi30k"}
"""Published corpora whose archives are known by their hashes."""
KNOWN_LENGTHS = {
    ("newstest2014", 3003): "all 3,003 sentences, as most papers score",
    ("newstest2014-official", 2737): "the 2,737 sentences of the official evaluation (sacreBLEU's wmt14)",
}
"""What is known of a test set by its name and its number of sentences: papers call both newstest2014."""


@dataclass(frozen=True)
class TestSet:
    """Sentences to translate, and how people have translated them."""

    __test__ = False  # for pytest, which collects classes by their names

    name: str
    pairs: list[tuple[str, str]]
    """Source and reference."""

    @property
    def sources(self) -> list[str]:
        """What is to be translated."""
        return [source for source, _ in self.pairs]

    @property
    def references(self) -> list[str]:
        """One translation of each, by people."""
        return [reference for _, reference in self.pairs]

    def describe(self) -> dict[str, Any]:
        """Name, size and hashes, for a report: the text itself is its publisher's."""
        return {
            "name": self.name,
            "sentences": len(self.pairs),
            "known_as": KNOWN_LENGTHS.get((self.name, len(self.pairs))),
            "sources_sha256": digest(self.sources),
            "references_sha256": digest(self.references),
        }


def open_test_set(data: DataConfig, test: str | None = None) -> TestSet:
    """The test set of a run's data, or another one that was prepared with it.

    Parameters
    ----------
    test
        A name among the prepared test sets, or that of the development set; None for the first test set. For text of
        the user's own, a file in the place of the run's.

    Raises
    ------
    ValueError
        If no test set has that name, or a run on text of the user's own names none.
    CorpusError
        If its file is missing or broken.
    """
    if data.prepared is None:
        if test is not None and Path(test.split(",")[0]).is_file():
            return TestSet(Path(test).name, list(open_corpus(test, "test", data).every_pair()))
        try:
            name = "classroom test" if corpus_of(data) == "classroom" else Path(data.test).name
        except ValueError as error:
            raise ValueError(f"{error}: name a file with --test FILE") from None
        if test not in (None, name):
            raise ValueError(f"there is no test set and no file {test!r}: this run has {name!r}")
        return TestSet(name, list(open_corpus(data.test, "test", data).every_pair()))
    there = {one.name: one for one in prepared_test_sets(data.prepared)}
    name = test or next(iter(there))
    there.setdefault((development := development_set(data.prepared)).name, development)
    if name not in there:
        raise ValueError(f"there is no test set {name!r} in {data.prepared}; there are {', '.join(there)}")
    return there[name]


def prepared_test_sets(folder: str | Path) -> list[TestSet]:
    """All test sets of a prepared folder, the first one first.

    Raises
    ------
    PreparationError
        If the folder was not prepared.
    """
    from annotated.wmt14 import PreparedCorpus

    corpus = PreparedCorpus.open(folder)
    there = {corpus.manifest["corpus"]["test"]: corpus.test, **corpus.further_tests}
    return [TestSet(name, list(read_pairs(path, keep_empty=True, format="tsv"))) for name, path in there.items()]


def development_set(folder: str | Path) -> TestSet:
    """The set of a prepared folder that runs are validated on: newstest2013 with WMT14, on which Table 3 is measured.

    Raises
    ------
    PreparationError
        If the folder was not prepared.
    """
    from annotated.wmt14 import PreparedCorpus

    corpus = PreparedCorpus.open(folder)
    return TestSet(corpus.manifest["corpus"]["valid"], list(read_pairs(corpus.valid, keep_empty=True, format="tsv")))


def describe_data(data: DataConfig, run: Path) -> dict[str, Any]:
    """What a run was trained on: names, counts and hashes, and the label that these allow."""
    if data.prepared is None:
        store = read_json(run / "data" / "train" / "store.json")["info"]
        generated = data.train == "classroom"
        found = {
            "catalogue": None,
            "pair": data.pair,
            "text": "the classroom grammar" if generated else Path(data.train.split(",")[0]).name,
            "identity": store["corpus"],
            "train_pairs": store["pairs"],
            "archives": {},
        }
    else:
        from annotated.wmt14 import PreparedCorpus

        found = _prepared_facts(PreparedCorpus.open(data.prepared))
    return {"label": label(found), **found}


def target_language(data: Mapping[str, Any]) -> str | None:
    """The language of a run's translations, two letters, by what is known of its data; None if it is not."""
    return data["pair"].partition("-")[2] if data["pair"] else None


def label(data: Mapping[str, Any]) -> str:
    """What may be said of the data: 'WMT14 en-de' only where every archive is byte for byte the published one.

    Parameters
    ----------
    data
        With `catalogue`, `pair` and `archives` (name to `sha256` and `md5`), as a report has them.
    """
    name, pair = data["catalogue"], data["pair"]
    if name not in TITLES:  # own files, or the classroom corpus
        return f"{data['text']}, {NOT_WMT14}"
    if other_archives(name, pair, data["archives"]):
        return f"rehearsal on archives of {TITLES[name]}'s layout, {NOT_WMT14}"
    return f"{TITLES[name]} {pair}"


def other_archives(name: str, pair: str, archives: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The published archives of a catalogue that are missing here, or are here with other bytes.

    One that a corpus can do without may be missing: its sentences are in another archive, or are a further test set.
    Where nobody has published a SHA-256, the record that the download was checked against another hash has to do.
    """
    from annotated.wmt14.catalogue import catalogue

    known, right, wrong = catalogue(name, pair), [], []
    for file in known.archives():
        here = archives.get(file.name, {})
        published = {variant.sha256 for variant in file.variants if variant.sha256}
        if here.get("sha256") in published if published else here.get("pinned"):
            right.append(file.name)
        else:
            wrong.append(file.name)
    without = {part.archive.name for part in known.parts() if part.required and part.found_in(right) is None}
    return [file for file in wrong if file in archives or file in without]


def _prepared_facts(corpus: PreparedCorpus) -> dict[str, Any]:
    about, stages = corpus.manifest["corpus"], corpus.manifest["stages"]
    note = about.get("note")
    counts = {
        stage: {name: count for name, count in made["counts"].items() if isinstance(count, int)}
        for stage, made in stages.items()
    }
    return {
        "catalogue": about["name"] if corpus.manifest["archives"] else None,
        "pair": about["pair"],
        "text": note or f"{about['name']} {about['pair']}",
        "identity": corpus.identity,
        "train_pairs": len(corpus.train),
        "archives": {
            name: {"sha256": archive["sha256"], "pinned": archive["pinned"]}
            for name, archive in corpus.manifest["archives"].items()
        },
        "missing": sorted(corpus.manifest["missing"]),
        "fallbacks": corpus.manifest["fallbacks"],
        "counts": counts,
    }

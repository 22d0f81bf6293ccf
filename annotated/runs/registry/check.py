"""Check of a registry entry against its own files, and against the test set where it is at hand."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotated.data.corpora import read_pairs
from annotated.evaluation.paper_bleu import LANGUAGE, MOSES, has_moses
from annotated.runs.log import LOG, read_records
from annotated.runs.registry.entries import ENTRY, FORMAT, LEDGER, LOG_BYTES, NAME, README, TEST, claim_problem
from annotated.runs.report.report import HYPOTHESES, LAST_HYPOTHESES, REPORT, STATISTICS, RunReport, training_facts
from annotated.runs.report.scoring import FURTHER, read_statistics, score_of, settings_of, statistics
from annotated.runs.report.test_sets import TestSet, target_language
from annotated.saving import CheckpointError, read_json
from annotated.storage import verify_checksums
from annotated.training.schedule import learning_rate

SIGNATURES = {
    "sacrebleu": ("nrefs:1", "case:mixed", "tok:13a", "smooth:exp", "version:"),
    "paper": ("nrefs:1", "case:mixed", "tok:none", "smooth:exp", "version:"),
    "moses": ("nrefs:1", "case:mixed", "tok:none", "smooth:exp", "version:"),
    "chrf": ("nrefs:1", "nc:6", "nw:0", "version:"),
}
"""What the signature of each setting must say; "moses" is a setting that a report need not have."""
_TOLERANCE = 0.005
_OWN = (0, 6, 7, 8, 9)
"""Columns of the statistics that come from the translations alone: their length, and how many n-grams they have."""
NUMBER = (int, float)
SCHEMA: dict[str, type | tuple[type, ...]] = {
    "name": str, "label": str, "complete": bool, "parameters": int, "averaged": list,
    "data.identity": str, "data.train_pairs": int, "data.archives": dict,
    "test.name": str, "test.sentences": int, "test.sources_sha256": str, "test.references_sha256": str,
    "scores.average.sacrebleu.score": NUMBER, "scores.average.paper.score": NUMBER,
    "scores.average.chrf.score": NUMBER, "decoding.beam_size": int, "decoding.alpha": NUMBER,
    "configuration.model.d_model": int, "configuration.training.updates": int,
    "configuration.training.warmup": int, "configuration.training.batch_tokens": int,
    "training.updates": int, "training.target_tokens": int, "training.hours": NUMBER, "training.starts": int,
    "hardware.trained_on": dict, "versions.annotated": str, "versions.torch": str, "versions.sacrebleu": str,
    "commands.train": str, "commands.finish": str, "files": dict,
}  # fmt: skip
"""Fields that a report must have, and of what kind; a dot goes one level down."""


class Problem(NamedTuple):
    """Something that is wrong with an entry."""

    entry: str
    text: str


def check_ledger(folder: str | Path = LEDGER, tests: Sequence[TestSet] = ()) -> list[Problem]:
    """Check every entry.

    Parameters
    ----------
    tests
        Test sets that are at hand: translations of them are scored again.

    Raises
    ------
    FileNotFoundError
        If there is no such folder.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no folder {folder}: run this where the ledger is, or name its folder")
    if (folder / REPORT).is_file():
        places = [folder]
    else:
        places = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    return [Problem(place.name, text) for place in places for text in check_entry(place, tests)]


def check_entry(folder: Path, tests: Sequence[TestSet] = ()) -> list[str]:
    """What is wrong with one entry; nothing if nothing is."""
    try:
        about, report = read_json(folder / ENTRY), RunReport.read(folder).content
        wrong = [*_files(folder, about), *_schema(report)] or list(_signatures(report))
        if wrong:  # the rest would only stumble over it
            return wrong
        for check in (_claims, _log, _scores):
            wrong += check(folder, report)
        wrong += _told(folder, report)
        wrong += _scored_again(folder, report, tests)
    except (CheckpointError, ValueError, LookupError, TypeError, AttributeError, OSError) as error:
        return [f"cannot be read: {error}"]
    return wrong


def _files(folder: Path, about: Mapping[str, Any]) -> Iterator[str]:
    if about.get("format") != FORMAT or about.get("name") != folder.name or not NAME.fullmatch(folder.name):
        yield f"{ENTRY}: not of format {FORMAT}, or of another name than its folder"
        return
    needed = {REPORT, LOG, HYPOTHESES, STATISTICS, README}
    if missing := sorted(needed - set(about["files"])):
        yield f"{ENTRY}: does not name {', '.join(missing)}"
    if (damage := verify_checksums(folder, about["files"])) is not None:
        yield damage
    if odd := sorted({path.name for path in folder.iterdir()} - set(about["files"]) - {ENTRY}):
        yield f"has files that {ENTRY} does not know: {', '.join(odd)}"
    if (folder / LOG).is_file() and (folder / LOG).stat().st_size > LOG_BYTES:
        yield f"{LOG} has more than {LOG_BYTES:,} bytes"


def _schema(report: Mapping[str, Any]) -> Iterator[str]:
    for path, kind in SCHEMA.items():
        value: Any = report
        for name in path.split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            yield f"{REPORT}: {path} is {value!r}"


def _claims(folder: Path, report: Mapping[str, Any]) -> Iterator[str]:
    if (problem := claim_problem(folder.name, report)) is not None:
        yield problem


def _log(folder: Path, report: Mapping[str, Any]) -> Iterator[str]:
    """The log against the report, against itself, and against equation 3."""
    records = read_records(folder / LOG)
    if (facts := training_facts(records)) != report["training"]:
        differing = [name for name in facts if facts[name] != report["training"].get(name)]
        yield f"{LOG} and {REPORT} differ in {', '.join(differing)}"
    starts = [record for record in records if record["kind"] == "start"]
    if records[0]["kind"] != "start" or starts[0]["update"] != 0:
        yield f"{LOG} does not begin with the start of the training"
    for group in ("model", "training"):
        if starts[-1]["configuration"][group] != report["configuration"][group]:
            yield f"{LOG} and {REPORT} have another configuration of the {group}"
    end = records[-1]
    complete = end["kind"] == "end" and bool(end["finished"])
    if complete != report["complete"] or (complete and end["update"] != report["configuration"]["training"]["updates"]):
        yield f"{LOG} does not end as {REPORT} says"
    yield from _order(records, report["configuration"])


def _order(records: Sequence[Mapping[str, Any]], configuration: Mapping[str, Any]) -> Iterator[str]:
    training, width = configuration["training"], configuration["model"]["d_model"]
    before: Mapping[str, Any] = {"update": 0, "tokens_seen": 0, "elapsed": 0.0}
    for record in records:
        # A checkpoint is noted when it is on the disk, which may be some updates later.
        update = max(record["update"], before["update"]) if record["kind"] == "checkpoint" else record["update"]
        if update < before["update"] or (record.get("elapsed") or math.inf) < before["elapsed"]:
            yield f"{LOG}: update {update} ({record['kind']}) comes after update {before['update']}, or before its time"
            return
        if record["kind"] != "train":
            continue
        made, tokens = update - before["update"], record["tokens_seen"] - before["tokens_seen"]
        if made < 1 or not 0 < tokens <= made * training["batch_tokens"]:
            yield f"{LOG}: {tokens} target tokens in {made} updates up to update {update}"
        rate = learning_rate(update, width, training["warmup"], training["learning_rate_scale"])
        if not math.isclose(record["learning_rate"], rate, rel_tol=1e-5):
            yield f"{LOG}: rate {record['learning_rate']} at update {update}; equation 3 says {rate}"
        if record["loss"] is None or not 0 < record["loss"] < 100:
            yield f"{LOG}: loss {record['loss']} at update {update}"
        before = record


def _signatures(report: Mapping[str, Any]) -> Iterator[str]:
    for system in _systems(report):
        for setting, needed in SIGNATURES.items():
            if setting in FURTHER and setting not in report["scores"][system]:
                continue
            signature = str(report["scores"][system][setting].get("signature"))
            if missing := [part for part in needed if part not in signature]:
                yield f"{system}, {setting}: its signature {signature!r} lacks {', '.join(missing)}"


def _scores(folder: Path, report: Mapping[str, Any]) -> Iterator[str]:
    """Both settings added up again; what comes from the translations alone, counted again."""
    counted = read_statistics((folder / STATISTICS).read_text(encoding="utf-8"))
    sentences = report["test"]["sentences"]
    for system in _systems(report):
        texts = _lines(folder / (HYPOTHESES if system == "average" else LAST_HYPOTHESES))
        if len(texts) != sentences:
            yield f"{system}: {len(texts)} translations of {sentences} sentences"
            continue
        again = _counted_again(system, texts, [""] * len(texts), report)
        for setting in settings_of(report["scores"][system]):
            name = f"{system}.{setting}"
            own = again.get(name, counted[name])  # without sacremoses Moses' tokens cannot be counted again
            if len(counted[name]) != sentences or not np.array_equal(counted[name][:, _OWN], own[:, _OWN]):
                yield f"{STATISTICS}: {name} was not counted in these translations"
            claimed, found = report["scores"][system][setting]["score"], score_of(counted[name])
            if abs(claimed - found) > _TOLERANCE:
                yield f"{name}: the report says {claimed:.2f}, and the counted numbers make {found:.2f}"


def _told(folder: Path, report: Mapping[str, Any]) -> Iterator[str]:
    """What the entry says to people: the label of its data, and each score; a person may add words."""
    text = (folder / README).read_text(encoding="utf-8").lower()
    scores = [f"{one['score']:.2f}" for system in _systems(report) for one in report["scores"][system].values()]
    if missing := [part for part in (report["label"], *scores) if part.lower() not in text]:
        yield f"{README} does not say what the report says: {', '.join(missing)}"


def _scored_again(folder: Path, report: Mapping[str, Any], tests: Sequence[TestSet]) -> Iterator[str]:
    """The translations against the references, where somebody has them."""
    from annotated.evaluation.bleu import bleu

    own = [TestSet(TEST, list(read_pairs(folder / TEST)))] if (folder / TEST).is_file() else []
    wanted = report["test"]
    hashes = ("sentences", "sources_sha256", "references_sha256")
    fitting = [test for test in (*own, *tests) if all(test.describe()[name] == wanted[name] for name in hashes)]
    if own and own[0] not in fitting:
        yield f"{TEST} is not the test set of the report"
    if not fitting:
        return
    references = fitting[0].references
    counted = read_statistics((folder / STATISTICS).read_text(encoding="utf-8"))
    for system in _systems(report):
        texts = _lines(folder / (HYPOTHESES if system == "average" else LAST_HYPOTHESES))
        again = _counted_again(system, texts, references, report)
        yield from (
            f"{STATISTICS}: {name} is not what these translations have in common with the references"
            for name in again
            if not np.array_equal(again[name], counted[name])
        )
        chrf = bleu(texts, references).chrf
        if abs(chrf - report["scores"][system]["chrf"]["score"]) > _TOLERANCE:
            yield f"{system}: the report says chrF {report['scores'][system]['chrf']['score']:.2f}; it is {chrf:.2f}"


def _counted_again(
    system: str, texts: Sequence[str], references: Sequence[str], report: Mapping[str, Any]
) -> dict[str, NDArray[np.int64]]:
    """The statistics of a system by the settings of the report, as far as they can be had here."""
    settings = [one for one in settings_of(report["scores"][system]) if one != MOSES or has_moses()]
    return statistics({system: texts}, references, settings, target_language(report["data"]) or LANGUAGE)


def _systems(report: Mapping[str, Any]) -> list[str]:
    return [system for system in ("average", "last") if report["scores"].get(system)]


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]

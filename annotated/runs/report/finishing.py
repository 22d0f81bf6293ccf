"""Finishing of a run: the average of its last checkpoints, a beam search over the test set, and a report.

Nothing is done twice. What is translated is on the disk at once; a finish that was killed goes on where it stopped.
"""

from __future__ import annotations

import json
import shlex
import shutil
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import torch

from annotated.config import DataConfig, DecodingConfig, TrainingConfig
from annotated.data.tokenizer import Tokenizer
from annotated.evaluation.corpus import TranslatesText
from annotated.evaluation.paper_bleu import LANGUAGE, MOSES, has_moses, tokenizer
from annotated.evaluation.prepared_text import looks_prepared
from annotated.model import Transformer
from annotated.ownership import is_json_of, is_lock, output_path, require_our_folder
from annotated.runs.hardware import describe_machine
from annotated.runs.last_checkpoints import ChoosesWeights, average_last, final_weights
from annotated.runs.lock import LOCK, run_lock, run_lock_holder
from annotated.runs.log import LOG, last_start, read_records
from annotated.runs.report.model_card import model_card
from annotated.runs.report.report import (
    CARD,
    FOLDER,
    FORMAT,
    HYPOTHESES,
    LAST_HYPOTHESES,
    REPORT,
    STATISTICS,
    RunReport,
    commands,
    training_facts,
    versions,
    without_folders,
)
from annotated.runs.report.scoring import BLEU_SETTINGS, FURTHER, score, statistics, write_statistics
from annotated.runs.report.test_sets import TestSet, describe_data, open_test_set, target_language
from annotated.runs.report.translating import Translated, translate_once
from annotated.saving import CheckpointError, load_model, longest_source, read_tensors, save_pretrained
from annotated.speed.machine.distributed import choose_device
from annotated.storage import atomic_write, checksum, sha256, translate_disk_full
from annotated.translator import length_warnings

MODEL = "model"
_JOURNAL = "translations.{system}.jsonl"
_WRITTEN = (CARD, REPORT, HYPOTHESES, LAST_HYPOTHESES, STATISTICS, MODEL, LOCK, _JOURNAL.format(system="*"))

MakesTranslator = Callable[[Transformer, Tokenizer], TranslatesText]
"""From a model and its tokenizer to what translates: `annotated.Translator` is one."""


@dataclass(frozen=True)
class FinishOptions:
    """How a run is finished; the defaults are the paper's, and the run's own."""

    prepared: str | None = None
    """Folder of the prepared data, if it is not where it was during training."""
    test: str | None = None
    """Name of a test set that was prepared; None for the first, newstest2014 with WMT14."""
    average: int | None = None
    """Checkpoints to average; None for as many as the run's configuration says."""
    decoding: DecodingConfig = DecodingConfig()
    compare_last: bool = True
    """Translate with the last checkpoint too, which shows what averaging brought and takes as long again."""
    unfinished: bool = False
    """Report a run that has not made all its updates; the report says so."""
    moses: Literal["auto", "yes", "no"] = "auto"
    """Score with Moses' own tokeniser as a third setting, too; 'auto' where sacremoses is installed and the language of
    the translations is known."""
    watts: float | None = None
    """Of one device, to know the energy; None leaves it unknown."""
    device: str = TrainingConfig.device
    recipe: str | None = None
    """The name that the training goes by, for the report."""
    command: str | None = None
    """What was typed, for the report."""


def finish(
    run: str | Path,
    translator: MakesTranslator,
    options: FinishOptions | None = None,
    *,
    say: Callable[[str], None] = lambda message: None,
    progress: Callable[[int, int], None] | None = None,
    **changes: Any,
) -> RunReport:
    """Average, translate, score, and write `RUN/report/`; called again, do only what is missing.

    Parameters
    ----------
    run
        Folder of a training run that has ended.
    translator
        `annotated.Translator`.
    options, **changes
        How, and fields to use instead.
    say
        Called with sentences for the user.
    progress
        Called with sentences translated and sentences in all.

    Returns
    -------
    RunReport
        As it stands in `RUN/report/`: translations, the numbers counted in each sentence, `report.json`, and
        `MODEL_CARD.md`.

    Raises
    ------
    CheckpointError
        If the run still trains, has not made all its updates, or has no checkpoint; the message says what to do.
    NotADirectoryError
        If `run` is a file.
    FileExistsError
        If `RUN/report/` holds files that no finish wrote, under names that it writes.
    MosesMissing
        If Moses' tokeniser is asked for and not installed.
    """
    options, run = replace(options or FinishOptions(), **changes), output_path(run)
    if run.is_file():
        raise NotADirectoryError(f"{run} is a file, and the folder of a training run is wanted")
    if options.moses == "yes":
        tokenizer(MOSES)  # before hours of translation, not after
    records = _log_of(run, options.unfinished)
    folder = require_our_folder(run / FOLDER, _WRITTEN, _is_ours)
    configuration = last_start(records)["configuration"]
    data = DataConfig.from_dict(configuration["data"])
    if options.prepared is not None:
        data = data.replace(prepared=options.prepared)
    test = open_test_set(data, options.test)
    if said := looks_prepared(test.references):
        say(said)
    with translate_disk_full(folder), run_lock(folder):
        count = options.average or configuration["training"]["average_last"]
        model_folder, averaged = _model(run, final_weights if options.average is None else average_last, count, folder)
        say(f"{model_folder}: {'the average of ' * (len(averaged) > 1)}{', '.join(path.name for path in averaged)}")
        systems = {"average": model_folder}
        if options.compare_last and len(averaged) > 1:
            systems["last"] = averaged[-1]
        else:  # what an earlier finish left would not be of this one
            (folder / LAST_HYPOTHESES).unlink(missing_ok=True)
        translated = {}
        for system, place in systems.items():
            translated[system] = _translate(place, translator, test, folder, system, options, progress)
            say(f"{system}: {len(test.pairs):,} sentences in {translated[system].seconds:,.1f} s")
        content = _content(run, options, records, data, test, model_folder, averaged, translated)
        _write(folder / CARD, model_card(content))
        _write(folder / REPORT, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    return RunReport(folder, content)


def _is_ours(folder: Path) -> bool:
    return is_lock(folder / LOCK) or is_json_of(folder / REPORT, "format", "scores")


def _write(path: Path, text: str) -> None:
    with atomic_write(path) as file:
        file.write(text)


def _log_of(run: Path, unfinished: bool) -> list[dict[str, Any]]:
    """The log of a run that has ended."""
    if (holder := run_lock_holder(run)) is not None:
        raise CheckpointError(f"{run}: process {holder.pid} trains here: let it end, or stop it, then finish")
    try:
        records = read_records(run / LOG, strict=False)
    except FileNotFoundError:
        raise CheckpointError(f"{run}: no {LOG} in it, so not the folder of a training run") from None
    training_facts(records)
    if not _is_complete(records) and not unfinished:
        raise CheckpointError(
            f"{run}: its training has not made all its updates. Give the same train command again, and it goes on; or "
            "finish what there is with --unfinished"
        )
    return records


def _is_complete(records: Sequence[Mapping[str, Any]]) -> bool:
    return bool(records[-1]["kind"] == "end" and records[-1]["finished"])


def _model(run: Path, weights: ChoosesWeights, count: int, folder: Path) -> tuple[Path, list[Path]]:
    """A model folder with the weights of some checkpoints, and which they are: the run's own where it is that."""
    state, chosen = weights(run, count)
    for place in (run / MODEL, folder / MODEL):
        if (place / "model.safetensors").is_file() and _same(read_tensors(place / "model.safetensors"), state):
            if place == run / MODEL:  # what another average left
                shutil.rmtree(folder / MODEL, ignore_errors=True)
            return place, chosen
    model, tokenizer = load_model(chosen[-1])
    model.load_state_dict(state)
    save_pretrained(folder / MODEL, model, tokenizer, longest_source(chosen[-1]))
    return folder / MODEL, chosen


def _same(a: Mapping[str, torch.Tensor], b: Mapping[str, torch.Tensor]) -> bool:
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def _translate(
    place: Path,
    translator: MakesTranslator,
    test: TestSet,
    folder: Path,
    system: str,
    options: FinishOptions,
    progress: Callable[[int, int], None] | None,
) -> Translated:
    """Translations by the model of a folder, into the report's."""
    model, tokenizer = load_model(place, choose_device(options.device))
    if tokenizer is None:
        raise CheckpointError(f"{place}: the model was saved without a tokenizer, so it cannot read text")
    if system == "average":  # the last checkpoint reads the same sentences
        lengths = [len(ids) + 1 for ids in tokenizer.encode_batch([source.strip() for source in test.sources])]
        for warning in length_warnings(lengths, longest_source(place), model.config.max_positions):
            warnings.warn(warning, stacklevel=3)
    weights = sha256(place / "model.safetensors")
    journal = folder / _JOURNAL.format(system=system)
    done = translate_once(translator(model, tokenizer), test.sources, journal, weights, options.decoding, progress)
    name = HYPOTHESES if system == "average" else LAST_HYPOTHESES
    _write(folder / name, "".join(f"{text}\n" for text in done.texts))
    return done


def _content(
    run: Path,
    options: FinishOptions,
    records: list[dict[str, Any]],
    data: DataConfig,
    test: TestSet,
    model_folder: Path,
    averaged: Sequence[Path],
    translated: Mapping[str, Translated],
) -> dict[str, Any]:
    """The report; the counted numbers are written on the way."""
    texts = {system: found.texts for system, found in translated.items()}
    facts, training = describe_data(data, run), training_facts(records)
    language = target_language(facts)
    third = options.moses == "yes" or (options.moses == "auto" and language is not None and has_moses())
    settings, language = (*BLEU_SETTINGS, *(FURTHER if third else ())), language or LANGUAGE
    counted = statistics(texts, test.references, settings, language)
    _write(run / FOLDER / STATISTICS, write_statistics(counted))
    about = json.loads((model_folder / "config.json").read_text(encoding="utf-8"))
    start = last_start(records)
    configuration = {**start["configuration"], "data": data.to_dict()}
    return {
        "format": FORMAT,
        "name": run.resolve().name,
        "recipe": options.recipe,
        "label": facts["label"],
        "complete": _is_complete(records),
        "data": facts,
        "test": test.describe(),
        "scores": {"last": None, **score(texts, test.references, counted, language)},
        "decoding": options.decoding.to_dict(),
        "averaged": [path.name for path in averaged],
        "configuration": without_folders(configuration),
        "parameters": start["parameters"],
        "tokenizer": about["tokenizer"],
        "training": training,
        "hardware": {
            "trained_on": start["machine"],
            "device": start["device"],
            "finished_on": describe_machine(),
        },
        "energy": _energy(options.watts, training["device_hours"]),
        "translation": {system: _speed(found) for system, found in translated.items()},
        "versions": versions(),
        "commands": {
            **commands(run.resolve().name, configuration, facts, options.recipe),
            "finish": options.command or shlex.join(["annotated", "finish", run.resolve().name]),
        },
        "files": _files(run, model_folder),
    }


def _energy(watts: float | None, device_hours: float) -> dict[str, Any] | None:
    if watts is None:
        return None
    return {
        "kilowatt_hours": round(watts * device_hours / 1000, 4),
        "watts": watts,
        "source": "device hours of training, times the watts that were given for one device; not measured",
    }


def _speed(found: Translated) -> dict[str, float]:
    count, seconds = len(found.texts), found.seconds
    return {"seconds": round(seconds, 2), "sentences_per_second": round(count / max(seconds, 1e-9), 2)}


def _files(run: Path, model_folder: Path) -> dict[str, dict[str, Any]]:
    """Every file that the report rests on, with its hash, and text with its number of lines."""
    found = {LOG: run / LOG}
    found |= {name: run / FOLDER / name for name in (HYPOTHESES, LAST_HYPOTHESES, STATISTICS)}
    found |= {f"{MODEL}/{path.name}": path for path in sorted(model_folder.iterdir())}
    described = {}
    for name, path in found.items():
        if path.is_file():
            described[name] = checksum(path)
            if path.suffix in (".txt", ".tsv", ".jsonl"):
                described[name]["lines"] = path.read_bytes().count(b"\n")
    return described

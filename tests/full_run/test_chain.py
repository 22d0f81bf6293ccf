"""From an unreliable mirror to a report, each step by the words that a user types.

The archives have WMT14's names and layout and are made of classroom sentences; the model is the recipe wmt14-tiny. The
scores mean nothing. That they are what the reports say they are is what is tested.
"""

from __future__ import annotations

import hashlib
import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sacrebleu

from annotated.evaluation import paper_style_bleu
from annotated.runs import read_records
from annotated.training.schedule import learning_rate
from annotated.wmt14 import PreparedCorpus, prepare
from annotated.wmt14.mirror import Fault, Mirror, write_mirror
from tests.full_run.terminal import Terminal

pytestmark = [pytest.mark.slow, pytest.mark.process]

DATA, RUN = "data/wmt14-en-de", "runs/wmt14-tiny"
TRAIN = f"train wmt14-tiny --data.prepared {DATA} --samples 'The cat sleeps.'"
FAULTS = {
    "training-parallel-europarl-v7.tgz": Fault("truncate", times=2),
    "training-parallel-commoncrawl.tgz": Fault("wrong bytes", times=1),
    "training-parallel-nc-v9.tgz": Fault("503", times=2),
    "dev.tgz": Fault("reset", times=1),
    "test-full.tgz": Fault("html", times=1),
}
"""What goes wrong at first; the same archive is sound when it is asked for again."""
_PATIENCE = 900.0


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    return Terminal(tmp_path_factory.mktemp("chain"))


@pytest.fixture(scope="module")
def mirror(terminal: Terminal) -> Iterator[Mirror]:
    write_mirror(terminal.folder / "mirror", pairs=1500)
    with Mirror(terminal.folder / "mirror", FAULTS) as server:
        yield server


@pytest.fixture(scope="module")
def corpus(terminal: Terminal, mirror: Mirror) -> PreparedCorpus:
    """The data, as they come from the mirror with the faults, and where a second one has moved away."""
    command = f"data wmt14 {DATA} --catalogue mirror/catalogue.json --mirror {mirror.url}/moved --mirror {mirror.url}"
    assert "to do" in terminal.type(f"{command} --dry-run") and not (terminal.folder / DATA / "train").exists()
    assert f"{DATA}: ready" in terminal.type(command)
    return PreparedCorpus.open(terminal.folder / DATA)


@pytest.fixture(scope="module")
def before(terminal: Terminal, corpus: PreparedCorpus) -> list[str]:
    """What preflight says: without data, with data, and after a rehearsal."""
    preflight = f"preflight {RUN} --preset wmt14-tiny --price-per-hour 3"
    missing = terminal.type(f"{preflight} --data data/missing", status=1)
    unknown = terminal.type(f"{preflight} --data {DATA}")
    terminal.type(f"rehearse {RUN} --preset wmt14-tiny --data {DATA} --updates 20 --warm-up 4 --quiet")
    return [missing, unknown, terminal.type(f"{preflight} --data {DATA}")]


@pytest.fixture(scope="module")
def log(terminal: Terminal, before: list[str]) -> list[dict[str, Any]]:
    """The log of a training that was stopped by SIGTERM and taken up by the same command."""
    process = terminal.start(TRAIN)
    deadline = time.monotonic() + _PATIENCE
    while not any(record.get("update", 0) >= 70 for record in _records(terminal.folder / RUN)):
        assert process.poll() is None and time.monotonic() < deadline, process.communicate()
        time.sleep(0.2)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=_PATIENCE)
    assert process.returncode == 143
    assert _records(terminal.folder / RUN)[-1]["stopped_by"] == "SIGTERM"
    said = terminal.type(TRAIN)
    assert "going on from" in said and f"{RUN}/model" in said
    return _records(terminal.folder / RUN)


@pytest.fixture(scope="module")
def report(terminal: Terminal, log: list[dict[str, Any]]) -> dict[str, Any]:
    said = terminal.type(f"finish {RUN}")
    assert "BLEU, sacreBLEU" in said and "tok:13a" in said and "BLEU, the paper's way" in said and "tok:none" in said
    return json.loads((terminal.folder / RUN / "report" / "report.json").read_text(encoding="utf-8"))


def _records(run: Path) -> list[dict[str, Any]]:
    return read_records(run) if (run / "log.jsonl").is_file() else []


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_faults_of_a_mirror_leave_no_trace(corpus: PreparedCorpus, terminal: Terminal, mirror: Mirror) -> None:
    """The same archives from a folder, with no network between, make the same data."""
    assert {request.status for request in mirror.requests} > {200, 404}
    direct = prepare(_catalogue(terminal), terminal.folder / "direct", mirrors=[str(mirror.folder)], quiet=True)
    assert direct.identity == corpus.identity
    for name, archive in corpus.manifest["archives"].items():
        assert archive["sha256"] == _sha256(mirror.folder / name)


def _catalogue(terminal: Terminal):
    from annotated.wmt14.catalogue import Catalogue

    return Catalogue.read(terminal.folder / "mirror" / "catalogue.json")


def test_preflight_knows_more_each_time(before: list[str], terminal: Terminal) -> None:
    missing, unknown, known = before
    assert "fail data" in missing and "annotated data wmt14 data/missing" in missing
    assert "fail" not in unknown and "not known" in unknown
    assert "fail" not in known and "s an update" in known and "in your currency" in known
    assert not (terminal.folder / RUN / ".rehearsal").exists()


def test_a_stopped_and_resumed_training_has_one_log(log: list[dict[str, Any]]) -> None:
    starts = [record["update"] for record in log if record["kind"] == "start"]
    trained = [record["update"] for record in log if record["kind"] == "train"]
    assert len(starts) == 2 and starts[0] == 0 and starts[1] >= 70
    assert trained == sorted(set(trained)) and trained[-1] == 200
    ends = [record for record in log if record["kind"] == "end"]
    assert len(ends) == 1 and ends[0]["finished"] and log[-1] == ends[0]
    for record in log:
        if record["kind"] == "train":
            assert record["learning_rate"] == pytest.approx(learning_rate(record["update"], 64, 100))
    losses = [record["valid_loss"] for record in log if record["kind"] == "valid"]
    assert losses[-1] < losses[0] - 0.5


def test_the_report_is_about_these_data_and_this_model(
    report: dict[str, Any], corpus: PreparedCorpus, terminal: Terminal
) -> None:
    run = terminal.folder / RUN
    assert report["data"]["identity"] == corpus.identity and report["data"]["train_pairs"] == len(corpus.train)
    assert report["label"] == "rehearsal on archives of WMT14's layout, not WMT14"
    assert (report["recipe"], report["complete"], report["training"]["starts"]) == ("wmt14-tiny", True, 2)
    assert report["commands"]["train"] == "annotated train wmt14-tiny --preset wmt14-tiny --data.prepared wmt14-en-de"
    files = report["files"]
    assert files["model/model.safetensors"]["sha256"] == _sha256(run / "model" / "model.safetensors")
    assert files["log.jsonl"]["sha256"] == _sha256(run / "log.jsonl")
    assert files["hypotheses.txt"]["sha256"] == _sha256(run / "report" / "hypotheses.txt")
    assert report["test"]["name"] == "newstest2014" and report["test"]["sentences"] == len(_lines(corpus.test))
    assert str(terminal.folder) not in json.dumps(report)


def test_both_bleus_are_those_of_the_translations(
    report: dict[str, Any], corpus: PreparedCorpus, terminal: Terminal
) -> None:
    references = [line.split("\t")[1] for line in _lines(corpus.test)]
    for system, name in (("average", "hypotheses.txt"), ("last", "hypotheses.last.txt")):
        texts = _lines(terminal.folder / RUN / "report" / name)
        scores = report["scores"][system]
        found = sacrebleu.corpus_bleu(texts, [references])
        assert scores["sacrebleu"]["score"] == pytest.approx(found.score, abs=1e-3)
        assert scores["sacrebleu"]["low"] <= found.score <= scores["sacrebleu"]["high"]
        assert scores["paper"]["score"] == pytest.approx(paper_style_bleu(texts, references).bleu, abs=1e-3)
        assert scores["chrf"]["score"] == pytest.approx(sacrebleu.corpus_chrf(texts, [references]).score, abs=1e-3)
        assert f"version:{sacrebleu.__version__}" in scores["sacrebleu"]["signature"]


def test_a_second_finish_translates_nothing(report: dict[str, Any], terminal: Terminal) -> None:
    journal = terminal.folder / RUN / "report" / "translations.average.jsonl"
    before = journal.read_bytes()
    terminal.type(f"finish {RUN} --prepared {DATA} --quiet")
    again = json.loads((terminal.folder / RUN / "report" / "report.json").read_text(encoding="utf-8"))
    assert journal.read_bytes() == before and again["scores"] == report["scores"]

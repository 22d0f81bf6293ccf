"""The end of a run: what is reported is what was translated, by which weights, and nothing is translated twice."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from pathlib import Path

import pytest
import sacrebleu
import torch

from annotated.cli import main
from annotated.evaluation import bleu_of, paper_bleu, paper_style_bleu
from annotated.evaluation.paper_bleu import MosesMissing
from annotated.runs import list_checkpoints, read_records
from annotated.runs.lock import run_lock
from annotated.runs.report import finish, finishing, translating
from annotated.runs.report.model_card import model_card
from annotated.runs.report.report import RunReport, public_command, training_facts
from annotated.runs.report.scoring import read_statistics, write_statistics
from annotated.runs.report.test_sets import label
from annotated.saving import load_model, read_tensors
from annotated.training import CheckpointError, DiskFull
from annotated.wmt14.catalogue import catalogue
from tests.runs.report.conftest import PAIRS, Scripted, by_heart

REFERENCES = [reference for _, reference in PAIRS]


def expected(worse: int) -> list[str]:
    return [by_heart(source, worse) for source, _ in PAIRS]


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_translations_come_back_in_the_order_of_the_sources(trained: Path) -> None:
    finished = finish(trained, Scripted)
    lines = (finished.folder / "hypotheses.txt").read_text(encoding="utf-8").splitlines()
    assert lines == expected(worse=0)
    assert [len(call) for call in Scripted.calls] == [8, 8]  # each system once, in one part
    assert Scripted.calls[0] != [source for source, _ in PAIRS]  # they were sorted by length


def test_both_rulers_say_what_sacrebleu_says(finished: RunReport) -> None:
    """The paper's way done by hand: 13a's tokens, plain quotes, a hyphen between letters as a token of its own."""
    scores = finished.content["scores"]
    for system, worse in (("average", 0), ("last", 1)):
        plain = sacrebleu.corpus_bleu(expected(worse), [REFERENCES])
        assert scores[system]["sacrebleu"]["score"] == pytest.approx(plain.score, abs=1e-4)
        apart = [
            [
                text.replace("„", '"').replace("“", '"').replace('"ja"', '" ja "').replace("-", " ##AT##-##AT## ")
                for text in side
            ]
            for side in (expected(worse), REFERENCES)
        ]
        by_hand = sacrebleu.corpus_bleu(apart[0], [apart[1]], tokenize="none", force=True)
        assert scores[system]["paper"]["score"] == pytest.approx(by_hand.score, abs=1e-4)
        assert scores[system]["paper"]["score"] != pytest.approx(scores[system]["sacrebleu"]["score"], abs=0.1)
        assert "tok:13a" in scores[system]["sacrebleu"]["signature"]
        assert "tok:none" in scores[system]["paper"]["signature"]
    assert scores["average"]["chrf"]["score"] == pytest.approx(
        sacrebleu.corpus_chrf(expected(0), [REFERENCES]).score, abs=1e-4
    )


def test_moses_own_tokeniser_is_a_third_ruler_where_it_is_asked_for(trained: Path, moses: None) -> None:
    made = finish(trained, Scripted, moses="yes")
    scores = made.content["scores"]
    for system, worse in (("average", 0), ("last", 1)):
        assert list(scores[system]) == ["sacrebleu", "paper", "moses", "chrf"]
        by_hand = paper_style_bleu(expected(worse), REFERENCES, "moses")
        assert scores[system]["moses"]["score"] == pytest.approx(by_hand.bleu, abs=1e-4)
        assert scores[system]["moses"]["low"] < scores[system]["moses"]["high"]
    assert set(scores["difference"]) == {"sacrebleu", "paper", "moses"}
    counted = read_statistics((made.folder / "statistics.tsv").read_text(encoding="utf-8"))
    assert list(counted)[:3] == ["average.sacrebleu", "average.paper", "average.moses"]
    assert bleu_of(counted["last.moses"].sum(axis=0)) == pytest.approx(scores["last"]["moses"]["score"], abs=1e-4)
    assert len(made.rows()) == 8 and "with Moses' tokeniser" in str(made) and "sacremoses" in made.content["versions"]
    card = (made.folder / "MODEL_CARD.md").read_text(encoding="utf-8")
    assert "BLEU, the paper's way with Moses' tokeniser" in card and "Moses' tokeniser as sacremoses has it" in card


def test_by_itself_moses_is_used_where_the_language_is_known(trained: Path, moses: None, monkeypatch) -> None:
    assert "moses" not in finish(trained, Scripted).content["scores"]["average"]  # text of the user's own
    monkeypatch.setattr(finishing, "target_language", lambda facts: "de")
    assert "moses" in finish(trained, Scripted).content["scores"]["average"]
    assert "moses" not in finish(trained, Scripted, moses="no").content["scores"]["average"]


def test_moses_that_is_not_installed_is_said_before_anything_is_translated(trained: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(paper_bleu, "has_moses", lambda: False)
    paper_bleu.tokenizer.cache_clear()
    with pytest.raises(MosesMissing, match="sacremoses, which is not installed"):
        finish(trained, Scripted, moses="yes")
    assert Scripted.calls == []
    assert main(["finish", str(trained), "--moses", "yes"]) != 0
    assert "extra `moses`" in " ".join(capsys.readouterr().err.split())


def test_the_lead_of_the_average_has_its_interval(finished: RunReport) -> None:
    scores = finished.content["scores"]
    for setting in ("sacrebleu", "paper"):
        lead = scores["difference"][setting]
        assert lead["score"] == pytest.approx(
            scores["average"][setting]["score"] - scores["last"][setting]["score"], abs=2e-4
        )
        assert lead["low"] <= lead["score"] <= lead["high"]
        # In no sentence does the last checkpoint do better, so in no resampled corpus either; ties are possible.
        assert lead["low"] >= 0 and lead["not_better"] < 0.1
        assert (
            scores["average"][setting]["low"] < scores["average"][setting]["score"] < scores["average"][setting]["high"]
        )


def test_the_counted_numbers_add_up_to_the_scores(finished: RunReport) -> None:
    text = (finished.folder / "statistics.tsv").read_text(encoding="utf-8")
    counted = read_statistics(text)
    assert set(counted) == {"average.sacrebleu", "average.paper", "last.sacrebleu", "last.paper"}
    for name, numbers in counted.items():
        system, setting = name.split(".")
        assert bleu_of(numbers.sum(axis=0)) == pytest.approx(
            finished.content["scores"][system][setting]["score"], abs=1e-4
        )
    assert write_statistics(counted) == text
    with pytest.raises(ValueError, match="columns"):
        read_statistics(text.replace("match1", "match9"))
    with pytest.raises(ValueError, match="no sentences"):
        read_statistics(text.splitlines()[0])


def test_the_report_names_everything_by_its_hash(finished: RunReport) -> None:
    trained = finished.folder.parent
    content = finished.content
    assert content == json.loads((finished.folder / "report.json").read_text(encoding="utf-8"))
    files = content["files"]
    assert files["log.jsonl"]["sha256"] == sha256(trained / "log.jsonl")
    assert files["model/model.safetensors"]["sha256"] == sha256(trained / "model" / "model.safetensors")
    assert files["hypotheses.txt"] == {
        "bytes": (finished.folder / "hypotheses.txt").stat().st_size,
        "sha256": sha256(finished.folder / "hypotheses.txt"),
        "lines": 8,
    }
    sources = "".join(f"{source}\n" for source, _ in PAIRS)
    assert content["test"]["sources_sha256"] == hashlib.sha256(sources.encode()).hexdigest()
    assert content["test"]["sentences"] == 8 and content["complete"] and content["label"].endswith("not WMT14")
    assert content["averaged"] == [path.name for path in list_checkpoints(trained)]
    folder = str(trained.parent)
    assert folder not in json.dumps(content), "a report tells nobody where files lay"


def test_the_training_in_the_report_is_that_of_the_log(finished: RunReport) -> None:
    trained = finished.folder.parent
    records = read_records(trained)
    facts, last = finished.content["training"], [r for r in records if r["kind"] == "train"][-1]
    assert (facts["updates"], facts["target_tokens"]) == (12, last["tokens_seen"])
    assert facts["valid_loss_averaged"] and facts["starts"] == 1 and facts["devices"] == [1]
    # Two devices for the first hour, four for the next two: 2 + 8 device hours.
    train = {"kind": "train", "tokens_seen": 1, "epoch": 1, "loss": 1.0}
    resumed = [
        {"kind": "start", "update": 0, "processes": 2},
        {**train, "update": 1, "elapsed": 3600.0},
        {"kind": "start", "update": 1, "processes": 4},
        {**train, "update": 2, "elapsed": 10_800.0},
    ]
    found = training_facts(resumed)
    assert (found["hours"], found["device_hours"], found["devices"], found["starts"]) == (3.0, 10.0, [2, 4], 2)


def test_a_finish_that_was_killed_goes_on_where_it_stopped(trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translating, "PART_TOKENS", 30)
    whole = (finish(trained, Scripted).folder / "hypotheses.txt").read_bytes()
    parts = len(Scripted.calls) // 2
    assert parts >= 3
    for file in (trained / "report").glob("*"):
        file.unlink()
    Scripted.calls, Scripted.made, Scripted.die_after = [], 0, 2
    with pytest.raises(KeyboardInterrupt):
        finish(trained, Scripted)
    journal = trained / "report" / "translations.average.jsonl"
    with journal.open("a", encoding="utf-8") as file:
        file.write('{"part": 2, "texts": ["half a li')  # a kill in the middle of a write
    Scripted.calls, Scripted.made, Scripted.die_after = [], 0, None
    report = finish(trained, Scripted)
    assert len(Scripted.calls) == 2 * parts - 2  # two parts of the first system were done
    assert (report.folder / "hypotheses.txt").read_bytes() == whole
    Scripted.calls = []
    finish(trained, Scripted)
    assert Scripted.calls == []


def test_other_settings_begin_anew(finished: RunReport) -> None:
    trained = finished.folder.parent
    Scripted.calls = []
    config = finish(trained, Scripted, compare_last=False, decoding=translating.DecodingConfig(beam_size=2))
    assert len(Scripted.calls) == 1 and config.content["scores"]["last"] is None
    assert "difference" not in config.content["scores"]
    assert "hypotheses.last.txt" not in config.content["files"] and not (config.folder / "hypotheses.last.txt").exists()


def test_fewer_checkpoints_make_another_model(trained: Path) -> None:
    report = finish(trained, Scripted, average=2)
    two = [read_tensors(path / "model.safetensors") for path in list_checkpoints(trained)[-2:]]
    model, _ = load_model(report.folder / "model")
    for name, tensor in model.state_dict().items():
        torch.testing.assert_close(tensor, (two[0][name] + two[1][name]) / 2)
    assert report.content["averaged"] == ["update-000000009", "update-000000012"]
    assert report.content["files"]["model/model.safetensors"]["sha256"] == sha256(
        report.folder / "model/model.safetensors"
    )
    again = finish(trained, Scripted).content  # as many as the run says: its own model
    assert again["files"]["model/model.safetensors"]["sha256"] == sha256(trained / "model" / "model.safetensors")
    assert not (report.folder / "model").exists()


def test_a_run_that_trains_or_is_not_done_is_refused(trained: Path) -> None:
    with run_lock(trained), pytest.raises(CheckpointError, match="trains here"):
        finish(trained, Scripted)
    log = trained / "log.jsonl"
    log.write_text("".join(line for line in log.read_text().splitlines(keepends=True) if '"end"' not in line))
    with pytest.raises(CheckpointError, match="--unfinished"):
        finish(trained, Scripted)
    report = finish(trained, Scripted, unfinished=True)
    assert report.content["complete"] is False
    assert "has not made all its updates" in (report.folder / "MODEL_CARD.md").read_text(encoding="utf-8")
    with pytest.raises(CheckpointError, match="not the folder of a training run"):
        finish(trained / "model", Scripted)


def test_a_full_disk_costs_nothing_that_is_done(trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    finish(trained, Scripted)
    before = (trained / "report" / "report.json").read_bytes()
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFull, match="give the same command again"):
        finish(trained, Scripted, watts=1.0)
    monkeypatch.undo()
    assert (trained / "report" / "report.json").read_bytes() == before
    assert not [path for path in (trained / "report").iterdir() if path.name.startswith(".")]
    Scripted.calls = []
    finish(trained, Scripted)
    assert Scripted.calls == []


def test_energy_is_known_only_if_somebody_knows_the_watts(finished: RunReport) -> None:
    trained = finished.folder.parent
    assert finished.content["energy"] is None
    energy = finish(trained, Scripted, watts=700.0).content["energy"]
    hours = finished.content["training"]["device_hours"]
    assert energy["kilowatt_hours"] == pytest.approx(0.7 * hours, abs=1e-4) and "not measured" in energy["source"]


def test_only_the_published_archives_are_wmt14() -> None:
    archives = {}
    for file in catalogue("wmt14", "en-de").archives():
        archives[file.name] = {"sha256": file.sha256 or "0" * 64, "pinned": True}
    data = {"catalogue": "wmt14", "pair": "en-de", "archives": archives, "text": ""}
    assert label(data) == "WMT14 en-de"
    europarl = "training-parallel-europarl-v7.tgz"
    copy = next(file for file in catalogue("wmt14").archives() if file.name == europarl).variants[1]
    assert label({**data, "archives": {**archives, europarl: {"sha256": copy.sha256, "pinned": True}}}) == "WMT14 en-de"
    for wrong in (
        {europarl: {"sha256": "1" * 64, "pinned": True}},
        {"test-full.tgz": {"sha256": "0", "pinned": False}},
    ):
        assert label({**data, "archives": {**archives, **wrong}}).endswith("not WMT14")
    for absent, known in (
        ([europarl], False),
        (["test-full.tgz"], True),  # its sentences are in dev.tgz, too
        (["test-full.tgz", "test-filtered.tgz"], True),
        (["test-full.tgz", "dev.tgz"], False),
    ):
        left = {name: archive for name, archive in archives.items() if name not in absent}
        assert (label({**data, "archives": left}) == "WMT14 en-de") is known, absent


def test_the_card_claims_what_the_report_holds(finished: RunReport) -> None:
    card = (finished.folder / "MODEL_CARD.md").read_text(encoding="utf-8")
    scores = finished.content["scores"]
    for system in ("average", "last"):
        for setting in ("sacrebleu", "paper"):
            assert f"{scores[system][setting]['score']:.2f}" in card
    assert finished.content["files"]["model/model.safetensors"]["sha256"] in card
    assert "say nothing about WMT14" in card and "statmt.org" not in card
    real = model_card({**finished.content, "label": "WMT14 en-de"})
    assert "statmt.org/wmt14" in real and "say nothing about WMT14" not in real
    assert "Energy" not in card and "could not be had" not in card
    instead = {"newstest2014": {"archive": "dev.tgz", "members": [], "instead_of": "test-full.tgz"}}
    told = model_card({**finished.content, "data": {**finished.content["data"], "fallbacks": instead}})
    assert "newstest2014 is from `dev.tgz`: `test-full.tgz` could not be had" in told


def test_the_card_says_that_patience_ended_a_training(finished: RunReport) -> None:
    def card(updates: int) -> str:
        configuration = finished.content["configuration"]
        training = {**configuration["training"], "updates": updates, "patience": 3}
        return model_card({**finished.content, "configuration": {**configuration, "training": training}})

    made, says = finished.content["training"]["updates"], "when 3 validations in a row found no lower loss"
    assert f"{made + 1:,} updates were planned; it was finished before, {says}" in card(made + 1)
    assert says not in card(made)


def test_a_printed_report_shows_both_rulers(finished: RunReport) -> None:
    text, table = str(finished), finished._repr_html_()
    for row in finished.rows():
        assert f"{row.score:.2f}" in text and row.signature in text and f"{row.score:.2f}" in table
    assert len(finished.rows()) == 6
    assert RunReport.read(finished.folder.parent).content == finished.content


def test_the_scores_come_as_a_table(finished: RunReport) -> None:
    table = finished.table()
    assert table["score"].tolist() == [row.score for row in finished.rows()]
    assert table.loc[table["setting"] == "chrF", ["low", "high"]].isna().all(axis=None)


def test_commands_name_no_folders() -> None:
    assert (
        public_command(["annotated", "finish", "/somewhere/runs/base", "--beam", "4"])
        == "annotated finish base --beam 4"
    )

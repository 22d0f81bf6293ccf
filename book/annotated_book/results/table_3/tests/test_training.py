"""One run of the small Table 3: its record, its data, its end by a signal, and what happens without the text."""

from __future__ import annotations

import re
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from annotated.analysis.real_text import DATA
from annotated.config import TrainingConfig, table_3_training
from annotated.data import TokenBatches, Tokenizer
from annotated.wmt14 import PreparedCorpus
from annotated_book.experiments import train_one
from annotated_book.experiments.make_runs import make_row
from annotated_book.experiments.runs_file import read_runs
from annotated_book.experiments.sentences import LONGEST_POOL, prepared_text, short_pairs
from annotated_book.experiments.settings import SIZES, Size, size_of
from annotated_book.experiments.train_one import Stopped
from annotated_book.results.table_3.__main__ import SKIPPED, main
from annotated_book.results.table_3.records import RECORDS, recorded_runs
from annotated_book.results.table_3.rows import ROWS

NUMBERS = {
    "row", "seed", "model", "parameters", "training", "highest_rate", "text", "gflop", "starts", "curve", "seconds",
    "diverged", "valid_loss", "test_loss", "bleu", "bleu_signature", "test_pairs", "cpu_seconds", "machine", "commit",
    "date", "command",
}  # fmt: skip
"""The fields of a record."""


def check_record(one: dict[str, Any], size: Size) -> None:
    """A record says what was trained, how, and what it reached."""
    assert set(one) == NUMBERS and not one["diverged"]
    assert one["model"] == {**size.model(one["row"]).to_dict(), "vocab_size": one["model"]["vocab_size"]}
    # A field that the version of the record did not have had its default.
    assert TrainingConfig.from_dict(one["training"]) == size.training(one["row"], one["seed"])
    updates = [point["update"] for point in one["curve"]]
    assert updates == sorted(set(updates)) and updates[-1] <= one["training"]["updates"]
    assert all(0 < point["validation_loss"] < 12 for point in one["curve"])
    assert one["curve"][-1]["validation_loss"] == pytest.approx(one["valid_loss"], abs=1e-3)
    assert 0 <= one["bleu"] <= 100 and one["test_loss"] > 0
    assert one["cpu_seconds"] > 0 and one["seconds"] > 0 and one["starts"] >= 1


def texts_of(value: Any) -> list[str]:
    """Every string of a record."""
    if isinstance(value, dict):
        return [text for one in value.values() for text in texts_of(one)]
    if isinstance(value, list):
        return [text for one in value for text in texts_of(one)]
    return [value] if isinstance(value, str) else []


def test_a_run_is_recorded_and_its_checkpoints_go(text: Path, size: Size, work: Path, tmp_path: Path) -> None:
    make_row("C1", 1, size, work, tmp_path / "runs.jsonl")
    ((run, one),) = recorded_runs(size, tmp_path / "runs.jsonl").items()
    check_record(one, size)
    assert run == (one["row"], one["seed"]) == ("C1", 1)
    assert [point["update"] for point in one["curve"]] == [2, 4]
    assert one["starts"] == 1 and not (work / size.name / "C1-1").exists()
    sentences = {side for line in (text / "test.tsv").read_text().splitlines() for side in line.split("\t")}
    assert not any(sentence in found for sentence in sentences for found in texts_of(one))


def test_a_run_that_is_stopped_goes_on_to_the_same_loss(
    text: Path, size: Size, work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [tmp_path / name for name in ("whole.jsonl", "cut.jsonl")]
    make_row("C1", 0, size, work, files[0])
    real = train_one.train

    def interrupted(*given: Any, **named: Any) -> Any:
        def stop(*_: Any) -> float:
            signal.raise_signal(signal.SIGTERM)
            return 0.0

        config = given[1].replace(validate_bleu=1)
        return real(given[0], config, *given[2:], **named, bleu=stop)

    monkeypatch.setattr(train_one, "train", interrupted)
    with pytest.raises(Stopped, match="C1 with seed 0: stopped after update"):
        make_row("C1", 0, size, work, files[1])
    assert not files[1].exists()
    monkeypatch.setattr(train_one, "train", real)
    make_row("C1", 0, size, work, files[1])
    whole, cut = (recorded_runs(size, file)["C1", 0] for file in files)
    for one in (cut, whole):  # the training loss between two points is that since the restart
        one["curve"] = [{name: value for name, value in point.items() if name != "loss"} for point in one["curve"]]
    same = ("curve", "valid_loss", "test_loss", "bleu", "parameters", "model", "text", "gflop")
    assert {name: cut[name] for name in same} == {name: whole[name] for name in same}
    assert (whole["starts"], cut["starts"]) == (1, 2)


def test_one_seed_is_one_order_of_the_data_for_all_rows(text: Path, size: Size, work: Path) -> None:
    store = PreparedCorpus.open(prepared_text(size, work)).train

    def order(row: str, seed: int) -> np.ndarray:
        how = size.training(row, seed)
        batches = TokenBatches(store, how.batch_tokens, seed=how.seed, pool_pairs=LONGEST_POOL, layout="packed")
        return np.concatenate([next(batches).indices for _ in range(8)])

    base = order("base", 0)
    assert all(np.array_equal(order(row, 0), base) for row in ROWS)
    assert not np.array_equal(order("base", 1), base)


def test_rows_change_in_the_training_what_the_paper_changes() -> None:
    size = next(iter(SIZES.values()))
    base = size.training("base", 0)
    assert (base.label_smoothing, base.average_last) == (0.1, 1)
    for row in ROWS:
        one, paper = size.training(row, 0), table_3_training(row)
        assert one.updates / base.updates == paper.updates / TrainingConfig.updates
        changed = {name for name, value in one.to_dict().items() if value != base.to_dict()[name]}
        expected = {"D3": {"label_smoothing"}, "D4": {"label_smoothing"}, "big": {"updates"}}.get(row, set())
        assert changed - {"log_every", "validate_every", "checkpoint_every"} == expected
    assert size.training("D4", 0).label_smoothing == 0.2 and size.training("big", 0).updates == 3 * base.updates


def test_the_text_is_short_in_all_three_sets(text: Path, size: Size, work: Path) -> None:
    corpus = PreparedCorpus.open(prepared_text(size, work))
    pairs = short_pairs(corpus.folder / "test.tsv", Tokenizer.load(corpus.tokenizer), size.max_length)
    assert 0 < len(pairs) <= 12 and corpus.train.info.max_length == size.max_length
    assert short_pairs(corpus.folder / "test.tsv", Tokenizer.load(corpus.tokenizer), 2) == []


def test_without_the_text_a_run_is_skipped_loudly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(DATA, str(tmp_path / "nothing"))
    folders = ["--work", str(tmp_path / "work"), "--records", str(tmp_path / "runs.jsonl")]
    assert main(["run", "--smoke", *folders]) == SKIPPED
    said = capsys.readouterr().err
    assert "SKIPPED, nothing was trained: no real text at" in said and DATA in said
    assert not (tmp_path / "runs.jsonl").exists()


def test_a_folder_of_records_is_refused_before_anything_is_trained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["run", "--smoke", "--records", str(tmp_path)])
    assert f"is a folder: name {tmp_path / 'runs.jsonl'}" in capsys.readouterr().err


def test_names_lead_back_to_sizes() -> None:
    for name, size in SIZES.items():
        assert size_of(name) == size and size_of(size.smoke().name) == size.smoke()
        assert size.smoke().updates <= size.updates / 40
    with pytest.raises(ValueError, match="no size 'huge'"):
        size_of("huge")


def test_every_committed_record() -> None:
    for name, one in read_runs(RECORDS).items():
        check_committed(name, one)


def check_committed(name: str, one: dict[str, Any]) -> None:
    folder, _, run = name.partition("/")
    size = size_of(folder)
    assert run == f"{one['row']}-{one['seed']}"
    assert re.fullmatch(r"[0-9a-f]{12}(-dirty)?", one["commit"])
    if not one["diverged"]:
        check_record(one, size)
        assert one["model"]["vocab_size"] == size.model(one["row"]).vocab_size
        assert one["curve"][-1]["update"] == one["training"]["updates"]

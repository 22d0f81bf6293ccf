"""Preflight: each thing that can be wrong is found before the training begins, with advice."""

from __future__ import annotations

import dataclasses
import json
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from annotated import locks
from annotated.config import ModelConfig, TrainingConfig, base, big, tiny
from annotated.runs.lock import run_lock
from annotated.runs.preflight import machine
from annotated.runs.preflight.checking import preflight
from annotated.runs.preflight.folder import check_data, check_disk
from annotated.runs.preflight.machine import check_devices, check_memory, check_precision
from annotated.runs.preflight.memory import (
    activation_bytes,
    fit_micro_batch,
    fitting_tokens,
    training_bytes,
)
from annotated.runs.preflight.start import count_weights
from annotated.runs.preflight.table import PreflightCheck, PreflightReport
from annotated.wmt14 import PreparationOptions, prepare_files
from annotated.wmt14.mirror import Mirror
from tests.runs.conftest import SmallRun
from tests.runs.test_dry_run import MEASURED

pytestmark = pytest.mark.process

CPU = TrainingConfig(device="cpu")
GPU = [{"name": "GPU", "memory_bytes": 10_000}]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory, small_corpora: tuple[Path, Path]) -> Path:
    folder = tmp_path_factory.mktemp("prepared") / "data"
    train_file, valid_file = small_corpora
    options = PreparationOptions(vocab_size=300)
    prepare_files({"mine": train_file}, valid_file, valid_file, folder, options, pair="en-de", jobs=1, quiet=True)
    return folder


def test_a_training_that_can_begin(small: SmallRun) -> None:
    found = preflight(small.model, small.training, small.data, small.folder / "run")
    assert found.ready and [check.name for check in found.checks if check.status == "fail"] == []
    assert found["run"].found.endswith("a new run") and found["disk"].status == "ok"
    assert found["time and cost"] == PreflightCheck(
        "time and cost", "warn", "not known", "measure 200 updates here: annotated dry-run RUN, or --dry-run"
    )
    assert not (small.folder / "run").exists(), "looking changes nothing"


def test_the_table_shows_every_finding_and_its_advice() -> None:
    found = PreflightReport(
        (PreflightCheck("one", "ok", "good"), PreflightCheck("two", "fail", "<bad>", "mend it")), None
    )
    assert str(found) == "ok   one  good\nfail two  <bad>\n          -> mend it"
    assert not found.ready and "&lt;bad&gt;" in found._repr_html_() and "mend it" in found._repr_html_()


def test_a_dry_run_gives_time_and_money(small: SmallRun) -> None:
    own = {"model": small.model.to_dict(), "training": small.training.to_dict(), "data": small.data.to_dict()}
    known = dataclasses.replace(MEASURED, configuration=own)
    (small.folder / "run").mkdir()
    known.save(small.folder / "run" / "rehearsal.json")
    found = preflight(small.model, small.training, small.data, small.folder / "run", price_per_hour=3.0)
    assert found["time and cost"].status == "ok" and "on 8 devices" in found["time and cost"].found
    assert "in your currency" in found["time and cost"].found and found.estimate is not None
    wider = preflight(small.model.replace(d_ff=64), small.training, small.data, small.folder / "run")
    assert wider["time and cost"].status == "warn" and "model.d_ff" in wider["time and cost"].advice
    longer = preflight(small.model, small.training.replace(updates=99), small.data, small.folder / "run")
    assert longer["time and cost"].status == "ok"
    (small.folder / "run" / "rehearsal.json").write_text("{")
    damaged = preflight(small.model, small.training, small.data, small.folder / "run")
    assert "damaged" in damaged["time and cost"].advice and damaged.ready


def test_the_folder_of_a_run(small: SmallRun) -> None:
    small.trained("run", updates=8)
    run = small.folder / "run"
    assert "goes on after update 8 of 24" in preflight(small.model, small.training, small.data, run)["run"].found
    other = preflight(small.model.replace(d_ff=64), small.training, small.data, run)
    assert other["run"].status == "fail" and "model.d_ff" in other["run"].found
    with run_lock(run):
        busy = preflight(small.model, small.training, small.data, run)
    assert busy["run"].status == "fail" and "trains here" in busy["run"].found and not busy.ready


def test_a_file_system_whose_locks_do_nothing(small: SmallRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "_is_held", lambda path: False)
    found = preflight(small.model, small.training, small.data, small.folder / "run")["file system"]
    assert found.status == "fail" and "locks do nothing" in found.found


def test_a_disk_that_is_too_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Base: 5 checkpoints and one in the writing, of 3 x 4 bytes for each of 63 million weights: 4.5 GB and more."""
    attention, feed_forward = 4 * 512 * 512, 2 * 512 * 2048 + 2048 + 512
    weights = 37_000 * 512 + 18 * attention + 12 * feed_forward + 30 * 2 * 512
    assert weights == count_weights(base())
    for free, status in ((4.5e9, "fail"), (6e9, "warn"), (9e9, "ok")):
        monkeypatch.setattr(shutil, "disk_usage", lambda path, free=free: shutil._ntuple_diskusage(0, 0, int(free)))
        assert check_disk(CPU, weights, None, tmp_path / "run").status == status
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(0, 0, 300_000_000))
    assert check_disk(CPU, weights, MEASURED, tmp_path).status == "fail"  # the weights alone are more
    assert check_disk(CPU, count_weights(tiny(vocab_size=300)), MEASURED, tmp_path).status == "warn"


def test_prepared_data_are_read_and_compared(prepared: Path, small: SmallRun, tmp_path: Path) -> None:
    data = small.data.replace(train="classroom", valid="classroom", prepared=str(prepared))
    (check,) = check_data(data)
    assert check.status == "ok" and "training pairs; every file is as its manifest says" in check.found
    copy = Path(shutil.copytree(prepared, tmp_path / "copy"))
    tokens = next(path for path in sorted((copy / "train").glob("*tokens*")))
    tokens.write_bytes(bytes([tokens.read_bytes()[0] ^ 1]) + tokens.read_bytes()[1:])
    (check,) = check_data(data.replace(prepared=str(copy)))
    assert check.status == "fail" and tokens.name in check.found and "annotated data wmt14" in check.advice
    (check,) = check_data(small.data.replace(train=str(tmp_path / "none.tsv")))
    assert check.status == "fail" and "none.tsv" in check.found


def test_mirrors_are_asked_only_if_something_is_missing(prepared: Path, small: SmallRun, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{free.getsockname()[1]}"
    data = small.data.replace(train="classroom", valid="classroom", prepared=str(tmp_path / "missing"))
    with Mirror(tmp_path) as mirror:
        found = list(check_data(data, [mirror.url, nobody, str(tmp_path), str(tmp_path / "gone")]))
        assert [check.status for check in found] == ["fail", "ok", "fail", "ok", "fail"]
    whole = data.replace(prepared=str(prepared))
    assert len(list(check_data(whole, [nobody]))) == 1, "nothing is missing, so nobody is asked"


def test_devices_and_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    assert check_devices(CPU, 1_000).status == "ok"
    weeks = check_devices(CPU, count_weights(base()))
    assert weeks.status == "warn" and "wmt14-tiny" in weeks.advice
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert check_devices(TrainingConfig(device="cuda"), 1_000).status == "fail"
    assert check_precision(TrainingConfig(device="cuda", precision="bf16")).status == "fail"
    assert check_precision(CPU).status == "ok"
    assert check_precision(CPU.replace(precision="bf16")).status == "warn"


def test_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """16 bytes for a weight: 625 of them fill a GPU of 10,000, and on a processor nothing else is counted."""
    monkeypatch.setattr(machine, "gpus", lambda: GPU)
    monkeypatch.setattr(machine, "memory_bytes", lambda: 10_000)
    on_gpu, model = TrainingConfig(device="cuda"), base()
    assert check_memory(CPU, model, 625, None).status == "ok"
    assert check_memory(CPU, model, 626, None).status == check_memory(on_gpu, model, 626, None).status == "fail"
    assert "in the dry run" in check_memory(on_gpu, model, 626, MEASURED).found
    tight = dataclasses.replace(MEASURED, peak_memory_bytes=9_500)
    assert check_memory(on_gpu, model, 1, tight).status == "warn"
    assert "in the dry run" not in check_memory(CPU, model, 1, MEASURED).found  # which was of a GPU


def test_what_a_step_keeps_by_hand() -> None:
    """An encoder layer is an attention and a network; a decoder layer has two attentions.

    An attention has four rows of 2 x 4 numbers, a network one of 32, and each the stream of 8 besides, in float32 and
    once more in the type of the products.
    """
    model = base(
        vocab_size=100, d_model=8, d_ff=32, num_heads=2, d_k=4, d_v=4, num_encoder_layers=1, num_decoder_layers=1
    )
    assert activation_bytes(model, "bf16") == 3 * (2 * 32 + 48) + 2 * (2 * 32 + 48)
    assert activation_bytes(model, "fp32") == 3 * (4 * 32 + 64) + 2 * (4 * 32 + 64)


def test_the_estimate_is_near_the_peaks_that_were_recorded(repository: Path) -> None:
    record = json.loads((repository / "benchmarks" / "recorded" / "gpu_h100.json").read_text("utf-8"))
    model = base(vocab_size=37_000)
    estimate = training_bytes(model, "bf16", count_weights(model), 25_600) / 2**20
    sides = record["shapes"]["base"]["sides"]
    for name in ("bf16_static_graphs", "bf16_all_levers_flex"):
        assert estimate == pytest.approx(sides[name]["memory"]["peak_used_mib"], rel=0.15)


@pytest.mark.parametrize(("make", "gigabytes", "is_cut"), [(base, 24, False), (big, 24, False), (big, 16, True)])
def test_a_training_is_cut_to_fit_the_gpu(
    monkeypatch: pytest.MonkeyPatch, make: Callable[..., ModelConfig], gigabytes: int, is_cut: bool
) -> None:
    memory = gigabytes * 10**9
    monkeypatch.setattr(machine, "gpus", lambda: [{**GPU[0], "memory_bytes": memory}])
    model, training = make(vocab_size=37_000), TrainingConfig(device="cuda", precision="auto", compile=True)
    weights = count_weights(model)
    cut = fit_micro_batch(training, model, weights, [memory])
    assert (cut != training) == is_cut
    found = check_memory(training, model, weights, None)
    assert found.status == "ok" and ("cut to" in found.found) == is_cut, "preflight says what the training does"
    if not is_cut:
        return
    tokens = fitting_tokens(model, "auto", weights, memory)
    assert tokens is not None and cut.micro_batch_tokens == tokens
    several = fit_micro_batch(training.replace(batch_tokens=50_000), model, weights, [5 * memory, memory])
    assert several.micro_batch_tokens == tokens, "the smallest decides"
    for more, status in ((0, "ok"), (200, "warn"), (25_000 - tokens, "fail")):
        chosen = training.replace(micro_batch_tokens=tokens + more, batch_tokens=tokens + more)
        assert fit_micro_batch(chosen, model, weights, [memory]) == chosen, "what somebody chose stays"
        check = check_memory(chosen, model, weights, None)
        assert check.status == status and (status == "ok" or check.advice.split()[1] == str(tokens))

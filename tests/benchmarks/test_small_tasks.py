"""Small tasks: what their rules make of words and numbers, and that a schedule keeps its shape in fewer updates."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotated.recipes import fitted_training
from annotated.training.schedule import learning_rate
from benchmarks import small_tasks
from benchmarks.small_tasks import tasks


def test_the_rules() -> None:
    assert tasks.english(21_013) == "twenty one thousand thirteen"
    assert tasks.english(300_700) == "three hundred thousand seven hundred"
    assert tasks.german(21_001) == "ein und zwanzig tausend eins"
    assert tasks.german(107_016) == "ein hundert sieben tausend sechzehn"
    assert tasks.german(206_100) == "zwei hundert sechs tausend ein hundert"
    assert [*map(tasks.plural, ("box", "lady", "day", "shelf", "cat"))] == [
        "boxes",
        "ladies",
        "days",
        "shelves",
        "cats",
    ]
    assert [*map(tasks.swapped, ("abcd", "abc", "a"))] == ["badc", "bac", "a"]


@pytest.mark.parametrize("name", [name for name, task in tasks.TASKS.items() if task.pairs <= 10_000 and task.one])
def test_a_task_is_the_same_each_time_and_holds_some_pairs_out(name: str, tmp_path: Path) -> None:
    texts = []
    for folder in (tmp_path / "first", tmp_path / "again"):
        folder.mkdir()
        files = tasks.make(name, 0, folder)
        assert files is not None
        texts.append([file.read_text(encoding="utf-8").splitlines() for file in files])
    train, valid = texts[0]
    assert texts[0] == texts[1] and (len(train), len(valid)) == (tasks.TASKS[name].pairs, tasks.HELD_OUT)
    sources = [line.split("\t")[0] for line in train + valid]
    assert len(set(sources)) == len(sources)
    words = [len(line.split("\t")[1].replace("-", " - ").split()) for line in valid]
    assert sum(count >= 4 for count in words) > 190, "BLEU counts runs of four"


def test_a_shorter_schedule_rises_to_the_same_rate() -> None:
    whole = fitted_training(30_000)
    short = small_tasks.shortened(whole, 5)
    assert (short.updates, short.warmup, short.validate_every, short.checkpoint_every) == (400, 80, 40, 16)
    for update in (80, 400):
        rates = (
            learning_rate(times * update, 128, one.warmup, one.learning_rate_scale)
            for times, one in ((5, whole), (1, short))
        )
        assert next(rates) == pytest.approx(next(rates))


def test_absent_real_text_is_skipped_loudly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tasks, "REAL_TEXT", tmp_path / "absent.tsv")
    assert tasks.make("real text", 0, tmp_path) is None and "SKIPPED: real text" in capsys.readouterr().err


def test_the_table_tells_the_lowest_score_after_the_best() -> None:
    line = {
        "task": "dates", "pairs": 5000, "variant": "before", "seed": 0, "model": [0.1, 97.0],
        "validations": [[40, 0.3, 20.0], [80, 0.1, 98.0], [120, 0.5, 50.0], [160, 0.2, 90.0]],
    }  # fmt: skip
    assert small_tasks.table([line]).splitlines()[2] == "| dates | 5,000 | before | 0 | 98.0 | 50.0 | 90.0 | 97.0 |"

"""Pace: what the console says about the length of a training before its log has a line."""

from __future__ import annotations

from types import SimpleNamespace

from annotated.config import TrainingConfig
from annotated.recipes import fitted_training
from annotated.runs import pace
from annotated.runs.loop import train


class Store:
    """3,000 pairs of 12 target tokens."""

    info = SimpleNamespace(target_tokens=36_000)

    def __len__(self) -> int:
        return 3000


RUN = SimpleNamespace(data=SimpleNamespace(train=Store()))


def test_the_papers_training_of_a_small_text_is_advised_against() -> None:
    advice = pace.advice_on_length(TrainingConfig(), RUN)  # type: ignore[arg-type]
    # 100,000 x 25,000 / 36,000
    assert advice is not None and "100,000 updates are 69,444 passes over these 3,000 pairs" in advice
    assert "--training.updates 2000 --training.batch-tokens 1000 --training.warmup 400" in advice
    assert " --training.learning-rate-scale 0.25 --training.validate-every 200 " in advice
    assert pace.advice_on_length(fitted_training(36_000), RUN) is None  # type: ignore[arg-type]
    assert pace.advice_on_length(TrainingConfig(updates=300, batch_tokens=9000), RUN) is None  # type: ignore[arg-type]


def test_the_speed_is_told_after_a_few_updates(small, capsys) -> None:
    train(small.model, small.training.replace(log_every=20, updates=20), small.data, small.folder / "run")
    said = capsys.readouterr().err
    assert "left at this speed" in said
    assert said.index("left at this speed") < said.index("update 20 of 20")


def test_slow_updates_are_told_at_once_and_never_silent(monkeypatch) -> None:
    said: list[str] = []
    clock = iter([0.0, 6.0, 20.0, 37.0, 40.0, 80.0])
    monkeypatch.setattr(pace.time, "monotonic", lambda: next(clock))
    run = SimpleNamespace(training=TrainingConfig(updates=10), state=SimpleNamespace(update=0), data=RUN.data)
    one = pace.Pace(run, SimpleNamespace(say=said.append))  # type: ignore[arg-type]
    for update in (1, 2, 3, 4):
        one.after(update, 2.5)
    one.after(5, 2.5, logged=True)  # the log has a line about it: no second one
    # 37 seconds for 3 updates: 86 for 7
    assert said == ["update 1 of 10: about 0:00:54 left at this speed", "update 3 of 10 | loss 2.5000 | 0:01:26 left"]

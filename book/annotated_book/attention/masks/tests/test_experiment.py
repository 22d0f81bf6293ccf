"""The streams of noise and windows are what the chapter says; a short run tells honest from leaking."""

from __future__ import annotations

import math

import torch

from annotated_book import recorded
from annotated_book.attention.masks.experiment import FIRST, LENGTH, VOCABULARY, stream, train_on_noise, windows


def test_streams() -> None:
    generator = torch.Generator().manual_seed(0)
    free = stream(4000, "independent", generator)
    assert free.shape == (4000, LENGTH + 2) and free.min() == FIRST and free.max() == FIRST + VOCABULARY - 1
    share = (free[:, 1:] == free[:, :-1]).float().mean()
    assert abs(share - 1 / VOCABULARY) < 0.005  # the token before says nothing
    chain = stream(4000, "chain", generator)
    steps = (chain[:, 1:] - chain[:, :-1]) % VOCABULARY
    assert set(steps.flatten().tolist()) == {1, 2} and abs(steps.float().mean() - 1.5) < 0.01


def test_windows_lag_by_the_shift() -> None:
    tokens = torch.arange(LENGTH + 2)[None]
    for shift in (0, 1, 2):
        read, write = windows(tokens, shift)
        assert read.shape == write.shape == (1, LENGTH) and (write - read == shift).all()


def test_a_short_run_tells_honest_from_leaking() -> None:
    floor = math.log(VOCABULARY)
    assert abs(train_on_noise(updates=60)["loss"] - floor) < 0.1
    copying = train_on_noise(None, 0, updates=60)
    assert copying["loss"] < 1 and copying["accuracy"] > 0.8


def test_the_record_has_what_the_chapter_reads() -> None:
    results = recorded("masks").results
    assert set(results["fills"]) == {"-inf", "-1e4", "-1e-12", "no mask"} and set(results["chain"]) == {"0", "1", "2"}
    for runs in results["fills"].values():
        assert len(runs) == 3
        for run in runs:
            assert abs(sum(run["by_position"]) / LENGTH - run["loss"]) < 1e-3

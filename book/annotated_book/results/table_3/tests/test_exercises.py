"""Exercises of the chapter on Table 3: what they give and what they say afterwards holds."""

from __future__ import annotations

from itertools import permutations
from statistics import mean
from typing import Any

import pytest
import torch

from annotated.analysis.parameters import count_parameters
from annotated.config import TABLE_3 as ROWS
from annotated.config import table_3, table_3_training
from annotated.evaluation.student_t import student_quantile
from annotated.paper import TABLE_3
from annotated_book import recorded
from annotated_book.results.table_3.differences import differences, rank_correlation
from annotated_book.results.table_3.results import curve_table
from annotated_grader.exercise.catalogue import find


def names_of(id: str, tried: bool = False) -> dict[str, Any]:
    """What the solution of an exercise binds, and with `tried` its cells for trying too."""
    exercise = find(id)
    found: dict[str, Any] = {}
    exec(exercise.solution_code, found)
    for cell in exercise.cells if tried else ():
        if "try" in cell.tags:
            exec(cell.text, found)
    return found


def test_the_table_of_student_s_t() -> None:
    given = names_of("ex28-1")["T"]
    assert list(given) == list(range(1, 201))
    assert given == pytest.approx({freedom: student_quantile(0.95, freedom) for freedom in given}, rel=5e-6)


def test_intervals_of_all_rows_with_three_seeds() -> None:
    noise = torch.randn(20, 3).tolist()
    losses = {row: dict(enumerate(runs)) for row, runs in zip(ROWS, noise, strict=True)}
    expected = differences({row: list(runs.values()) for row, runs in losses.items()})
    interval = names_of("ex28-1")["interval"]
    for row, one in expected[["difference", "low", "high"]].iterrows():
        assert interval(losses, row) == pytest.approx(tuple(one), rel=1e-5, abs=1e-5)


def test_pairs_help_the_row_that_shares_the_noise_of_base_and_harm_the_other(
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = names_of("ex28-1", tried=True)
    losses, interval, paired = names["losses"], names["interval"], names["paired_interval"]
    assert names["pooled"](losses)[1] == 9
    assert interval(losses, "wide")[2] > 0 > paired(losses, "wide")[2]
    assert names["gain"](losses, "wide") > 1 > names["gain"](losses, "deep")
    assert paired(losses, "deep")[1] < interval(losses, "deep")[1]
    assert paired(losses, "deep")[2] > interval(losses, "deep")[2]


def test_seeds_that_nineteen_comparisons_ask_for() -> None:
    names = names_of("ex28-2")
    needed = {(m, d): names["seeds_needed"](d, 1.0, 0.8, m) for m in (1, 19) for d in (1, 2)}
    assert needed == {(1, 1): 16, (19, 1): 30, (1, 2): 4, (19, 2): 8}
    assert names["smallest_difference"](1.0, 1, 0.8, 19) == pytest.approx(5.4, abs=0.05)
    assert len(TABLE_3) - 1 == 19


def described(row: str) -> dict[str, Any]:
    """A row of Table 3 in the form of exercise 28.3."""
    model, training = table_3(row), table_3_training(row)
    kind = model.positions
    shape = ("vocab_size", "d_model", "d_ff", "num_heads", "d_k", "d_v")
    return {
        "model": {
            **{name: getattr(model, name) for name in shape},
            "layers": model.num_encoder_layers,
            "positions": {"kind": kind, **({"longest": model.max_positions} if kind == "learned" else {})},
        },
        "training": {
            "updates": training.updates,
            "dropout": model.dropout,
            "label_smoothing": training.label_smoothing,
            "seed": 1,
            "batch": {"tokens": training.batch_tokens // 8, "accumulate": 1, "devices": 8},
            "schedule": {"warmup": training.warmup, "scale": training.learning_rate_scale},
        },
        "data": {"corpus": "WMT14 en-de", "order": {"seed": 1}},
    }


def test_rows_of_table_3_that_change_one_thing() -> None:
    names = names_of("ex28-3")
    base = described("base")
    assert names["BASE"] == base
    derived = {"parameters", "tokens in all", "tokens per update", "highest rate"}
    found = {}
    for row in ROWS:
        run = described(row)
        assert names["parameters"](run["model"]) == count_parameters(table_3(row)), row
        found[row] = derived & set(names["confounds"](base, run, []))
    del found["base"]
    assert [row for row, other in found.items() if not other] == ["A1", "A2", "A3", "A4", "D1", "D2", "D3", "D4"]
    assert sum("parameters" in other for other in found.values()) == 11
    assert [row for row, other in found.items() if "highest rate" in other] == ["C4", "C5", "big"]


def test_perplexity_and_bleu_of_table_3() -> None:
    names = names_of("ex28-4")
    perplexity, bleu = names["PERPLEXITY"], names["BLEU"]
    assert perplexity == {row: printed.perplexity for row, printed in TABLE_3.items()}
    assert bleu == {row: printed.bleu for row, printed in TABLE_3.items()}
    for left_out, expected in (((), -0.78), (("D3", "D4"), -0.97)):
        x, y = ([one[row] for row in TABLE_3 if row not in left_out] for one in (perplexity, bleu))
        assert rank_correlation(x, y) == pytest.approx(expected, abs=0.005)
        ours = names["rank_correlation"](torch.tensor(x), torch.tensor(y))
        assert ours == pytest.approx(rank_correlation(x, y), abs=1e-6)
    assert sorted(perplexity, key=perplexity.__getitem__)[2] == "D3" and bleu["D3"] < bleu["base"]


def test_orders_of_eight_rows_that_are_drawn_at_random() -> None:
    squares = [sum((place - k) ** 2 for k, place in enumerate(order)) for order in permutations(range(8))]
    reached = {least: mean(1 - 6 * one / (8**3 - 8) >= least for one in squares) for least in (0.9, 0.3, 0.001)}
    assert reached == pytest.approx({0.9: 0.002, 0.3: 0.23, 0.001: 0.49}, abs=0.002)
    quiz = str(find("ex28-4").quiz)
    assert all(said in quiz for said in ("0.2 % agree so well", "23 % of all orders reach it", "for nearly half of"))


def test_the_spread_over_seeds_is_pulled_towards_zero() -> None:
    names = names_of("ex28-4")
    paper, noise = torch.tensor(list(names["PERPLEXITY"].values())), torch.randn(500, 20)
    assert names["rank_correlation"](paper.log(), paper) == pytest.approx(1)
    low, high = names["rank_spread"](paper.log(), torch.full((20,), 3.0), 0.02, paper, noise)
    assert 0.9 < low < high < 0.997


def test_a_designed_ablation_of_the_networks() -> None:
    names = names_of("ex28-5")
    assert names["T"] == names_of("ex28-1")["T"]
    base = names["BASE"]
    assert names["parameters"](base["model"]) == count_parameters(table_3("base"))
    assert {name: base["model"][name] for name in ("d_model", "d_ff", "dropout")} == {
        name: getattr(table_3("base"), name) for name in ("d_model", "d_ff", "dropout")
    }
    sizes = {name: names["parameters"](one["model"]) for name, one in names["rows"](base).items()}
    assert names["rows"](base)["control"]["model"]["layers"] == 14
    assert 1 - sizes["control"] / sizes["base"] == pytest.approx(0.0003, abs=5e-5)
    assert 1 - sizes["without"] / sizes["base"] == pytest.approx(0.40, abs=0.005)
    assert [names["seeds_needed"](0.017, one) for one in (0.05, 0.02)] == [5, 14]
    three = 2 * student_quantile(0.95, 2) * 0.017 / 3**0.5
    assert names["seeds_needed"](0.017, three * 1.0001) == 3 and 0.084 < three < 0.085


def test_with_seeds_enough_no_mean_leaves_the_question_open() -> None:
    names = names_of("ex28-5")
    decide, noise = names["decide"], torch.randn(14, dtype=torch.float64)
    noise = 0.017 * (noise - noise.mean()) / noise.std()
    for count, left_open in ((14, False), (13, True)):
        part = noise[:count] - noise[:count].mean()
        gaps = part * 0.017 / part.std()
        said = {
            decide(dict.fromkeys(range(count), 0.0), dict(enumerate((gaps + shift).tolist())), 0.02)
            for shift in torch.linspace(-0.05, 0.05, 2001).tolist()
        }
        assert ("open" in said) == left_open and {"helps", "harms", "no difference that matters"} <= said


def test_the_turn_of_the_pilot_s_last_training() -> None:
    last = recorded("table_3/pilot").results["sizes"][-1]
    assert (512 // last["size"]["divisor"], last["size"]["updates"]) == (32, 6000)
    ahead = curve_table(last["rows"]).set_index(["share", "seed"])["difference"].lt(0).unstack()
    assert ahead.shape[1] == 3
    assert ahead.loc[5:20].all(axis=None) and not ahead.loc[30:].any(axis=None)

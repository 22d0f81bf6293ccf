"""The stepper refuses what does not fit; the charts of chapter 18 hold what they were given."""

from __future__ import annotations

from typing import Any

import pytest

from annotated_book.pages import page_folder
from annotated_book.training.teacher_forcing.charts import loss_and_writing_chart, passes_chart, wrong_word_chart
from annotated_book.training.teacher_forcing.widget import teacher_forcing_stepper
from book.tests.javascript import evaluate


def sentence(slots: int = 2) -> dict[str, Any]:
    cell = {"slots": [[0.5, {"Ja": 0.5}]] * slots, "writes": "Ja"}
    names = [f"{mask}, shift {shift}" for mask in ("mask", "no mask") for shift in (0, 1, 2)]
    return {"source": "Yes", "target": ["Ja", "</s>"], "cells": dict.fromkeys(names, cell)}


def test_the_stepper_takes_six_decoders() -> None:
    widget = teacher_forcing_stepper([sentence()], {"mask, shift 1": 0.2}, masked=False, shift=2)
    assert (widget.masked, widget.shift, widget.slot, widget.losses) == (False, 2, 0, {"mask, shift 1": 0.2})
    with pytest.raises(ValueError, match="as many slots"):
        teacher_forcing_stepper([sentence(3)])
    lacking = sentence()
    del lacking["cells"]["mask, shift 2"]
    with pytest.raises(ValueError, match="lacks the decoders: mask, shift 2"):
        teacher_forcing_stepper([lacking])
    with pytest.raises(ValueError, match="shift must be one of"):
        teacher_forcing_stepper([sentence()], shift=3)


def test_charts_hold_every_number() -> None:
    rows = [{"way": way, "length": n, "passes": n, "positions": n, "milliseconds": 2.0} for way in "ab" for n in (1, 2)]
    assert len(passes_chart(rows).to_dict()["data"]["values"]) == 12
    with pytest.raises(ValueError, match="positive"):
        passes_chart([{**rows[0], "milliseconds": 0.0}])
    cells = {"mask, shift 1": {"loss": 0.2, "sentences": 0.6}, "mask, shift 0": {"loss": 0.0, "sentences": 0.0}}
    points = loss_and_writing_chart(cells).to_dict()["layer"][0]["data"]["values"]
    assert [point["kind"] for point in points] == ["no leak", "leaks"]
    spec = wrong_word_chart({"right": [0.1, 0.2], "wrong": [3.0, 0.3]}).to_dict()
    assert [row["loss"] for row in spec["data"]["values"]] == [0.1, 0.2, 3.0, 0.3]


def test_a_slot_leaks_where_it_sees_the_slot_that_holds_its_answer() -> None:
    slots = page_folder("teacher_forcing") / "slots.js"
    code = """({ countLeaks, holds, leaks, reads, sees }, { states, target }) => states.map(state => {
      const n = target.length, ks = target.map((_, k) => k);
      return { rows: ks.map(i => [leaks(state, i, n), ks.some(k => sees(state, i, k) && holds(state, i, k))]),
        read: ks.map(k => reads(target, state.shift, k)), count: countLeaks(state, n) };
    })"""
    states = [{"masked": masked, "shift": shift} for masked in (True, False) for shift in (0, 1, 2)]
    found = evaluate(slots, code, {"states": states, "target": ["Ja", ",", "gut", "</s>"]})
    assert [one["count"] for one in found] == [4, 0, 0, 4, 3, 2], "shifted by one and masked is how the paper trains"
    assert all(leak == seen for one in found for leak, seen in one["rows"])
    assert found[1]["read"] == ["<s>", "Ja", ",", "gut"] and found[2]["read"] == ["<s>", "<s>", "Ja", ","]

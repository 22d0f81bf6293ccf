"""Charts of a training's log: its numbers, and a live chart that follows until the reader takes over."""

from __future__ import annotations

import json
import math
import re

import pytest

from annotated_book.viz.live import Notice
from annotated_book.viz.live_log_chart import LiveTrainingChart, live_training_chart
from annotated_book.viz.log_chart import log_data, runs_chart, training_chart
from annotated_book.viz.panel import training_panel
from annotated_book.viz.renderers import BOOK_VARIABLE
from annotated_book.viz.theme import with_theme


def log(updates: int, total: int = 40) -> list[dict]:
    records = [{"kind": "start", "vocab_size": 100, "configuration": {"training": {"updates": total, "log_every": 2}}}]
    for u in range(2, updates + 1, 2):
        records.append({"kind": "train", "update": u, "loss": 4 / u, "learning_rate": 1e-3, "tokens_per_second": 50.0})
        if u % 10 == 0:
            records.append({"kind": "valid", "update": u, "valid_loss": 5 / u, "averaged": False})
            said = [{"source": "A cat.", "translation": f"Katze {u}."}]
            records.append({"kind": "samples", "update": u, "samples": said, "averaged": False})
    return records


def texts(chart) -> str:
    vl_convert = pytest.importorskip("vl_convert", reason="drawing needs the extra `book`")
    return vl_convert.vegalite_to_svg(with_theme(chart.to_dict()), vl_version="6.4")


def test_the_chart_reads_out_the_slider_and_what_was_written_by_then() -> None:
    records = log(40)
    averaged = {"kind": "samples", "update": 40, "samples": [{"source": "A cat.", "translation": "no"}]}
    picture = texts(training_chart([*records, averaged | {"averaged": True}], moment=26))
    assert f"update 26: training {4 / 26:.2f}" in picture and f"validation {5 / 20:.2f}" in picture
    assert "Katze 20." in picture and "Katze 30." not in picture and "A cat." in picture
    assert "ln 100" in picture
    titled = training_chart(records, title="What to see").to_dict()
    assert titled["title"] == "What to see" and "title" not in training_chart(records).to_dict()
    with pytest.raises(ValueError, match="start"):
        training_chart(records[1:])


def test_a_long_log_is_thinned_and_keeps_its_last_update() -> None:
    rows = log_data(log(4000, 4000), most_points=50)["log"]
    train = [row for row in rows if row["kind"] == "training"]
    assert len(train) <= 52 and train[-1]["u"] == 4000 and train[0]["v"] == 2.0


def test_two_runs_on_one_scale() -> None:
    other = json.loads(json.dumps(log(40)).replace("Katze", "Hund"))
    chart = runs_chart({"honest": log(40), "cheating": other}, moment=18, title="What to see")
    picture = texts(chart)
    assert "What to see" in picture
    assert "honest writes, for: A cat." in picture and "Hund 10." in picture
    values = chart.to_dict()["datasets"] if "datasets" in chart.to_dict() else chart.to_dict()["vconcat"][0]
    assert math.isclose(max(4 / 2, 5 / 10), 2.0) and "cheating" in json.dumps(values)


def test_a_live_chart_follows_until_the_reader_moves_the_slider_back() -> None:
    heard: list[int] = []
    live = LiveTrainingChart(log(10), moved=heard.append)
    spec = live.widget.spec
    live.update(log(20))
    assert live.moment == live.widget.params.moment == 20 and live.widget.spec is spec, "nothing is drawn anew"
    page = dict(live.widget._params)
    live.update(log(24))
    live.widget._params = page  # what the page had before comes back late
    assert live.moment == 24 and live.widget.params.log == log_data(log(24))["log"]
    live.widget._params = {**live.widget._params, "moment": 8}
    assert heard[-1] == live.moment == 8
    live.update(log(30))
    assert live.moment == live.widget.params.moment == 8
    live.widget._params = {**live.widget._params, "moment": 30}
    live.update(log(40))
    assert live.moment == 40


def test_without_a_kernel_there_is_a_sentence_and_nothing_is_started(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv(BOOK_VARIABLE, "1")
    panel = training_panel(tmp_path / "run", None, None, None)
    assert isinstance(panel, Notice) and not (tmp_path / "run").exists()
    live_training_chart(log(2)).update(log(4))


def ticks(chart: dict) -> set[float]:
    """The numbers of updates below the lowest axis, read from the drawing."""
    vl_convert = pytest.importorskip("vl_convert", reason="drawing needs the extra `book`")
    svg = vl_convert.vegalite_to_svg(with_theme(chart), vl_version="6.4")
    axis = re.findall(r"X-axis titled 'update'.*?role-axis-domain", svg, re.DOTALL)[-1]
    return {float(text.replace(",", "")) for text in re.findall(r">([\d,]+)</text>", axis)}


@pytest.mark.parametrize("width", [300, 900])
def test_a_few_round_numbers_of_updates_stand_below_a_chart_of_any_width(width: int) -> None:
    records = log(2000, 2000)
    assert ticks(training_chart(records, width=width).to_dict()) == {0, 500, 1000, 1500, 2000}
    records = log(500, 500)
    assert ticks(runs_chart({"one": records}).to_dict()) == {0, 100, 200, 300, 400, 500}


def test_names_of_quantities_stand_above_their_charts_and_runs_take_the_colours_they_are_given() -> None:
    small = training_chart(log(40)).to_dict()["vconcat"][1:3]
    assert [part["title"]["text"] for part in small] == ["learning rate", "tokens/s"]
    spec = runs_chart({"one": log(10), "two": log(10)}, colours=["red", "blue", "green"]).to_dict()
    scale = spec["vconcat"][0]["layer"][0]["encoding"]["color"]["scale"]
    assert scale == {"domain": ["one", "two"], "range": ["red", "blue"]}

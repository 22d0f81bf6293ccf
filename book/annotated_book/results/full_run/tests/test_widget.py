"""A recorded run to go through: each number at its update, each weight where the script looks for it; the live twin."""

from __future__ import annotations

import math
import zlib
from pathlib import Path

import numpy as np
import pytest

from annotated.config import TrainingConfig, tiny
from annotated.runs.validation_callbacks import SentenceHeads, write_heads
from annotated_book.pages import page_folder
from annotated_book.results.full_run.widget import MOST_POINTS, run_playback
from annotated_book.viz.log_chart import training_chart
from annotated_book.viz.training_heads import LiveHeads
from annotated_book.viz.training_numbers import flops_per_token, fraction_of_peak, money
from book.tests.javascript import evaluate

MODEL = tiny(vocab_size=37_000)
START = {
    "kind": "start", "update": 0, "vocab_size": 100, "train_pairs": 10, "train_tokens": [80, 60], "processes": 2,
    "peak_flops": 1e9, "configuration": {"model": MODEL.to_dict(), "training": TrainingConfig(updates=40).to_dict()},
}  # fmt: skip


def log() -> list[dict]:
    records = [START]
    for u in range(2, 42, 2):
        records.append({"kind": "train", "update": u, "loss": 4 / u, "learning_rate": 1e-3, "gradient_norm": 1.5,
                        "tokens_per_second": 50.0, "elapsed": u / 2})  # fmt: skip
        if u % 10 == 0:
            records.append({"kind": "valid", "update": u, "valid_loss": 5 / u, "bleu": float(u), "elapsed": u / 2})
            said = [{"source": "A cat.", "translation": f"Katze {u}."}]
            records.append({"kind": "samples", "update": u, "samples": said})
        if u == 20:
            records.append(START | {"update": 20})
    averaged = {"kind": "valid", "update": 40, "valid_loss": 9.0, "bleu": 99.0, "averaged": True, "elapsed": 21.0}
    return [*records, averaged]


def heads(seed: int, steps: int = 3) -> SentenceHeads:
    draw = np.random.default_rng(seed)
    shapes = [(3, 4, 4, 4), (3, 4, steps, steps), (3, 4, steps, 4)]
    maps = [draw.integers(0, 256, shape, dtype=np.uint8) for shape in shapes]
    return SentenceHeads(["a", "b", "c", "</s>"], ["x", "y", "</s>", "z"][:steps], *maps)


def test_what_the_reader_goes_through_is_what_the_log_says() -> None:
    widget = run_playback(log(), mark="a test", moment=1)
    run = widget.run
    assert [(m["u"], m["loss"], m["bleu"], m["elapsed"]) for m in run["moments"]] == [
        (10, 0.5, 10.0, 5.0), (20, 0.25, 20.0, 10.0), (30, 0.1667, 30.0, 15.0), (40, 0.125, 40.0, 20.0)]  # fmt: skip
    assert run["moments"][2]["samples"] == [["A cat.", "Katze 30."]]
    assert run["curves"]["perplexity"] == [{"u": [10, 20, 30, 40], "v": [1.649, 1.284, 1.181, 1.133]}]
    assert [e["u"] for e in run["events"]] == [20] and run["elapsed"] == 20.0, "to the last update"
    assert len(run["curves"]["loss"]) == 2 and run["heads"] == [] and widget.price == 0
    told = run_playback(log(), mark="a test", title="What to see", price=2.5)
    assert told.run["title"] == "What to see" and told.price == 2.5
    many = [
        START,
        *({"kind": "train", "update": u, "loss": 1.0, "learning_rate": 1.0} for u in range(1, 1001)),
        log()[6],
    ]
    curve = run_playback(many, mark="long").run["curves"]["loss"][0]
    assert len(curve["u"]) <= MOST_POINTS and "norm" not in run_playback(many, mark="long").run["curves"]
    for bad, options in ((log()[1:3], {}), ([START], {}), (log(), {"moment": 4})):
        with pytest.raises(ValueError):
            run_playback(bad, mark="", **options)


def test_every_weight_of_every_moment_is_where_the_script_looks() -> None:
    kept = {10: [heads(0), heads(1)], 30: [heads(2), heads(3, steps=2)]}
    widget = run_playback(log(), kept, mark="a test")
    data = zlib.decompress(widget.heads)
    assert [h["u"] for h in widget.run["heads"]] == [10, 30] and sum(h["size"] for h in widget.run["heads"]) == len(
        data
    )
    later = widget.run["heads"][1]
    at = later["start"] + sum(getattr(kept[30][0], use).size for use in ("encoder", "decoder", "cross"))
    second = later["sentences"][1]
    for use, described in zip(("encoder", "decoder", "cross"), second["uses"], strict=True):
        shape = (3, 4, len(described["queries"]), len(described["keys"]))
        weights = np.frombuffer(data, np.uint8, math.prod(shape), at).reshape(shape)
        assert (weights == getattr(kept[30][1], use)).all()
        at += weights.size
    assert second["title"] == "2. abc" and second["uses"][2]["queries"] == ["<s> → x", "x → y"]


def test_a_fraction_of_the_peak_counts_forward_and_backward_and_all_processes() -> None:
    # By hand, of pairs of 8 and 6 tokens: weights without embeddings, 3 layers of 128, 512 and 4 heads of 32.
    encoder, decoder = 8 * 3 * (4 * 128**2 + 2 * 128 * 512), 6 * 3 * (6 * 128**2 + 2 * 128 * 512)
    cross = 8 * 3 * 2 * 128**2
    between = 3 * 2 * 128 * (8 * 8 + 6 * 6 + 6 * 8)
    forward = 2 * (encoder + decoder + cross + between + 6 * 100 * 128)
    assert flops_per_token(START) == pytest.approx(3 * forward / 6)
    assert fraction_of_peak(START, 50.0) == pytest.approx(50 * 3 * forward / 6 / 2e9)
    assert fraction_of_peak({"kind": "start"}, 50.0) is None and fraction_of_peak(START, None) is None
    assert money(5400, 3.0) == 4.5


def test_the_live_heads_follow_the_moment_and_stay_one_widget(tmp_path: Path) -> None:
    live, records = LiveHeads(tmp_path), []
    live.show(records, 40)
    assert live.widget is None
    for update in (10, 30):
        path = write_heads(tmp_path, update, [heads(update)])
        records.append({"kind": "heads", "update": update, "path": str(path.relative_to(tmp_path))})
    live.show(records, 29)
    widget = live.widget
    assert widget is not None and live.update == 10 and widget.weights[:48] == heads(10).encoder[0].tobytes()[:48]
    widget.layer = 2
    live.show(records, 40)
    assert live.widget is widget and widget.layer == 2 and widget.weights[:48] == heads(30).encoder[0].tobytes()[:48]
    path.unlink()
    LiveHeads(tmp_path).show(records, 40)  # nothing to see, and no error


def test_the_dashboard_has_what_the_chart_of_a_chapter_has_not() -> None:
    vl_convert = pytest.importorskip("vl_convert", reason="drawing needs the extra `book`")
    picture = vl_convert.vegalite_to_svg(
        training_chart(log(), moment=20, dashboard=True, width=520).to_dict(), vl_version="6.4"
    )
    share = f"{fraction_of_peak(START, 50.0):.0%} of the peak"
    for words in ("gradient norm 1.50", "BLEU 20.0", "perplexity 1.3", share):
        assert words in picture
    assert "gradient norm" not in vl_convert.vegalite_to_svg(training_chart(log()).to_dict(), vl_version="6.4")


def test_the_page_reads_the_curves_at_a_moment() -> None:
    code = """({ clock, costOf, nearest, reportOf, short, valueAt }, run) => ({
      clocks: [0, 59.6, 3599, 36061].map(clock), shorts: [123456, 1234, 123.4, 12.34, 1.234, 0, 0.00123].map(short),
      values: [1, 2, 3, 9].map(u => valueAt(run.curves.speed[0], u) ?? 0),
      places: [0, 3, 5, 99].map(u => nearest(run.moments, u)),
      reports: run.moments.map((_, i) => reportOf(run, i)), costs: [costOf(run, 0, 0), costOf(run, 1, 2)],
    })"""
    moments = [
        {"u": 2, "loss": 4.5, "bleu": None, "elapsed": 900},
        {"u": 6, "loss": 2.25, "bleu": 31.25, "elapsed": 1800},
    ]
    curves, events = {"speed": [{"u": [2, 5], "v": [1000, 2000]}]}, [{"u": 4, "text": "It resumed."}]
    run = {"moments": moments, "updates": 6, "elapsed": 3600, "peak": 0.0001, "events": events, "curves": curves}
    found = evaluate(page_folder("full_run") / "curves.js", code, run)
    assert found["clocks"] == ["0:00", "1:00", "59:59", "10:01:01"]
    assert found["shorts"] == ["123k", "1,234", "123", "12.3", "1.23", "0.00", "1.2e−3"]
    assert found["values"] == [0, 1000, 1000, 2000] and found["places"] == [0, 0, 1, 1]
    first, second = found["reports"]
    assert first.startswith(
        "After update 2 of 6: validation loss 4.50, 1,000 tokens a second. At this speed the training does 10 % of"
    )
    assert "BLEU 31.3" in second and second.endswith("It resumed.") and "resumed" not in first
    assert found["costs"] == [
        "15:00 used, 45:00 left (min:s)",
        "30:00 used, 30:00 left (min:s); at this price 1.00 spent, 1.00 to come",
    ]

"""Charts of chapter 32: learning rates of the published versions, and what a convention does to a trained model."""

from __future__ import annotations

import altair as alt
import pandas as pd

from annotated.training.schedule import learning_rate
from annotated_book.results.versions.configurations import PUBLISHED
from annotated_book.viz.end_labels import name_lines
from annotated_book.viz.forms import titled
from annotated_book.viz.parameters import slider
from annotated_book.viz.theme import BLUE, GREY, ORANGE

_NUMBERS = {9: "nine", 10: "ten", 11: "eleven", 12: "twelve"}
_UPDATES = [*range(100, 4000, 300), *range(4000, 20000, 1000), *range(20000, 100001, 4000)]


def schedule_chart() -> alt.LayerChart:
    """The learning rate of the paper and of the later released versions; a slider reads both at one update."""
    curves = {"paper, T2T v1": "paper", "T2T v2 and v3": "T2T v2"}
    rows = []
    for name, key in curves.items():
        model, training = PUBLISHED[key].model, PUBLISHED[key].training
        assert training is not None
        for update in _UPDATES:
            rate = learning_rate(update, model.d_model, training.warmup, training.learning_rate_scale)
            rows.append({"update": update, "rate": 1e4 * rate, "version": name})
    table = pd.DataFrame(rows)
    colour = alt.Color("version:N").scale(domain=list(curves), range=[ORANGE, BLUE]).legend(None)
    base = alt.Chart(table).encode(
        alt.X("update:Q").title("update").scale(domain=[0, 100000]),
        alt.Y("rate:Q").title("learning rate, 1e-4").scale(domain=[0, 11]),
        colour,
    )
    words = {"paper, T2T v1": "paper,\nT2T v1", "T2T v2 and v3": "T2T v2\nand v3"}
    lines = alt.layer(base.mark_line(clip=True), name_lines(base, "version", words=words))
    rule = alt.Chart(pd.DataFrame({"x": [0]})).transform_calculate(at="at").mark_rule(color=GREY).encode(alt.X("at:Q"))
    formula = "pow(512, -0.5) * min(pow(at, -0.5), at * pow({w}, -1.5)) * {f} * 1e4"
    marks = []
    for name, key, shift in (
        ("paper, T2T v1", "paper", 14),
        ("T2T v2 and v3", "T2T v2", -14),
    ):
        training = PUBLISHED[key].training
        assert training is not None
        point = alt.Chart(pd.DataFrame({"version": [name]})).transform_calculate(
            at="at",
            rate=formula.format(w=training.warmup, f=training.learning_rate_scale),
            text="format(datum.rate, '.2f')",
        )
        place = alt.X("at:Q"), alt.Y("rate:Q")
        marks.append(point.mark_point(filled=True, size=60).encode(*place, colour))
        marks.append(
            point.mark_text(dy=shift, dx=6, align="left", fontSize=12).encode(*place, alt.Text("text:N"), colour)
        )
    title = alt.Title(
        "The released schedule begins lower and is soon twice as high", subtitle="v2 and v3: factor 2, warm-up 8,000"
    )
    return titled(
        alt.layer(lines, rule, *marks),
        slider("at", 8000, 2000, 100000, 1000, label="read at update"),
        height=240,
        title=title,
        description="Learning rates over 100,000 updates. The paper's rises to 0.0007 at update 4,000 and falls; "
        "that of tensor2tensor v2 and v3 rises to 0.00099 at update 8,000, and from there on is twice the paper's.",
    )


def convention_chart(table: pd.DataFrame) -> alt.LayerChart:
    """The loss of a trained model read in each convention, as `mismatch_table` gives it."""
    rows = table.reset_index().assign(right=lambda t: t["loss"] < t["loss"].iloc[0] + 0.001)
    at = alt.X("loss:Q").title("loss, nats per token (logarithmic)").scale(type="log", domain=[0.04, 20])
    dots = (
        alt.Chart(rows)
        .mark_point(filled=True, size=90, opacity=1)
        .encode(
            at,
            alt.Y("convention:N").title(None).sort(None).axis(labelLimit=300, grid=True),
            alt.Color("right:N").scale(domain=[True, False], range=[BLUE, ORANGE]).legend(None),
        )
    )
    words = dots.mark_text(align="left", dx=9, fontSize=12).encode(
        text=alt.Text("loss:Q").format(".3f"), color=alt.value("currentColor")
    )
    title = alt.Title(
        f"One checkpoint, read in {_NUMBERS[len(rows)]} conventions",
        subtitle="blue: the loss is as trained, to a thousandth of a nat",
    )
    said = "; ".join(f"{one.convention} {one.loss:.2f}" for one in rows.itertuples())
    return titled(
        alt.layer(dots, words), height=alt.Step(26), title=title, description=f"Loss in nats per token: {said}."
    )

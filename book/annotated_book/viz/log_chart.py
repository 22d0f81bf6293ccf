"""Chart of a training log, the same for a run that goes on and for one that is over.

Losses, learning rate and speed over the updates, and what the model made of some sentences, with a slider that moves
through the run. All data lie in parameters of the chart (`log_data`), so a live view replaces them and nothing is
drawn anew.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from annotated_book.viz.parameters import slider
from annotated_book.viz.tables import ONE_ROW
from annotated_book.viz.theme import BLUE, GREEN, GREY, INK, ORANGE, PALETTE
from annotated_book.viz.training_numbers import fraction_of_peak

Records = Sequence[Mapping[str, Any]]
MOST_POINTS = 300
"""Of one curve; a longer one is thinned."""
TICKS = 5
"""About so many numbers of updates stand below a chart, whatever its width: they are round, and far apart."""
_SERIES = {"train": "training", "valid": "validation"}


def log_data(records: Records, most_points: int = MOST_POINTS) -> dict[str, list[dict[str, Any]]]:
    """The values of a `training_chart`'s parameters `log` and `said`, from the records of a training run's log.

    Parameters
    ----------
    records
        As `annotated.runs.read_records` gives them.
    most_points
        Of each curve.
    """
    train = _thinned([r for r in records if r["kind"] == "train" and r["loss"] is not None], most_points)
    valid = _thinned(validations(records), most_points)
    share = fraction_of_peak(next((r for r in records if r["kind"] == "start"), {}), 1.0) or 0.0
    log = [{"u": r["update"], "kind": "training", "v": round(r["loss"], 4)} for r in train]
    log += [{"u": r["update"], "kind": "validation", "v": round(r["valid_loss"], 4)} for r in valid]
    log += [{"u": r["update"], "kind": "rate", "v": float(f"{r['learning_rate']:.4g}")} for r in train]
    log += [{"u": r["update"], "kind": "speed", "v": round(r["tokens_per_second"])} for r in train]
    log += [{"u": r["update"], "kind": "norm", "v": float(f"{r['gradient_norm']:.4g}")} for r in train
            if r.get("gradient_norm") is not None]  # fmt: skip
    log += [{"u": r["update"], "kind": "peak", "v": float(f"{share * r['tokens_per_second']:.3g}")} for r in train
            if share]  # fmt: skip
    log += [{"u": r["update"], "kind": "bleu", "v": round(r["bleu"], 2)} for r in valid if r.get("bleu") is not None]
    said = [
        {"u": r["update"], "i": i, "source": one["source"], "text": one["translation"] or "(nothing)"}
        for r in records
        if r["kind"] == "samples" and not r.get("averaged")
        for i, one in enumerate(r["samples"])
    ]
    return {"log": log, "said": said}


def training_chart(
    records: Records,
    *,
    moment: int | None = None,
    samples: int | None = None,
    width: int = 300,
    height: int = 170,
    speed: bool = True,
    dashboard: bool = False,
    title: str = "",
) -> alt.VConcatChart:
    """Losses, learning rate and speed of one training run, and what it made of its samples up to the slider's update.

    Parameters
    ----------
    records
        As `annotated.runs.read_records` gives them; at least the one of kind 'start'.
    moment
        Where the slider stands at first; None for the newest update.
    samples
        How many sentences to show under the curves; None for all, 0 for none.
    width, height
        Of the losses, in pixels; a page of the book fits the width to itself.
    speed
        Show tokens a second.
    dashboard
        Also gradient norm and BLEU, and perplexity and the fraction of peak in words: for a wide live view.
    title
        What to see; none unless told.

    Raises
    ------
    ValueError
        If the records do not begin with a start.
    """
    start = next((r for r in records if r["kind"] == "start"), None)
    if start is None:
        raise ValueError("the log has no record of kind 'start', so it is not one of a training")
    updates, data = start["configuration"]["training"]["updates"], log_data(records)
    newest = max((row["u"] for row in data["log"]), default=0)
    shown = max((row["i"] + 1 for row in data["said"]), default=0) if samples is None else samples
    scale = alt.Scale(domainMin=0, nice=False)
    size = {"width": width, "view": alt.ViewConfig(stroke=None)}
    parts = [_losses(scale, start["vocab_size"]).properties(**size, height=height)]
    small = [("rate", "learning rate", "~g", GREEN)]
    small += [("norm", "gradient norm", "~g", PALETTE[3]), ("bleu", "BLEU", "~r", PALETTE[4])] if dashboard else []
    small += [("speed", "tokens/s", "~s", GREY)] if speed else []
    for n, (kind, name, form, colour) in enumerate(small):
        chart = _small(kind, name, form, colour, scale, "update" if n == len(small) - 1 else None)
        parts.append(chart.properties(**size, height=40 if n else 46))
    parts.append(_readings().properties(**size, height=34))
    if dashboard:
        parts.append(_more_readings().properties(**size, height=16))
    if shown:
        parts.append(_samples(shown).properties(**size, height=38 * shown))
    chosen = slider("moment", newest if moment is None else moment, 0, updates, _step(start), label="update")
    together = alt.vconcat(*parts, spacing=8, usermeta={"fit": True}, **_title(title)).add_params(
        chosen, alt.param(name="log", value=data["log"]), alt.param(name="said", value=data["said"])
    )
    return together.resolve_scale(color="independent").properties(description=_description(data, updates, shown))


def runs_chart(
    runs: Mapping[str, Records],
    *,
    sentence: int = 0,
    moment: int | None = None,
    title: str = "",
    colours: Sequence[str] = PALETTE,
) -> alt.VConcatChart:
    """Losses of several training runs on one scale, and below what each of them makes of one sentence.

    A click on a name in the legend shows that run alone, with the shift key several; a double click shows all again.

    Parameters
    ----------
    runs
        The records of each run, by name; five at most, each with the same sentences.
    sentence
        Which of the samples to show, from 0.
    moment
        Where the slider stands at first; None for the last update.
    title
        What to see; none unless told.
    colours
        Of the runs, in their order; as many or more.
    """
    names, data = list(runs), {name: log_data(records, 120) for name, records in runs.items()}
    start = next(r for r in runs[names[-1]] if r["kind"] == "start")
    last, step = start["configuration"]["training"]["updates"], _step(start)
    losses, said = (
        pd.concat([pd.DataFrame(data[name][part]).assign(run=name) for name in names]) for part in ("log", "said")
    )
    losses, said = losses[losses["kind"].isin(_SERIES.values())], said[said["i"] == sentence]
    x = alt.X("u:Q", title="update", scale=alt.Scale(domain=[0, last], nice=False), axis=alt.Axis(tickCount=TICKS))
    pick = alt.selection_point(name="picked", fields=["run"], bind="legend")
    lines = (
        alt.Chart(losses)
        .mark_line(strokeWidth=2)
        .encode(
            x=x,
            y=alt.Y("v:Q", title="loss (nats per token)"),
            color=_run_colour(names, colours),
            strokeDash=_dash(),
            opacity=alt.condition(pick, alt.value(1.0), alt.value(0.1)),
            tooltip=["run:N", "kind:N", "u:Q", alt.Tooltip("v:Q", format=".3f")],
        )
    )
    above = alt.layer(lines.add_params(pick), _rule()).properties(width=300, height=190)
    latest = _latest(alt.Chart(said), "run")
    y = alt.Y("run:N", sort=names, axis=None, scale=alt.Scale(domain=names))
    who = latest.mark_text(align="left", dy=-8, opacity=0.75).encode(x=alt.value(0), y=y, text="label:N")
    what = latest.mark_text(align="left", dy=8, fontWeight="bold", limit=300).encode(x=alt.value(0), y=y, text="text:N")
    below = alt.layer(who.transform_calculate(label="datum.run + ' writes, for: ' + datum.source"), what)
    final = said.groupby("run", sort=False)["text"].last()
    description = (
        f"Losses of {' and '.join(names)} over {last} updates, training solid and validation dashed, with a slider for "
        "the update; the legend shows a run alone. Below, what each writes by itself. At the end: "
        + "; ".join(f"{run} writes {text!r}" for run, text in final.items())
        + "."
    )
    together = alt.vconcat(
        above, below.properties(width=300, height=38 * len(names), view=alt.ViewConfig(stroke=None)),
        spacing=8, usermeta={"fit": True}, **_title(title),
    )  # fmt: skip
    return together.add_params(
        slider("moment", last if moment is None else moment, 0, last, step, label="update")
    ).properties(description=description)


def _run_colour(names: Sequence[str], colours: Sequence[str]) -> alt.Color:
    legend = alt.Legend(symbolType="circle", symbolStrokeWidth=6, symbolSize=30)
    scale = alt.Scale(domain=list(names), range=list(colours[: len(names)]))
    return alt.Color("run:N", sort=list(names), scale=scale, legend=legend)


def _title(text: str) -> dict[str, str]:
    return {"title": text} if text else {}


def validations(records: Records) -> list[Mapping[str, Any]]:
    """The validations of a log, without that of the averaged model at the end, which is no point of the curve."""
    return [r for r in records if r["kind"] == "valid" and r["valid_loss"] is not None and not r.get("averaged")]


def _thinned(records: list[Mapping[str, Any]], most: int) -> list[Mapping[str, Any]]:
    """At most about so many, evenly, with the last."""
    every = math.ceil(len(records) / most)
    return records if every <= 1 else [*records[:-1:every], records[-1]]


def _step(start: Mapping[str, Any]) -> int:
    """Of the slider: as often as the log has a line."""
    training = start["configuration"]["training"]
    return math.gcd(training["log_every"], training["updates"])


def _rows(parameter: str) -> Any:
    """The rows of a parameter, one datum each: they follow when the parameter is set."""
    names = {"log": ("u", "kind", "v"), "said": ("u", "i", "source", "text")}[parameter]
    return (
        alt.Chart(ONE_ROW)
        .transform_calculate(row=parameter)
        .transform_flatten(["row"])
        .transform_filter("isValid(datum.row)")
        .transform_calculate(**{name: f"datum.row.{name}" for name in names})
    )


def _latest(chart: Any, by: str) -> Any:
    """The last row of each kind that is not later than the slider."""
    return (
        chart.transform_filter("datum.u <= moment")
        .transform_joinaggregate(last="max(u)", groupby=[by])
        .transform_filter("datum.u == datum.last")
    )


def _rule() -> Any:
    moment = alt.Chart(ONE_ROW).transform_calculate(u="moment")
    return moment.mark_rule(color="currentColor", opacity=0.6, strokeWidth=1.2).encode(x="u:Q")


def _dash(**options: Any) -> alt.StrokeDash:
    kinds = list(_SERIES.values())
    return alt.StrokeDash("kind:N", sort=kinds, scale=alt.Scale(domain=kinds, range=[[1, 0], [5, 3]]), **options)


def _losses(x_scale: alt.Scale, vocabulary: int) -> alt.LayerChart:
    kinds = list(_SERIES.values())
    encoding = {
        "x": alt.X("u:Q", title=None, scale=x_scale, axis=alt.Axis(labels=False, tickCount=TICKS)),
        "y": alt.Y("v:Q", title="loss (nats per token)", axis=alt.Axis(minExtent=40)),
        "color": alt.Color("kind:N", sort=kinds, scale=alt.Scale(domain=kinds, range=[BLUE, ORANGE]), legend=None),
        "strokeDash": _dash(legend=None),
        "tooltip": ["kind:N", alt.Tooltip("u:Q", title="update"), alt.Tooltip("v:Q", title="loss", format=".3f")],
    }
    plain = alt.condition("datum.kind == 'training'", alt.value(BLUE), alt.value(ORANGE))
    rows = _rows("log").transform_filter("datum.kind == 'training' || datum.kind == 'validation'")
    lines = rows.mark_line(strokeWidth=2).encode(**encoding)
    marks = _latest(rows, "kind").mark_point(filled=True, size=60, opacity=1).encode(
        **encoding | {"color": plain, "strokeDash": alt.Undefined}
    )  # fmt: skip
    blind = alt.Chart(pd.DataFrame({"v": [math.log(vocabulary)], "t": f"ln {vocabulary}: a guess without a clue"}))
    floor = blind.mark_rule(color=GREY, strokeDash=[2, 3]).encode(y="v:Q")
    name = blind.mark_text(align="right", dy=-7, dx=-2, fontSize=11).encode(x=alt.value("width"), y="v:Q", text="t:N")
    return alt.layer(floor, name, lines, marks, _rule())


def _small(kind: str, title: str, form: str, colour: str, x_scale: alt.Scale, x_title: str | None) -> alt.LayerChart:
    """A low chart of one quantity, whose name stands above it, where no curve is."""
    line = (
        _rows("log")
        .transform_filter(f"datum.kind == '{kind}'")
        .mark_line(strokeWidth=1.6, color=colour)
        .encode(
            x=alt.X("u:Q", title=x_title, scale=x_scale, axis=alt.Axis(labels=x_title is not None, tickCount=TICKS)),
            y=alt.Y("v:Q", title=None, axis=alt.Axis(format=form, tickCount=2, minExtent=40)),
            tooltip=[alt.Tooltip("u:Q", title="update"), alt.Tooltip("v:Q", title=title, format=form)],
        )
    )
    name = alt.Title(title, anchor="start", frame="group", fontSize=11, fontWeight="normal", offset=3)
    return alt.layer(line, _rule()).properties(title=name)


def _reading(kind: str, x: float, text: str, y: float = 8, colour: str = INK) -> Any:
    """What a curve says at the slider, in words, which have the colour of the curve."""
    chart = _latest(_rows("log"), "kind").transform_filter(f"datum.kind == '{kind}'").transform_calculate(label=text)
    look = {"fill": colour, "fontWeight": "normal" if colour == INK else "bold"}
    return chart.mark_text(align="left", fontSize=12, **look).encode(x=alt.value(x), y=alt.value(y), text="label:N")


def _readings() -> alt.LayerChart:
    measured_at = (
        "(datum.u < moment ? ' (of update ' + datum.u + ')' : '')"  # the slider stands between two validations
    )
    return alt.layer(
        _reading("training", 0, "'update ' + moment + ': training ' + format(datum.v, '.2f')", colour=BLUE),
        _reading("validation", 0, f"'validation ' + format(datum.v, '.2f') + {measured_at}", 26, ORANGE),
    )


def _more_readings() -> alt.LayerChart:
    return alt.layer(
        _reading("validation", 0, "'perplexity ' + format(exp(datum.v), '.1f')"),
        _reading("bleu", 120, "'BLEU ' + format(datum.v, '.1f')"),
        _reading("norm", 190, "'gradient norm ' + format(datum.v, '.2f')"),
        _reading("peak", 330, "format(datum.v, '.0%') + ' of the peak'"),
    )


def _samples(count: int) -> alt.LayerChart:
    latest = _latest(_rows("said"), "i").transform_filter(f"datum.i < {count}")
    y = alt.Y("i:O", axis=None, scale=alt.Scale(domain=list(range(count))))
    source = latest.mark_text(align="left", dy=-8, opacity=0.75, limit=300).encode(x=alt.value(0), y=y, text="source:N")
    target = latest.mark_text(align="left", dy=8, fontWeight="bold", limit=300).encode(
        x=alt.value(0), y=y, text="text:N"
    )
    return alt.layer(source, target)


def _description(data: dict[str, list[dict[str, Any]]], updates: int, shown: int) -> str:
    def ends(kind: str) -> str:
        values = [row["v"] for row in data["log"] if row["kind"] == kind]
        return f"from {values[0]:.2f} to {values[-1]:.2f}" if values else "not known yet"

    text = (
        f"A training of {updates} updates, with a slider for the update. Training loss {ends('training')} nats a "
        f"token, validation loss {ends('validation')}; below them the learning rate and the speed."
    )
    if shown and data["said"]:
        last = data["said"][-1]["u"]
        best = [f"{row['source']} becomes {row['text']}" for row in data["said"] if row["u"] == last][:shown]
        text += f" At update {last}: {'; '.join(best)}"
    return text

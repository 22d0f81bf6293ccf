"""Charts of teacher forcing: one pass against many, loss against what is written, and a wrong word in the prefix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from annotated_book.viz.caption import captioned
from annotated_book.viz.parameters import menu
from annotated_book.viz.tables import curves_table
from annotated_book.viz.theme import BLUE, GREY, ORANGE, PALETTE

QUANTITIES = {
    "milliseconds": "processor time (milliseconds)",
    "passes": "decoder passes, one after another",
    "positions": "target positions computed",
}


def passes_chart(rows: Sequence[Mapping[str, Any]], note: str = "") -> alt.LayerChart:
    """What the logits of n positions cost, in one pass and token by token; a menu chooses what is counted.

    Parameters
    ----------
    rows
        Of the record `teacher_forcing/step_by_step`: way, length, passes, positions and milliseconds.
    note
        How the record came about, for the end of the caption.

    Raises
    ------
    ValueError
        If there are no rows, or a number is not positive: both axes are logarithmic.
    """
    table = pd.DataFrame(rows, columns=["way", "length", *QUANTITIES])
    if table.empty or not table.drop(columns="way").gt(0).all(axis=None):
        raise ValueError("every row needs a positive length, passes, positions and milliseconds")
    names, labels = table["way"].unique().tolist(), list(QUANTITIES.values())
    data = table.rename(columns=QUANTITIES).melt(["way", "length"], labels, "what", "value")
    chosen = alt.Chart(data).transform_filter("datum.what == counted")
    unit = (
        chosen.transform_aggregate(rows="count()", groupby=["what"])
        .mark_text(align="left", baseline="top", fontSize=12)
        .encode(x=alt.value(8), y=alt.value(8), text="what:N")
    )
    chart = (
        alt.layer(*_way_lines(chosen, names, sorted(table["length"].unique().tolist())), unit)
        .add_params(menu("counted", labels, label="count"))
        .properties(
            width="container",
            height=280,
            title="One pass in training, one per token in writing",
            description=(
                f"Both axes logarithmic: what {len(names)} ways to compute the logits of n positions cost, with a menu "
                "for processor time, decoder passes and positions computed. One pass stays one pass at every length; "
                "token by token the passes grow with the length."
            ),
        )
    )
    return captioned(chart, f"Four ways to compute the logits of n target positions. Both axes are logarithmic. {note}")


def _way_lines(chosen: alt.Chart, names: list[str], lengths: list[int]) -> tuple[alt.Chart, alt.Chart]:
    """Lines and points over the target length, told apart by colour, dash and shape."""
    colours = alt.Scale(domain=names, range=list(PALETTE[: len(names)]))
    base = chosen.encode(
        x=alt.X(
            "length:Q",
            title="target length (tokens)",
            scale=alt.Scale(type="log", base=2),
            axis=alt.Axis(values=lengths),
        ),
        y=alt.Y("value:Q", title=None, scale=alt.Scale(type="log"), axis=alt.Axis(tickCount=6)),
        color=alt.Color("way:N", sort=names, scale=colours, legend=alt.Legend(columns=1, labelLimit=280)),
        tooltip=["way:N", "length:Q", "what:N", alt.Tooltip("value:Q", format=",.4~g")],
    )
    domain = alt.Scale(domain=names)
    return (
        base.mark_line(strokeWidth=2).encode(strokeDash=alt.StrokeDash("way:N", sort=names, scale=domain)),
        base.mark_point(filled=True, size=60, opacity=1).encode(shape=alt.Shape("way:N", sort=names, scale=domain)),
    )


def loss_and_writing_chart(cells: Mapping[str, Mapping[str, float]]) -> alt.LayerChart:
    """Decoders by their training loss and by what they get right when they write alone.

    Parameters
    ----------
    cells
        For each decoder, by name, its 'loss' in nats per token and 'sentences', the share it writes without a fault.
    """
    table = pd.DataFrame.from_dict(dict(cells), orient="index").rename_axis("decoder").reset_index()
    table = table[["decoder", "loss", "sentences"]]
    kinds = ["no leak", "leaks"]
    cheats = ~table["decoder"].isin(["mask, shift 1", "mask, shift 2"])
    table["kind"] = cheats.map({False: kinds[0], True: kinds[1]})
    base = alt.Chart(table).encode(
        x=alt.X(
            "loss:Q",
            title="loss, right tokens given (nats per token)",
            axis=alt.Axis(tickCount=6),
            scale=alt.Scale(padding=30),
        ),  # fmt: skip
        y=alt.Y(
            "sentences:Q",
            title="sentences without an error",
            axis=alt.Axis(format="%"),
            scale=alt.Scale(domain=[-0.03, 1]),
        ),
        tooltip=["decoder:N", alt.Tooltip("loss:Q", format=".3f"), alt.Tooltip("sentences:Q", format=".1%")],
    )
    points = base.mark_point(filled=True, size=90, opacity=1).encode(
        color=alt.Color("kind:N", sort=kinds, scale=alt.Scale(domain=kinds, range=[BLUE, ORANGE])),
        shape=alt.Shape("kind:N", sort=kinds, scale=alt.Scale(domain=kinds, range=["circle", "diamond"])),
    )
    text = base.mark_text(fontSize=12, dy=-13).encode(text="decoder:N").transform_filter("datum.kind == 'no leak'")
    name = pd.DataFrame({"loss": [table.loc[cheats, "loss"].max()], "sentences": [0.0]})
    name["text"] = f"{cheats.sum()} decoders that leak"
    note = alt.Chart(name if cheats.any() else name[:0]).mark_text(fontSize=12, align="left", dx=12, dy=-9)
    description = "Six decoders, loss across and translations without a fault upwards. " + "; ".join(
        f"{row.decoder}: loss {row.loss:.2f}, {row.sentences:.0%}" for row in table.itertuples()
    )
    chart = alt.layer(points, text, note.encode(x="loss:Q", y="sentences:Q", text="text:N")).properties(
        width="container",
        height=230,
        title=["The decoders with the lowest loss", "translate nothing"],
        description=f"{description}.",
    )
    return captioned(chart, "Each mark is a decoder. Loss and translations are those of the same 300 test sentences.")


def wrong_word_chart(losses: Mapping[str, Sequence[float]]) -> alt.LayerChart:
    """What a wrong word in the prefix costs the words after it.

    Parameters
    ----------
    losses
        For each kind of prefix, the mean loss of the right word 1, 2, 3 ... places after the word that was exchanged.
    """
    names, reach = list(losses), max(map(len, losses.values()))
    base = alt.Chart(curves_table(losses, "prefix", "distance", "loss", start=1).round(4)).encode(
        x=alt.X("distance:O", title="positions after the exchanged token", axis=alt.Axis(labelAngle=0)),
        y=alt.Y(
            "loss:Q",
            title="loss of the right token (nats)",
            scale=alt.Scale(type="log", nice=False, padding=12),
            axis=alt.Axis(values=[0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10], format="~r"),
        ),
        color=alt.Color(
            "prefix:N",
            sort=names,
            scale=alt.Scale(domain=names, range=[GREY, BLUE, ORANGE, PALETTE[2]][: len(names)]),
            legend=alt.Legend(columns=2),
        ),
        tooltip=["prefix:N", "distance:O", alt.Tooltip("loss:Q", format=".3f")],
    )
    domain = alt.Scale(domain=names)
    chart = alt.layer(
        base.mark_line(strokeWidth=2).encode(strokeDash=alt.StrokeDash("prefix:N", sort=names, scale=domain)),
        base.mark_point(filled=True, size=60, opacity=1).encode(shape=alt.Shape("prefix:N", sort=names, scale=domain)),
    ).properties(
        width="container",
        height=240,
        title=["The token after a wrong one has the", "highest loss; then the loss falls quickly"],
        description=(
            f"Mean loss of the right word, one to {reach} places after a word was exchanged, for "
            f"prefixes {', '.join(names)}. It is highest at the first place, and falls from there."
        ),
    )
    return captioned(
        chart,
        f"Mean loss of the right token, 1 to {reach} positions after one token of the prefix was exchanged. "
        "The loss axis is logarithmic.",
    )

"""Charts of teacher forcing: one pass against many, loss against what is written, and a wrong word in the prefix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from annotated_book.viz.channels import colour_by, dash_by, shape_by, x_axis, y_axis
from annotated_book.viz.end_labels import in_lines, name_lines
from annotated_book.viz.forms import line_layers, titled
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
    return titled(
        alt.layer(*_way_lines(chosen, names, sorted(table["length"].unique().tolist())), unit),
        menu("counted", labels, label="count"),
        height=280,
        title="One pass in training, one per token in writing",
        description=f"Both axes logarithmic: what {len(names)} ways to compute the logits of n positions cost, with "
        "a menu for processor time, decoder passes and positions computed. One pass stays one pass at every length; "
        "token by token the passes grow with the length.",
        caption=f"Four ways to compute the logits of n target positions. Both axes are logarithmic. {note}",
    )


def _way_lines(chosen: alt.Chart, names: list[str], lengths: list[int]) -> list[alt.Chart]:
    """Lines, points and names over the target length, told apart by colour, dash and shape."""
    base = chosen.encode(
        x=x_axis("length:Q", "target length (tokens)", type="log", base=2, nice=False, values=lengths),
        y=y_axis("value:Q", None, type="log", tickCount=6),
        color=colour_by("way:N", names),
        tooltip=["way:N", "length:Q", "what:N", alt.Tooltip("value:Q", format=",.4~g")],
    )
    lines = line_layers(base, dash=dash_by("way:N", names), shape=shape_by("way:N", names))
    return [*lines, name_lines(base, "way", words=in_lines(names, 12))]


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
        x=x_axis("loss:Q", "loss, right tokens given (nats per token)", tickCount=6, padding=30),
        y=y_axis("sentences:Q", "sentences without an error", format="%", domain=[-0.03, 1]),
        tooltip=["decoder:N", alt.Tooltip("loss:Q", format=".3f"), alt.Tooltip("sentences:Q", format=".1%")],
    )
    colour = colour_by("kind:N", kinds, [BLUE, ORANGE])
    points = base.mark_point(filled=True, size=90, opacity=1).encode(
        color=colour, shape=shape_by("kind:N", kinds, ["circle", "diamond"])
    )
    text = (
        base.mark_text(fontSize=12, dy=-13, fontWeight="bold")
        .encode(text="decoder:N", color=colour)
        .transform_filter("datum.kind == 'no leak'")
    )
    name = pd.DataFrame({"loss": [table.loc[cheats, "loss"].max()], "sentences": [0.0]})
    name["text"] = f"{cheats.sum()} decoders that leak"
    note = alt.Chart(name if cheats.any() else name[:0]).mark_text(
        fontSize=12, align="left", dx=12, dy=-9, fontWeight="bold", fill=ORANGE
    )
    description = "Six decoders, loss across and translations without a fault upwards. " + "; ".join(
        f"{row.decoder}: loss {row.loss:.2f}, {row.sentences:.0%}" for row in table.itertuples()
    )
    return titled(
        alt.layer(points, text, note.encode(x="loss:Q", y="sentences:Q", text="text:N")),
        height=230,
        title="The decoders with the lowest loss translate nothing",
        description=f"{description}.",
        caption="Each mark is a decoder. Loss and translations are those of the same 300 test sentences.",
    )


def wrong_word_chart(losses: Mapping[str, Sequence[float]]) -> alt.LayerChart:
    """What a wrong word in the prefix costs the words after it.

    Parameters
    ----------
    losses
        For each kind of prefix, the mean loss of the right word 1, 2, 3 ... places after the word that was exchanged.
    """
    names, reach = list(losses), max(map(len, losses.values()))
    ticks = alt.Axis(values=[0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10], format="~r")
    base = alt.Chart(curves_table(losses, "prefix", "distance", "loss", start=1).round(4)).encode(
        x=x_axis("distance:O", "positions after the exchanged token", labelAngle=0),
        y=y_axis("loss:Q", "loss of the right token (nats)", axis=ticks, type="log", nice=False, padding=12),
        color=colour_by("prefix:N", names, [GREY, BLUE, ORANGE, PALETTE[2]]),
        tooltip=["prefix:N", "distance:O", alt.Tooltip("loss:Q", format=".3f")],
    )
    return titled(
        alt.layer(
            *line_layers(base, dash=dash_by("prefix:N", names), shape=shape_by("prefix:N", names)),
            name_lines(base, "prefix", words=in_lines(names, 10)),
        ),
        height=240,
        title="The token after a wrong one has the highest loss; then the loss falls quickly",
        description=f"Mean loss of the right word, one to {reach} places after a word was exchanged, for prefixes "
        f"{', '.join(names)}. It is highest at the first place, and falls from there.",
        caption=f"Mean loss of the right token, 1 to {reach} positions after one token of the prefix was exchanged. "
        "The loss axis is logarithmic.",
    )

"""Chart of the pilot: the losses of base and of N = 2 at each size that it tried, and their difference."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from annotated_book.results.table_3.results import curve_table
from annotated_book.viz.channels import colour_by, x_axis, y_axis
from annotated_book.viz.forms import line_layers, titled
from annotated_book.viz.parameters import menu
from annotated_book.viz.theme import BLUE, GREY, INK, ORANGE
from annotated_book.viz.titles import title_of

SHOWN = ("difference: N = 2 less base", "loss of each")
_COLOURS = {"N = 2 less base": BLUE, "N = 2": BLUE, "base": ORANGE}
_HEIGHT = 260


def size_name(size: Mapping[str, Any]) -> str:
    """'width 32, pre-norm, 3,000 × 1,024': updates, and target tokens in each."""
    training = f"{size['updates']:,} × {size['batch_tokens']:,}"
    return f"width {512 // size['divisor']}, {size['norm']}-norm, {training}"


def pilot_table(sizes: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Curves of both rows at each size, and of their difference.

    Parameters
    ----------
    sizes
        As the record 'table_3/pilot' has them.

    Returns
    -------
    DataFrame
        Columns size, seed, share (percent of the training), shown (one of `SHOWN`), line and value (nats per token).
    """
    found: list[dict[str, Any]] = []
    for one in sizes:
        size = size_name(one["size"])
        for row in one["rows"]:
            line = "base" if row["row"] == "base" else "N = 2"
            shares = [100 * update / row["updates"][-1] for update in row["updates"]]
            found += [
                {"size": size, "seed": str(seed), "share": share, "shown": SHOWN[1], "line": line, "value": loss}
                for seed, curve in zip(row["seeds"], row["curves"], strict=True)
                for share, loss in zip(shares, curve, strict=True)
            ]
        apart = curve_table(one["rows"])[["seed", "share", "difference"]].rename(columns={"difference": "value"})
        apart = apart.assign(size=size, seed=apart["seed"].astype(str), shown=SHOWN[0], line="N = 2 less base")
        found += apart.to_dict("records")
    return pd.DataFrame(found).round({"share": 3, "value": 5})


def pilot_title(table: pd.DataFrame, size: str) -> str:
    """Which row is ahead for how long at a size, and which at the end."""
    apart = table[(table["size"] == size) & (table["shown"] == SHOWN[0])]
    signs = apart.assign(ahead=apart["value"] < 0).groupby("share")["ahead"].agg(["all", "any"])
    ahead, last = int(signs["all"].sum()), signs.iloc[-1]
    if ahead == len(signs):
        return f"N\u00a0=\u00a02 is ahead at all {len(signs)} points"
    end = "the end among them" if last["all"] else "and neither at the end" if last["any"] else "and base at the end"
    every = " with every seed" if apart["seed"].nunique() > 1 else ""
    return f"N\u00a0=\u00a02 is ahead{every} at {ahead} of {len(signs)} points, {end}"


def pilot_chart(sizes: Sequence[Mapping[str, Any]]) -> alt.LayerChart:
    """Through the training of each seed: the losses of base and of N = 2, or their difference, at a size of a menu.

    Parameters
    ----------
    sizes
        As the record 'table_3/pilot' has them; the menu starts at the last.
    """
    table = pilot_table(sizes)
    names = list(dict.fromkeys(table["size"]))
    chosen = alt.Chart().transform_filter("datum.size == size && datum.shown == shown")
    x = x_axis("share:Q", "training done (%)", domain=[0, 100], nice=False)
    y = y_axis("value:Q", "nats per token", zero=False, padding=12)
    colour = colour_by("line:N", _COLOURS)
    tip = [alt.Tooltip("line:N", title="row"), "seed:N", alt.Tooltip("share:Q", format=".0f"),
           alt.Tooltip("value:Q", title="nats", format=".3f")]  # fmt: skip
    curves = line_layers(
        chosen.encode(x, y, colour), detail="seed:N", tooltip=tip, line={"opacity": 0.8}, size=34, opacity=0.9
    )

    def shown_in(view: str, row: dict[str, Any]) -> alt.Chart:
        return alt.Chart(pd.DataFrame([row])).transform_filter(f"shown == {json.dumps(view)}")

    zero = shown_in(SHOWN[0], {"value": 0.0}).mark_rule(color=GREY, strokeWidth=1.5).encode(y=y)
    words = [
        shown_in(SHOWN[0], {"text": f"N\u00a0=\u00a02 is {text} than base"})
        .mark_text(align=side, color=INK, opacity=0.75)
        .encode(x=across, y=alt.value(place), text="text:N")
        for text, side, across, place in (
            ("worse", "left", alt.value(alt.expr("width * 0.28")), 14),
            ("better", "right", alt.value(alt.expr("width - 6")), _HEIGHT - 12),
        )
    ]
    named = [
        shown_in(SHOWN[1], {"line": line})
        .mark_text(align="right", dx=-8, fontWeight=600)
        .encode(x=alt.value("width"), y=alt.value(place), text="line:N", color=colour)
        for line, place in (("base", 16), ("N = 2", 34))
    ]
    return titled(
        alt.layer(zero, *curves, *words, *named, data=table),
        menu("size", names, names[-1], "size"),
        menu("shown", SHOWN, label="shown"),
        height=_HEIGHT,
        title=title_of("size", {name: pilot_title(table, name) for name in names}),
        description="Validation loss of N = 2 less that of base with the same seed over the training, or the loss of "
        f"each, a line for each seed. Menus choose the size and what is shown; at first {names[-1]}.",
    )

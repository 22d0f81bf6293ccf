"""Charts of the chapter on parsing: Table 4, outputs and caps, F1 by trees and by length, heads."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from annotated import paper
from annotated_book.results.parsing import titles
from annotated_book.results.parsing.results import PARSERS, SETS
from annotated_book.viz.channels import colour_by, x_axis, y_axis
from annotated_book.viz.end_labels import in_lines, name_lines
from annotated_book.viz.forms import rule_at, titled
from annotated_book.viz.parameters import menu, slider, steps
from annotated_book.viz.theme import BLUE, GREEN, GREY, INK, ORANGE

USED = {
    "WSJ only, discriminative": "WSJ alone",
    "semi-supervised": "more text, parsed by machine",
    "multi-task": "other tasks too",
    "generative": "a generative model",
}
"""What the systems of Table 4 used, in the words of the chart."""
COLOURS = {"Transformer": BLUE, "Transformer, rule": GREEN, "CKY, parents": ORANGE, "CKY": GREY}
MEASURES = {"f1": "F1", "exact": "sentences wholly right (%)", "malformed": "sentences without a tree (%)"}


def table_4_chart(used: str = "WSJ alone") -> alt.LayerChart:
    """The rows of Table 4 by F1; a menu lights those that used the same training text.

    Parameters
    ----------
    used
        One of the values of `USED`, or 'all', where the menu starts.
    """
    table = paper.table(4).reset_index().assign(used=lambda rows: rows["training"].map(USED))
    table["kind"] = ["Transformer" if name.startswith("Transformer") else "others" for name in table["parser"]]
    table["row"] = [f"{name}, {how}" for name, how in zip(table["parser"], table["used"], strict=True)]
    order = table.sort_values("F1", ascending=False)["row"].tolist()
    short = table["parser"].str.replace(" (4 layers)", "", regex=False)
    table["label"] = short.str.replace(r"(?: et al\.)? \((\d+)\)", r", \1", regex=True)
    base = alt.Chart(table)
    y = alt.Y("row:N", sort=order, axis=None)
    # The names stand in the left half, on a phone too; no result is below 88.
    x = x_axis("F1:Q", "F1 on section 23", domain=[80, 95.8], nice=False, values=list(range(88, 95, 2)), grid=False)
    opacity = alt.condition("used == 'all' || used == datum.used", alt.value(1), alt.value(0.35))
    colour = colour_by("kind:N", ["Transformer", "others"], [BLUE, GREY])
    dots = base.mark_point(filled=True, size=90).encode(
        x, y, opacity=opacity, color=colour, tooltip=["parser:N", "used:N", "F1:Q"]
    )
    names = base.mark_text(align="left", color=INK).encode(x=alt.value(4), y=y, text="label:N", opacity=opacity)
    values = base.mark_text(align="left", dx=9, color=INK).encode(
        x, y, text=alt.Text("F1:Q", format=".1f"), opacity=opacity
    )
    return titled(
        alt.layer(dots, names, values),
        menu("used", ["all", *USED.values()], used, "trained with"),
        height=24 * len(table),
        title="91.3 is second of five with the WSJ alone; 92.7 is first of five with more text",
        description="F1 of the twelve rows of Table 4. A menu chooses those that used the same training text.",
    )


def caps_chart(lengths: Sequence[tuple[int, int]], extra: int = 20) -> alt.LayerChart:
    """Tokens of the linear form by words of the sentence, with a cap of n + extra that a slider moves.

    Parameters
    ----------
    lengths
        For each tree its words and the tokens of its linear form, the end token included.
    extra
        Where the slider stands at first.
    """
    ratio = sum(tokens for _, tokens in lengths) / sum(words for words, _ in lengths)
    table = pd.DataFrame(lengths, columns=["words", "tokens"]).value_counts().reset_index(name="trees")
    x = x_axis("words:Q", "n: words of the sentence", zero=True)
    y = alt.Y("tokens:Q", title="tokens of its tree, end token included")
    points = alt.Chart(table).mark_point(filled=True).encode(
        x, y, size=alt.Size("trees:Q", legend=None, scale=alt.Scale(range=[8, 130])),
        color=alt.condition("datum.tokens > datum.words + extra", alt.value(ORANGE), alt.value(BLUE)),
        tooltip=["words:Q", "tokens:Q", "trees:Q"],
    )  # fmt: skip
    ends = pd.DataFrame({"words": [0, int(table["words"].max()) + 1]})
    line = alt.Chart(ends).transform_calculate(tokens="datum.words + extra").mark_line(color=INK, strokeDash=[4, 3])
    cut = alt.Chart(table).transform_calculate(cut="datum.tokens > datum.words + extra ? datum.trees : 0")
    cut = cut.transform_aggregate(cut="sum(cut)", trees="sum(trees)")
    cut = cut.transform_calculate(text="format(datum.cut / datum.trees, '.1%') + ' of the trees are cut off'")
    text = cut.mark_text(align="left", fontWeight=600, color=INK).encode(
        x=alt.value(10), y=alt.value(12), text="text:N"
    )
    return titled(
        alt.layer(points, line.encode(x, y), text),
        slider("extra", extra, 0, 60, 1, label="extra tokens"),
        height=280,
        title=f"{ratio:.1f} tokens for each word, and the cap grows by one",
        description="Tokens of the linear form over words of the sentence; a slider moves a cap of n plus some tokens.",
    )


def _line_chart(table: pd.DataFrame, keep: str, x: alt.X, y: alt.Y) -> tuple[alt.Chart, alt.Chart, alt.Chart]:
    """The means over seeds as lines, every training as a point, and the names, of the rows to keep."""
    parsers = [name for name in PARSERS if name in set(table["parser"])]
    colour = colour_by("parser:N", parsers, [COLOURS[p] for p in parsers])
    shape = alt.Shape("parser:N", sort=parsers, legend=None)
    base = alt.Chart(table).transform_filter(keep)
    means = base.encode(x=x, y=y.aggregate("mean"), color=colour)
    points = base.mark_point(filled=True, size=65, opacity=0.9).encode(x=x, y=y, color=colour, shape=shape)
    return means.mark_line(strokeWidth=2), points, name_lines(means, "parser", words=in_lines(parsers, 12))


def sizes_chart(table: pd.DataFrame, held_out: str = "new sentences") -> alt.LayerChart:
    """Scores by the number of training trees; menus choose the measure and the held-out set.

    Parameters
    ----------
    table
        As `results.score_table` makes it. Each point is a training, the lines join means over seeds.
    held_out
        One of the values of `results.SETS`, where the menu starts.
    """
    long = table.melt(["parser", "trees", "seed", "set"], list(MEASURES), "measure", "value")
    long["measure"] = long["measure"].map(MEASURES)
    long = long[long["value"].notna()]
    sets = [name for name in SETS.values() if name in set(table["set"])]
    ticks = sorted(int(n) for n in table["trees"].unique())
    x = x_axis("trees:Q", "training trees", type="log", nice=False, padding=16, values=ticks, grid=False, format=",d")
    y = y_axis("value:Q", "percent", zero=False, nice=False, padding=10)
    shown = {name: {one: titles.sizes_title(table, key, one) for one in sets} for key, name in MEASURES.items()}
    keep = "datum.measure == measure && datum.set == set"
    line, points, names = _line_chart(long, keep, x, y)
    points = points.encode(tooltip=["parser:N", "trees:Q", "seed:Q", "value:Q"])
    return titled(
        alt.layer(line, points, names),
        menu("measure", list(MEASURES.values()), "F1", "measure"),
        menu("set", sets, held_out, "measured on"),
        height=280,
        title=titles.choice(shown, "measure", "set"),
        description="Scores of each parser over the number of training trees. Menus choose measure and text.",
    )


def lengths_chart(table: pd.DataFrame, trees: int) -> alt.LayerChart:
    """F1 by length of the sentence; a slider chooses the number of training trees.

    Parameters
    ----------
    table
        As `results.detail_table` makes it by 'words'.
    trees
        Where the slider stands at first.
    """
    sizes = sorted(int(n) for n in table["trees"].unique())
    shown = titles.choice([titles.lengths_title(table, n) for n in sizes], "size")
    table = table.assign(size=[sizes.index(n) for n in table["trees"]])
    cases = table.groupby("words")["cases"].max()
    step = int(cases.index[0])
    names = {str(most): [f"{most - step + 1}\u2013{most}", f"({count})"] for most, count in cases.items()}
    ticks = alt.Axis(values=cases.index.tolist(), grid=False, labelExpr=f"{json.dumps(names)}[datum.value]")
    x = x_axis("words:Q", "words (sentences)", axis=ticks, zero=False, padding=24)
    y = y_axis("f1:Q", "F1", zero=False, nice=False, padding=10)
    line, points, parsers = _line_chart(table, "datum.size == size", x, y)
    points = points.encode(tooltip=["parser:N", "words:Q", "cases:Q", "f1:Q"])
    return titled(
        alt.layer(line, points, parsers),
        steps("size", sizes, trees, "training trees"),
        height=250,
        title=shown,
        description="F1 over the length of the sentence for each parser. A slider chooses the training trees.",
    )


def brackets_chart(heads: Sequence[Mapping[str, Any]]) -> alt.LayerChart:
    """Share of each head's attention on the opening bracket, in the step that writes the closing one.

    Parameters
    ----------
    heads
        As `attention.bracket_attention` returns them.
    """
    table = pd.DataFrame(heads)
    table["name"] = [f"{layer}.{head}" for layer, head in zip(table["layer"], table["head"], strict=True)]
    best = table.loc[table["writing"].idxmax()]
    bars = (
        alt.Chart(table)
        .mark_bar(height=11)
        .encode(
            y=alt.Y("name:N", sort=table["name"].tolist(), title="layer and head"),
            x=x_axis("writing:Q", "weight on the opening bracket, mean", format="%"),
            color=alt.condition(alt.datum.name == best["name"], alt.value(BLUE), alt.value(GREY)),
            tooltip=["name:N", alt.Tooltip("writing:Q", format=".1%"), alt.Tooltip("reading:Q", format=".1%")],
        )
    )
    rule = rule_at(alt.X("x:Q"), float(table["chance"].iloc[0]), strokeDash=[4, 3], color=INK)
    return titled(
        alt.layer(bars, rule),
        height=17 * len(table),
        title=f"Head {best['head']} of layer {best['layer']} puts {100 * best['writing']:.0f}\u00a0% of its weight on "
        "the bracket that is closed",
        description="For each head of the decoder the mean weight on the opening bracket when the closing one is "
        "written. A dashed line marks equal weights.",
    )

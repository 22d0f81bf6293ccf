"""Charts of chapter 35: local attention over lengths, how far it reaches, drafts, and a distribution with two modes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from annotated_book.viz.channels import colour_by
from annotated_book.viz.end_labels import EXTENT, axis_title_from, in_lines, name_lines
from annotated_book.viz.forms import labelled_cells, line_layers, titled
from annotated_book.viz.parameters import menu, steps
from annotated_book.viz.theme import BLUE, GREY, INK, ORANGE, PALETTE
from annotated_book.viz.titles import title_of

_TIME, _MEMORY = "processor time, ms", "highest memory, MiB"
_MEASURES = {_TIME: "ms", _MEMORY: "MiB"}
_SPEEDS = {"tokens per pass of the model": "gain", "speed, the loop without guesses = 1": "speed"}
_LOCAL_TITLES = (
    "Blocks: the time grows about in proportion to the length",
    "Blocks need less memory than a mask, the fused kernel with all keys least",
)
_DRAFT_TITLES = (
    "Right guesses save passes of the model",
    "Fewer passes are not always less time: guessing and longer passes cost time too",
)
"""Titles of the measures, in their order."""
_LOCAL_DOMAIN = (0.5, 20_000)
_EARLY = {
    f"{_TIME}: equation 1 with a band mask": ("right", -8, -52),
    f"{_TIME}: fused, band mask": ("center", 0, -40),
    f"{_MEMORY}: equation 1 with a band mask": ("right", -8, -24),
    f"{_MEMORY}: fused, band mask": ("left", 8, -21),
}
"""Names of the lines that end within the plot: their side of the end, and how many pixels from it."""
RADII = (8, 16, 32, 64, 128, 256, 512)


def operations_chart() -> alt.LayerChart:
    """Scores of one head over the length, computed in the chart: all keys, the band, and blocks; a slider sets w."""
    w = f"pow(2, radius + {RADII[0].bit_length() - 1})"  # the slider holds the place in RADII
    lengths = pd.DataFrame({"n": [2 ** (step / 4) for step in range(24, 57)]})
    names = {
        "all keys: n": ("datum.n * datum.n", GREY),
        "blocks: 3w": (f"3 * {w} * datum.n", BLUE),
        "band: 2w + 1": (f"datum.n > {w} ? (2 * {w} + 1) * datum.n - {w} * ({w} + 1) : datum.n * datum.n", ORANGE),
    }
    x = alt.X("n:Q").title("tokens n").scale(type="log", base=2, nice=False).axis(tickCount=5, format=",")
    y = (
        alt.Y("scores:Q")
        .title("scores of one head")
        .scale(type="log", domain=[1e3, 1e9])
        .axis(format="~s", tickCount=6)
    )
    base = (
        alt.Chart(lengths)
        .transform_calculate(**{name: formula for name, (formula, _) in names.items()})
        .transform_fold(list(names), ["name", "scores"])
        .transform_filter(f"datum.name != 'blocks: 3w' || datum.n >= {w}")  # one whole block at least
        .encode(x, y, colour_by("name:N", names, [colour for _, colour in names.values()]))
    )
    words = {"all keys: n": "all keys\nn", "blocks: 3w": "blocks\n3w", "band: 2w + 1": "band\n2w + 1"}
    lines = base.mark_line(clip=True), name_lines(base, "name", words=words)
    meeting = alt.Chart(pd.DataFrame({"of": [3]})).transform_calculate(n=f"3 * {w}").encode(x)
    rule = meeting.mark_rule(strokeDash=[4, 3], color=INK, opacity=0.6)
    words = (
        meeting.transform_calculate(text="'n = 3w = ' + format(datum.n, ',')")
        .mark_text(align="left", dx=5, color=INK)
        .encode(y=alt.value(12), text="text:N")
    )
    return titled(
        alt.layer(*lines, rule, words),
        steps("radius", RADII, 32, label="radius w"),
        height=230,
        title="Blocks save scores where the text is longer than three radii",
        description="Scores of one head over the length n, both logarithmic: n² with all keys, up to 2w + 1 for each "
        "query in the band, and 3w in blocks. A slider sets the radius w; blocks and all keys meet at n = 3w.",
    )


def local_chart(rows: Sequence[Mapping[str, Any]], radius: int) -> alt.LayerChart:
    """Time or memory of one attention layer over lengths, one line for each way; a menu chooses which."""
    table = pd.DataFrame(rows).melt(["way", "n"], list(_MEASURES.values()), "key", "value")
    table["measure"] = table["key"].map({key: name for name, key in _MEASURES.items()})
    table = table[table["value"] > 0]
    ways = list(dict.fromkeys(row["way"] for row in rows))
    base = alt.Chart(table).transform_filter("datum.measure == what")
    y = (
        alt.Y("value:Q")
        .title(None)
        .scale(type="log", domain=_LOCAL_DOMAIN, nice=False)
        .axis(minExtent=EXTENT, maxExtent=EXTENT, format=",", values=[10**n for n in range(5)])
    )
    colour = alt.Color("way:N").scale(domain=ways, range=[PALETTE[4], ORANGE, GREY, PALETTE[3], BLUE]).legend(None)
    at = (alt.X("n:Q").title("tokens n").scale(type="log", base=2), y, colour)
    tip = [alt.Tooltip("way:N"), alt.Tooltip("n:Q"), alt.Tooltip("value:Q", format=".4~g")]
    title = alt.Title(
        title_of("what", dict(zip(_MEASURES, _LOCAL_TITLES, strict=True))),
        subtitle=f"{radius} places to each side; one thread",
        offset=26,
    )
    last = {way: [row for row in rows if row["way"] == way][-1] for way in ways}
    said = "; ".join(f"{way}: {row['ms']:.0f} ms at {row['n']:,} tokens" for way, row in last.items())
    return titled(
        alt.layer(
            *line_layers(base.encode(*at), tooltip=tip, line={"strokeWidth": None}, size=45, opacity=None),
            name_lines(base.encode(*at), "way", words=in_lines(ways, 16), **_beside_ends()),
            axis_title_from("what"),
        ),
        menu("what", list(_MEASURES), label="shown"),
        height=280,
        title=title,
        description=f"Processor time of one layer. {said}.",
    )


def _beside_ends() -> dict[str, Any]:
    """Where the names of `local_chart` are, for `name_lines`."""

    def of(column: int, else_: str) -> Any:
        return alt.ExprRef(
            f"({json.dumps({k: v[column] for k, v in _EARLY.items()})})[what + ': ' + datum.way] || {else_}"
        )

    return {"align": of(0, "'left'"), "dx": of(1, "6"), "dy": of(2, "0")}


def reach_chart(table: pd.DataFrame, radius: int) -> alt.LayerChart:
    """Which places answer to the first one, layer by layer.

    Parameters
    ----------
    table
        Columns `layer`, `place` (from 0) and `effect`, the size of the derivative; zero where there is no path.
    radius
        For the title and for the line of the furthest place.
    """
    shown = table[table["effect"] > 0]
    layers = sorted(table["layer"].unique())
    places = int(table["place"].max())
    cells = (
        alt.Chart(shown)
        .mark_rect()
        .encode(
            alt.X("place:Q").bin(maxbins=places + 1, binned=True).title("place in the sequence"),
            x2="end:Q",
            y=alt.Y("layer:O").title("layers"),
            color=alt.Color("effect:Q")
            .scale(type="log", scheme="blues", domain=[1e-7, 3], clamp=True)
            .title("size of the derivative")
            .legend(gradientLength=160, format=".0e", tickCount=4, titleLimit=200),
            tooltip=["layer:O", "place:Q", alt.Tooltip("effect:Q", format=".1e")],
        )
        .transform_calculate(end="datum.place + 1")
    )
    edge = pd.DataFrame({"layer": layers, "limit": [min(places, n * radius) + 1 for n in layers]})
    line = alt.Chart(edge).mark_tick(color=ORANGE, thickness=3, size=22).encode(x="limit:Q", y="layer:O")
    title = alt.Title(
        f"Each layer carries the first token {radius} places further",
        subtitle=["orange: how far the layers reach", "blank: no path, derivative zero"],
    )
    return titled(
        alt.layer(cells, line),
        height=alt.Step(26),
        title=title,
        description=f"After n layers the first place has an effect up to place {radius} n and none beyond.",
    )


def drafts_chart(rows: Sequence[Mapping[str, Any]]) -> alt.LayerChart:
    """What each draft gains over the number of guesses: tokens per pass, or speed; a menu chooses which.

    Two lines can lie on each other. So each has its name and its last value beside it.
    """
    found = pd.DataFrame([row for row in rows if row["block"] > 0])
    found["gain"] = found["steps"] / found["passes"]
    found["speed"] = next(row["ms"] for row in rows if row["block"] == 0) / found["ms"]  # the same loop, no guesses
    table = found.melt(["draft", "block"], list(_SPEEDS.values()), "key", "value")
    table["measure"] = table["key"].map({key: name for name, key in _SPEEDS.items()})
    names, most = list(dict.fromkeys(found["draft"])), found["block"].max()
    y = alt.Y("value:Q").title(None).axis(minExtent=EXTENT, maxExtent=EXTENT)
    colour = alt.Color("draft:N").scale(domain=names, range=[BLUE, ORANGE, PALETTE[3], GREY, PALETTE[4]]).legend(None)
    dashes = alt.StrokeDash("draft:N").scale(domain=names, range=[[1, 0]] * (len(names) - 1) + [[6, 6]]).legend(None)
    x = alt.X("block:Q").title("guesses before each pass, k").axis(values=sorted(found["block"].unique()))
    base = alt.Chart(table).transform_filter("datum.measure == gained").encode(x.scale(nice=False), y, colour)
    tip = [alt.Tooltip("draft:N"), alt.Tooltip("block:Q"), alt.Tooltip("value:Q", format=".2f")]
    best = {name: found[found["draft"] == name]["gain"].max() for name in names}
    said = "; ".join(f"{name} {gain:.2f}" for name, gain in best.items())
    title = alt.Title(
        title_of("gained", dict(zip(_SPEEDS, _DRAFT_TITLES, strict=True))),
        subtitle=f"without guesses: 1; the numbers hold for {most} guesses",
        offset=26,
    )
    return titled(
        alt.layer(
            *line_layers(base, dash=dashes, tooltip=tip, line={"strokeWidth": None}, size=55, opacity=None),
            name_lines(base, "draft", words="datum.draft + ' ' + format(datum.name_value, '.2f')"),
            axis_title_from("gained"),
        ),
        menu("gained", list(_SPEEDS), label="shown"),
        height=280,
        title=title,
        description=f"Most tokens per pass: {said}.",
    )


def marginals_chart(
    marginals: Sequence[Sequence[float]], source: Sequence[str], letters: Sequence[str]
) -> alt.LayerChart:
    """The distribution of each place of a parallel model, for one source that has two right targets.

    Parameters
    ----------
    marginals
        Probabilities `[T, letters]`.
    source
        The letters of the source, in its order.
    letters
        Names of the columns of `marginals`.
    """
    rows: list[dict[str, Any]] = [
        {"place": f"place {t + 1}", "letter": letter, "p": p, "text": f"{p:.2f}"}
        for t, row in enumerate(marginals)
        for letter, p in zip(letters, row, strict=True)
        if letter in source
    ]
    table = pd.DataFrame(rows)
    base = alt.Chart(table).encode(
        alt.X("letter:N").sort(list(source)).title(f"letters of the source, {' '.join(source)}").axis(labelAngle=0),
        alt.Y("place:N").title(None),
    )
    shade = alt.Color("p:Q").scale(domain=[0, 1], scheme="blues").title("probability").legend(gradientLength=120)
    number = alt.condition("datum.p > 0.6", alt.value("white"), alt.value("#1a1a1a"))
    cells = labelled_cells(base, "text:N", cell={"color": shade}, label={"color": number}, fontSize=14)
    said = "; ".join(f"{row['place']} {row['letter']} {row['text']}" for row in rows if row["p"] > 0.1)
    return titled(
        alt.layer(*cells),
        height=alt.Step(34),
        title="Two letters share each place, and no place knows the others' choice",
        description=f"{said}.",
    )

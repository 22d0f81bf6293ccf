"""Charts of searches: a tree that stands still, rankings under the length penalty, and beams of many sizes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from annotated.data.tokenizer import Tokenizer
from annotated.decoding import Hypothesis, length_penalty
from annotated_book.decoding.beam_search.search_tree import Node, SearchTree
from annotated_book.viz.channels import colour_by, dash_by, shape_by, x_axis, y_axis
from annotated_book.viz.end_labels import name_lines
from annotated_book.viz.forms import line_layers, titled
from annotated_book.viz.parameters import menu, slider
from annotated_book.viz.theme import BLUE, GREEN, GREY, INK, ORANGE

FATES = {
    "alive": (BLUE, "circle"),
    "finished": (GREEN, "square"),
    "evicted": (ORANGE, "square"),
    "cap": (GREY, "diamond"),
}

_DASHES = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3])
"""Solid, dashed, dotted, dots and dashes: lines that are told apart without their colours."""


def tree_rows(nodes: Sequence[Node], first: Collection[int] = ()) -> dict[int, int]:
    """A row for each node of a tree that grows to the right without crossing lines: best children beside mothers.

    Parameters
    ----------
    nodes
        With their parents; a node whose parent is not among them is left out.
    first
        Nodes that go before their siblings, better ones or not.
    """
    children: dict[int | None, list[Node]] = {}
    for node in nodes:
        children.setdefault(node.parent, []).append(node)
    for siblings in children.values():
        siblings.sort(key=lambda node: (node.id not in first, -node.log_probability))
    free: dict[int, int] = {}
    rows: dict[int, int] = {}

    def place(node: Node, low: int) -> None:
        line = [node]
        while line[-1].id in children:
            line.append(children[line[-1].id][0])
        row = max(low, *(free.get(n.step, 0) for n in line))
        for n in line:
            rows[n.id], free[n.step] = row, row + 1
        for n in reversed(line):
            for other in children.get(n.id, [])[1:]:
                place(other, row + 1)

    for root in children.get(None, []):
        place(root, 0)
    return rows


def search_tree_chart(tree: SearchTree, tokenizer: Tokenizer) -> alt.LayerChart:
    """The hypotheses of one search that were kept, from left to right; what was pruned is left out.

    Parameters
    ----------
    tree
        From `record_search`.
    """
    best, table = tree.hypotheses[0], _kept_nodes(tree, tokenizer)
    names, lowest, span = list(FATES), int(table["row"].max()), [0.5, int(table["step"].max()) + 0.5]
    base = alt.Chart(table).encode(
        x=x_axis("step:Q", "step", tickMinStep=1, grid=False, nice=False, zero=False, domain=span),
        y=y_axis("row:Q", axis=None, nice=False, domain=[lowest + 0.7, -0.8]),
    )
    legend = alt.Legend()
    color = colour_by("fate:N", names, [c for c, _ in FATES.values()], legend=legend)
    shape = shape_by("fate:N", names, [s for _, s in FATES.values()], legend=legend)
    tips = ["token:N", "step:Q", "log p:Q", "score:Q", "fate:N"]
    words = base.transform_filter("datum.step % 2 == 1"), base.transform_filter("datum.step % 2 == 0")
    named = [  # neighbours above and below their points, so that they fit on a phone
        words[even].mark_text(dy=(-11, 14)[even], fontSize=11, color=INK).encode(text="token:N") for even in (0, 1)
    ]
    links = base.transform_filter("datum.x2 > 0").mark_rule(color=GREY, opacity=0.6).encode(x2="x2:Q", y2="y2:Q")
    points = base.mark_point(filled=True, size=55, opacity=1).encode(color=color, shape=shape, tooltip=tips)
    return titled(
        alt.layer(links, points, *named),
        height=40 * (1 + lowest),
        description=f"The tree of a beam search with beam size {tree.beam_size} and alpha {tree.alpha:g}, one column "
        f"per step, without what was pruned. It returns {len(tree.hypotheses)} hypotheses, the best of them "
        f"“{tokenizer.decode(best.tokens)}”.",
    )


def _kept_nodes(tree: SearchTree, tokenizer: Tokenizer) -> pd.DataFrame:
    """A row for each node that was not pruned: its token as text, step and row, and its parent's place x2, y2."""
    kept = [node for node in tree.nodes if node.fate != "pruned"]
    rows = tree_rows(kept, _winning_path(tree, kept))
    table = pd.DataFrame(
        {"token": _written(node, tokenizer), "step": node.step, "row": rows[node.id], "fate": node.fate,
         "log p": node.log_probability, "score": node.score,
         "y2": rows[node.id if node.parent is None else node.parent]}
        for node in kept
    )  # fmt: skip
    roots = [node.parent is None for node in kept]
    return table.assign(x2=(table["step"] - 1).mask(roots, 0)).round({"log p": 3, "score": 3})


def _winning_path(tree: SearchTree, kept: Sequence[Node]) -> set[int]:
    """The nodes that lead to the best hypothesis."""
    tokens = tree.hypotheses[0].tokens
    ends = [node for node in kept if node.fate != "alive" and tokens == tree.path(node.id)[: len(tokens)]]
    found, here = set(), ends[0].id if ends else None
    while here is not None:
        found.add(here)
        here = tree.nodes[here].parent
    return found


def _written(node: Node, tokenizer: Tokenizer) -> str:
    """A node's token, with a hyphen before a piece that continues a word."""
    token = "end" if node.fate in ("finished", "evicted") else tokenizer.tokens([node.token])[0]
    whole = node.step == 1 or token == "end" or not token[0].isalnum()
    return token[1:] if token.startswith("▁") else token if whole else f"-{token}"


def alpha_chart(
    hypotheses: Sequence[Hypothesis],
    texts: Sequence[str],
    top: float = 2.0,
    title: str = "Where lines cross, the ranking changes",
) -> alt.LayerChart:
    """How far each hypothesis is behind the winner, for every alpha; where two lines cross, the ranking changes.

    Parameters
    ----------
    hypotheses
        Finished ones of one sentence.
    texts
        What to call them.
    top
        The largest alpha.
    title
        What these hypotheses show.

    Raises
    ------
    ValueError
        If there are not as many texts as hypotheses.
    """
    if len(hypotheses) != len(texts):
        raise ValueError(f"{len(texts)} texts for {len(hypotheses)} hypotheses: one of each is needed")
    named = pd.DataFrame({
        "text": list(texts), "tokens": [h.steps for h in hypotheses],
        "log_probability": [h.log_probability for h in hypotheses],
    })  # fmt: skip
    table = pd.DataFrame({"alpha": np.linspace(0, top, 41).round(3)}).merge(named, how="cross")
    penalty = [length_penalty(*one) for one in zip(table["tokens"], table["alpha"], strict=True)]
    table["score"] = table.pop("log_probability") / penalty
    table["behind"] = table["score"] - table.groupby("alpha")["score"].transform("max")
    legend = alt.Legend(title="translation", columns=1, labelLimit=330, symbolType="stroke")
    dashes = [_DASHES[number % len(_DASHES)] for number in range(len(texts))]
    room = round(-0.12 * float(table["behind"].min()), 3)  # above the winner, for its score
    base = alt.Chart(table.round({"behind": 4, "score": 4})).encode(
        x=alt.X("alpha:Q", title="alpha"),
        y=y_axis("behind:Q", "score minus the best score", domainMax=room, nice=False),
        color=colour_by("text:N", texts, legend=legend),
        strokeDash=dash_by("text:N", texts, dashes, legend=alt.Legend(title="translation")),
    )
    chosen = slider("alpha_shown", 0.6, 0.0, top, 0.05, "alpha")
    here = base.transform_filter("abs(datum.alpha - alpha_shown) < 0.001").add_params(chosen)
    return titled(
        alt.layer(
            base.mark_line(strokeWidth=2),
            here.mark_point(filled=True, size=70, opacity=1).encode(
                tooltip=["text:N", "tokens:Q", alt.Tooltip("score:Q", format=".3f")]
            ),
            here.transform_filter("datum.behind == 0")
            .mark_text(dy=-10, fontSize=12, align=alt.ExprRef(f"alpha_shown > {0.9 * top:g} ? 'right' : 'center'"))
            .transform_calculate(words="'best score ' + format(datum.score, '.2f')")
            .encode(text="words:N"),
        ),
        height=260,
        title=title,
        description=f"For alpha from 0 to {top:g}, how far each of {len(texts)} hypotheses of one sentence scores "
        "behind the best of them. The line at zero is the winner. Where lines cross, the ranking changes.",
    )


def beam_sizes_chart(sizes: Mapping[str, Sequence[Mapping[str, Any]]]) -> alt.VConcatChart:
    """Log-probability, BLEU and length for beams of many sizes: a menu of models, a line for each alpha.

    Parameters
    ----------
    sizes
        For each model the rows of `annotated_book.decoding.beam_search.beam_sizes`.
    """
    models = list(sizes)
    table = pd.concat([pd.DataFrame(sizes[model]).assign(model=model) for model in models], ignore_index=True)
    table = table.drop(columns="statistics", errors="ignore").assign(line=table["alpha"].map("alpha {:g}".format))
    lines = sorted(table["line"].unique().tolist())
    charts: list[alt.LayerChart] = []
    measures = {"log_probability": "mean log-probability", "bleu": "BLEU", "length_ratio": "relative length"}
    for number, (name, title) in enumerate(measures.items()):
        base = (
            alt.Chart(table)
            .transform_filter("datum.model == model")
            .encode(
                x=x_axis("beam:O", "beam size (hypotheses)" if number == 2 else None, labelAngle=0),
                y=y_axis(f"{name}:Q", title, zero=False),
                color=colour_by("line:N", lines),
                strokeDash=dash_by("line:N", lines),
                shape=shape_by("line:N", lines),
                tooltip=["line:N", "beam:O", "bleu:Q", "log_probability:Q", "length_ratio:Q", "very_short:Q"],
            )
        )
        if not number:
            base = base.add_params(menu("model", models))
        names = [name_lines(base, "line", scale=None)] if name == "bleu" else []  # where the ends are apart
        charts.append(
            alt.layer(*line_layers(base, size=55), *names).properties(width=440, height=170 if name == "bleu" else 130)
        )
    return titled(
        alt.vconcat(*charts),
        title="Wider beams: more probable, shorter, and with 40 a lower BLEU",
        description=f"Three curves over the beam size for {len(models)} models ({', '.join(models)}) and "
        f"{len(lines)} alphas: the mean log-probability of what the search returns rises with the beam, its length "
        "falls, and BLEU peaks at a small beam and falls when alpha is zero.",
        usermeta={"fit": True},
    )

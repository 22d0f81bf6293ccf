"""Charts of searches: a tree that stands still, rankings under the length penalty, and beams of many sizes.

Paper: section 6.1
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import altair as alt

from annotated.data.tokenizer import Tokenizer
from annotated.decoding import Hypothesis, Node, SearchTree, length_penalty
from annotated.viz.theme import BLUE, GREEN, GREY, INK, ORANGE, PALETTE, slider

FATES = {
    "alive": (BLUE, "circle"),
    "finished": (GREEN, "square"),
    "evicted": (ORANGE, "square"),
    "cap": (GREY, "diamond"),
}


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

    Paper: section 6.1
    """
    kept = [node for node in tree.nodes if node.fate != "pruned"]
    best = tree.hypotheses[0]
    ends = [node for node in kept if node.fate != "alive" and best.tokens == tree.path(node.id)[: len(best.tokens)]]
    winner, here = set(), ends[0].id if ends else None
    while here is not None:
        winner.add(here)
        here = tree.nodes[here].parent
    rows, places = tree_rows(kept, winner), []
    for node in kept:
        token = "end" if node.fate in ("finished", "evicted") else tokenizer.tokens([node.token])[0]
        step, row = (node.step - 1, rows[node.parent]) if node.parent is not None else (0, rows[node.id])
        whole = node.step == 1 or token == "end" or not token[0].isalnum()  # else a piece that continues a word
        text = token[1:] if token.startswith("▁") else token if whole else f"-{token}"
        places.append(
            {
                "token": text,
                "step": node.step,
                "row": rows[node.id],
                "x2": step,
                "y2": row,
                "fate": node.fate,
                "log p": round(node.log_probability, 3),
                "score": round(node.score, 3),
            }
        )
    names = list(FATES)
    base = alt.Chart(alt.Data(values=places)).encode(
        x=alt.X(
            "step:Q",
            title="step",
            axis=alt.Axis(tickMinStep=1, grid=False),
            scale=alt.Scale(nice=False, zero=False, domain=[0.5, max(node.step for node in kept) + 0.5]),
        ),
        y=alt.Y("row:Q", axis=None, scale=alt.Scale(nice=False, domain=[max(rows.values()) + 0.7, -0.8])),
    )
    color = alt.Color("fate:N", scale=alt.Scale(domain=names, range=[c for c, _ in FATES.values()]))
    shape = alt.Shape("fate:N", scale=alt.Scale(domain=names, range=[s for _, s in FATES.values()]))
    tips = ["token:N", "step:Q", "log p:Q", "score:Q", "fate:N"]
    words = base.transform_filter("datum.step % 2 == 1"), base.transform_filter("datum.step % 2 == 0")
    return alt.layer(
        base.transform_filter("datum.x2 > 0").mark_rule(color=GREY, opacity=0.6).encode(x2="x2:Q", y2="y2:Q"),
        base.mark_point(filled=True, size=55, opacity=1).encode(color=color, shape=shape, tooltip=tips),
        *(  # neighbours above and below their points, so that they fit on a phone
            words[even].mark_text(dy=(-11, 14)[even], fontSize=11, color=INK).encode(text="token:N") for even in (0, 1)
        ),
    ).properties(
        width="container",
        height=40 * (1 + max(rows.values())),
        description=(
            f"The tree of a beam search with beam size {tree.beam_size} and alpha {tree.alpha:g}, one column a step, "
            f"without what was pruned. It returns {len(tree.hypotheses)} hypotheses, the best of them "
            f"“{tokenizer.decode(best.tokens)}”."
        ),
    )


def alpha_chart(hypotheses: Sequence[Hypothesis], texts: Sequence[str], top: float = 2.0) -> alt.LayerChart:
    """How far each hypothesis is behind the winner, for every alpha; where two lines cross, the ranking changes.

    Parameters
    ----------
    hypotheses
        Finished ones of one sentence.
    texts
        What to call them.
    top
        The largest alpha.

    Raises
    ------
    ValueError
        If there are not as many texts as hypotheses.

    Paper: section 6.1
    """
    alphas = [round(top * i / 40, 3) for i in range(41)]
    rows: list[dict[str, Any]] = []
    for alpha in alphas:
        scores = [h.log_probability / length_penalty(h.steps, alpha) for h in hypotheses]
        for h, text, score in zip(hypotheses, texts, scores, strict=True):
            gap = round(score - max(scores), 4)
            rows.append({"alpha": alpha, "text": text, "behind": gap, "score": round(score, 4), "symbols": h.steps})
    scale = {"domain": list(texts)}
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("alpha:Q", title="alpha"),
        y=alt.Y("behind:Q", title="score less the best score"),
        color=alt.Color(
            "text:N",
            scale=alt.Scale(**scale, range=list(PALETTE[: len(texts)])),
            legend=alt.Legend(columns=1, labelLimit=330, symbolType="stroke"),
        ),
        strokeDash=alt.StrokeDash("text:N", scale=alt.Scale(**scale)),
    )
    chosen = slider("alpha_shown", 0.6, 0.0, top, 0.05, "alpha")
    here = base.transform_filter("abs(datum.alpha - alpha_shown) < 0.001").add_params(chosen)
    return alt.layer(
        base.mark_line(strokeWidth=2),
        here.mark_point(filled=True, size=70, opacity=1).encode(
            tooltip=["text:N", "symbols:Q", alt.Tooltip("score:Q", format=".3f")]
        ),
        here.transform_filter("datum.behind == 0")
        .mark_text(dy=-10, fontSize=11)
        .encode(text=alt.Text("score:Q", format=".2f")),
    ).properties(
        width="container",
        height=260,
        description=(
            f"For alpha from 0 to {top:g}, how far each of {len(texts)} hypotheses of one sentence scores behind the "
            "best of them. The line at zero is the winner. Longer hypotheses gain as alpha grows, and lines cross."
        ),
    )


def beam_sizes_chart(sizes: Mapping[str, Sequence[Mapping[str, Any]]]) -> alt.VConcatChart:
    """Log-probability, BLEU and length for beams of many sizes: a model for each column of dots, a line for each alpha.

    Parameters
    ----------
    sizes
        For each model the rows of `annotated.chapters.beam_search.beam_sizes`.

    Paper: section 6.1
    """
    rows = [
        {**row, "model": model, "line": f"alpha {row['alpha']:g}"} for model, table in sizes.items() for row in table
    ]
    models = list(sizes)
    menu = alt.param(name="model", value=models[0], bind=alt.binding_select(options=models, name="model "))
    lines = sorted({row["line"] for row in rows})
    charts = []
    measures = (
        ("log_probability", "mean log-probability"),
        ("bleu", "BLEU"),
        ("length_ratio", "length / reference's length"),
    )
    for number, (name, title) in enumerate(measures):
        base = (
            alt.Chart(alt.Data(values=rows))
            .transform_filter("datum.model == model")
            .encode(
                x=alt.X("beam:O", title="beam size" if number == 2 else None, axis=alt.Axis(labelAngle=0)),
                y=alt.Y(f"{name}:Q", title=title, scale=alt.Scale(zero=False)),
                color=alt.Color("line:N", sort=lines, scale=alt.Scale(domain=lines, range=list(PALETTE[: len(lines)]))),
                strokeDash=alt.StrokeDash("line:N", sort=lines, scale=alt.Scale(domain=lines)),
                shape=alt.Shape("line:N", sort=lines, scale=alt.Scale(domain=lines)),
                tooltip=["line:N", "beam:O", "bleu:Q", "log_probability:Q", "length_ratio:Q", "very_short:Q"],
            )
        )
        if not number:
            base = base.add_params(menu)
        charts.append(
            alt.layer(base.mark_line(strokeWidth=2), base.mark_point(filled=True, size=55, opacity=1)).properties(
                width=440, height=130
            )
        )
    return alt.vconcat(*charts).properties(
        usermeta={"fit": True},
        description=(
            f"Three curves over the beam size for {len(models)} models ({', '.join(models)}) and {len(lines)} alphas: "
            "the mean log-probability of what the search returns rises with the beam, its length falls, and BLEU "
            "peaks at a small beam and falls when alpha is zero."
        ),
    )

"""Feed-forward networks of the encoder silenced in every combination: what the loss and right tokens' leads say."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from itertools import combinations

import altair as alt
import pandas as pd
import torch

from annotated.analysis.feed_forward import silenced, sub_layers
from annotated.config import BOS, EOS, PAD
from annotated.data import Tokenizer, pad
from annotated.model import Transformer
from annotated_book.viz.channels import x_axis
from annotated_book.viz.forms import titled
from annotated_book.viz.parameters import menu
from annotated_book.viz.theme import ORANGE

MEASURES = {"rise": "loss (nats per token)", "lead lost": "lead (logits)"}
"""Columns of the table, with their names in the chart's menu."""


@torch.no_grad()
def rises_without(model: Transformer, tokenizer: Tokenizer, pairs: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """For each set of silenced networks of the encoder: by how much the loss rises, and by how much leads fall.

    A right token's lead is its logit minus the largest of the others'. Both are means over all target tokens, with
    teacher forcing.

    Returns
    -------
    DataFrame
        'off', such as "1, 3"; 'count'; 'rise' and 'lead lost'; and as 'rise, sum' and 'lead lost, sum' what the same
        networks cost alone, added up.
    """
    sources = pad([[*tokenizer.encode(source), EOS] for source, _ in pairs])
    targets = [tokenizer.encode(target) for _, target in pairs]
    read, wanted = pad([[BOS, *ids] for ids in targets]), pad([[*ids, EOS] for ids in targets])
    real = wanted != PAD
    right = wanted[real].unsqueeze(1)
    networks = [m for stack, _, kind, m in sub_layers(model) if (stack, kind) == ("encoder", "feed-forward")]

    def measured(off: Sequence[int]) -> tuple[float, float]:
        with ExitStack() as stack:
            for i in off:
                stack.enter_context(silenced(networks[i]))
            logits = model.eval()(sources, read)[real]
        others = logits.scatter(1, right, -torch.inf).amax(1)
        loss = -logits.log_softmax(-1).gather(1, right).mean()
        return float(loss), float((logits.gather(1, right).squeeze(1) - others).mean())

    loss, lead = measured(())
    rows, alone = [], {}
    for count in range(1, len(networks) + 1):
        for off in combinations(range(len(networks)), count):
            found = measured(off)
            cost = {"rise": found[0] - loss, "lead lost": lead - found[1]}
            if count == 1:
                alone[off[0]] = cost
            sums = {f"{name}, sum": sum(alone[i][name] for i in off) for name in cost}
            rows.append({"off": ", ".join(str(i + 1) for i in off), "count": count, **cost, **sums})
    return pd.DataFrame(rows)


def subsets_chart(table: pd.DataFrame) -> alt.LayerChart:
    """Bars of what each set of silenced networks costs, a tick where the single costs add up to.

    Parameters
    ----------
    table
        As `rises_without` makes it.
    """
    tidy = pd.concat(
        table.assign(measure=label, cost=table[name].round(4), sum=table[f"{name}, sum"].round(4))
        for name, label in MEASURES.items()
    )[["off", "measure", "cost", "sum"]]
    labels, last = list(MEASURES.values()), table.iloc[-1]
    base = alt.Chart(tidy).transform_filter("datum.measure == measure")
    y = alt.Y("off:N", sort=table["off"].tolist(), title="networks off")
    x = x_axis("cost:Q", "rise of the loss, or fall of the lead")
    tooltip = [
        "off:N",
        alt.Tooltip("cost:Q", format=".3f"),
        alt.Tooltip("sum:Q", format=".3f", title="sum of single costs"),
    ]
    bars = base.mark_bar(height=18, color=ORANGE).encode(x=x, y=y, tooltip=tooltip)
    sums = base.mark_tick(thickness=3, height=26, color="currentColor").encode(x=alt.X("sum:Q"), y=y, tooltip=tooltip)
    figures = base.mark_text(align="left", dx=6, fontSize=12).encode(x=x, y=y, text=alt.Text("cost:Q", format=".2f"))
    return titled(
        alt.layer(bars, sums, figures),
        menu("measure", labels, label="measure"),
        height=alt.Step(32),
        title="Silenced together, the encoder's networks cost more than one by one",
        description="Bars of what is lost when some of the encoder's three feed-forward networks are silenced, for all "
        "seven sets of them, with a tick where the costs of the single ones add up to, and a menu for the measure. "
        f"All three together raise the loss by {last['rise']:.2f} nats; the single rises add up to "
        f"{last['rise, sum']:.3f}.",
    )

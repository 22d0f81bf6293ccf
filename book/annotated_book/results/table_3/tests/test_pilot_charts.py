"""The pilot's chart: both rows and their difference at every size, from sizes made by hand."""

from __future__ import annotations

import json
from typing import Any

from annotated_book.results.table_3.pilot_charts import SHOWN, pilot_chart, pilot_table, pilot_title

FIRST = "width 64, post-norm, 20 × 512"
LAST = "width 32, pre-norm, 3,000 × 1,024"


def size(
    divisor: int, norm: str, updates: int, tokens: int, base: list[list[float]], shallow: list[list[float]]
) -> Any:
    rows = [{"row": row, "seeds": list(range(len(curves))), "curves": curves, "updates": [updates // 2, updates]}
            for row, curves in (("base", base), ("C1", shallow))]  # fmt: skip
    about = {"divisor": divisor, "norm": norm, "updates": updates, "batch_tokens": tokens}
    return {"size": about, "rows": rows}


SIZES = [
    size(8, "post", 20, 512, [[7.0, 6.0]], [[6.5, 5.0]]),
    size(16, "pre", 3000, 1024, [[5.0, 4.0], [5.0, 4.1]], [[4.75, 4.25], [4.9, 4.2]]),
]


def test_the_table_has_both_losses_and_their_difference() -> None:
    table = pilot_table(SIZES).set_index(["size", "seed", "share", "line"])["value"]
    assert table[LAST, "1", 100, "N = 2"] == 4.2 and table[LAST, "1", 100, "base"] == 4.1
    assert table[LAST, "1", 100, "N = 2 less base"] == 0.1 and table[FIRST, "0", 50, "N = 2 less base"] == -0.5
    assert len(table) == 6 + 12


def test_a_title_says_who_is_ahead_for_how_long() -> None:
    table = pilot_table(SIZES)
    assert pilot_title(table, FIRST).replace("\u00a0", " ") == "N = 2 is ahead at all 2 points"
    assert pilot_title(table, LAST).replace("\u00a0", " ") == (
        "N = 2 is ahead with every seed at 1 of 2 points, and base at the end"
    )


def test_the_menus_have_every_size_and_both_views() -> None:
    spec = pilot_chart(SIZES).to_dict()
    menus = {one["name"]: one for one in spec["params"]}
    assert menus["size"]["bind"]["options"] == [FIRST, LAST] and menus["size"]["value"] == LAST
    assert set(menus) == {"size", "shown"} and menus["shown"]["bind"]["options"] == list(SHOWN)
    titles = json.loads(spec["title"]["text"]["expr"].removesuffix("[size]"))
    assert set(titles) == {FIRST, LAST} and titles[FIRST] != titles[LAST]
    assert len(spec["data"]["values"]) == 18, "the layers share one table"

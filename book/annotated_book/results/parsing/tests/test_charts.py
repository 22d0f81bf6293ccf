"""Tables and charts of parsing hold what both records say, and Table 4 as the paper has it."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest

from annotated import paper
from annotated_book.results.parsing.charts import brackets_chart, caps_chart, lengths_chart, sizes_chart, table_4_chart
from annotated_book.results.parsing.detail_charts import attachments_chart, labels_chart
from annotated_book.results.parsing.results import (
    attachment_table,
    detail_table,
    fault_table,
    score_table,
    silver_table,
)
from annotated_book.results.parsing.titles import (
    attachments_title,
    behind,
    choice,
    labels_title,
    lengths_title,
    sizes_title,
)


def scores(f1: float, faults: dict[str, int] | None = None) -> dict[str, Any]:
    same = {"f1": f1, "precision": f1, "recall": f1, "exact": f1 - 30, "malformed": sum((faults or {}).values()) / 10}
    return {**same, "faults": faults or {}}


def run(trees: Any, seed: int, f1: float) -> dict[str, Any]:
    found = {
        "sentences": 1000,
        "well_formed": scores(f1),
        "free": scores(f1 - 2, {"unclosed": 3, "words": seed}),
        "by_label": [{"label": "NP", "in_gold": 10, "f1": f1}, {"label": "PRT", "in_gold": 2, "f1": 0.0}],
        "by_length": [
            {"words": 4, "sentences": 5, "in_gold": 30, "f1": f1},
            {"words": 8, "sentences": 7, "in_gold": 60, "f1": f1 - 1},
        ],
    }
    greedy = {"sentences": found, "combinations": {**found, "well_formed": scores(f1 - 5)}}
    return {"trees": trees, "seed": seed, "greedy": greedy, "attachments": {"NP": 40.0, "VP": 60.0}}


@pytest.fixture
def records() -> tuple[dict[str, Any], dict[str, Any]]:
    silver = {**run(1500, 0, 75.0), "gold": 500}
    ours = {"runs": {"gold500-0": run(500, 0, 70.0), "gold500-1": run(500, 1, 72.0), "gold2000-0": run(2000, 0, 90.0)}}
    ours["runs"]["silver1500-0"] = silver
    base = {"parser": "CKY", "sentences": 500}
    row = {"set": "sentences", **base, "f1": 85.0, "precision": 85.0, "recall": 85.0, "exact": 50.0, "malformed": 0.1}
    cky = {
        "sizes": [row],
        "by_label": [{**base, "label": "NP", "in_gold": 10, "f1": 88.0}],
        "by_length": [{**base, "words": 4, "cases": 5, "in_gold": 30, "f1": 91.0}],
        "attachments": [{**base, "kind": "VP", "right": 100.0}],
    }
    return ours, cky


def data_of(chart: Any) -> list[dict[str, Any]]:
    """The rows of all data of a chart, each once."""
    found: list[dict[str, Any]] = []

    def walk(spec: dict[str, Any]) -> None:
        found.extend(row for row in spec.get("data", {}).get("values", []) if row not in found)
        for layer in spec.get("layer", []):
            walk(layer)

    walk(chart.to_dict())
    return found


def test_tables_hold_what_the_records_say(records: tuple[dict[str, Any], dict[str, Any]]) -> None:
    table = score_table(*records)
    mean = table.groupby(["parser", "trees", "set"])["f1"].mean()
    assert mean["Transformer, rule", 500, "new sentences"] == 71 and mean["Transformer", 500, "new sentences"] == 69
    assert mean["Transformer, rule", 2000, "new constructions"] == 85 and mean["CKY", 500, "new sentences"] == 85
    labels = detail_table(*records, by="label")
    assert labels.query("label == 'NP' and trees == 500").set_index("parser")["f1"].to_dict() == {
        "Transformer, rule": 70.0,
        "CKY": 88.0,
    }
    classes = detail_table(*records, by="words")
    assert set(zip(classes["words"], classes["cases"], strict=True)) == {(4, 5), (8, 7)}, "sentences, not brackets"
    faults = fault_table(records[0]).set_index(["trees", "fault"])["count"]
    assert faults[500, "unclosed"] == 6 and faults[500, "words"] == 1 and faults[2000, "unclosed"] == 3
    silver = silver_table(*records).set_index(["parser", "gold", "silver"])
    assert silver.index.tolist() == [
        ("CKY", 500, 0),
        *(("Transformer, rule", *trees) for trees in ((500, 0), (500, 1000), (2000, 0))),
    ]
    assert silver["new sentences"].tolist() == [85.0, 71.0, 75.0, 90.0], "71 is the mean of 70 and 72"
    assert silver["new constructions"].tolist()[1:] == [66.0, 70.0, 85.0] and silver["VP"].tolist()[0] == 100.0
    attached = attachment_table(*records)
    said = "With 500 trees the Transformer has 40\u00a0% of the noun's phrases right, 60\u00a0% of the verb's"
    assert attachments_title(attached, 500) == said
    assert attached.query("parser == 'CKY'")["right"].tolist() == [100.0] and len(attached) == 7


def places(expression: str) -> tuple[list[str], list[list[list[int]]]]:
    """Names of the labels, and for each order and size the one at each place, from the axis of a chart."""
    decoder = json.JSONDecoder()
    names, end = decoder.raw_decode(expression)
    return names, decoder.raw_decode(expression[end + 1 :])[0]


def three_labels() -> pd.DataFrame:
    """The Transformer is 40 points behind on PP, 10 on NP, and ahead on VP."""
    f1 = {"NP": (80.0, 90.0), "VP": (95.0, 90.0), "PP": (40.0, 80.0)}
    return pd.DataFrame(
        [
            {"parser": parser, "trees": trees, "label": label, "cases": 30 - 10 * place, "f1": one}
            for trees in (500, 2000)
            for place, (label, both) in enumerate(f1.items())
            for parser, one in zip(("Transformer, rule", "CKY"), both, strict=True)
        ]
    )


def test_charts_hold_what_they_are_given(records: tuple[dict[str, Any], dict[str, Any]]) -> None:
    chart = sizes_chart(score_table(*records))
    values = {(row["parser"], row["trees"], row["seed"], row["set"]): row["value"] for row in data_of(chart)
              if row["measure"] == "F1"}  # fmt: skip
    assert values["Transformer, rule", 500, 1, "new sentences"] == 72 and values["CKY", 500, 0, "new sentences"] == 85
    spec = labels_chart(detail_table(*records, by="label"), 2000).to_dict()
    assert spec["params"][0]["value"] == 1 and "500 | 2000" in spec["params"][0]["bind"]["name"]
    names, orders = places(spec["encoding"]["y"]["axis"]["labelExpr"])
    assert names == ["NP (10)", "PRT (2)"]
    assert orders == [[[0, 1]] * 2, [[0, 1]] * 2], "without a grammar's F1 for PRT nobody is behind on it"
    rows = {(row["parser"], row["trees"], row["label"]): row for row in data_of(labels_chart(three_labels(), 500))}
    assert rows["Transformer, rule", 500, "PP"]["missed"] == 60
    assert [rows["CKY", 500, name]["often"] for name in ("NP", "VP", "PP")] == [0, 1, 2]
    assert [rows["CKY", 500, name]["lag"] for name in ("PP", "NP", "VP")] == [0, 1, 2], "the worst lag first"
    lengths = lengths_chart(detail_table(*records, by="words"), 500)
    assert len(data_of(lengths)) == 5
    names = lengths.to_dict()["layer"][0]["encoding"]["x"]["axis"]["labelExpr"]
    assert json.loads(names.removesuffix("[datum.value]")) == {"4": ["1\u20134", "(5)"], "8": ["5\u20138", "(7)"]}


def test_attachments_are_one_point_for_each_parser_and_size(records: tuple[dict[str, Any], dict[str, Any]]) -> None:
    records[1]["attachments"].append({**records[1]["attachments"][0], "kind": "NP", "right": 2.0})
    rows = {(row["parser"], row["trees"]): row for row in data_of(attachments_chart(attachment_table(*records)))
            if "parser" in row}  # fmt: skip
    assert (rows["CKY", 500]["NP"], rows["CKY", 500]["VP"]) == (2, 100) and len(rows) == 3
    assert (rows["Transformer, rule", 2000]["NP"], rows["Transformer, rule", 2000]["size"]) == (40, 1)


def test_titles_say_what_the_chosen_numbers_show(records: tuple[dict[str, Any], dict[str, Any]]) -> None:
    table = score_table(*records)
    assert sizes_title(table, "f1", "new sentences") == (
        "With 500 trees the grammar has the higher F1, with 2,000 the Transformer with the rule"
    )
    assert sizes_title(table, "f1", "new constructions") == (
        "With 500 trees and with 2,000 the Transformer without the rule has the higher F1"
    )
    assert sizes_title(table, "malformed", "new sentences").endswith("malformed with 500 trees, 0.3\u00a0% with 2,000")
    labels, classes = (detail_table(*records, by=by) for by in ("label", "words"))
    assert behind(labels, "label", 500, 10) == {"NP"} and behind(labels, "label", 500, 18) == set()  # 88 against 70
    assert labels_title(labels, 500).endswith("more than 10 points behind on NP (10)")
    assert labels_title(labels, 2000).endswith("on no label")
    assert lengths_title(classes, 500).endswith("in 1 of 2 classes of length"), "the shorter of two"
    shown = choice([labels_title(labels, n) for n in (500, 2000)], "size")
    by_step = json.loads(shown.to_dict()["expr"].removesuffix("[size]"))
    assert by_step == {str(step): labels_title(labels, n) for step, n in enumerate((500, 2000))}
    menus = choice({"F1": {"new": "one", "old": "two"}}, "measure", "set").to_dict()["expr"]
    assert menus == """{"F1: new": "one", "F1: old": "two"}[measure + ': ' + set]"""


def test_a_cap_cuts_off_what_is_longer() -> None:
    # 5 words: 9 tokens exceed 5 + 3, and 8 do not.
    chart = caps_chart([(5, 9), (5, 8), (5, 8), (2, 5)], extra=3)
    assert chart.to_dict()["title"]["text"] == "1.8 tokens for each word, and the cap grows by one"
    trees = {(row["words"], row["tokens"]): row["trees"] for row in data_of(chart) if "trees" in row}
    assert trees == {(5, 9): 1, (5, 8): 2, (2, 5): 1}


def test_the_head_that_looks_back_is_named() -> None:
    heads = [{"layer": 1, "head": 1, "writing": 0.1, "reading": 0.2, "chance": 0.05, "pairs": 9},
             {"layer": 2, "head": 3, "writing": 0.62, "reading": 0.1, "chance": 0.05, "pairs": 9}]  # fmt: skip
    assert brackets_chart(heads).to_dict()["title"]["text"].startswith("Head 3 of layer 2 puts 62")


def test_table_4_is_the_papers() -> None:
    rows = pd.DataFrame(data_of(table_4_chart()))
    assert len(rows) == 12 and sorted(rows["F1"]) == sorted(paper.table(4)["F1"])
    assert rows[rows["kind"] == "Transformer"].set_index("used")["F1"].to_dict() == {
        "WSJ alone": 91.3,
        "more text, parsed by machine": 92.7,
    }
    assert rows["used"].notna().all() and table_4_chart("all").to_dict()["params"][0]["value"] == "all"

"""Tables of both records, the Transformer's and the baseline's, in one form for the page's charts and tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import mean
from typing import Any

import pandas as pd

PARSERS = ("Transformer", "Transformer, rule", "CKY, parents", "CKY")
"""As the charts name them. The rule lets only well-formed brackets be written."""
SETS = {"sentences": "new sentences", "combinations": "new constructions", "attachments": "new attachments"}
"""Held-out sets: their names in the records and in the charts."""
_SCORES = ("f1", "precision", "recall", "exact", "malformed")


def _gold_runs(results: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    return (run for name, run in results["runs"].items() if name.startswith("gold"))


def score_table(transformer: Mapping[str, Any], baseline: Mapping[str, Any], search: str = "greedy") -> pd.DataFrame:
    """Scores of every parser: a row for each number of trees, seed and held-out set.

    Parameters
    ----------
    transformer, baseline
        The results of the records 'parsing' and 'parsing/baseline'.
    search
        'greedy', or 'beam' for the paper's, which only some runs have.

    Returns
    -------
    DataFrame
        Columns parser, trees, seed, set, and f1, precision, recall, exact, malformed in percent.
    """
    rows = []
    for run in _gold_runs(transformer):
        for name, found in run.get(search, {}).items():
            about = {"trees": run["trees"], "seed": run["seed"], "set": SETS[name]}
            for parser, way in (("Transformer", "free"), ("Transformer, rule", "well_formed")):
                rows.append({"parser": parser, **about, **{key: found[way][key] for key in _SCORES}})
    for row in baseline["sizes"]:
        about = {"trees": row["sentences"], "seed": 0, "set": SETS[row["set"]]}
        rows.append({"parser": row["parser"], **about, **{key: row[key] for key in _SCORES}})
    return pd.DataFrame(rows)


def detail_table(transformer: Mapping[str, Any], baseline: Mapping[str, Any], by: str) -> pd.DataFrame:
    """F1 of new sentences by label or by length, of the first seed: columns parser, trees, `by`, cases and f1.

    Parameters
    ----------
    by
        'label', or 'words': the most words of a class of sentence lengths.

    Returns
    -------
    DataFrame
        'cases' are constituents with the label, or sentences of the class.
    """
    key = {"label": "by_label", "words": "by_length"}[by]
    rows = []
    for run in _gold_runs(transformer):
        if run["seed"] == 0:
            for row in run["greedy"]["sentences"][key]:
                cases = row["in_gold" if by == "label" else "sentences"]
                rows.append({"parser": "Transformer, rule", "trees": run["trees"], "cases": cases, **row})
    for row in baseline[key]:  # 'sentences' are those of its training here
        rows.append({**row, "trees": row["sentences"], "cases": row["in_gold" if by == "label" else "cases"]})
    return pd.DataFrame(rows)[["parser", "trees", by, "cases", "f1"]]


def attachment_table(transformer: Mapping[str, Any], baseline: Mapping[str, Any]) -> pd.DataFrame:
    """Phrases that hang on the right kind of constituent, in percent: columns parser, trees, seed, kind and right."""
    rows = []
    for run in _gold_runs(transformer):
        for kind, right in run["attachments"].items():
            about = {"trees": run["trees"], "seed": run["seed"]}
            rows.append({"parser": "Transformer, rule", **about, "kind": kind, "right": right})
    for row in baseline["attachments"]:
        about = {"trees": row["sentences"], "seed": 0}
        rows.append({"parser": row["parser"], **about, "kind": row["kind"], "right": row["right"]})
    return pd.DataFrame(rows)


def silver_table(transformer: Mapping[str, Any], baseline: Mapping[str, Any]) -> pd.DataFrame:
    """A student of silver trees beside its teacher, and beside Transformers that had gold trees alone.

    Returns
    -------
    DataFrame
        Rows: the teacher; a Transformer of the teacher's trees; one of these and of silver trees; one of as many gold
        trees. Columns: parser, gold, silver, F1 of each held-out set by its name in the charts, and NP and VP: percent
        of the phrases of the noun and of the verb that are attached rightly. Means over seeds.
    """
    runs = {prefix: [run for name, run in transformer["runs"].items() if name.startswith(prefix)]
            for prefix in ("gold", "silver")}  # fmt: skip
    few, both = runs["silver"][0]["gold"], runs["silver"][0]["trees"]
    many = max(run["trees"] for run in runs["gold"])
    teacher = {SETS[row["set"]]: row["f1"] for row in baseline["sizes"] if _is_plain(row, few)}
    teacher |= {row["kind"]: row["right"] for row in baseline["attachments"] if _is_plain(row, few)}
    rows = [{"parser": "CKY", "gold": few, "silver": 0, **teacher}]
    for kind, trees, gold in (("gold", few, few), ("silver", both, few), ("gold", many, many)):
        found = [_one_row(run) for run in runs[kind] if run["trees"] == trees]
        about = {"parser": "Transformer, rule", "gold": gold, "silver": trees - gold}
        rows.append(about | {key: mean(one[key] for one in found) for key in found[0]})
    return pd.DataFrame(rows)


def _is_plain(row: Mapping[str, Any], trees: int) -> bool:
    return row["parser"] == "CKY" and row["sentences"] == trees


def _one_row(run: Mapping[str, Any]) -> dict[str, float]:
    scores = {SETS[name]: found["well_formed"]["f1"] for name, found in run["greedy"].items()}
    return scores | run["attachments"]


def fault_table(transformer: Mapping[str, Any]) -> pd.DataFrame:
    """Malformed outputs of greedy search without the rule on new sentences, summed over seeds: trees, fault, count."""
    counts: dict[tuple[int, str], int] = {}
    for run in _gold_runs(transformer):
        for fault, count in run["greedy"]["sentences"]["free"]["faults"].items():
            key = (run["trees"], fault)
            counts[key] = counts.get(key, 0) + count
    rows = [{"trees": trees, "fault": fault, "count": count} for (trees, fault), count in counts.items()]
    return pd.DataFrame(rows, columns=["trees", "fault", "count"])

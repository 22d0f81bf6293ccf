"""The baseline of the chapter: grammars read off 500 to 40,000 trees, plain and with parents, and a CKY parser."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from annotated.parsing import Grammar, Tree, bracket_score, parse, read_grammar, score_by_label, score_by_length
from annotated_book.results.parsing.data import SIZES, held_out_trees, training_trees
from annotated_book.results.parsing.scores import STEP, attachments

Row = dict[str, Any]


class Baseline(NamedTuple):
    """A grammar's name and memory, as `read_grammar` takes it."""

    name: str
    """As tables show it."""
    vertical: int
    """Labels that a constituent knows: its own, its parent's and so on upwards."""
    horizontal: int | None
    """Parts of a rule that its binary form remembers; all of them if None."""


BASELINES = (Baseline("CKY", 1, None), Baseline("CKY, parents", 2, None))
"""The plain treebank grammar, and the one whose constituents know the label above them."""


def scores(gold: Sequence[Tree], found: Sequence[Tree | None]) -> Row:
    """F1, precision, recall, exact matches and sentences without a tree, in percent."""
    score = bracket_score(gold, found)
    return {
        "f1": round(score.f1, 2),
        "precision": round(score.precision, 2),
        "recall": round(score.recall, 2),
        "exact": round(score.exact_match, 2),
        "malformed": round(100 * score.unparsable / max(1, score.sentences), 2),
    }


def measured(baseline: Baseline, train: Sequence[Tree], held_out: Mapping[str, Sequence[Tree]]) -> dict[str, list[Row]]:
    """One grammar on all held-out sets.

    Returns
    -------
    dict
        'sizes', rows of scores for each set; 'attachments', percent of phrases that hang on the right kind of phrase;
        'by_label' and 'by_length', of the set 'sentences'; 'grammar', a row about the grammar itself.
    """
    about = {"parser": baseline.name, "sentences": len(train)}
    start = time.process_time()
    grammar = read_grammar(train, baseline.vertical, baseline.horizontal)
    rows: dict[str, list[Row]] = {"sizes": [], "attachments": [], "by_label": [], "by_length": []}
    rows["grammar"] = [about | _about(grammar) | {"seconds": round(time.process_time() - start, 1)}]
    for name, gold in held_out.items():
        start = time.process_time()
        found = [parse(grammar, tree.words()) for tree in gold]
        taken = {"ms_sentence": round(1000 * (time.process_time() - start) / len(gold), 1)}
        rows["sizes"].append({"set": name, **about, **scores(gold, found), **taken})
        if name == "attachments":
            rows["attachments"] += [
                {**about, "kind": kind, "right": right} for kind, right in attachments(gold, found).items()
            ]
        if name == "sentences":
            lengths = score_by_length(gold, found, STEP).rename(columns={"sentences": "cases"})
            for key, table in (("label", score_by_label(gold, found)), ("length", lengths)):
                rows[f"by_{key}"] += [about | row for row in table.round(2).reset_index().to_dict("records")]
    return rows


def _about(grammar: Grammar) -> Row:
    counts = {"symbols": len(grammar.symbols), "rules": len(grammar.binary) + len(grammar.unary)}
    return counts | {"words": len(grammar.lexicon.known)}


def run(sizes: Sequence[int] = SIZES, held_out: int | None = None) -> dict[str, Any]:
    """Every grammar at every size, on the same held-out sentences."""
    trees = training_trees(max(sizes))
    gold = held_out_trees() if held_out is None else held_out_trees(held_out)
    found: dict[str, Any] = {"held_out": {name: len(one) for name, one in gold.items()}}
    for baseline in BASELINES:
        for size in sizes:
            for key, rows in measured(baseline, trees[:size], gold).items():
                found.setdefault(key, []).extend(rows)
    return found

"""Scores of a parser on held-out sentences: F1, exact trees, malformed outputs, attachments."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from annotated.config import DecodingConfig
from annotated.parsing import Tree, bracket_score, score_by_label, score_by_length
from annotated.parsing.parser import PAPERS, Parse, Parser

GREEDY = dataclasses.replace(PAPERS, beam_size=1)
"""Greedy search with the paper's cap."""
STEP = 4
"""Words in a class of sentence lengths: the classroom's are short."""


def attached_to(tree: Tree) -> str:
    """What the first prepositional phrase hangs on: the label of the constituent around it; '' if there is none."""
    first = next((part for part in tree.subtrees() if part.label == "PP"), None)
    around = (part.label for part in tree.subtrees() if any(child is first for child in part.parts()))
    return next(around, "")


def _measured(gold: Sequence[Tree], parses: Sequence[Parse]) -> dict[str, Any]:
    score = bracket_score(gold, [one.tree for one in parses])
    faults = Counter(one.fault for one in parses if one.fault)
    return {
        "f1": round(score.f1, 2),
        "precision": round(score.precision, 2),
        "recall": round(score.recall, 2),
        "exact": round(score.exact_match, 2),
        "malformed": round(100 * score.unparsable / score.sentences, 2),
        "faults": dict(faults.most_common()),
    }


def measured(gold: Sequence[Tree], parser: Parser, decoding: DecodingConfig) -> dict[str, Any]:
    """Scores with and without well-formed brackets, in percent; in details with them."""
    words = [tree.words() for tree in gold]
    free, bound = (parser.parse(words, decoding, well_formed) for well_formed in (False, True))
    trees = [one.tree for one in bound]
    return {
        "sentences": len(gold),
        "well_formed": _measured(gold, bound),
        "free": _measured(gold, free),
        "by_label": _rows(score_by_label(gold, trees)),
        "by_length": _rows(score_by_length(gold, trees, STEP)),
    }


def _rows(table: Any) -> list[dict[str, Any]]:
    return table.reset_index().round(2).to_dict("records")


def attachments(gold: Sequence[Tree], trees: Sequence[Tree | None]) -> dict[str, float]:
    """Percent of the first prepositional phrases that hang on the right kind of phrase, by that kind."""
    right: dict[str, list[bool]] = {}
    for tree, guess in zip(gold, trees, strict=True):
        kind = attached_to(tree)
        right.setdefault(kind, []).append(guess is not None and attached_to(guess) == kind)
    return {kind: round(100 * sum(found) / len(found), 2) for kind, found in sorted(right.items())}


def scored(parser: Parser, held_out: Mapping[str, Sequence[Tree]], beam: int = 0) -> dict[str, Any]:
    """Greedy search on all held-out sets; the paper's beam on the first `beam` sentences of each.

    Returns
    -------
    dict
        'greedy' and, if asked for, 'beam': for each held-out set what `measured` returns; 'attachments' for the set of
        that name.
    """
    found: dict[str, Any] = {"greedy": {name: measured(trees, parser, GREEDY) for name, trees in held_out.items()}}
    if "attachments" in held_out:
        gold = held_out["attachments"]
        parses = parser.parse([tree.words() for tree in gold], GREEDY)
        found["attachments"] = attachments(gold, [one.tree for one in parses])
    if beam:
        some = {name: trees[:beam] for name, trees in held_out.items()}
        found["beam"] = {name: measured(trees, parser, PAPERS) for name, trees in some.items()}
    return found

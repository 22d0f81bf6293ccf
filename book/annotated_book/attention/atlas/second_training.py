"""The same recipe with another seed: which of the atlas's findings come again.

The model comes from `annotated train classroom --training.seed 1`, and is read from the folder in which that was typed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from annotated.analysis.ablation import Head, averaged, next_token_loss, silenced
from annotated.analysis.heads import HeadCorpus, gold_cells, role_scores, score_table
from annotated.classroom import ClassroomPair, classroom_pairs
from annotated.loading import load
from annotated.runs import read_records
from annotated.translator import Translator
from annotated_book.attention.atlas.alignment import hit_rate
from annotated_book.attention.atlas.articles import shares_right
from annotated_book.attention.atlas.experiment import without_heads

SEED = 1
RUN = Path("runs/classroom")
LOOKED_AT, PAIRED = 500, 200
"""Sentences on which heads are scored, and on which two are silenced together, as on the page."""


def trained(run: Path) -> dict[str, Any]:
    """What a run's log says: seed, updates, and the loss of the averaged model on validation text.

    Raises
    ------
    ValueError
        If the run is of another seed.
    """
    log = read_records(run / "log.jsonl")
    training = [line["configuration"]["training"] for line in log if line["kind"] == "start"][-1]
    if training["seed"] != SEED:
        raise ValueError(f"{run} has seed {training['seed']}; train: annotated train classroom --training.seed {SEED}")
    averaged_model = [line for line in log if line["kind"] == "valid" and line.get("averaged")][-1]
    return {"seed": SEED, "updates": training["updates"], "valid_loss": averaged_model["valid_loss"]}


def findings(translator: Translator, pairs: Sequence[ClassroomPair]) -> dict[str, Any]:
    """What each head looks at, and what is lost without those that look at an article's noun, or align best.

    Returns
    -------
    dict
        'local': for two roles in the encoder the share and the place of the head that has most of it. 'cross': for each
        head its share on the noun of an article, and its rate of hits on the aligned word. 'right': the shares of
        articles and of other tokens that are predicted, of the model, and with the article's head replaced by zero and
        by its mean. 'aligners': the rise of the loss without the best aligner, the second best, and both.
    """
    model, corpus = translator.model, HeadCorpus.of(pairs, translator.tokenizer)
    with torch.no_grad():
        _, maps = model(corpus.source, corpus.target_in, return_attention=True)
    share = {key: score for key, (score, _) in score_table(role_scores(maps, corpus)).items()}
    gold = [gold_cells(one) for one in corpus.items]
    rows = []
    for layer, weights in enumerate(maps.cross):
        best = weights.argmax(-1)  # [B, H, T]
        for head in range(weights.size(1)):
            hits = hit_rate(lambda n, t, best=best, head=head: int(best[n, head, t]), gold)
            rows.append({"layer": layer, "head": head, "hits": hits,
                         "noun": share["cross", layer, head, "noun of its article"]})  # fmt: skip
    article = max(rows, key=lambda row: row["noun"])
    first, second = sorted(rows, key=lambda row: -row["hits"])[:2]
    return {
        "local": {
            role: max((found, layer, head) for (kind, layer, head, r), found in share.items()
                      if (kind, r) == ("encoder", role))
            for role in ("token before", "token after")
        },
        "cross": rows,
        "right": _right(translator, corpus, ("cross", article["layer"], article["head"])),
        "aligners": _damage(translator, pairs, *(("cross", row["layer"], row["head"]) for row in (first, second))),
    }  # fmt: skip


def _right(translator: Translator, corpus: HeadCorpus, head: Head) -> dict[str, tuple[float, float]]:
    model = translator.model
    found = {"whole": shares_right(model, corpus)}
    with silenced(model, head):
        found["zero"] = shares_right(model, corpus)
    with averaged(model, corpus, head):
        found["mean"] = shares_right(model, corpus)
    return found


def _damage(translator: Translator, pairs: Sequence[ClassroomPair], first: Head, second: Head) -> list[float]:
    model, corpus = translator.model, HeadCorpus.of(pairs[:PAIRED], translator.tokenizer)
    whole, rises = next_token_loss(model, corpus), []
    for heads in ((first,), (second,), (first, second)):
        with silenced(model, *heads):
            rises.append(next_token_loss(model, corpus) - whole)
    return rises


def run() -> dict[str, Any]:
    """Of the second model: how it was trained, what its heads do, and what is lost without each."""
    torch.set_num_threads(1)
    translator = load(RUN / "model")
    pairs = list(classroom_pairs("test", LOOKED_AT))
    return {"training": trained(RUN), **findings(translator, pairs), **without_heads(translator)}

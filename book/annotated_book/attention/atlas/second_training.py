"""Heads of a second model, of the same recipe with another seed: which findings of the atlas come again.

The model comes from `annotated train classroom --training.seed 1`, and is read from the folder in which that was typed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from annotated.analysis.ablation import Head, all_heads, averaged, next_token_loss, silenced
from annotated.analysis.heads import HeadCorpus, role_scores, score_table
from annotated.classroom import ClassroomPair, classroom_pairs
from annotated.loading import load
from annotated.runs import read_records
from annotated.translator import Translator
from annotated_book.attention.atlas.alignment import hit_rates
from annotated_book.attention.atlas.articles import shares_right
from annotated_book.attention.atlas.charts import short_label
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
        If there is no run, or it is of another seed.
    """
    if not (run / "log.jsonl").is_file():
        raise ValueError(f"no run in {run}; train: annotated train classroom --training.seed {SEED}")
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
        'local': for two roles in the encoder the share and the place of the head that has most of it. 'aligners': for
        each head of the cross-attention its rate of hits on the aligned word. 'article_heads': those that give more
        than half of their weight to the noun of an article, and how much. 'right': the shares of articles and of other
        tokens that the model predicts: whole, without the one head of all that costs most articles, and with all of the
        article heads replaced by zero and by their means. 'two_aligners': the rise of the loss without the best
        aligner, the second best, and both.
    """
    model, corpus = translator.model, HeadCorpus.of(pairs, translator.tokenizer)
    with torch.no_grad():
        _, maps = model(corpus.source, corpus.target_in, return_attention=True)
    share = {key: score for key, (score, _) in score_table(role_scores(maps, corpus)).items()}
    nouns = {key[:3]: found for key, found in share.items() if key[3] == "noun of its article" and found > 0.5}
    heads = sorted(nouns, key=lambda head: -nouns[head])
    rates = hit_rates(maps, corpus)
    best = sorted(rates, key=lambda place: -rates[place])[:2]
    return {
        "local": {
            role: max((found, layer, head) for (kind, layer, head, r), found in share.items()
                      if (kind, r) == ("encoder", role))
            for role in ("token before", "token after")
        },
        "aligners": [{"layer": layer, "head": head, "hits": rate} for (layer, head), rate in rates.items()],
        "article_heads": [{"kind": kind, "layer": layer, "head": head, "share": nouns[kind, layer, head]}
                          for kind, layer, head in heads],
        "right": _right(translator, corpus, heads),
        "two_aligners": _damage(translator, pairs, *(("cross", layer, head) for layer, head in best)),
    }  # fmt: skip


def summary(
    heads: Sequence[Mapping[str, Any]],
    right: Mapping[str, Sequence[float]],
    rates: Mapping[tuple[int, int], float],
    switched_off: Mapping[str, Any],
) -> dict[str, str]:
    """The chapter's questions and a model's answers.

    Parameters
    ----------
    heads, right
        'article_heads' and 'right' of `findings`.
    rates
        Of `hit_rates`.
    switched_off
        Of `without_heads`.
    """
    whole, rows = switched_off["whole"]["exact"], switched_off["heads"]
    lost = {short_label(row["kind"], row["layer"], row["head"]): whole - row["exact"] for row in rows}
    dearest = max(lost, key=lambda name: lost[name])
    alone: dict[tuple[str, int], float] = {}
    for row in rows:
        layer = row["kind"], row["layer"]
        alone[layer] = min(alone.get(layer, 1.0), row["alone_exact"])
    cheap = sum(share < 0.02 for share in lost.values())
    served = sum(least > 0.7 for least in alone.values())
    named = (f"{short_label(h['kind'], h['layer'], h['head'])} ({_percent(h['share'])})" for h in heads)
    aligner = max(rates, key=lambda place: rates[place])
    return {
        "heads with most of their weight on the noun of an article": ", ".join(named),
        "articles right without any one head, at least": _percent(right["one"][0]),
        "articles right without all of these": _percent(right["zero"][0]),
        "other tokens right without all of these": _percent(right["zero"][1]),
        "best aligner": f"{short_label('cross', *aligner)} ({_percent(rates[aligner])})",
        "head that costs most translations": f"{dearest} ({_percent(lost[dearest])})",
        "heads that cost less than 2\N{NO-BREAK SPACE}%": f"{cheap} of {len(lost)}",
        "layers that keep 7 of 10 translations, whichever head is left": f"{served} of {len(alone)}",
    }


def _percent(share: float) -> str:
    return f"{share:.0%}".replace("%", "\N{NO-BREAK SPACE}%")


def _right(translator: Translator, corpus: HeadCorpus, heads: Sequence[Head]) -> dict[str, tuple[float, float]]:
    model = translator.model
    found = {"whole": shares_right(model, corpus)}
    alone = []
    for head in all_heads(model):
        with silenced(model, head):
            alone.append(shares_right(model, corpus))
    found["one"] = min(alone)
    with silenced(model, *heads):
        found["zero"] = shares_right(model, corpus)
    with averaged(model, corpus, *heads):
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
    training = trained(RUN)  # first: it says what to train
    translator = load(RUN / "model")
    pairs = list(classroom_pairs("test", LOOKED_AT))
    return {"training": training, **findings(translator, pairs), **without_heads(translator)}

"""Scoring of translations in the settings of BLEU, with intervals, and whether an average helped.

The counts of each sentence are kept as a table, so that they can be added up again, or
compare two systems, without a word of the text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotated.evaluation.bleu import bleu
from annotated.evaluation.ngrams import ORDER, bleu_statistics
from annotated.evaluation.paper_bleu import LANGUAGE, MOSES, paper_style, paper_style_bleu
from annotated.evaluation.significance import resample
from annotated.evaluation.tokenisers import tokeniser_of

BLEU_SETTINGS = ("sacrebleu", "paper")
"""sacreBLEU on plain text; and tokenised in advance, with quotes made plain and compounds split."""
FURTHER = (MOSES,)
"""The paper's setting with Moses' own tokeniser: only where that is installed."""
_TOKENISED = ("paper", MOSES)
_METHOD = "{}, plain quotes, compounds split, then counted as it stands"
"""How text is prepared for each setting that takes it tokenised; both replace the translations' other punctuation."""
SAMPLES, SEED = 1000, 0
_DIGITS = 4
_COLUMNS = ("length", "reference", *(f"{what}{n}" for what in ("match", "count") for n in range(1, ORDER + 1)))


def statistics(
    systems: Mapping[str, Sequence[str]],
    references: Sequence[str],
    settings: Sequence[str] = BLEU_SETTINGS,
    language: str = LANGUAGE,
) -> dict[str, NDArray[np.int64]]:
    """The ten numbers of each sentence, by 'system.setting'; each `[sentences, 10]`.

    Parameters
    ----------
    settings
        Of `BLEU_SETTINGS` and `FURTHER`.
    language
        Of the translations, for Moses.
    """
    found: dict[str, NDArray[np.int64]] = {}
    for setting in settings:
        if setting not in _TOKENISED:
            found |= {f"{name}.{setting}": bleu_statistics(texts, references) for name, texts in systems.items()}
            continue
        tokenize = MOSES if setting == MOSES else tokeniser_of(references)
        cut = [paper_style(text, tokenize, language=language) for text in references]
        for name, texts in systems.items():
            own = [paper_style(text, tokenize, translated=True, language=language) for text in texts]
            found[f"{name}.{setting}"] = bleu_statistics(own, cut, tokenize="none")
    return {f"{name}.{setting}": found[f"{name}.{setting}"] for name in systems for setting in settings}


def score(
    systems: Mapping[str, Sequence[str]],
    references: Sequence[str],
    counted: Mapping[str, NDArray[np.int64]],
    language: str = LANGUAGE,
) -> dict[str, Any]:
    """All settings and chrF of each system, with 95 % intervals; and the first system's lead over the second.

    Parameters
    ----------
    systems
        Translations by name: one system or two.
    counted
        Their `statistics`.
    language
        Of the translations, for Moses.

    Returns
    -------
    dict
        `{system: {"sacrebleu": {score, low, high, signature, detail}, "paper": ..., "chrf": {score, signature}}}`,
        with "moses" after "paper" where it was counted; and with two systems `"difference"`: for each setting score,
        low, high and the share of resampled test sets in which the first is not better.
    """
    settings = settings_of(counted)
    tokenisers = {"paper": tokeniser_of(references), MOSES: MOSES}
    methods = {
        "paper": _METHOD.format(f"sacreBLEU's {tokenisers['paper']} in place of Moses' tokeniser"),
        MOSES: _METHOD.format("Moses' tokeniser as sacremoses has it"),
    }
    drawn = {
        setting: resample([counted[f"{name}.{setting}"] for name in systems], SAMPLES, seed=SEED)
        for setting in settings
    }
    found: dict[str, Any] = {}
    for number, (name, texts) in enumerate(systems.items()):
        scores = {"sacrebleu": bleu(texts, references)} | {
            setting: paper_style_bleu(texts, references, tokenisers[setting], language=language)
            for setting in settings
            if setting in _TOKENISED
        }
        found[name] = {
            setting: {
                "score": round(one.bleu, _DIGITS),
                **_interval(drawn[setting][:, number]),
                "signature": one.signature,
                "detail": one.detail,
            }
            for setting, one in scores.items()
        }
        for setting in settings:
            found[name][setting] |= {"method": methods[setting]} if setting in _TOKENISED else {}
        chrf = scores["sacrebleu"]
        found[name]["chrf"] = {"score": round(chrf.chrf, _DIGITS), "signature": chrf.chrf_signature}
    if len(systems) == 2:
        first, second = systems
        found["difference"] = {
            setting: {
                "score": round(found[first][setting]["score"] - found[second][setting]["score"], _DIGITS),
                **_interval(drawn[setting][:, 0] - drawn[setting][:, 1]),
                "not_better": float((drawn[setting][:, 0] <= drawn[setting][:, 1]).mean()),
            }
            for setting in settings
        }
    return found


def settings_of(counted: Mapping[str, Any]) -> list[str]:
    """The settings that statistics, or the scores of a system, are of: the two, and the further ones that they have."""
    names = {name.rpartition(".")[2] for name in counted}
    return [*BLEU_SETTINGS, *(setting for setting in FURTHER if setting in names)]


def write_statistics(counted: Mapping[str, NDArray[np.int64]]) -> str:
    """A table with a row for each sentence, separated by tabs."""
    head = "\t".join(f"{name}.{column}" for name in counted for column in _COLUMNS)
    rows = np.concatenate(list(counted.values()), axis=1)
    return "\n".join([head, *("\t".join(map(str, row)) for row in rows.tolist())]) + "\n"


def read_statistics(text: str) -> dict[str, NDArray[np.int64]]:
    """The inverse of `write_statistics`.

    Raises
    ------
    ValueError
        If it is not such a table.
    """
    head, *lines = text.splitlines() or [""]
    names = list(dict.fromkeys(column.rpartition(".")[0] for column in head.split("\t")))
    width = len(_COLUMNS)
    rows = [list(map(int, line.split("\t"))) for line in lines]
    if head.split("\t") != [f"{name}.{column}" for name in names for column in _COLUMNS]:
        raise ValueError(f"the columns are not {', '.join(_COLUMNS)} of each system and setting")
    if not rows or any(len(row) != width * len(names) for row in rows):
        raise ValueError("it has no sentences, or rows of another length than its head")
    table = np.array(rows, dtype=np.int64)
    return {name: table[:, width * n : width * (n + 1)] for n, name in enumerate(names)}


def _interval(values: NDArray[np.float64]) -> dict[str, float]:
    low, high = np.quantile(values, [0.025, 0.975])
    return {"low": round(float(low), _DIGITS), "high": round(float(high), _DIGITS)}

"""Systems of Table 2: what each is, how long it trained, which beat which; and later runs of the same models."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal, NamedTuple

from annotated.paper import SETTINGS, TABLE_2
from annotated_book.results.table_2.costs import flops_by_time

Pair = Literal["en-de", "en-fr"]
BIG_EN_FR = {"table": 41.8, "text": 41.0}
"""The big model, English to French: Table 2 has the first; section 6.1, and the early versions throughout, the second.
"""


class System(NamedTuple):
    """A system of Table 2: when it appeared, what it is, and how its BLEU was computed."""

    system: str
    """Its name in the table."""
    year: int
    """In which its paper first appeared."""
    what: str
    """In a few words: its layers, or how the models of an ensemble are combined."""
    members: int
    """Models whose predictions are averaged; 1 for a single model."""
    settings: str
    """How its BLEU was computed, as far as its authors say."""
    source: str
    """Key of the book's references."""


_MOSES = "tokenised, multi-bleu"
_T2T = "tokenised, compounds split, multi-bleu (released code)"
_GNMT = "8 + 8 LSTM layers, attention; reinforcement (RL) for a score like BLEU"
_DEEP_ATT = "16 LSTM layers with linear bypasses, attention; unknown words replaced"
_CONVS2S = "gated convolutions, 15 layers a side, attention in each decoder layer"
SYSTEMS = (
    System("ByteNet", 2016, "dilated convolutions over characters, no attention", 1, "not checked", "kalchbrenner2016"),
    System("Deep-Att + PosUnk", 2016, _DEEP_ATT, 1, "not checked", "zhou2016"),
    System("GNMT + RL", 2016, _GNMT, 1, _MOSES, "wu2016"),
    System("ConvS2S", 2017, _CONVS2S, 1, _MOSES + ", mean of 3 runs", "gehring2017"),
    System("MoE", 2017, "GNMT with 3 + 2 LSTM layers and up to 2048 experts, few at a time", 1, _MOSES, "shazeer2017"),
    System("Deep-Att + PosUnk ensemble", 2016, "8 models, their predictions averaged", 8, "not checked", "zhou2016"),
    System("GNMT + RL ensemble", 2016, "8 models, their predictions averaged", 8, _MOSES, "wu2016"),
    System("ConvS2S ensemble", 2017, "8 models, their predictions averaged", 8, _MOSES, "gehring2017"),
    System("Transformer (base model)", 2017, "attention, 6 + 6 layers; 5 checkpoints averaged", 1, _T2T, "vaswani2017"),
    System("Transformer (big)", 2017, "twice as wide; 20 checkpoints averaged", 1, _T2T, "vaswani2017"),
)
"""The rows of Table 2, in its order.

Paper: Table 2
"""


def short_name(system: str) -> str:
    """The name of a system where there is little room: 'base', 'big', 'Deep-Att', '... × 8' for an ensemble."""
    names = {"Transformer (base model)": "base", "Transformer (big)": "big", "Deep-Att + PosUnk": "Deep-Att"}
    alone = system.removesuffix(" ensemble")
    return names.get(alone, alone) + (" × 8" if alone != system else "")


class PublishedRun(NamedTuple):
    """A training run as its own paper reports it."""

    system: str
    """Its name in the table."""
    pair: Pair
    """Languages that it translates between."""
    days: float
    """Length of the training by the clock."""
    devices: int
    """GPUs that worked side by side."""
    device: str
    """Their kind, a key of the paper's rates in FLOP/s."""
    source: str
    """Key of the book's references."""

    @property
    def flops(self) -> float:
        """Operations by the paper's method."""
        return flops_by_time(24 * self.days, self.devices, SETTINGS["FLOP/s"][self.device])


RUNS = (
    PublishedRun("GNMT + RL", "en-de", 1, 96, "K80", "shazeer2017"),
    PublishedRun("GNMT + RL", "en-fr", 6, 96, "K80", "wu2016"),
    PublishedRun("ConvS2S", "en-de", 18.5, 1, "M40", "gehring2017"),
    PublishedRun("ConvS2S", "en-fr", 37, 8, "M40", "gehring2017"),
    PublishedRun("MoE", "en-de", 1, 64, "K40", "shazeer2017"),
    PublishedRun("MoE", "en-fr", 6, 64, "K40", "shazeer2017"),
    PublishedRun("Transformer (base model)", "en-de", 0.5, 8, "P100", "vaswani2017"),
    PublishedRun("Transformer (big)", "en-de", 3.5, 8, "P100", "vaswani2017"),
)
"""The single models of Table 2 whose days and devices are published.

Paper: Table 2
"""


class Result(NamedTuple):
    """A row of Table 2 for one pair of languages, and who is at least as good for at most the same cost."""

    system: str
    """Its name in the table."""
    bleu: float
    """As printed, or as `results` was asked to change it."""
    flops: float | None
    """Floating-point operations of the training, as printed; None where the table has none."""
    beaten_by: tuple[str, ...]
    """Systems with at least this BLEU for at most this cost; empty on the Pareto front and without a printed cost."""

    def gain_per_tenfold(self, cheaper: Result) -> float:
        """BLEU gained over another result, per factor of ten in operations."""
        if self.flops is None or cheaper.flops is None or self.flops <= cheaper.flops:
            raise ValueError(f"both costs must be printed, and {self.system}'s must be the larger one")
        return (self.bleu - cheaper.bleu) / math.log10(self.flops / cheaper.flops)


def results(pair: Pair, changed: Mapping[str, float] | None = None) -> list[Result]:
    """The results of one pair of languages, in Table 2's order; who beats whom in both BLEU and cost.

    Parameters
    ----------
    pair
        'en-de' or 'en-fr'.
    changed
        BLEU to put in place of the printed one, by system.

    Returns
    -------
    list
        A result that nobody beats (`beaten_by` is empty) lies on the Pareto front, unless its cost is not printed.

    Raises
    ------
    ValueError
        For another pair, or a system that is not in the table.
    """
    if pair not in ("en-de", "en-fr"):
        raise ValueError(f"Table 2 has 'en-de' and 'en-fr', not '{pair}'")
    if unknown := set(changed or {}) - {row.system for row in TABLE_2}:
        raise ValueError(f"Table 2 has no {', '.join(sorted(unknown))}")
    printed = [
        (row.system, row.bleu_en_de, row.flops_en_de)
        if pair == "en-de"
        else (row.system, row.bleu_en_fr, row.flops_en_fr)
        for row in TABLE_2
    ]
    found = [(name, (changed or {}).get(name, bleu), flops) for name, bleu, flops in printed if bleu is not None]
    return [
        Result(name, bleu, flops, tuple(n for n, b, f in found if _beats((b, f), (bleu, flops))))
        for name, bleu, flops in found
    ]


def _beats(one: tuple[float, float | None], other: tuple[float, float | None]) -> bool:
    if one[1] is None or other[1] is None:
        return False
    return one[0] >= other[0] and one[1] <= other[1] and one != other


class Reproduction(NamedTuple):
    """BLEU on newstest2014, English to German, of a later training that published its signature or its steps."""

    model: Literal["base", "big"]
    """The paper's model that was trained."""
    sacrebleu: float
    """By sacreBLEU with tokeniser 13a."""
    paper_style: float | None
    """The same translations tokenised and with compounds split, as in the released code; None if not published."""
    who: str
    """The code base."""
    note: str
    """What was trained and for how long, and what differs from the paper."""
    source: str
    """Address of the report."""


REPRODUCTIONS = (
    Reproduction(
        "base", 27.52, 29.02, "tensor2tensor", "step 3,817,425; the reference's quotes made plain",
        "https://github.com/tensorflow/tensor2tensor/issues/317",
    ),
    Reproduction(
        "base", 27.06, None, "GluonNLP", "60 epochs, last 10 averaged",
        "https://github.com/dmlc/gluon-nlp/tree/master/scripts/machine_translation",
    ),
    Reproduction(
        "big", 28.01, None, "GluonNLP", "60 epochs, last 15 averaged",
        "https://github.com/dmlc/gluon-nlp/tree/master/scripts/machine_translation",
    ),
    Reproduction(
        "big", 28.6, 29.29, "fairseq", "WMT16's text, batches 16 times as large, twice the rate",
        "https://github.com/facebookresearch/fairseq/tree/main/examples/scaling_nmt",
    ),
)  # fmt: skip
"""As reported in the public repositories of three code bases; not made again here."""

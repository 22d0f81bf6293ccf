"""Hypotheses, which a search returns, and the length penalty that ranks them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from annotated.model import AttentionMaps


@dataclass(frozen=True)
class Hypothesis:
    """One translation found for a source.

    `finished` tells whether the model ended it with eos; a search that reaches its cap returns what it
    has, unfinished. `attention`, if it was asked for, holds maps of this sentence alone: `encoder[l]`
    `[H, S, S]`, `decoder[l]` `[H, T, T]` and `cross[l]` `[H, T, S]`, where row t is the step that wrote
    token t, and the last row of a finished hypothesis the step that wrote eos.
    """

    tokens: list[int]
    """Ids without bos and eos."""
    log_probability: float
    """Natural logarithm of the model's probability for the tokens, and for eos if it is finished."""
    score: float
    """`log_probability` divided by the length penalty of the steps taken, the one that wrote eos included."""
    finished: bool = True
    attention: AttentionMaps | None = None

    @property
    def steps(self) -> int:
        """Symbols that the model wrote: the tokens, and eos if there is one."""
        return len(self.tokens) + self.finished


def length_penalty(length: int, alpha: float) -> float:
    """((5 + length) / 6) ** alpha, by which a log-probability is divided.

    The paper gives only alpha = 0.6 and a reference to Wu et al. (2016), whose formula this is. As in the
    paper's released code, `length` counts every token written, eos included.

    Paper: section 6.1
    """
    return ((5 + length) / 6) ** alpha

"""An ensemble: several models that predict each token together.

Nothing is merged. Every member keeps its own weights and its own memory, and at each step their distributions over the
next token are averaged. So k members cost k times as much as one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from annotated.config import ModelConfig
from annotated.data.tokenizer import Tokenizer
from annotated.decoding.search import State, StepModel
from annotated.model import AttentionMaps

Mean = Literal["arithmetic", "geometric"]


@dataclass
class EnsembleState:
    """What the members remember: one state for each, which move together."""

    members: list[State]

    def reorder(self, parents: Tensor) -> None:
        """Let row r continue row `parents[r]`, in every member."""
        for state in self.members:
            state.reorder(parents)

    def select(self, sentences: Tensor) -> None:
        """Keep only these sentences, in every member."""
        for state in self.members:
            state.select(sentences)


class Ensemble(nn.Module):
    """Models whose predictions are averaged; greedy and beam search and `Translator` take it for a model.

    The mean is one of *probabilities*: what comes out is a mixture of distributions, in which a token is likely if some
    member is sure of it. It is not the mean of logits: after the softmax, that is the geometric mean of the
    probabilities, scaled to sum to one, in which one member's "almost impossible" is a veto. `mean="geometric"` gives
    it.

    Parameters
    ----------
    models
        One or more, of any shapes, with one vocabulary.
    mean
        'arithmetic' or 'geometric'.
    tokenizers
        The members' own, if at hand: vocabularies of equal size need not be equal.

    Raises
    ------
    ValueError
        If there is no model, the vocabularies differ, or there is no such mean.
    """

    def __init__(
        self, models: Sequence[nn.Module], *, mean: Mean = "arithmetic", tokenizers: Sequence[Tokenizer] = ()
    ) -> None:
        super().__init__()
        configs: list[ModelConfig] = [model.config for model in models]  # type: ignore[misc]
        if not configs:
            raise ValueError("an ensemble needs at least one model")
        if mean not in ("arithmetic", "geometric"):
            raise ValueError(f"mean must be 'arithmetic' or 'geometric', not {mean!r}")
        sizes = [config.vocab_size for config in configs]
        if len(set(sizes)) > 1:
            raise ValueError(f"the models have vocabularies of {sizes} entries: only one and the same can be averaged")
        if len({tokenizer.fingerprint for tokenizer in tokenizers}) > 1:
            raise ValueError("the models have different tokenizers: entry 17 of one is another word in the other")
        self.models, self.mean = nn.ModuleList(models), mean
        # Learned positions end somewhere: the search must stop where the first member has to.
        limits = min(configs, key=lambda config: (config.positions != "learned", config.max_positions))
        self.config = limits.replace(max_positions=min(config.max_positions for config in configs))

    def forward(self, source: Tensor, target_in: Tensor, *, return_attention: bool = False) -> Any:
        """Log-probabilities of every next token, all positions at once.

        Parameters
        ----------
        source, target_in
            Token ids `[B, S]` and `[B, T]`.
        return_attention
            Also return the attention maps: all layers of the first member, then all of the second, and so on.

        Returns
        -------
        Tensor or (Tensor, AttentionMaps)
            `[B, T, V]`; as logits they give the same distribution.
        """
        found = [model(source, target_in, return_attention=return_attention) for model in self.models]
        if not return_attention:
            return self.average(found)
        maps = AttentionMaps(*(sum(layers, []) for layers in zip(*(m for _, m in found), strict=True)))
        return self.average([logits for logits, _ in found]), maps

    def average(self, logits: Sequence[Tensor]) -> Tensor:
        """Log-probabilities `[..., V]` of the ensemble, from each member's logits `[..., V]`."""
        log_p = torch.stack([x.float().log_softmax(dim=-1) for x in logits])
        if self.mean == "geometric":
            return log_p.mean(dim=0).log_softmax(dim=-1)
        return log_p.logsumexp(dim=0) - math.log(len(logits))  # log of the mean of probabilities

    def start_state(self, source: Tensor, beam_size: int = 1, *, max_new_tokens: int) -> EnsembleState:
        """Encode `[B, S]` with every member, and make ready for B * beam_size rows."""
        return EnsembleState(
            [model.start_state(source, beam_size, max_new_tokens=max_new_tokens) for model in self._members()]
        )

    def decode_step(self, token: Tensor, state: EnsembleState) -> tuple[Tensor, EnsembleState]:
        """Log-probabilities `[R, V]` of the next token after one more `[R]`, and the state."""
        logits = []
        for number, model in enumerate(self._members()):
            one, state.members[number] = model.decode_step(token, state.members[number])
            logits.append(one)
        return self.average(logits), state

    def num_parameters(self) -> int:
        """Trained numbers of all members together; one that takes part twice counts once."""
        return sum(parameter.numel() for parameter in self.parameters())

    def _members(self) -> list[StepModel]:
        return list(self.models)  # type: ignore[arg-type]

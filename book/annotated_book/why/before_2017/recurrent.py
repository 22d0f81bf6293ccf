"""Recurrent layers, written out: a gated recurrent unit and a long short-term memory.

Both split into two parts. What a step takes from its input is one matrix product for all positions at once. What it
takes from the step before is a loop, and no hardware can run the turns of that loop side by side.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class _RecurrentLayer(nn.Module):
    """What both cells share: the weights, and the loop over positions.

    Parameters
    ----------
    width
        Of the inputs, `[B, S, width]`.
    hidden
        Of the state.
    gates
        How many vectors of the state's width one step computes.
    """

    def __init__(self, width: int, hidden: int, gates: int) -> None:
        super().__init__()
        self.hidden = hidden
        self.from_input = nn.Linear(width, gates * hidden)
        self.from_state = nn.Linear(hidden, gates * hidden)
        for linear in (self.from_input, self.from_state):
            nn.init.zeros_(linear.bias)
        nn.init.xavier_uniform_(self.from_input.weight)
        for gate in self.from_state.weight.split(hidden):
            nn.init.orthogonal_(gate)

    def initial(self, batch: int) -> tuple[Tensor, ...]:
        """The state before the first step: zeros."""
        raise NotImplementedError

    def step(self, projected: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """One step: the new state from the projected input `[B, gates * hidden]` and the old state."""
        raise NotImplementedError

    def forward(
        self,
        x: Tensor,
        state: tuple[Tensor, ...] | None = None,
        real: Tensor | None = None,
        backward: bool = False,
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Run over a sequence.

        Parameters
        ----------
        x
            `[B, S, width]`
        state
            Where to start; zeros if None.
        real
            Boolean `[B, S]`, False for padding, at which the state stays as it is.
        backward
            Read from the last position to the first.

        Returns
        -------
        outputs, state
            h of every position, `[B, S, hidden]`, and the state after the last step.
        """
        state = self.initial(len(x)) if state is None else state
        places = range(x.size(1))
        outputs = [x] * len(places)
        projected = self.from_input(x)  # all positions at once
        for t in reversed(places) if backward else places:
            new = self.step(projected[:, t], state)  # waits for the last
            if real is not None:
                new = _unless_padding(real[:, t, None], new, state)
            state, outputs[t] = new, new[0]
        return torch.stack(outputs, dim=1), state


def _unless_padding(real: Tensor, new: tuple[Tensor, ...], old: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    return tuple(torch.where(real, n, o) for n, o in zip(new, old, strict=True))


class GRULayer(_RecurrentLayer):
    """A gated recurrent unit over a sequence; its state is h alone.

    The reset gate stands where cuDNN and `torch.nn.GRU` put it, on the product with the state rather than on the state
    before the product (Cho et al., 2014), so that one product serves all three gates.

    Paper: section 1
    """

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__(width, hidden, gates=3)

    def initial(self, batch: int) -> tuple[Tensor, ...]:
        """Zeros `[B, hidden]`."""
        return (self.from_state.weight.new_zeros(batch, self.hidden),)

    def step(self, projected: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """h_t = f(h_(t-1), x_t): a mixture of the old state and a candidate, gate by gate."""
        (h,) = state
        reset_x, update_x, new_x = projected.chunk(3, dim=-1)
        reset_h, update_h, new_h = self.from_state(h).chunk(3, dim=-1)
        reset = (reset_x + reset_h).sigmoid()
        update = (update_x + update_h).sigmoid()
        candidate = (new_x + reset * new_h).tanh()
        return (candidate + update * (h - candidate),)


class LSTMLayer(_RecurrentLayer):
    """A long short-term memory over a sequence; its state is h and the cell c.

    Paper: section 1
    """

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__(width, hidden, gates=4)

    def initial(self, batch: int) -> tuple[Tensor, ...]:
        """Two times zeros `[B, hidden]`."""
        zeros = self.from_state.weight.new_zeros(batch, self.hidden)
        return zeros, zeros

    def step(self, projected: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """The cell forgets a part, takes in a part, and shows a part."""
        h, c = state
        take, forget, candidate, show = (projected + self.from_state(h)).chunk(4, dim=-1)
        c = forget.sigmoid() * c + take.sigmoid() * candidate.tanh()
        return show.sigmoid() * c.tanh(), c


LAYERS = {"gru": GRULayer, "lstm": LSTMLayer}

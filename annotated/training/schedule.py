"""The learning rate: a linear warm-up, then a decay with the inverse square root of the update."""

from __future__ import annotations

from torch.optim import Optimizer


def learning_rate(update: int, d_model: int, warmup: int, scale: float = 1.0) -> float:
    """Equation 3: d_model^-0.5 * min(update^-0.5, update * warmup^-1.5), times `scale`.

    Updates are counted from 1, and the rate of update k is set before update k. An update is one change of
    the parameters, however many micro-batches or processes it is made of.

    Parameters
    ----------
    update
        The update about to be made, from 1.
    d_model
        D, width of the model.
    warmup
        Updates over which the rate rises; it is highest at update `warmup`.
    scale
        Factor on the whole; the paper's is 1.

    Returns
    -------
    float
        The rate, a step in parameter space (Adam's gradient has no unit).

    Raises
    ------
    ValueError
        If `update`, `d_model` or `warmup` is below 1.

    Paper: section 5.3, equation 3
    """
    if update < 1:
        raise ValueError(f"updates are counted from 1, so there is no update {update}")
    if d_model < 1 or warmup < 1:
        raise ValueError(f"d_model and warmup must be at least 1, not {d_model} and {warmup}")
    return scale * d_model**-0.5 * min(update**-0.5, update * warmup**-1.5)


def set_learning_rate(optimizer: Optimizer, rate: float) -> None:
    """Make `rate` the rate of the optimiser's next step.

    A plain assignment in the place of `torch.optim.lr_scheduler`, whose schedulers count from 0 and act after
    the step: that shifts equation 3 by one update.
    """
    for group in optimizer.param_groups:
        group["lr"] = rate

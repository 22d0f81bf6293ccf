"""Training cost: operations by the paper's method and by counting; hours, money and energy on given hardware.

Prices and utilisations are the caller's: nothing here states what an hour costs.
"""

from __future__ import annotations

from typing import NamedTuple

from annotated.analysis.parameters import forward_flops
from annotated.config import ModelConfig


class Device(NamedTuple):
    """A processor by its data sheet, or by measurement."""

    name: str
    """As it is sold; the key in `DEVICES`."""
    year: int
    """From which it was sold."""
    peak: float
    """FLOP/s of dense matrix products, without sparsity, in `precision`."""
    precision: str
    """The floating-point format of the products that `peak` counts."""
    memory: int
    """In GB."""
    power: float | None
    """Watts that the maker allows it to draw, an upper limit; None where nobody measured or promised any."""
    source: str
    """Where the figures are printed."""


DEVICES = {
    device.name: device
    for device in (
        Device("P100", 2016, 10.6e12, "float32", 16, 300, "NVIDIA, Tesla P100 data sheet, NVLink board"),
        Device("V100", 2017, 125e12, "float16", 32, 300, "NVIDIA, V100 data sheet, NVLink board"),
        Device("T4", 2018, 65e12, "float16", 16, 70, "NVIDIA, T4 data sheet, mixed precision"),
        Device("A100", 2020, 312e12, "bfloat16", 80, 400, "NVIDIA, A100 data sheet, 80 GB SXM board"),
        Device("RTX 4090", 2022, 165e12, "bfloat16", 24, 450, "NVIDIA, Ada architecture white paper, float32 sums"),
        Device("H100", 2022, 989e12, "bfloat16", 80, 700, "NVIDIA, H100 data sheet, SXM board"),
        Device("H200", 2024, 989e12, "bfloat16", 141, 700, "NVIDIA, H200 data sheet, SXM board"),
        Device("B200", 2024, 2250e12, "bfloat16", 180, 1000, "NVIDIA, Blackwell architecture brief, HGX B200"),
    )
}
"""Processors by name. The figures are as printed by their maker, where the sheet prints only a peak 'with sparsity'
half of it."""

BOARD_PEAKS = {"K80": 4.37e12, "K40": 5.04e12, "M40": 6.8e12, "P100": 10.6e12}
"""Float32 peak of one GPU: twice its number of cores times its highest clock, both from NVIDIA's specifications (a K80
board, 8.74e12, holds two GPUs). The paper takes its GPUs to sustain `annotated.paper.SETTINGS["FLOP/s"]`.
"""


def flops_by_time(hours: float, devices: int, rate: float) -> float:
    """Floating-point operations as the paper estimates them: training time x number of GPUs x what one sustains.

    Parameters
    ----------
    hours
        Of the whole training, by the clock.
    devices
        That worked side by side.
    rate
        FLOP/s that one device is taken to sustain.

    Raises
    ------
    ValueError
        If one of them is not positive.

    Examples
    --------
    >>> f"{flops_by_time(12, 8, 9.5e12):.1e}"
    '3.3e+18'

    Paper: section 6.1 (footnote), Table 2
    """
    if min(hours, devices, rate) <= 0:
        raise ValueError(f"hours, devices and rate must be positive, not {hours}, {devices} and {rate}")
    return hours * 3600 * devices * rate


def update_flops(config: ModelConfig, tokens: int = 25_000, length: int = 28) -> float:
    """Operations that one update needs, counted: three forward passes' worth over all sentences of the batch.

    The backward pass is twice the forward pass: a product for the gradient of each factor.

    Parameters
    ----------
    config
        The model.
    tokens
        Real tokens in the batch on each side, source and target.
    length
        Of every sentence on each side; it matters little, because attention between positions is 1 % of the count.
    """
    return 3 * sum(forward_flops(config, length, length).values()) * tokens / length


def rule_of_six(parameters: int, tokens: int) -> float:
    """The rule of thumb 6 N D: two operations forward and four backward for each parameter and token.

    Parameters
    ----------
    parameters
        N, all of them.
    tokens
        D, the tokens that pass through all N. In an encoder-decoder a source token passes the encoder and a target
        token the decoder, so that a *pair* of tokens meets N: D counts one side, not both.
    """
    return 6.0 * parameters * tokens


def utilisation(flops: float, hours: float, devices: int, peak: float) -> float:
    """The share of what the devices could have done that was needed: counted operations over hours x devices x peak."""
    return flops / flops_by_time(hours, devices, peak)


class Bill(NamedTuple):
    """What a training run takes on given hardware."""

    device_hours: float
    """Hours of work, summed over the devices."""
    hours: float
    """By the clock, if the devices share the work without loss."""
    money: float
    """In the currency of the price."""
    energy: float | None
    """In kWh, at the most that the devices may draw; None if that is not known."""


def bill(
    flops: float,
    device: Device,
    *,
    utilisation: float,
    devices: int = 1,
    price_per_hour: float = 0.0,
    overhead: float = 1.0,
) -> Bill:
    """Hours, money and energy for so many operations.

    Parameters
    ----------
    flops
        Operations that the training *needs*, from `update_flops`; not hours turned into FLOPs.
    device
        One of `DEVICES`, or your own.
    utilisation
        Share of the device's peak that is reached, from 0 (excluded) to 1.
    devices
        That work side by side.
    price_per_hour
        Of one device, in any currency. Yours: it is not a fact of the hardware.
    overhead
        Energy of the whole over that of the devices: host, cooling, losses. At least 1.

    Raises
    ------
    ValueError
        If a number is out of its range.
    """
    if not 0 < utilisation <= 1:
        raise ValueError(f"utilisation is a share, above 0 and at most 1, not {utilisation}")
    if flops <= 0 or devices < 1 or price_per_hour < 0 or overhead < 1:
        raise ValueError(
            f"flops {flops} and devices {devices} must be positive, the price {price_per_hour} not negative, "
            f"the overhead {overhead} at least 1"
        )
    device_hours = flops / (device.peak * utilisation) / 3600
    energy = None if device.power is None else device.power * device_hours * overhead / 1000
    return Bill(device_hours, device_hours / devices, device_hours * price_per_hour, energy)

"""Preflight check of the exchange: what adding up gradients costs beside an update, and whether more processes pay."""

from __future__ import annotations

from annotated.config import TrainingConfig
from annotated.runs.dry_run import DryRun
from annotated.runs.exchange_time import ExchangeTimes
from annotated.runs.preflight.table import PreflightCheck, show_number
from annotated.storage import format_bytes

WORTH_WHILE = 0.5
"""Part of N times the speed of one process that N must have to be worth their price."""
_BETTER = 1.1  # a speed-up that is worth a change
_NAME = "exchange"


def speed_up(compute: float, processes: int, exchange: float) -> float:
    """How many times as fast as one process so many are: compute / (compute / processes + exchange).

    Parameters
    ----------
    compute
        Seconds that one process takes to compute an update.
    exchange
        Seconds of the exchange between them, none of which is hidden behind the computing.
    """
    return compute / (compute / processes + exchange)


def seconds_of_one_process(known: DryRun) -> float | None:
    """Seconds that one process would compute for an update, from a dry run by any number; None if it does not tell.

    A dry run by N spends a part on the exchange, and the rest is one N-th.
    """
    update = known.seconds_per_update.typical
    if known.devices == 1:
        return update
    if known.exchange is None:
        return None
    training = TrainingConfig.from_dict(known.configuration["training"])
    hidden = training.overlap_exchange  # then part of the exchange took place meanwhile, and how much is not known
    exchange = 0.0 if hidden else known.exchange.seconds[training.gradient_exchange]
    return known.devices * max(update - exchange, 0.0) or None


def check_exchange(
    training: TrainingConfig, known: DryRun | None, measured: ExchangeTimes | None
) -> PreflightCheck | None:
    """Whether these processes, and these nodes, pay; None if nothing was measured.

    Parameters
    ----------
    known
        For the time of an update.
    measured
        Now; None for what the dry run measured.
    """
    times = measured or (known.exchange if known is not None else None)
    if times is None:
        return None
    compute = None if known is None else seconds_of_one_process(known)
    found = describe(times, training)
    if compute is None:
        advice = "a dry run tells whether they pay: torchrun ... -m annotated dry-run RUN"
        return PreflightCheck(_NAME, "ok", found, advice)
    found += f"; computing an update takes one process {_milliseconds(compute)}. " + _predict(compute, times, training)
    advice = advise(compute, times, training)
    return PreflightCheck(_NAME, "warn" if advice else "ok", found, advice)


def describe(times: ExchangeTimes, training: TrainingConfig) -> str:
    """What was measured, in a line."""
    where = f"{times.processes} processes" + (f" on {times.nodes} nodes" if times.nodes > 1 else "")
    said = f"{format_bytes(times.gradient_bytes)} of gradients between {where}: {_all_types(times.seconds)}"
    if times.node_seconds:
        said += f" (inside a node {_all_types(times.node_seconds)})"
    return f"{said}; this training exchanges {training.gradient_exchange}"


def advise(compute: float, times: ExchangeTimes, training: TrainingConfig) -> str:
    """What to do; empty if these processes pay."""
    sent = training.gradient_exchange
    whole = speed_up(compute, times.processes, times.seconds[sent])
    node, of_node = _node_speed(compute, times, sent), times.processes_of_node
    said = []
    if times.nodes > 1 and node >= whole:
        best = f"one node ({node:.1f} times one process)" if node > 1 else "one process"
        said.append(f"{times.nodes} nodes do not pay: train on {best}")
    elif whole <= 1:
        said.append(f"{times.processes} processes are slower than one: train with one")
    elif times.nodes > 1 and whole < WORTH_WHILE * times.nodes * node:
        said.append(f"{times.nodes} nodes are {whole / node:.1f} times one node of {of_node}: they hardly pay")
    elif whole < WORTH_WHILE * times.processes:
        said.append(f"{times.processes} processes do the work of {whole:.1f}: fewer cost less")
    in_bf16 = speed_up(compute, times.processes, times.seconds["bf16"])
    if said and sent == "fp32" and in_bf16 > max(_BETTER * whole, 1.0):
        said.append(f"--training.gradient-exchange bf16 would make all of them {in_bf16:.1f} times as fast as one")
    return "; ".join(said)


def _predict(compute: float, times: ExchangeTimes, training: TrainingConfig) -> str:
    sent, number = training.gradient_exchange, times.processes
    whole = speed_up(compute, number, times.seconds[sent])
    update = compute / number + times.seconds[sent]
    said = f"Predicted: {_milliseconds(update)} an update with {number}, {whole:.1f} times as fast as one"
    if times.nodes > 1:
        node = _node_speed(compute, times, sent)
        said += f"; one node of {times.processes_of_node} would be {node:.1f} times as fast as one process"
    return said


def _node_speed(compute: float, times: ExchangeTimes, sent: str) -> float:
    return speed_up(compute, times.processes_of_node, times.node_seconds.get(sent, 0.0))


def _all_types(seconds: dict[str, float]) -> str:
    return ", ".join(f"{_milliseconds(one)} in {name}" for name, one in seconds.items())


def _milliseconds(seconds: float) -> str:
    return f"{show_number(1000 * seconds)} ms"

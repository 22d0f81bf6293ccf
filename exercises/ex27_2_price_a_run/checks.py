"""Checks of ex27-2: a rehearsal made of known durations, and bills of round numbers worked out another way.

Paper: sections 5.2, 6.1
"""

from typing import Any

from annotated_grader import Case, Student, expect, graded


def stamps_of(durations: list[float], start: float) -> list[float]:
    """Clock readings before the first update and after each."""
    stamps = [start]
    for duration in durations:
        stamps.append(stamps[-1] + duration)
    return stamps


@graded(points=2, levels=3)
def a_rehearsal(student: Student, case: Case) -> None:
    """The mean of what is left, when the first updates are slow; the clock need not start at 0."""
    skip, kept = 2 + case.between(0, 4), 5 + case.between(0, 6)
    slow = [20.0 + case.between(0, 30) for _ in range(skip)]
    usual = [0.25 * (1 + case.between(0, 7)) for _ in range(kept)]
    stamps = stamps_of(slow + usual, 100.0 + case.between(0, 900))
    got = student.call("seconds_per_update", stamps, skip)
    expect.number(got, sum(usual) / kept, "seconds an update", rtol=1e-6, stamps=stamps, skip=skip)


@graded(points=1, levels=2)
def nothing_skipped(student: Student, case: Case) -> None:
    """With skip 0 all updates count."""
    durations = [1.5 + case.between(0, 4) for _ in range(4 + case.between(0, 3))]
    stamps = stamps_of(durations, 7.0)
    got = student.call("seconds_per_update", stamps, 0)
    expect.number(got, sum(durations) / len(durations), "seconds an update", rtol=1e-6, stamps=stamps, skip=0)


@graded(points=2, levels=3)
def share_of_the_peak(student: Student, case: Case) -> None:
    """Utilisation: what was needed over what all GPUs could have done in that time."""
    gpus, peak, share = 2 + case.between(0, 14), 1e12 * (90 + case.between(0, 900)), 0.05 * (3 + case.between(0, 12))
    seconds = 0.5 + 0.125 * case.between(0, 8)
    flops = share * gpus * peak * seconds
    got = student.call("reached", flops, seconds, gpus, peak)
    expect.number(got, share, "utilisation", rtol=1e-6, flops_per_update=flops, seconds=seconds, gpus=gpus, peak=peak)


def worked(case: Case) -> tuple[dict[str, float], float]:
    """The arguments of a bill, and the device-hours that they were made from."""
    device_hours = float(24 + case.between(0, 100))
    peak, share = 1e12 * (100 + case.between(0, 889)), 0.05 * (4 + case.between(0, 10))
    arguments = {
        "flops": device_hours * 3600 * peak * share,
        "peak": peak,
        "utilisation": share,
        "gpus": 3 + case.between(0, 13),
        "price": 0.5 * (3 + case.between(0, 9)),
        "watts": 250.0 + case.between(0, 450),
        "overhead": 1.2 + 0.05 * case.between(0, 8),
    }
    return arguments, device_hours


def billed(student: Student, arguments: dict[str, float]) -> list[float]:
    """The three numbers."""
    got: Any = student.call("bill", *arguments.values())
    expect.true(isinstance(got, (tuple, list)) and len(got) == 3, "bill returns hours, money and kWh", **arguments)
    return list(got)


@graded(points=2, levels=3)
def hours_on_the_clock(student: Student, case: Case) -> None:
    """Hours: operations over what all GPUs together really do."""
    arguments, device_hours = worked(case)
    got = billed(student, arguments)[0]
    expect.number(got, device_hours / arguments["gpus"], "hours on the clock", rtol=1e-6, **arguments)


@graded(points=1, levels=3)
def money(student: Student, case: Case) -> None:
    """Money: every GPU is paid for every hour."""
    arguments, device_hours = worked(case)
    expect.number(billed(student, arguments)[1], device_hours * arguments["price"], "money", rtol=1e-6, **arguments)


@graded(points=1, levels=3)
def energy(student: Student, case: Case) -> None:
    """Energy: in kWh, of all GPUs, with the overhead."""
    arguments, device_hours = worked(case)
    joules = device_hours * 3600 * arguments["watts"] * arguments["overhead"]
    expect.number(billed(student, arguments)[2], joules / 3.6e6, "energy in kWh", rtol=1e-6, **arguments)

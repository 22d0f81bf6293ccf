"""Report of a run of the GPU benchmark: agreement of the modes, cost of a sentence, promises, and tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.gpu.modes import COMPILED, MODES, counts_for_promises

MOST_MS, CARD, BEST_PEER, BIG_GB = 36.0, "H100", 1.5, 24.0
"""Milliseconds of a base step on this card, times the best compiled peer, 10^9 bytes that the big model may take: a
card of 24 GB has a little more, and needs it for CUDA itself."""
AGREE = {"first_loss": 0.01, "first_norm": 0.1}
"""How far a mode's first step may be from our first side's, as a share; dropout differs, so it is never nothing."""


def measured(result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The sides of one shape that were measured, by name; not those that failed or were absent."""
    return {name: one for name, one in result["sides"].items() if "fresh" in one}


def disagreeing(rows: dict[str, dict[str, Any]]) -> list[str]:
    """Modes of ours whose first step is not that of our first mode, from the same weights on the same batch."""
    ours = [name for name in MODES if name in rows]
    return [
        f"{name}: {key} {rows[name][key]:.4f}, {ours[0]} has {rows[ours[0]][key]:.4f}"
        for name in ours[1:]
        for key, share in AGREE.items()
        if not abs(rows[name][key] - rows[ours[0]][key]) <= share * rows[ours[0]][key]
    ]


def calm_steps(fresh: dict[str, Any]) -> list[int]:
    """Numbers of the fresh steps without a stall; where a record has only their count, the longest were the stalls."""
    milliseconds = fresh["ms"]
    longest = sorted(range(len(milliseconds)), key=lambda number: -milliseconds[number])
    stalled = set(fresh.get("stalled", longest[: fresh["stalled_steps"]]))
    return [number for number in range(len(milliseconds)) if number not in stalled]


def stalls(fresh: dict[str, Any]) -> str:
    """How many of the fresh steps stalled, and what these took together; nothing if none did."""
    if not fresh["stalled_steps"]:
        return ""
    seconds = (sum(fresh["ms"]) - sum(fresh["ms"][number] for number in calm_steps(fresh))) / 1e3
    return f"{fresh['stalled_steps']} stalled, {seconds:.1f} s in all"


class SentenceCost(NamedTuple):
    """Milliseconds of a step as a straight line over the number of its sentences."""

    slope: float
    """Milliseconds a sentence."""
    intercept: float
    """Milliseconds of what does not depend on it."""
    r_squared: float

    def __str__(self) -> str:
        return f"{self.intercept:.1f} ms + {self.slope:.4f} ms a sentence, R^2 {self.r_squared:.3f}"


def sentence_cost(fresh: dict[str, Any], sentences: Sequence[int] | None = None) -> SentenceCost | None:
    """The least-squares line through the calm steps; None where there is none to draw.

    All batches have about as many tokens, so a slope is work that is paid by the sentence: blocks of attention.

    Parameters
    ----------
    fresh
        Fresh steps of a side.
    sentences
        Of each step's batch, for a record that does not have them.
    """
    counts = fresh.get("sentences") if sentences is None else sentences
    if counts is None:
        return None
    calm = calm_steps(fresh)
    x, y = np.array(counts)[calm], np.array(fresh["ms"])[calm]
    if len(calm) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    slope, intercept = np.polyfit(x, y, 1)
    return SentenceCost(float(slope), float(intercept), float(np.corrcoef(x, y)[0, 1] ** 2))


def sentence_costs(rows: dict[str, dict[str, Any]]) -> list[str]:
    """The line of each side that has one, in words."""
    costs = {name: sentence_cost(one["fresh"]) for name, one in rows.items()}
    return [f"{name}: {cost}" for name, cost in costs.items() if cost is not None]


def judged_ms(name: str, fresh: dict[str, Any]) -> float:
    """Milliseconds of a step by which a side is judged: a graph is recorded once for each class, and does not count.

    Where a mode of ours compiled anew all counts, for that may never end. A peer's compilations never count: no promise
    is to be kept by them.
    """
    calm = fresh["ms_without_stalls"]
    whole = calm is None or (name in MODES and fresh["graphs"] > 0)
    return float(fresh["ms_a_step"] if whole else calm)


def promises(shapes: dict[str, Any], device: str) -> list[tuple[str, bool]]:
    """What was promised, judged on batches never seen before; what was not measured is not in the list.

    A mode that does not train as the others do keeps no promise.

    Parameters
    ----------
    shapes
        Results by shape.
    device
        The name of the GPU: milliseconds were promised of one kind.
    """
    found: list[tuple[str, bool]] = []
    for shape, result in shapes.items():
        rows = measured(result)
        strange = {line.split(":")[0] for line in disagreeing(rows)}
        judged = {name: judged_ms(name, one["fresh"]) for name, one in rows.items()}
        ours = [name for name in judged if counts_for_promises(name) and name not in strange]
        peers = [name for name in judged if name not in MODES and COMPILED in name]
        if not ours:
            continue
        best = min(ours, key=judged.__getitem__)
        lost = stalls(rows[best]["fresh"])
        who = f"({best}{'; ' if lost else ''}{lost})"
        if shape == "base" and CARD in device:
            text = f"base: a step of at most {MOST_MS:.0f} ms on an {CARD}: {judged[best]:.1f} ms {who}"
            found.append((text, judged[best] <= MOST_MS))
        if shape == "big" and (most := rows[best].get("memory", {}).get("peak_reserved_mib")):
            text = f"big: inside {BIG_GB:.0f} GB: {most * 2**20 / 1e9:.1f} GB {who}"
            found.append((text, most * 2**20 <= BIG_GB * 1e9))
        if peers:
            peer = min(peers, key=judged.__getitem__)
            ratio = judged[peer] / judged[best]
            text = f"{shape}: at least {BEST_PEER} times the best compiled peer ({peer}): {ratio:.2f} {who}"
            found.append((text, ratio >= BEST_PEER))
    return found


def side_line(name: str, one: dict[str, Any]) -> str:
    """What was found about a side, in a line."""
    if "fresh" not in one:
        return f"{name:38} {one.get('failed') or one.get('absent') or 'not measured'}"
    fresh = one["fresh"]
    new, start = fresh["graphs"] + fresh["recordings"], one["start"]["seconds"]
    lost = f", {lost}" if (lost := stalls(fresh)) else ""
    return (
        f"{name:38} {fresh['ms_a_step']:8.1f} ms fresh ({new} new graphs{lost}, worst {fresh['worst_ms']:.0f} ms, "
        f"memory {fresh['memory_growth_mib']:+.0f} MiB) {one['steady']['ms_a_step']:8.1f} ms seen before "
        f"{fresh['tokens_s']:9.0f} tokens/s {fresh['share_of_peak']:6.1%} of peak, start {start:.0f} s"
    )


def table(result: dict[str, Any]) -> str:
    """What was measured, for people."""
    lines = []
    for shape, found in result["shapes"].items():
        lines.append(
            f"{shape}: time of {2 * result['settings']['tokens']:,} real tokens, dropout and optimiser included"
        )
        lines += [f"  {side_line(name, one)}" for name, one in found["sides"].items()]
        lines += [f"  {line}" for line in sentence_costs(measured(found))]
        lines += [f"  *** NOT THE SAME TRAINING: {line}" for line in disagreeing(measured(found))]
        lines += [
            f"  {name}: torch.compile gave up and ran eagerly, {one['limit_hits']} warnings"
            for name, one in measured(found).items()
            if one["limit_hits"]
        ]
    if left := result.get("left_out"):
        lines.append(f"left out, for the minutes were over: {', '.join(left)}. The same command goes on with these")
    lines += [
        f"promise {'kept' if kept else 'MISSED'}: {text}" for text, kept in promises(result["shapes"], result["device"])
    ]
    return "\n".join(lines)


def markdown(result: dict[str, Any]) -> str:
    """Tables of a run for gpu.md: who ran where, then a row for each side, then the promises."""
    machine = result["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    driver = f", driver {machine['driver']}" if machine.get("driver") else ""
    lines = [
        f"{result['device']}{driver}, {machine['cores']} cores ({machine['processor']}), {versions}, {result['date']}:",
        "",
        f"    {result['command']}",
    ]
    for shape, found in result["shapes"].items():
        lines += ["", f"**{shape}**, the time of {2 * result['settings']['tokens']:,} real tokens:", ""]
        lines += [
            "| side | 50 fresh batches, none seen before | of these without stalls | new graphs, and their steps "
            "| worst step | allocator's growth | batches seen before | tokens/s, fresh | of the product peak | start |",
            "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
        ]
        lines += [_row(name, one) for name, one in found["sides"].items()]
        if costs := sentence_costs(measured(found)):
            lines += ["", "Steps without stalls, by the sentences of their batches:", ""]
            lines += [f"- {line}" for line in costs]
        lines += [f"\nNot the same training: {line}." for line in disagreeing(measured(found))]
    if left := result.get("left_out"):
        lines += ["", f"Left out, for the minutes were over: {', '.join(left)}."]
    kept_or_not = promises(result["shapes"], result["device"])
    judged = [f"- {'kept' if kept else '**missed**'}: {text}" for text, kept in kept_or_not]
    if judged:
        lines += ["", "Promises, judged on the fresh batches, with the time of recordings beside:", "", *judged]
    return "\n".join(lines)


def _row(name: str, one: dict[str, Any]) -> str:
    if "fresh" not in one:
        return f"| `{name}` | {one.get('failed') or one.get('absent')} " + "| " * 9 + "|"
    fresh, calm = one["fresh"], one["fresh"]["ms_without_stalls"]
    cells = (
        f"{fresh['ms_a_step']:.1f} ms",
        "-" if calm is None else f"{calm:.1f} ms",
        str(fresh["graphs"] + fresh["recordings"]) + (f": {lost}" if (lost := stalls(fresh)) else ""),
        f"{fresh['worst_ms']:.0f} ms",
        f"{fresh['memory_growth_mib']:+.0f} MiB",
        f"{one['steady']['ms_a_step']:.1f} ms",
        f"{fresh['tokens_s']:,.0f}",
        f"{fresh['share_of_peak']:.1%}",
        f"{one['start']['seconds']:.0f} s" + (", in part cached" if one["start"].get("graphs_from_disk") else ""),
    )
    return f"| `{name}` | {' | '.join(cells)} |"


def outcome(one: dict[str, Any], device: str) -> str:
    """The cell of a mode's outcome in gpu.md; the device stands in it, for runs on several fill one column."""
    if "fresh" not in one:
        return str(one.get("failed") or one.get("absent"))
    fresh = one["fresh"]
    times = f"{fresh['ms_a_step']:.1f} ms fresh, {one['steady']['ms_a_step']:.1f} seen before"
    return f"{device}: {times}; {fresh['graphs'] + fresh['recordings']} new graphs"

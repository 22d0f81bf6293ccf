"""Report of a run of the GPU benchmark: agreement of the modes, promises, and tables for people."""

from __future__ import annotations

from typing import Any

from benchmarks.gpu.modes import COMPILED, MODES, counts_for_promises

MOST_MS, AIM_MS, BEST_PEER, BIG_SHARE = 30.0, 22.0, 1.5, 0.45
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


def promises(shapes: dict[str, Any]) -> list[tuple[str, bool]]:
    """What was promised, judged on batches never seen before; what was not measured is not in the list.

    A mode that does not train as the others do keeps no promise.
    """
    found: list[tuple[str, bool]] = []
    for shape, result in shapes.items():
        rows = measured(result)
        strange = {line.split(":")[0] for line in disagreeing(rows)}
        fresh = {name: one["fresh"] for name, one in rows.items()}
        ours = {name: one for name, one in fresh.items() if counts_for_promises(name) and name not in strange}
        peers = {name: one for name, one in fresh.items() if name not in MODES}
        if not ours:
            continue
        name, best = min(ours.items(), key=lambda one: one[1]["ms_a_step"])
        if shape == "base":
            text = f"base: a step of at most {MOST_MS:.0f} ms (aim {AIM_MS:.0f}): {best['ms_a_step']:.1f} ms ({name})"
            found.append((text, best["ms_a_step"] <= MOST_MS))
        if shape == "big":
            text = f"big: at least {BIG_SHARE:.0%} of the product peak: {best['share_of_peak']:.1%} ({name})"
            found.append((text, best["share_of_peak"] >= BIG_SHARE))
        if peers:
            peer, theirs = max(peers.items(), key=lambda one: one[1]["tokens_s"])
            ratio = best["tokens_s"] / theirs["tokens_s"]
            compiled = "" if any(COMPILED in one for one in peers) else "; no compiled peer was measured"
            text = f"{shape}: at least {BEST_PEER} times the best peer ({peer}{compiled}): {ratio:.2f} ({name})"
            found.append((text, ratio >= BEST_PEER))
    return found


def side_line(name: str, one: dict[str, Any]) -> str:
    """What was found about a side, in a line."""
    if "fresh" not in one:
        return f"{name:38} {one.get('failed') or one.get('absent') or 'not measured'}"
    fresh = one["fresh"]
    new, start = fresh["graphs"] + fresh["recordings"], one["start"]["seconds"]
    return (
        f"{name:38} {fresh['ms_a_step']:8.1f} ms fresh ({new} new graphs, worst {fresh['worst_ms']:.0f} ms, "
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
        lines += [f"  *** NOT THE SAME TRAINING: {line}" for line in disagreeing(measured(found))]
        lines += [
            f"  {name}: torch.compile gave up and ran eagerly, {one['limit_hits']} warnings"
            for name, one in measured(found).items()
            if one["limit_hits"]
        ]
    if left := result.get("left_out"):
        lines.append(f"left out, for the minutes were over: {', '.join(left)}. The same command goes on with these")
    lines += [f"promise {'kept' if kept else 'MISSED'}: {text}" for text, kept in promises(result["shapes"])]
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
            "| side | 50 fresh batches, none seen before | of these without stalls | new graphs | worst step "
            "| allocator's growth | batches seen before | tokens/s, fresh | of the product peak | start |",
            "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
        ]
        lines += [_row(name, one) for name, one in found["sides"].items()]
        lines += [f"\nNot the same training: {line}." for line in disagreeing(measured(found))]
    if left := result.get("left_out"):
        lines += ["", f"Left out, for the minutes were over: {', '.join(left)}."]
    judged = [f"- {'kept' if kept else '**missed**'}: {text}" for text, kept in promises(result["shapes"])]
    if judged:
        lines += ["", "Promises, judged on the fresh batches:", "", *judged]
    return "\n".join(lines)


def _row(name: str, one: dict[str, Any]) -> str:
    if "fresh" not in one:
        return f"| `{name}` | {one.get('failed') or one.get('absent')} " + "| " * 9 + "|"
    fresh, calm = one["fresh"], one["fresh"]["ms_without_stalls"]
    cells = (
        f"{fresh['ms_a_step']:.1f} ms",
        "-" if calm is None else f"{calm:.1f} ms",
        str(fresh["graphs"] + fresh["recordings"]),
        f"{fresh['worst_ms']:.0f} ms",
        f"{fresh['memory_growth_mib']:+.0f} MiB",
        f"{one['steady']['ms_a_step']:.1f} ms",
        f"{fresh['tokens_s']:,.0f}",
        f"{fresh['share_of_peak']:.1%}",
        f"{one['start']['seconds']:.0f} s" + (", in part cached" if one["start"].get("graphs_from_disk") else ""),
    )
    return f"| `{name}` | {' | '.join(cells)} |"


def outcome(one: dict[str, Any]) -> str:
    """The cell of a mode's outcome in gpu.md."""
    if "fresh" not in one:
        return str(one.get("failed") or one.get("absent"))
    fresh = one["fresh"]
    new = fresh["graphs"] + fresh["recordings"]
    return f"{fresh['ms_a_step']:.1f} ms fresh, {one['steady']['ms_a_step']:.1f} seen before; {new} new graphs"

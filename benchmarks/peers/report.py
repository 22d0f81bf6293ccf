"""From records to ratios: within each round, then the median over rounds."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from typing import Any

Record = dict[str, Any]
TRAINING = ("train_small", "train_base", "train_ragged")
TASKS = (*TRAINING, "greedy", "beam4")

TARGETS: tuple[tuple[str, str, str, str, float, float | None], ...] = (
    # task, measure, ours, the peer, at least (memory: at most), aim
    ("train_ragged", "speed", "annotated", "harvardnlp", 8.0, None),
    ("train_ragged", "speed", "annotated", "hf_marian", 3.4, None),
    ("train_ragged", "speed", "annotated", "jadore801120", 3.4, None),
    ("train_ragged", "speed", "annotated", "torch_nn_bucketed", 1.25, 1.4),
    ("train_ragged", "mfu", "annotated", "limit", 0.72, 0.8),
    ("train_ragged", "memory", "annotated", "torch_nn_bucketed", 0.78, None),
    ("train_base", "speed", "annotated", "best_same_dropout", 1.0, None),
    ("train_small", "speed", "annotated", "best", 1.15, 1.3),
    ("greedy", "speed", "annotated", "hf_marian", 1.3, None),
    ("greedy", "speed", "annotated", "ctranslate2_fp32", 0.7, 1.0),
    ("beam4", "speed", "annotated", "hf_marian", 1.3, None),
    ("beam4", "speed", "annotated", "ctranslate2_fp32", 0.7, 1.0),
)
"""What the project promises (the peers' own numbers are in the tables)."""


def line(record: Record) -> str:
    """One record, for the terminal."""
    head = f"round {record['round']} {record['task']:12} {record['peer']:32}"
    if "error" in record:
        return f"{head} {record['error']}"
    if record["task"] == "limit":
        return f"{head} {peak([record]) / 1e9:.0f} GFLOP a CPU second"
    rate, per_cpu = record["tokens"] / record["seconds"], record["tokens"] / record["cpu"]
    return f"{head} {rate:7.0f} tokens/s {per_cpu:7.0f} a CPU second, others {record['others']:.0%}"


def good(records: Iterable[Record], task: str, peer: str) -> dict[int, Record]:
    """The records of one peer and task without an error, by round."""
    mine = (r for r in records if r["task"] == task and r["peer"] == peer and "error" not in r)
    return {record["round"]: record for record in mine}


def peak(records: Iterable[Record]) -> float:
    """The machine's best float32 matrix product, FLOP a CPU second."""
    limits = [r for r in records if r["task"] == "limit" and "error" not in r]
    return 1e9 * max((v for r in limits for k, v in r.items() if k.startswith("cpu")), default=float("nan"))


def ratio(records: list[Record], task: str, ours: str, peer: str, measure: str = "speed") -> float | None:
    """Median over the rounds in which both were measured: tokens a CPU second, or peak memory, ours over theirs."""
    a, b = good(records, task, ours), good(records, task, peer)
    both = sorted(set(a) & set(b))
    if not both:
        return None
    if measure == "memory":
        return statistics.median(a[i]["rss_mib"] / b[i]["rss_mib"] for i in both)
    return statistics.median((a[i]["tokens"] / a[i]["cpu"]) / (b[i]["tokens"] / b[i]["cpu"]) for i in both)


def best(records: list[Record], task: str, same_dropout: bool = False) -> str | None:
    """The fastest peer of a task by tokens a CPU second."""
    names = {r["peer"] for r in records if r["task"] == task and not r["peer"].startswith("annotated")}
    if same_dropout:
        names = {name for name in names if name.endswith("_same_dropout")}
    else:
        names = {name for name in names if not name.endswith(("_same_dropout", "_fused_adam"))}
    rates = {name: rate(records, task, name) for name in names if good(records, task, name)}
    return max(rates, key=lambda name: rates[name]) if rates else None


def rate(records: list[Record], task: str, peer: str) -> float:
    """Median tokens a CPU second."""
    return statistics.median(r["tokens"] / r["cpu"] for r in good(records, task, peer).values())


def row(records: list[Record], task: str, peer: str, fastest: str | None) -> Record:
    """Everything about one peer and task."""
    mine = list(good(records, task, peer).values())
    if not mine:
        return {"error": next(r["error"] for r in records if r["task"] == task and r["peer"] == peer)}
    walls = [r["tokens"] / r["seconds"] for r in mine]
    per_cpu = statistics.median(r["flops"] / r["cpu"] for r in mine)
    out = {"tokens_s": statistics.median(walls), "low": min(walls), "high": max(walls), "rounds": len(mine)}
    out |= {"tokens_cpu_s": rate(records, task, peer), "mfu": per_cpu / peak(records)}
    out |= {"rss_mib": statistics.median(r["rss_mib"] for r in mine)}
    out |= {"to_best": ratio(records, task, peer, fastest) if fastest else None}
    if task in TRAINING:
        return out | {"fill": mine[0]["tokens"] / mine[0]["padded"], "parameters": mine[0]["parameters"]}
    return out | {"sentences_s": statistics.median(r["sentences"] / r["seconds"] for r in mine)}


def targets(records: list[Record]) -> list[Record]:
    """Each promise with what was measured; those without a measurement are left out."""
    out = []
    for task, measure, ours, peer, least, aim in TARGETS:
        against: str | None = peer
        if peer.startswith("best"):
            against = best(records, task, same_dropout=peer.endswith("same_dropout"))
        if measure == "mfu":
            mine = list(good(records, task, ours).values())
            value = statistics.median(r["flops"] / r["cpu"] for r in mine) / peak(records) if mine else None
        else:
            value = ratio(records, task, ours, against, measure) if against else None
        if value is not None:
            met = value <= least if measure == "memory" else value >= least
            wanted = {"peer": against, "promised": least, "aim": aim}
            out.append({"task": task, "measure": measure, **wanted, "measured": round(value, 3), "met": met})
    return out


def summarise(records: list[Record]) -> Record:
    """The summary that stands in the file beside the records."""
    out: Record = {"peak_gflops_per_cpu_s": peak(records) / 1e9, "targets": targets(records)}
    for task in TASKS:
        names = dict.fromkeys(r["peer"] for r in records if r["task"] == task)
        fastest = best(records, task)
        out[task] = {name: row(records, task, name, fastest) for name in names}
    return out


def tables(records: list[Record]) -> str:
    """The same as Markdown."""
    summary = summarise(records)
    lines = [f"Limit: {summary['peak_gflops_per_cpu_s']:.0f} GFLOP a CPU second (float32 matrix product)."]
    for task in TASKS:
        if summary[task]:
            lines += ["", f"### {task}", "", *table(task, summary[task])]
    if summary["targets"]:
        lines += ["", "### Promises", "", "| task | measure | beside | promised | measured | met |"]
        lines += ["|---|---|---|--:|--:|---|"]
    for t in summary["targets"]:
        bound = ("<= " if t["measure"] == "memory" else ">= ") + str(t["promised"])
        met = "yes" if t["met"] else "NO"
        lines.append(f"| {t['task']} | {t['measure']} | {t['peer']} | {bound} | {t['measured']:.2f} | {met} |")
    return "\n".join(lines)


def table(task: str, rows: Record) -> list[str]:
    """One task's table, the fastest first."""
    last = "real/padded" if task in TRAINING else "sentences/s"
    heads = ("peer", "tokens/s", "low..high", "tokens/CPU-s", "to best peer", "MFU", "peak RSS, MiB", last)
    lines = ["| " + " | ".join(heads) + " |", "|---" + "|--:" * 7 + "|"]
    for name, r in sorted(rows.items(), key=lambda item: -item[1].get("tokens_cpu_s", 0)):
        if "error" in r:
            lines.append(f"| {name} | {r['error'][:60]} |" + " |" * 6)
            continue
        extra = r["fill"] if task in TRAINING else r["sentences_s"]
        beside = f"{r['to_best']:.2f}" if r["to_best"] else "-"
        cells = f"{r['tokens_s']:.0f} | {r['low']:.0f}..{r['high']:.0f} | {r['tokens_cpu_s']:.0f} | {beside}"
        lines.append(f"| {name} | {cells} | {r['mfu']:.0%} | {r['rss_mib']:.0f} | {extra:.2f} |")
    return lines

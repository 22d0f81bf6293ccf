"""Plots as the numbers that are in them, so that they can travel; this file stands alone, beside the worker too."""

from __future__ import annotations

from typing import Any


def plot_data(value: Any) -> dict[str, Any] | None:
    """The numbers of an Altair chart or of matplotlib axes; None for anything else."""
    module = type(value).__module__.split(".")[0]
    if module == "altair" and hasattr(value, "to_dict"):
        spec = value.to_dict()
        rows = next(iter(spec.get("datasets", {}).values()), spec.get("data", {}).get("values", []))
        encoding = {name: part for name, part in spec.get("encoding", {}).items() if isinstance(part, dict)}
        fields = {channel: part.get("field") for channel, part in encoding.items() if "field" in part}
        scales = {channel: (part.get("scale") or {}).get("type", "") for channel, part in encoding.items()}
        mark = spec.get("mark", {})
        mark = mark.get("type") if isinstance(mark, dict) else mark
        return {"kind": "plot", "mark": mark, "rows": rows, "encoding": fields, "scales": scales}
    if module == "matplotlib" and hasattr(value, "get_lines"):
        rows = [
            {"line": i, "x": float(x), "y": float(y)}
            for i, line in enumerate(value.get_lines())
            for x, y in zip(*line.get_data(), strict=True)
        ]
        scales = {"x": value.get_xscale(), "y": value.get_yscale()}
        return {"kind": "plot", "mark": "line", "rows": rows, "encoding": {"x": "x", "y": "y"}, "scales": scales}
    return None

"""`annotated doctor` on public implementations: their own code, unchanged, behind one small adapter each.

Their code is not in this repository. Repositories are looked for in PEERS_SRC, packages are imported if they are
installed, and whatever is absent is left out with a line on stderr.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

RECORD = Path(__file__).parents[2] / "grader" / "annotated_grader" / "assets" / "doctor_public.json"
PARTIAL = Path("build/benchmarks/doctor.json")


def main(arguments: Sequence[str]) -> None:
    """Examine them, and write the record that the book shows."""
    from benchmarks.doctor.record import examine_all
    from benchmarks.doctor.registry import IMPLEMENTATIONS

    parser = argparse.ArgumentParser(prog="python -m benchmarks doctor", description=__doc__)
    parser.add_argument("--only", help=f"comma-separated, of {', '.join(IMPLEMENTATIONS)} (default: all)")
    parser.add_argument(
        "--out", type=Path, help=f"default: {RECORD.name} in annotated/assets if all are here, else {PARTIAL}"
    )
    parser.add_argument("--drafts", action="store_true", help="record findings that nobody has checked by hand, too")
    options = parser.parse_args(arguments)
    names = options.only.split(",") if options.only else list(IMPLEMENTATIONS)
    if unknown := [name for name in names if name not in IMPLEMENTATIONS]:
        raise ValueError(f"there is no {', '.join(unknown)}; there are {', '.join(IMPLEMENTATIONS)}")
    record = examine_all(names, options.drafts)
    whole = len(record["results"]["subjects"]) == len(IMPLEMENTATIONS)
    out: Path = options.out or (RECORD if whole else PARTIAL)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"wrote {out}")

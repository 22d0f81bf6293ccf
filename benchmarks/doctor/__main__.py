"""`python -m benchmarks.doctor NAME`: examine one implementation in this process, and print what was found as JSON."""

from __future__ import annotations

import json
import sys
import warnings

import torch

from benchmarks.doctor.common import quiet
from benchmarks.doctor.record import examined
from benchmarks.peers.adapter import PeerAbsent


def main(name: str) -> int:
    """Exit status 3: it is not here, and stderr says why."""
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    try:
        with quiet():
            found = examined(name)
    except PeerAbsent as absent:
        print(absent, file=sys.stderr)
        return 3
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))

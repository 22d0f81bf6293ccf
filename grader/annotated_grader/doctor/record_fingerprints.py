"""Record of the fingerprints: every mistake of the bank is examined, and what its failed invariants measured is kept.

`python -m annotated_grader.doctor.record_fingerprints` writes it anew.
"""

from __future__ import annotations

import json

from annotated.storage import atomic_write
from annotated_grader.doctor import mutants
from annotated_grader.doctor.examine import examine
from annotated_grader.doctor.fingerprints import RECORD, fingerprint


def measured_for(id: str) -> dict[str, str]:
    """The fingerprints of one known mistake, examined now."""
    mutant = mutants.find(id)
    with mutants.switched_on(id):
        # What rules mistakes out may hold, so everything that rules one out is examined, too.
        failed = examine(mutants.subject(id), [*mutant.killed_by, "cache-follows-beam"]).of("failed")
    return {finding.id: fingerprint(finding) for finding in failed}


def record() -> None:
    """Write what every known mistake measures."""
    found = {mutant.id: measured_for(mutant.id) for mutant in mutants.MUTANTS}
    with atomic_write(RECORD) as file:
        file.write(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    record()

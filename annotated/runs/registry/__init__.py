"""A ledger of finished runs, and the script that checks it.

Paper: Table 2
"""

from annotated.runs.registry.check import Problem, check_entry, check_ledger
from annotated.runs.registry.entries import Entry, add_entry, entries, thin_log

__all__ = ["Entry", "Problem", "add_entry", "check_entry", "check_ledger", "entries", "thin_log"]

"""Registry of finished runs (the ledger), and the script that checks it."""

from annotated.runs.registry.check import Problem, check_entry, check_ledger
from annotated.runs.registry.entries import Entry, add_entry, entries, read_entries, thin_log

__all__ = ["Entry", "Problem", "add_entry", "check_entry", "check_ledger", "entries", "read_entries", "thin_log"]

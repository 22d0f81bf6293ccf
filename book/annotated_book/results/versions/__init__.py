"""Chapter 32, "Paper, code and versions": one model in several conventions, and what each of them changes."""

from annotated_book.results.versions.charts import convention_chart, schedule_chart
from annotated_book.results.versions.configurations import PUBLISHED, Published, settings_table
from annotated_book.results.versions.conventions import (
    MISMATCHES,
    SinesFirst,
    carried,
    mismatch_table,
    sines_first_order,
)
from annotated_book.results.versions.results import recorded_versions, version_chart, version_table

__all__ = [
    "MISMATCHES",
    "PUBLISHED",
    "Published",
    "SinesFirst",
    "carried",
    "convention_chart",
    "mismatch_table",
    "recorded_versions",
    "schedule_chart",
    "settings_table",
    "sines_first_order",
    "version_chart",
    "version_table",
]

"""The small training of tests/runs, for the parts that make a training fast."""

from tests.runs.conftest import small, small_corpora

__all__ = ["small", "small_corpora"]

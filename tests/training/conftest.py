"""The small training of tests/runs, for the parts that a training is made of."""

from tests.runs.conftest import small, small_corpora

__all__ = ["small", "small_corpora"]

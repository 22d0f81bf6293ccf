"""A doctor for any encoder-decoder: what every Transformer keeps, and the likely mistake where one does not.

A first examination takes one class with one method::

    from annotated_grader.doctor import Subject, doctor

    class Mine(Subject):
        name, vocab_size, pad, bos, eos = "my model", 1000, 0, 1, 2

        def logits(self, source, target_in):      # ids [B, S] and [B, T] to [B, T, V]
            return my_model(source, target_in)

    doctor(Mine())

That is enough for what logits alone show. Each further method of `Subject` that is written lets the doctor examine
more; what it could not examine, the report lists with the method that was missing. On the command line:
`annotated doctor my_file.py:Mine`.
"""

from __future__ import annotations

from typing import Any

from annotated_grader.doctor.adapters import MarianSubject, OurSubject, TorchSubject, subject_of
from annotated_grader.doctor.examine import examine
from annotated_grader.doctor.finding import Finding, Mistake
from annotated_grader.doctor.report import Report
from annotated_grader.doctor.subject import (
    Claims,
    FirstAttention,
    Found,
    NotOffered,
    ResidualStep,
    Subject,
    Tables,
    Update,
)

__all__ = [
    "Claims",
    "Finding",
    "FirstAttention",
    "Found",
    "MarianSubject",
    "Mistake",
    "NotOffered",
    "OurSubject",
    "Report",
    "ResidualStep",
    "Subject",
    "Tables",
    "TorchSubject",
    "Update",
    "doctor",
    "examine",
    "subject_of",
]


def doctor(subject_or_model: Any, only: list[str] | None = None) -> Report:
    """Examine a model; in a notebook the report shows itself.

    Parameters
    ----------
    subject_or_model
        A `Subject`, or a model that an adapter knows (see `subject_of`).
    only
        Ids of invariants; None for all.

    Returns
    -------
    Report
        With a finding for each invariant.

    Raises
    ------
    ValueError
        If it is nothing that can be examined.
    """
    return examine(subject_of(subject_or_model), only)

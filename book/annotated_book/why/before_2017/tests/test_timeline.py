"""Dates of the timeline: what an arXiv number says of itself, and the order of time."""

from __future__ import annotations

import re

from annotated_book.why.before_2017.timeline import TIMELINE


def test_months_are_those_of_the_arxiv_numbers() -> None:
    for work in TIMELINE:
        # Four digits after the point until the end of 2014, five from 2015 on.
        assert re.fullmatch(r"\d{4}\.(\d{4}|\d{5})", work.arxiv), work
        assert len(work.arxiv) == (9 if work.month < "2015" else 10), work
        assert work.month == f"20{work.arxiv[:2]}-{work.arxiv[2:4]}", work


def test_in_order_and_without_repeats() -> None:
    assert [w.month for w in TIMELINE] == sorted(w.month for w in TIMELINE)
    assert len({w.arxiv for w in TIMELINE}) == len(TIMELINE)


def test_additive_attention_is_of_september_2014() -> None:
    (first,) = (w for w in TIMELINE if w.arxiv == "1409.0473")
    assert (first.month, first.kind) == ("2014-09", "attention")
    assert TIMELINE[-1].arxiv == "1706.03762"

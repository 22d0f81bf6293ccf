"""The audit's chart says what the library counts."""

from __future__ import annotations

import json
import re

import pytest

from annotated import base
from annotated.analysis.parameters import audit_table_3, count_parameters
from annotated.chapters.assembly.charts import audit_chart

vl_convert = pytest.importorskip("vl_convert", reason="evaluating charts needs the extra `book`")


@pytest.mark.parametrize(("vocabulary", "fitting"), [(37_000, 0), (41_100, 10), (36_000, 1)])
def test_the_audit_says_which_rows_fit(vocabulary: int, fitting: int) -> None:
    spec = audit_chart(audit_table_3(), vocab_size=vocabulary).to_dict()
    svg = vl_convert.vegalite_to_svg(json.dumps(spec), vl_version="6.4")
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    assert f"{vocabulary:,} entries: {fitting} of 11 rows fit" in texts
    assert sum(" = " in text for text in texts) == fitting
    base_count = f"{count_parameters(base(vocab_size=vocabulary)) / 1e6:.1f}"
    assert any(text.startswith(base_count) and text.endswith("65") for text in texts)


def test_an_audit_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError):
        audit_chart([])

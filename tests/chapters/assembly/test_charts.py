"""The audit's chart says what the library counts."""

from __future__ import annotations

import pytest

from annotated import base
from annotated.analysis.parameters import audit_table_3, count_parameters
from annotated.chapters.assembly.charts import audit_chart
from tests.drawing import texts


@pytest.mark.parametrize(("vocabulary", "fitting"), [(37_000, 0), (41_100, 10), (36_000, 1)])
def test_the_audit_says_which_rows_fit(vocabulary: int, fitting: int) -> None:
    said = texts(audit_chart(audit_table_3(), vocab_size=vocabulary))
    assert f"{vocabulary:,} entries: {fitting} of 11 rows fit" in said
    assert sum(" = " in text for text in said) == fitting
    base_count = f"{count_parameters(base(vocab_size=vocabulary)) / 1e6:.1f}"
    assert any(text.startswith(base_count) and text.endswith("65") for text in said)


def test_an_audit_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError):
        audit_chart([])

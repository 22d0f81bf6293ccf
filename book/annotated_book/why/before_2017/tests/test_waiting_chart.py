"""Who waits for whom: rows say when all letters are done."""

from __future__ import annotations

import pytest

from annotated_book.why.before_2017.waiting_chart import waiting_chart
from book.tests.drawing import moved, texts


def test_rows_say_when_all_letters_are_done() -> None:
    ready = {"recurrent": [5, 7, 9], "Transformer": [6, 6, 6]}
    shown = texts(waiting_chart(ready, start=6))
    assert "Transformer: all done after 6 products" in shown and "recurrent: still computing" in shown
    assert "recurrent: all done after 9 products" in texts(moved(waiting_chart(ready).to_dict(), done=9))
    with pytest.raises(ValueError, match="number of letters"):
        waiting_chart({"a": [1], "b": [1, 2]})

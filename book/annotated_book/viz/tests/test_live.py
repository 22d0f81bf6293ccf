"""Controls that need a kernel: a panel where one listens, a sentence where none does."""

from __future__ import annotations

import sys

import pytest

from annotated_book.viz.live import Notice, live_panel
from annotated_book.viz.renderers import BOOK_VARIABLE


def test_in_the_book_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BOOK_VARIABLE, "1")
    panel = live_panel(print, "type a <sentence>", text="hello")
    assert isinstance(panel, Notice)
    assert str(panel) == "Run this page in Jupyter to type a <sentence>."
    assert "type a &lt;sentence&gt;." in panel._repr_html_()


def test_in_a_notebook_the_controls_call_the_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(BOOK_VARIABLE, raising=False)
    seen: list[int] = []
    panel = live_panel(lambda n: seen.append(n), "count", n=(0, 10))
    panel.update()
    panel.children[0].value = 7
    assert seen[-1] == 7


def test_what_the_function_returns_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(BOOK_VARIABLE, raising=False)
    panel = live_panel(lambda n: None if n < 7 else f"a chart of {n}", "count", n=(0, 10))
    panel.children[0].value = 3
    assert "None" not in capsys.readouterr().out
    panel.children[0].value = 7
    assert "a chart of 7" in capsys.readouterr().out


def test_without_ipywidgets_the_sentence_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(BOOK_VARIABLE, raising=False)
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    assert "pip install ipywidgets" in str(live_panel(print, "count", n=1))

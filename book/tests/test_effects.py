"""Effect sizes: what a cell records reaches the book's build, and a slip is refused where it is made."""

from __future__ import annotations

import json
from typing import Any

import pytest

from annotated_book import effect_size


def test_outside_a_notebook_nothing_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    effect_size("C08", 2.5, "nats", "of something")
    assert capsys.readouterr().out == ""


def test_in_a_notebook_the_number_is_an_output_that_is_taken_out_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    display, IPython = pytest.importorskip("IPython.display"), pytest.importorskip("IPython")
    shown: list[tuple[Any, dict[str, Any]]] = []
    monkeypatch.setattr(display, "display", lambda data, **options: shown.append((data, options)))
    monkeypatch.setattr(IPython, "get_ipython", lambda: object())
    effect_size("C08 P3.2.1-7", 2.5, "nats", "of something")
    ((data, options),) = shown
    prefix = options["metadata"]["scrapbook"]["mime_prefix"]
    assert all(kind.startswith(prefix) for kind in data), "nothing is left that a page could show"
    recorded = json.loads(data[f"{prefix}text/plain"])
    assert recorded == {"claims": ["C08", "P3.2.1-7"], "value": 2.5, "unit": "nats", "what": "of something"}


@pytest.mark.parametrize(
    ("claims", "value", "what"), [("", 1.0, "of it"), ("C08", 1.0, " "), ("C08", float("nan"), "of it")]
)
def test_a_record_without_name_number_or_words_is_refused(claims: str, value: float, what: str) -> None:
    with pytest.raises(ValueError):
        effect_size(claims, value, "nats", what)

"""What the tests of grading share."""

from __future__ import annotations

import gc

import pytest


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Children are started without a tidy memory: in a process with torch this takes longer than all else here."""
    monkeypatch.setattr(gc, "collect", lambda: 0)

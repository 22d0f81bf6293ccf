"""The model as the page has it: its data for the engine, and the same weights in the library's model."""

from __future__ import annotations

from typing import Any

import pytest

import annotated
from annotated_book.viz.engine.script import model_data, page_translator


@pytest.fixture(scope="session")
def data() -> dict[str, Any]:
    """What the page loads."""
    return model_data()


@pytest.fixture(scope="session")
def translator() -> annotated.Translator:
    """The classroom model with the weights as the page rounds them."""
    return page_translator()


@pytest.fixture(scope="session")
def wide_data() -> dict[str, Any]:
    """What the page loads of the wide model."""
    return model_data("classroom-wide")


@pytest.fixture(scope="session")
def wide_translator() -> annotated.Translator:
    """The wide model with the weights as the page has them."""
    return page_translator("classroom-wide")

"""What tests of chapters share: the model as the page has it."""

from tests.viz.engine.conftest import data, translator

__all__ = ["data", "translator"]

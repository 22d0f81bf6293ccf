"""Chapter 1, "One sentence, end to end": its pictures and experiments."""

from annotated_book.start.one_sentence.widget import Architecture, architecture, architecture_table, architecture_twin

__all__ = ["Architecture", "architecture", "architecture_table", "architecture_twin"]

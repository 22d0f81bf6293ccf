"""Chapter 34, "After 2017": the parts that have changed since, each swapped into the book's own model."""

from annotated_book.results.since_2017.parts import PARTS, Part

__all__ = ["PARTS", "Part"]

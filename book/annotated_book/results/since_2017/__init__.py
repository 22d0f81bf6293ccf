"""Chapter 34, "After 2017": the parts that have changed since, each swapped into the book's own model."""

"""Chapter 2, "Sequence transduction": its pictures and experiments."""

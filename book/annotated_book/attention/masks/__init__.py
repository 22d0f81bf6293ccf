"""Chapter 7, "Masks": its pictures and experiments."""

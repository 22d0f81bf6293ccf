"""Chapter 16, "Subwords": its pictures and experiments."""

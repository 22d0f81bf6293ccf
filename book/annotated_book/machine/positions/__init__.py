"""Chapter 14, "Positional encoding": its pictures and experiments."""

"""Chapter 22, "The first training run": its pictures and experiments."""

"""Chapter 20, "Adam and the warm-up": its pictures and experiments."""

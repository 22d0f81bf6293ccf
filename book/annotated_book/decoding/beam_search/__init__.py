"""Chapter 24, "Beam search": its pictures and experiments."""

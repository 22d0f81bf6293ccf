"""Chapter 1, "One sentence, end to end": its pictures and experiments."""

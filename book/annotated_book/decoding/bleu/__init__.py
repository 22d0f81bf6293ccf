"""Chapter 26, "BLEU": its pictures and experiments."""

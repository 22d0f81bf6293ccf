"""Chapter 23, "Greedy decoding": its pictures and experiments."""

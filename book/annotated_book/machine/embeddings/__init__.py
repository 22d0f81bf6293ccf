"""Chapter 13, "Embeddings, shared three ways": its pictures and experiments."""

"""Chapter 17, "Batches by tokens": its pictures and experiments."""

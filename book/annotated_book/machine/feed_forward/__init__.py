"""Chapter 10, "The position-wise network": its pictures and experiments."""

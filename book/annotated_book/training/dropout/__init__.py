"""Chapter 21, "Dropout": its pictures and experiments."""

"""Chapter 19, "Label smoothing": its pictures and experiments."""

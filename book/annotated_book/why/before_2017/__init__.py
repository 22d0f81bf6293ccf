"""Chapter 3, "Before 2017": its pictures and experiments."""

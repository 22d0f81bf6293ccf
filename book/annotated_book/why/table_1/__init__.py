"""Chapter 4, "Table 1, measured": its pictures and experiments."""

"""Chapter 27, "Table 2 and its costs": its pictures and experiments."""

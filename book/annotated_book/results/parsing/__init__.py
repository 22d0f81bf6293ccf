"""Chapter 29, "Constituency parsing": its pictures and experiments."""

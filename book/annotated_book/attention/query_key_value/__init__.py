"""Chapter 6, "Query, key, value": its pictures."""

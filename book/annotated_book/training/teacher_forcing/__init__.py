"""Chapter 18, "Teacher forcing": its pictures and experiments."""

"""Chapter 9, "An atlas of attention heads": its pictures and experiments."""

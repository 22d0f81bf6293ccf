"""Chapter 8, "Multi-head attention": its pictures and experiments."""

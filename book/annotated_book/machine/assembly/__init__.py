"""Chapter 15, "Assemble and audit": its pictures and experiments."""

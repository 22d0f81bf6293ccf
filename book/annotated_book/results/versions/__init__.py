"""Chapter 32, "Paper, code and versions": one model in several conventions, and what each of them changes."""

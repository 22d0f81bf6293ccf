"""Exercises: their files, checks, known-wrong answers and notebooks, and what an answer to one earns."""

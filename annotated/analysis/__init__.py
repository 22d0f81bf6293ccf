"""Measurements on models that several chapters share: scores, leaks, heads, parameters, traces."""

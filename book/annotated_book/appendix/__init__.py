"""Appendix: the pipeline of 2022."""

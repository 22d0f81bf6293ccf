"""Preflight checks: everything that can be known to be wrong before a long training run, with advice for each.

Every training run begins with those of `start`; `annotated preflight` makes all that `checking` lists.
"""

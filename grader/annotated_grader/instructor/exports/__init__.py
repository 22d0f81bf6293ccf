"""Exercises and grades in the formats of other systems: nbgrader, otter, Gradescope, Canvas.

Formats only: nothing here needs those systems, and the library never imports them.
"""

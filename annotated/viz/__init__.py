"""The kit that charts and widgets of several chapters share: theme, live updates, attention maps, training logs.

Importing any part of it chooses Altair's renderer (`use_renderer`), unless you have chosen one.
"""

from annotated.viz.theme import use_renderer

use_renderer()

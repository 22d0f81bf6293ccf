"""The kit that charts and widgets of several chapters share: theme, tables, live updates, attention maps, logs.

Importing any part of it chooses Altair's renderer (`use_renderer`), unless you have chosen one, and lets
charts carry their data (`use_inline_data`).
"""

from annotated_book.viz.renderers import use_inline_data, use_renderer

use_renderer()
use_inline_data()

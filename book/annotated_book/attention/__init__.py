"""Attention: sections 3.2.1 to 3.2.3, and what heads do."""

"""Reference: pages that other pages lead to."""

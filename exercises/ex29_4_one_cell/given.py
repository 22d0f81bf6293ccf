"""A cell that stays where the answer runs, so that it shows whether `close` has changed it."""


def cell(entries: dict[str, float]) -> dict[str, float]:
    """The cell; its method `copy` tells what is in it."""
    return dict(entries)

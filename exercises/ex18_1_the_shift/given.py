"""Looks at what an answer has done to its input."""


def input_after():
    """A function that calls another one, and gives back its first argument as it is afterwards."""

    def run(function, first, *rest):
        function(first, *rest)
        return first

    return run

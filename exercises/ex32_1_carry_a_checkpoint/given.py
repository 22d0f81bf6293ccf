"""Runs the learner's function and then writes over its result."""


def changed_afterwards():
    """A function that looks for weights which `function` changed, or which change with its result."""

    def names(function, weights, order):
        before = {name: tensor.clone() for name, tensor in weights.items()}
        for tensor in function(weights, order).values():
            tensor.fill_(7.5)
        return [name for name, tensor in weights.items() if not tensor.equal(before[name])]

    return names

"""Numbers of components and hyper-parameters of a space."""


def n_components(space):
    return tuple(len(space.components(step)) for step in space.steps)


def n_parameters(space, *steps):
    return sum(len(c.parameters) for step in steps for c in space.components(step))

"""A small search space for functions, and an objective on it."""

from scipy.stats import randint, uniform

from skauto.space import SearchSpace


def shapes():
    space = SearchSpace(["shape"])
    space.add("shape", "bowl", parameters={"x": uniform(-1, 2)})
    return space.add("shape", "stairs", parameters={"n": randint(1, 9)})


def objective(configuration):
    values = configuration.parameters("shape")
    return values["x"] ** 2 if "x" in values else 1.0 / values["n"]

"""Planes and valleys: spaces and objectives with known Pareto sets."""

import numpy as np

from skauto.space import Configuration, Real, SearchSpace
from skauto.testing._loop import as_measured, single_space, small_space
from skauto.testing._loop import conditional_space as rich_space
from skauto.testing._loop import run_search as drive
from skauto.utils._pareto import hypervolume

__all__ = ["as_measured", "drive", "rich_space", "single_space", "small_space"]


def plane(n_dimensions: int = 3) -> SearchSpace:
    """A space of points of the unit cube."""
    parameters = {f"x{i}": Real(0, 1) for i in range(n_dimensions)}
    return SearchSpace().add("classifier", "point", parameters=parameters)


def coordinates(configuration: Configuration) -> np.ndarray:
    """The point that a configuration of a plane stands for."""
    return np.array(list(configuration.parameters("classifier").values()))


def distances(point: np.ndarray, n_objectives: int = 2) -> tuple[float, ...]:
    """Mean squared distances from points of the diagonal: the Pareto set of two is a segment."""
    centers = np.linspace(0.2, 0.7, n_objectives)
    return tuple(float(np.mean((point - center) ** 2)) for center in centers)


def two_valleys(number: int, configuration: Configuration) -> dict:
    """Measure the distances of a point of a plane from two points."""
    return {"losses": distances(coordinates(configuration))}


def best_volume() -> float:
    """Hypervolume of the front of two valleys within (0.3, 0.3): losses t^2 and (0.5 - t)^2."""
    t = np.linspace(0, 0.5, 500)
    return hypervolume(np.column_stack([t**2, (0.5 - t) ** 2]), [0.3, 0.3])

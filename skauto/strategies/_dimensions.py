"""One-hot inputs for distance-based models, and the dimension of a conditional space."""

import numpy as np
from numpy.typing import NDArray

from skauto.space import SearchSpace
from skauto.utils import FloatArray


def n_free_dimensions(space: SearchSpace) -> int:
    """Dimension d of a space: the maximum number of choices in a configuration, at least 1.

    A step counts 1 if it has several algorithms, plus the largest number of hyper-parameters of
    one of its algorithms.
    """
    d = 0
    for step in space.steps:
        components = space.components(step)
        d += len(components) > 1
        d += max(len(component.parameters) for component in components)
    return max(1, d)


def model_inputs(space: SearchSpace, vectors: FloatArray) -> FloatArray:
    """One-hot encode vectors (n, n_dimensions), without the steps that have a single algorithm.

    Values lie in [0, 1]. A space with a single configuration gives one column of zeros.
    """
    return _without_fixed_steps(space, space.one_hot(vectors))


def structure_inputs(space: SearchSpace, structures: NDArray[np.generic]) -> FloatArray:
    """One-hot encode structures, or the structures of vectors, as `model_inputs` does."""
    return _without_fixed_steps(space, space.one_hot_structures(structures))


def _without_fixed_steps(space: SearchSpace, encoded: FloatArray) -> FloatArray:
    sizes = space.layout.n_algorithms
    keep = np.ones(encoded.shape[1], dtype=bool)
    keep[: sizes.sum()] = np.repeat(sizes > 1, sizes)
    return encoded[:, keep] if keep.any() else np.zeros((len(encoded), 1))

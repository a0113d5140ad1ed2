"""One-hot inputs for distance-based models, and the number of choices in a configuration."""

import numpy as np

from skauto.space import SearchSpace
from skauto.utils import FloatArray


def n_free_dimensions(space: SearchSpace) -> int:
    """Number d of choices that a configuration consists of, at most.

    A step with several algorithms is one choice, and so is each hyper-parameter of the algorithm
    that has most of them.

    Parameters
    ----------
    space : SearchSpace
        The space.

    Returns
    -------
    d : int
        At least 1.
    """
    d = 0
    for step in space.steps:
        components = space.components(step)
        d += len(components) > 1
        d += max(len(component.parameters) for component in components)
    return max(1, d)


def model_inputs(space: SearchSpace, vectors: FloatArray) -> FloatArray:
    """One-hot encoding of vectors without the steps that leave no choice.

    Parameters
    ----------
    space : SearchSpace
        The space of the vectors.
    vectors : ndarray of shape (n, n_dimensions)
        Configurations.

    Returns
    -------
    X : ndarray of shape (n, n_columns)
        Numbers in [0, 1]; a column of zeros if the space has a single configuration.
    """
    encoded = space.one_hot(vectors)
    keep = np.ones(encoded.shape[1], dtype=bool)
    sizes = [len(space.components(step)) for step in space.steps]
    keep[: sum(sizes)] = np.repeat(np.array(sizes) > 1, sizes)
    return encoded[:, keep] if keep.any() else np.zeros((len(encoded), 1))

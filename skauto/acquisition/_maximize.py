"""Where in a search space an acquisition is largest: random candidates and local search."""

from collections.abc import Callable, Collection

import numpy as np

from skauto.space import SearchSpace
from skauto.utils import FloatArray, IntArray

Acquisition = Callable[[FloatArray], FloatArray]


def maximize_acquisition(
    acquisition: Acquisition,
    space: SearchSpace,
    rng: np.random.Generator,
    *,
    starts: FloatArray | None = None,
    n_random: int = 5000,
    n_random_starts: int = 10,
    n_rounds: int = 10,
    structures: IntArray | None = None,
    fixed_steps: Collection[str] = (),
) -> tuple[FloatArray, FloatArray]:
    """Rank configurations by an acquisition: random ones, and climbs from the best of them.

    Parameters
    ----------
    acquisition : callable
        Takes vectors of the space, of shape (n, n_dimensions), and gives n values.
    space : SearchSpace
        Where to search.
    rng : numpy.random.Generator
        Source of all randomness.
    starts : ndarray of shape (n_starts, n_dimensions), default=None
        Where local search starts, besides from the best random candidates.
    n_random : int, default=5000
        Number of random candidates.
    n_random_starts : int, default=10
        Number of the best random candidates that local search starts from.
    n_rounds : int, default=10
        Largest number of moves of local search.
    structures : ndarray of int of shape (k, n_steps), default=None
        Structures that random candidates are drawn from; None takes all.
    fixed_steps : collection of str, default=()
        Steps whose algorithm local search does not change.

    Returns
    -------
    vectors : ndarray of shape (n, n_dimensions)
        All that was looked at, except the starts, in decreasing order of acquisition.
    values : ndarray of shape (n,)
        Their acquisition.

    References
    ----------
    .. [1] F. Hutter, H. H. Hoos, K. Leyton-Brown, "Sequential Model-Based Optimization for
       General Algorithm Configuration", LION 2011, section 4.3.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.acquisition import maximize_acquisition
    >>> from skauto.space import Real, SearchSpace
    >>> space = SearchSpace().add("classifier", "one", None, {"x": Real(0, 1)})
    >>> rng = np.random.default_rng(0)
    >>> vectors, _ = maximize_acquisition(lambda v: -abs(v[:, 1] - 0.3), space, rng)
    >>> space.decode(vectors[0]).parameters("classifier")["x"].__round__(2)
    0.3
    """
    vectors = space.sample(n_random, rng, structures)
    values = acquisition(vectors)
    best = np.argsort(-values, kind="stable")[:n_random_starts]
    roots, heights = vectors[best], values[best]
    if starts is not None and len(starts):
        roots = np.vstack([starts, roots])
        heights = np.concatenate([acquisition(starts), heights])
    climbed, climbed_values = local_search(
        acquisition, space, roots, heights, rng, n_rounds=n_rounds, fixed_steps=fixed_steps
    )
    vectors, values = np.vstack([climbed, vectors]), np.concatenate([climbed_values, values])
    order = np.argsort(-values, kind="stable")
    return vectors[order], values[order]


def local_search(
    acquisition: Acquisition,
    space: SearchSpace,
    starts: FloatArray,
    values: FloatArray,
    rng: np.random.Generator,
    *,
    n_rounds: int = 10,
    fixed_steps: Collection[str] = (),
) -> tuple[FloatArray, FloatArray]:
    """Climb from every start to its best neighbour, and on, until none is better.

    The neighbours of all climbers are valued together.

    Parameters
    ----------
    acquisition : callable
        Takes vectors of the space, of shape (n, n_dimensions), and gives n values.
    space : SearchSpace
        Where to search.
    starts : ndarray of shape (n_starts, n_dimensions)
        Where to start.
    values : ndarray of shape (n_starts,)
        Acquisition of the starts.
    rng : numpy.random.Generator
        Draws the neighbours in numeric hyper-parameters.
    n_rounds : int, default=10
        Largest number of moves.
    fixed_steps : collection of str, default=()
        Steps whose algorithm is not changed.

    Returns
    -------
    vectors : ndarray of shape (n, n_dimensions)
        All neighbours that were looked at.
    values : ndarray of shape (n,)
        Their acquisition.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.acquisition import local_search
    >>> from skauto.space import SearchSpace
    >>> space = SearchSpace().add("classifier", "one", None, {"k": [1, 5, 9]})
    >>> start, rng = space.default_vector()[None], np.random.default_rng(0)
    >>> vectors, values = local_search(lambda v: v[:, 1], space, start, start[:, 1], rng)
    >>> space.decode(vectors[values.argmax()]).parameters("classifier")
    {'k': 9}
    """
    seen_vectors: list[FloatArray] = [np.empty((0, space.n_dimensions))]
    seen_values: list[FloatArray] = [np.empty(0)]
    for _ in range(n_rounds):
        neighbors = [space.neighbors(vector, rng, fixed_steps=fixed_steps) for vector in starts]
        sizes = np.array([len(block) for block in neighbors], dtype=np.intp)
        if not sizes.sum():
            break
        vectors = np.vstack(neighbors)
        heights = acquisition(vectors)
        seen_vectors.append(vectors)
        seen_values.append(heights)
        ends = np.cumsum(sizes)
        best = [
            begin + int(heights[begin:end].argmax())
            for begin, end in zip(ends - sizes, ends, strict=True)
            if end > begin
        ]
        better = heights[best] > values[sizes > 0]
        starts, values = vectors[best][better], heights[best][better]
    return np.vstack(seen_vectors), np.concatenate(seen_values)

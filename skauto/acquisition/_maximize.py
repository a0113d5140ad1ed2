"""Maximization of an acquisition over a search space: random candidates and local search."""

from collections.abc import Callable, Collection

import numpy as np

from skauto.space import SearchSpace
from skauto.utils import FloatArray, IntArray

#: Maps vectors of shape (n, n_dimensions) to n values.
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
    """Maximize an acquisition by random candidates and local search.

    Of equally good candidates, neighbors come first. The order is random if all are equally good,
    because the acquisition is then no reason to stay near to the starts.

    Parameters
    ----------
    acquisition : callable
        Maps vectors of shape (n, n_dimensions) to n values.
    space : SearchSpace
        Space of the candidates.
    rng : numpy.random.Generator
        Draws candidates and neighbors.
    starts : ndarray of shape (n_starts, n_dimensions), default=None
        Additional starts of the local search.
    n_random : int, default=5000
        Number of random candidates.
    n_random_starts : int, default=10
        Number of random candidates, the best ones, that local search starts from.
    n_rounds : int, default=10
        Maximum number of moves of local search.
    structures : ndarray of int of shape (k, n_steps), default=None
        Structures of the random candidates; None means all.
    fixed_steps : collection of str, default=()
        Steps whose algorithm local search does not change.

    Returns
    -------
    vectors : ndarray of shape (n, n_dimensions)
        All evaluated candidates except the starts, in decreasing order of acquisition.
    values : ndarray of shape (n,)
        Their acquisition values.

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
    all_starts, start_values = vectors[best], values[best]
    if starts is not None and len(starts):
        all_starts = np.vstack([starts, all_starts])
        start_values = np.concatenate([acquisition(starts), start_values])
    found, found_values = local_search(
        acquisition,
        space,
        all_starts,
        start_values,
        rng,
        n_rounds=n_rounds,
        fixed_steps=fixed_steps,
    )
    vectors, values = np.vstack([found, vectors]), np.concatenate([found_values, values])
    if (values == values[0]).all():
        order = rng.permutation(len(values))
    else:
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
    """Local search: move from each start to its best neighbor until no neighbor is better.

    The starts (n_starts, n_dimensions) have known values (n_starts,). The neighbors of all current
    points are evaluated in one batch. After at most `n_rounds` moves, all evaluated neighbors and
    their values are returned.
    """
    seen_vectors: list[FloatArray] = [np.empty((0, space.n_dimensions))]
    seen_values: list[FloatArray] = [np.empty(0)]
    for _ in range(n_rounds):
        vectors, of = space.neighborhoods(starts, rng, fixed_steps=fixed_steps)
        if not len(vectors):
            break
        new_values = acquisition(vectors)
        seen_vectors.append(vectors)
        seen_values.append(new_values)
        # The first of the best neighbors of each start that has any.
        order = np.lexsort((-new_values, of))
        starts_of, first = np.unique(of[order], return_index=True)
        best = order[first]
        better = new_values[best] > values[starts_of]
        starts, values = vectors[best][better], new_values[best][better]
    return np.vstack(seen_vectors), np.concatenate(seen_values)

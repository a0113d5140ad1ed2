"""The candidates of ensemble selection."""

from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from skauto.utils import IntArray


def candidate_pool(
    losses: ArrayLike,
    algorithms: Sequence[Hashable],
    *,
    n_best: int = 10,
    n_per_algorithm: int = 3,
) -> IntArray:
    """Return the candidates of ensemble selection: the best, and the best of each algorithm.

    Models of one algorithm (such as one classifier) make similar predictions, so that the best
    models alone may lack diversity. With all models as candidates, selection would overfit the
    validation rows. The losses have the shape (n_models,) or (n_models, n_keys), where later
    columns break ties of earlier ones. The indices of the candidates are sorted, the best first.
    """
    if not len(algorithms):
        return np.empty(0, dtype=np.intp)
    keys = np.asarray(losses, dtype=np.float64).reshape(len(algorithms), -1)
    order = np.lexsort(keys.T[::-1])
    seen: Counter[Hashable] = Counter()
    chosen = []
    for rank, index in enumerate(order.tolist()):
        seen[algorithms[index]] += 1
        if rank < n_best or seen[algorithms[index]] <= n_per_algorithm:
            chosen.append(index)
    return np.array(chosen, dtype=np.intp)

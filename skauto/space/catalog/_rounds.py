"""What classifiers that learn in rounds share."""

from typing import Any

import numpy as np


def known_rows(eval_set: tuple[Any, Any], classes: Any) -> tuple[Any, Any] | None:
    """Leave out validation rows of classes that the training rows lack.

    Parameters
    ----------
    eval_set : tuple of ({array-like, sparse matrix}, array-like)
        Validation rows and their classes.
    classes : array-like of shape (n_classes,)
        Classes of the training rows.

    Returns
    -------
    eval_set : tuple or None
        The rows left; None if there are none.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.space.catalog._rounds import known_rows
    >>> known_rows((np.array([[5.0], [6.0]]), [0, 2]), [0, 1])
    (array([[5.]]), array([0]))
    """
    X, y = eval_set[0], np.asarray(eval_set[1])
    known = np.isin(y, classes)
    if known.all():
        return (X, y) if len(y) else None
    return (X[known], y[known]) if known.any() else None

"""Properties of a data set that the search space depends on."""

from dataclasses import dataclass


@dataclass(frozen=True)
class DataFacts:
    """Properties of a data set that the search space depends on.

    Parameters
    ----------
    n_samples : int
        Number of rows.
    n_features : int
        Number of columns.
    has_missing : bool, default=False
        Whether values are missing.
    has_categories : bool, default=False
        Whether there are categorical columns.
    sparse : bool, default=False
        Whether the matrix is sparse.
    weighted : bool, default=False
        Whether the user passed sample weights.

    Examples
    --------
    >>> from skauto.data import DataFacts
    >>> DataFacts(n_samples=100, n_features=4, has_missing=True).has_missing
    True
    """

    n_samples: int
    n_features: int
    has_missing: bool = False
    has_categories: bool = False
    sparse: bool = False
    weighted: bool = False

"""Size and properties of a table."""

from dataclasses import dataclass


@dataclass(frozen=True)
class DataFacts:
    """Size and properties of a table: the search space and the seconds of a fit depend on them.

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
    n_classes : int, default=2
        Number of classes.
    n_one_hot : int, default=0
        Number of columns that one-hot encoding adds.

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
    n_classes: int = 2
    n_one_hot: int = 0

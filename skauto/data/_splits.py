"""Which rows train and which validate: the same for every trial of a search."""

import numbers
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from skauto.utils import BoolArray, IntArray

# Rows that train and rows that validate.
Split = tuple[IntArray, IntArray]

# Upper number of rows for 8, 5 and 3 folds; beyond the last one fifth of the rows is held out.
FOLDS_BY_SIZE = ((2_000, 8), (20_000, 5), (100_000, 3))
_HOLD_OUT = 0.2
# The configurations that are to be validated on all folds, and the share of the budget for them.
_N_JUDGED = 12
_SHARE_OF_BUDGET = 0.5


def make_splits(
    cv: Any, X: Any, y: IntArray, groups: NDArray[Any] | None = None, *, seed: int = 0
) -> list[Split]:
    """Give the training and validation rows of each fold, as lists that never change.

    Parameters
    ----------
    cv : None, int, float, splitter or iterable of (train, test)
        None: 8 stratified folds up to 2,000 rows, 5 up to 20,000, 3 up to 100,000, beyond that a
        stratified fifth held out. An integer is a number of stratified shuffled folds, a float in
        (0, 1) the share of rows that is held out. With ``groups``, the folds keep them whole.
    X : array-like of shape (n_samples, n_features)
        The table, for splitters that look at it.
    y : ndarray of int of shape (n_samples,)
        Class of each row, as a code from 0.
    groups : ndarray of shape (n_samples,), default=None
        Group of each row.
    seed : int, default=0
        Seed of the shuffling.

    Returns
    -------
    splits : list of (ndarray, ndarray)
        Row numbers that train and that validate. A class with fewer rows than folds is missing
        from some of them. When no class has two rows, everything both trains and validates.

    Raises
    ------
    ValueError
        If ``cv`` is of another kind, out of range, or gives an empty fold.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.data import make_splits
    >>> y = np.array([0, 1] * 6)
    >>> [test.size for _, test in make_splits(3, None, y)]
    [4, 4, 4]
    """
    if isinstance(cv, str):
        _refuse(cv)
    elif hasattr(cv, "split"):
        splits = list(cv.split(X, y, groups))
    elif cv is None or isinstance(cv, numbers.Number):
        splits = _stratified(_automatic(len(y)) if cv is None else cv, y, groups, seed)
    elif not hasattr(cv, "__iter__"):
        _refuse(cv)
    else:
        splits = list(cv)
    if not splits:
        raise ValueError(f"The 'cv' parameter must give at least one fold. Got none from {cv!r}.")
    return [_checked(number, split, len(y)) for number, split in enumerate(splits)]


def affordable_folds(
    n_samples: int, seconds: Sequence[float], processor_seconds: float
) -> int | float:
    """Number of folds, or the share to hold out, that a number of rows and a budget allow.

    Parameters
    ----------
    n_samples : int
        Number of rows.
    seconds : sequence of float
        Predicted seconds of a fit for each of the configurations that are tried first.
    processor_seconds : float
        Of the whole search, over all workers.

    Returns
    -------
    cv : int or float
        At most what the rows alone suggest; with it, a dozen of the configurations can be
        validated on all folds in half of the budget. At least 4 folds where the rows suggest 8,
        and at least 3 up to 100,000 rows, unless not even 3 folds of 4 configurations are
        affordable, when a fifth is held out.

    Examples
    --------
    >>> from skauto.data import affordable_folds
    >>> affordable_folds(1_000, [0.1] * 12, 60.0), affordable_folds(1_000, [2.0] * 12, 60.0)
    (8, 4)
    """
    most = _automatic(n_samples)
    if isinstance(most, float) or not len(seconds):
        return most
    usual = sorted(seconds)[:_N_JUDGED]
    price = sum(usual) * _N_JUDGED / len(usual)
    affordable = int(_SHARE_OF_BUDGET * processor_seconds / price)
    if 3 * sum(sorted(seconds)[:4]) > _SHARE_OF_BUDGET * processor_seconds:
        return _HOLD_OUT
    return int(min(most, max(affordable, 4 if most == FOLDS_BY_SIZE[0][1] else 3)))


def _refuse(cv: Any) -> NoReturn:
    raise ValueError(
        "The 'cv' parameter must be None, a number of folds (int >= 2), a share of rows to hold "
        "out (float in (0, 1)), a splitter with a split method, or an iterable of (train, test) "
        f"row numbers. Got {cv!r} instead."
    )


def _automatic(n_samples: int) -> int | float:
    """Number of folds, or the share to hold out, for a number of rows."""
    for limit, n_folds in FOLDS_BY_SIZE:
        if n_samples <= limit:
            return n_folds
    return _HOLD_OUT


def _stratified(cv: Any, y: IntArray, groups: NDArray[Any] | None, seed: int) -> list[Split]:
    is_integer = isinstance(cv, numbers.Integral) and not isinstance(cv, bool)
    if not (cv >= 2 if is_integer else isinstance(cv, float) and 0.0 < cv < 1.0):
        _refuse(cv)
    rows = np.arange(len(y))
    largest = np.unique(y, return_counts=True)[1].max()
    if largest < 2:
        return [(rows, rows)]
    if is_integer:
        return _folds(min(cv, largest), rows, y, groups, seed)
    if groups is not None:
        return _folds(max(2, round(1 / cv)), rows, y, groups, seed)[:1]
    held_out = stratified_subset(y, cv, np.random.default_rng(seed), minimum=0)
    if not held_out.any():
        held_out[np.flatnonzero(y == np.argmax(np.bincount(y)))[0]] = True
    return [(rows[~held_out], rows[held_out])]


def _folds(
    n_folds: int, rows: IntArray, y: IntArray, groups: NDArray[Any] | None, seed: int
) -> list[Split]:
    with warnings.catch_warnings():
        # Welcome here: predictions are aligned to all classes, whatever a fold holds.
        warnings.filterwarnings("ignore", message="The least populated", category=UserWarning)
        if groups is None:
            return list(StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(rows, y))
        n_groups = len(np.unique(groups))
        if n_groups < 2:
            raise ValueError(
                "The 'groups' must hold at least two different groups, so that one can validate "
                "what another trained. Got one group instead."
            )
        splitter = StratifiedGroupKFold(min(n_folds, n_groups), shuffle=True, random_state=seed)
        return [(a, b) for a, b in splitter.split(rows, y, groups) if a.size and b.size]


def _checked(number: int, split: Any, n_samples: int) -> Split:
    train, test = (_row_numbers(part, n_samples) for part in split)
    if train.size == 0 or test.size == 0:
        raise ValueError(
            f"The 'cv' parameter must give folds that train and validate on at least one row. "
            f"Fold {number} has {train.size} training and {test.size} validation rows."
        )
    if max(train.max(), test.max()) >= n_samples or min(train.min(), test.min()) < 0:
        raise ValueError(
            f"The 'cv' parameter must give row numbers from 0 to {n_samples - 1}. "
            f"Fold {number} goes beyond."
        )
    return train, test


def _row_numbers(part: Any, n_samples: int) -> IntArray:
    part = np.asarray(part)
    return np.flatnonzero(part) if part.dtype == bool and part.size == n_samples else part


def stratified_subset(
    y: NDArray[Any], fraction: float, rng: np.random.Generator, *, minimum: int = 1
) -> BoolArray:
    """Choose a share of the rows, class by class.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Class of each row.
    fraction : float
        Share of the rows of each class, in (0, 1].
    rng : numpy.random.Generator
        The subset of a smaller share lies within that of a larger one for equal generators.
    minimum : int, default=1
        Rows of each class that are chosen at least.

    Returns
    -------
    rows : ndarray of bool of shape (n_samples,)
        Mask of the chosen rows.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.data import stratified_subset
    >>> y = np.array([0] * 8 + [1] * 2)
    >>> np.bincount(y[stratified_subset(y, 0.5, np.random.default_rng(0))])
    array([4, 1])
    """
    order = rng.random(len(y))
    chosen = np.zeros(len(y), dtype=bool)
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        n_chosen = max(minimum, round(fraction * rows.size))
        chosen[rows[np.argsort(order[rows], kind="stable")[:n_chosen]]] = True
    return chosen

"""Training and validation rows: the same folds for every trial of a search."""

import numbers
import warnings
from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import PredefinedSplit, StratifiedGroupKFold, StratifiedKFold

from skauto.exceptions import RowsOfFitWarning
from skauto.utils import BoolArray, IntArray, warn

# Training rows and validation rows.
Split = tuple[IntArray, IntArray]

# Maximum number of rows for 8, 5 and 3 folds; larger data sets get a hold-out set of one fifth.
FOLDS_BY_SIZE = ((2_000, 8), (20_000, 5), (100_000, 3))
HOLD_OUT = 0.2


def make_splits(
    cv: Any,
    X: Any,
    y: IntArray,
    groups: NDArray[Any] | None = None,
    *,
    kept: BoolArray | None = None,
    seed: int = 0,
) -> list[Split]:
    """Return the training and validation rows of each fold.

    Parameters
    ----------
    cv : None, int, float, splitter or iterable of (train, test)
        None: 8 stratified folds up to 2,000 rows, 5 up to 20,000, 3 up to 100,000, and for more
        rows a stratified hold-out set of one fifth. int: the number of stratified shuffled folds.
        float in (0, 1): the share of rows in the hold-out set. A group is never split by these.
    X : array-like of shape (n_samples, n_features)
        The table, passed to a splitter.
    y : ndarray of int of shape (n_samples,)
        Class of each row, as a code from 0.
    groups : ndarray of shape (n_samples,), default=None
        Group of each row.
    kept : ndarray of bool of shape (n_rows,), default=None
        Mask of the rows of a larger table that are the samples. The row numbers of an iterable and
        of `PredefinedSplit` then refer to this table, and its other rows are left out.
    seed : int, default=0
        Seed of the shuffling.

    Returns
    -------
    splits : list of (ndarray, ndarray)
        Training and validation rows. A class with fewer rows than folds is missing from some
        folds. If no class has two rows, all rows are in both sets.

    Raises
    ------
    ValueError
        If ``cv`` has another type, is out of range, or gives an empty fold.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.data import make_splits
    >>> y = np.array([0, 1] * 6)
    >>> [test.size for _, test in make_splits(3, None, y)]
    [4, 4, 4]
    """
    if isinstance(cv, PredefinedSplit):
        cv = cv.split()  # row numbers that do not depend on X
    if cv is None or isinstance(cv, numbers.Number):
        cv = default_cv(len(y)) if cv is None else cv
        return _checked(_stratified(cv, y, groups, seed), len(y))
    if isinstance(cv, str | type) or not (hasattr(cv, "split") or hasattr(cv, "__iter__")):
        _raise_invalid_cv(cv)
    if hasattr(cv, "split"):
        return _checked(cv.split(X, y, groups), len(y))
    if kept is None:
        return _checked(cv, len(y))
    number = np.cumsum(kept) - 1  # of the kept rows
    splits = _checked(cv, len(kept))
    renumbered = [(number[a[kept[a]]], number[b[kept[b]]]) for a, b in splits]
    return _checked(renumbered, len(y))


def _raise_invalid_cv(cv: Any) -> NoReturn:
    if isinstance(cv, type):
        raise ValueError(
            f"The 'cv' parameter must be an object. Got the class {cv.__name__}; pass "
            f"{cv.__name__}()."
        )
    raise ValueError(
        "The 'cv' parameter must be None, a number of folds (int >= 2), a share of rows to hold "
        "out (float in (0, 1)), a splitter with a split method, or an iterable of (train, test) "
        f"row numbers. Got {cv!r} instead."
    )


def default_cv(n_samples: int) -> int | float:
    """Return the default number of folds, or the hold-out share, for a number of rows."""
    return next((n_folds for most, n_folds in FOLDS_BY_SIZE if n_samples <= most), HOLD_OUT)


def _stratified(cv: Any, y: IntArray, groups: NDArray[Any] | None, seed: int) -> list[Split]:
    is_integer = isinstance(cv, numbers.Integral) and not isinstance(cv, bool)
    if not (cv >= 2 if is_integer else isinstance(cv, numbers.Real) and 0.0 < float(cv) < 1.0):
        _raise_invalid_cv(cv)
    rows = np.arange(len(y))
    largest = np.unique(y, return_counts=True)[1].max()
    if largest < 2:
        warn(
            "No class has two rows, so that none can be held out. The scores are those of the "
            "rows of fit, on which they are too high.",
            RowsOfFitWarning,
        )
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
        # A class may be missing from a fold, because predictions are aligned to all classes.
        warnings.filterwarnings("ignore", message="The least populated", category=UserWarning)
        if groups is None:
            return list(StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(rows, y))
        n_groups = len(np.unique(groups))
        if n_groups < 2:
            raise ValueError(
                "The 'groups' must hold at least two different groups, one for training and one "
                "for validation. Got one group instead."
            )
        splitter = StratifiedGroupKFold(min(n_folds, n_groups), shuffle=True, random_state=seed)
        return [(a, b) for a, b in splitter.split(rows, y, groups) if a.size and b.size]


def _checked(splits: Iterable[Any], n_samples: int) -> list[Split]:
    found = [_check_split(number, split, n_samples) for number, split in enumerate(splits)]
    if not found:
        raise ValueError("The 'cv' parameter must give at least one fold. Got none.")
    return found


def _check_split(number: int, split: Any, n_samples: int) -> Split:
    try:
        first, second = split
    except (TypeError, ValueError):
        _raise_invalid_cv(split)
    train, test = _row_numbers(first, n_samples), _row_numbers(second, n_samples)
    if train.size == 0 or test.size == 0:
        raise ValueError(
            "The 'cv' parameter must give folds with at least one row for training and one for "
            f"validation. Fold {number} has {train.size} training and {test.size} validation rows."
        )
    whole = train.dtype.kind in "iu" and test.dtype.kind in "iu"
    if not whole or min(train.min(), test.min()) < 0 or max(train.max(), test.max()) >= n_samples:
        raise ValueError(
            f"The 'cv' parameter must give row numbers from 0 to {n_samples - 1}. "
            f"Fold {number} has other row numbers."
        )
    return train, test


def _row_numbers(part: Any, n_samples: int) -> IntArray:
    part = np.asarray(part)
    return np.flatnonzero(part) if part.dtype == bool and part.size == n_samples else part


def stratified_subset(
    y: NDArray[Any], fraction: float, rng: np.random.Generator, *, minimum: int = 1
) -> BoolArray:
    """Return the mask of a stratified subset: a fraction of the rows of each class of y.

    Each class has at least `minimum` rows. For equal generators, the subset of a smaller fraction
    is part of the subset of a larger one.
    """
    order = rng.random(len(y))
    chosen = np.zeros(len(y), dtype=bool)
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        n_chosen = max(minimum, round(fraction * rows.size))
        chosen[rows[np.argsort(order[rows], kind="stable")[:n_chosen]]] = True
    return chosen

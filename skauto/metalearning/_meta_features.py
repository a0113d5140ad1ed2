"""Meta-features: numbers that describe a data set."""

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import entr
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import cohen_kappa_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from skauto.utils import BoolArray, FloatArray, IntArray

# Larger tables are subsampled.
_MAX_ROWS, _MAX_COLUMNS = 5_000, 200
_MAX_LANDMARK_ROWS, _MAX_LANDMARK_COLUMNS, _MAX_LANDMARK_CLASSES = 600, 60, 30
_N_BINS = 8  # of a numeric column, for entropies
_MAX_LEVELS = 64  # of a categorical column; the rarest levels are merged

META_FEATURES: tuple[str, ...] = (
    # simple
    "log_n_samples",
    "log_n_features",
    "log_n_classes",
    "log_dimensionality",
    "share_categorical",
    "share_missing",
    "share_rows_missing",
    "share_columns_missing",
    "share_zero",
    "log_levels_mean",
    "log_levels_max",
    # statistical, over the numeric columns
    "log_skewness_mean",
    "log_skewness_std",
    "log_skewness_min",
    "log_skewness_max",
    "log_kurtosis_mean",
    "log_kurtosis_std",
    "log_kurtosis_min",
    "log_kurtosis_max",
    "correlation_mean",
    "pca_first_share",
    "pca_half_share",
    # information-theoretic
    "class_entropy",
    "class_share_min",
    "class_share_max",
    "class_share_std",
    "column_entropy",
    "information_mean",
    "information_max",
    "log_equivalent_columns",
    # landmarks
    "landmark_stump",
    "landmark_tree",
    "landmark_naive_bayes",
    "landmark_nearest_neighbor",
    "landmark_linear",
)


def meta_features(
    X: Any, y: ArrayLike, *, categorical: Sequence[int] = (), rng: np.random.Generator
) -> dict[str, float]:
    """Compute simple, statistical, information-theoretic and landmarking meta-features.

    All but the simple ones are measured on at most 5,000 random rows and 200 random columns, which
    bounds the time to half a second. The user guide defines each of them. The names follow
    auto-sklearn [1]_ where the measures agree.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Numeric matrix. Categorical columns hold codes; NaN is a missing value.
    y : array-like of shape (n_samples,)
        Class labels.
    categorical : sequence of int, default=()
        Columns that hold category codes.
    rng : numpy.random.Generator
        Draws the rows and columns of large tables and the folds of the landmarks.

    Returns
    -------
    features : dict of str to float
        Values by the names in ``META_FEATURES``; NaN if a measure is undefined, such as the
        skewness of a table without numeric columns.

    References
    ----------
    .. [1] M. Feurer et al., "Efficient and robust automated machine learning", NIPS 2015,
       supplement, table 1.
    .. [2] B. Pfahringer, H. Bensusan, C. Giraud-Carrier, "Meta-learning by landmarking various
       learning algorithms", ICML 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from skauto.metalearning import meta_features
    >>> X, y = load_iris(return_X_y=True)
    >>> features = meta_features(X, y, rng=np.random.default_rng(0))
    >>> round(features["class_entropy"], 6), round(features["log_n_classes"], 3)
    (1.0, 1.099)
    """
    is_sparse = sparse.issparse(X)
    X = X.tocsr() if is_sparse else np.asarray(X)
    labels = np.unique(np.asarray(y), return_inverse=True)[1]
    _check(X, labels, categorical)
    is_category = np.zeros(X.shape[1], dtype=bool)
    is_category[list(categorical)] = True
    features = _simple(X, labels, is_category)
    rows, columns = (
        np.arange(size) if size <= limit else np.sort(rng.choice(size, limit, replace=False))
        for size, limit in zip(X.shape, (_MAX_ROWS, _MAX_COLUMNS), strict=True)
    )
    part = X[rows][:, columns]
    dense = part if isinstance(part, np.ndarray) else part.toarray()
    table = np.asarray(dense, dtype=np.float64)
    labels, is_category = labels[rows], is_category[columns]
    # Fourth powers of extreme magnitudes may overflow.
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        features |= _cells(table, is_category)
        features |= _statistical(table[:, ~is_category])
        features |= _information(table, labels, is_category)
        features |= _landmarks(table, labels, is_category, rng)
    return {name: float(features[name]) for name in META_FEATURES}


def _check(X: Any, labels: IntArray, categorical: Sequence[int]) -> None:
    if X.ndim != 2 or min(X.shape) == 0:
        raise ValueError(
            "The 'X' of meta_features must be a matrix with at least one row and one column. "
            f"Got shape {X.shape} instead."
        )
    if len(labels) != X.shape[0]:
        raise ValueError(
            f"The 'y' of meta_features must have one label per row of X, {X.shape[0]}. "
            f"Got {len(labels)} instead."
        )
    if any(not 0 <= j < X.shape[1] for j in categorical):
        raise ValueError(
            f"The 'categorical' columns must lie in 0..{X.shape[1] - 1}. "
            f"Got {tuple(categorical)} instead."
        )


def _simple(X: Any, labels: IntArray, is_category: BoolArray) -> dict[str, float]:
    """Measures of the shape and of the classes, on all rows."""
    n_samples, n_features = X.shape
    shares = np.bincount(labels) / n_samples
    n_classes = len(shares)
    return {
        "log_n_samples": math.log(n_samples),
        "log_n_features": math.log(n_features),
        "log_n_classes": math.log(n_classes),
        "log_dimensionality": math.log(n_features / n_samples),
        "share_categorical": is_category.mean(),
        "class_entropy": entropy(shares) / math.log(max(n_classes, 2)),
        "class_share_min": shares.min(),
        "class_share_max": shares.max(),
        "class_share_std": shares.std(),
    }


def _cells(table: FloatArray, is_category: BoolArray) -> dict[str, float]:
    missing = np.isnan(table)
    levels = [len(np.unique(c[~np.isnan(c)])) for c in table[:, is_category].T]
    log_levels = np.log(np.maximum(levels, 1)) if levels else np.zeros(1)
    return {
        "share_missing": missing.mean(),
        "share_rows_missing": missing.any(axis=1).mean(),
        "share_columns_missing": missing.any(axis=0).mean(),
        "share_zero": (table[:, ~is_category] == 0).mean() if not is_category.all() else math.nan,
        "log_levels_mean": log_levels.mean(),
        "log_levels_max": log_levels.max(),
    }


def _statistical(numeric: FloatArray) -> dict[str, float]:
    """Moments and correlations of the numeric columns that vary."""
    standard = standardized(numeric)
    skewness = np.nanmean(standard**3, axis=0) if standard.size else np.empty(0)
    kurtosis = np.nanmean(standard**4, axis=0) - 3.0 if standard.size else np.empty(0)
    features = summary("log_skewness", signed_log(skewness))
    features |= summary("log_kurtosis", signed_log(kurtosis))
    return features | _spectrum(np.nan_to_num(standard))


def standardized(columns: FloatArray) -> FloatArray:
    """Standardize the non-constant columns to mean 0 and variance 1; NaN stays NaN."""
    # Division by the largest magnitude keeps the squares finite.
    largest = np.nanmax(np.abs(columns), axis=0) if columns.size else np.empty(0)
    scaled = columns[:, largest > 0] / largest[largest > 0]
    centered = scaled - np.nanmean(scaled, axis=0)
    std = np.sqrt(np.nanmean(centered**2, axis=0))
    varies = std > 1e-10
    result: FloatArray = centered[:, varies] / std[varies]
    return result


def signed_log(values: FloatArray) -> FloatArray:
    """Compute ``sign(v) log(1 + |v|)``, so that heavy tails do not dominate distances."""
    shrunk: FloatArray = np.sign(values) * np.log1p(np.abs(values))
    return shrunk


def summary(name: str, values: FloatArray) -> dict[str, float]:
    """Mean, standard deviation, minimum and maximum, NaN of no values."""
    return {
        f"{name}_{key}": float(getattr(values, key)()) if len(values) else math.nan
        for key in ("mean", "std", "min", "max")
    }


def _spectrum(standard: FloatArray) -> dict[str, float]:
    """Mean absolute correlation, and shares of variance of the principal components."""
    n_samples, n_columns = standard.shape
    if n_columns < 2:
        names = ("correlation_mean", "pca_first_share", "pca_half_share")
        return dict.fromkeys(names, math.nan)
    correlation = standard.T @ standard / n_samples
    off_diagonal = ~np.eye(n_columns, dtype=bool)
    shares = np.linalg.eigvalsh(correlation)[::-1].clip(min=0.0)
    shares /= shares.sum()
    n_half = int(np.searchsorted(np.cumsum(shares), 0.5 - 1e-12)) + 1
    return {
        "correlation_mean": np.abs(correlation[off_diagonal]).mean(),
        "pca_first_share": shares[0],
        "pca_half_share": n_half / n_columns,
    }


def entropy(shares: FloatArray) -> float:
    """Entropy in nats of a distribution."""
    return float(entr(shares).sum())


def _information(table: FloatArray, labels: IntArray, is_category: BoolArray) -> dict[str, float]:
    """Entropy of the columns and their mutual information with the classes."""
    measured = [
        column_information(levels_of(column, category), labels)
        for column, category in zip(table.T, is_category, strict=True)
    ]
    column_entropy, information = np.array(measured).T
    class_entropy = entropy(np.bincount(labels) / len(labels))
    relative = information / class_entropy if class_entropy > 0 else np.zeros_like(information)
    return {
        "column_entropy": column_entropy.mean(),
        "information_mean": relative.mean(),
        "information_max": relative.max(),
        "log_equivalent_columns": -math.log(max(relative.mean(), 1e-4)),
    }


def levels_of(column: FloatArray, category: bool) -> IntArray:
    """Discretize a column into levels 0, 1, ...; missing values are a level of their own."""
    missing = np.isnan(column)
    present = column[~missing]
    codes = np.zeros(len(column), dtype=np.intp)
    if category:
        _, level, counts = np.unique(present, return_inverse=True, return_counts=True)
        rank = np.argsort(np.argsort(-counts, kind="stable"), kind="stable")
        codes[~missing] = 1 + np.minimum(rank, _MAX_LEVELS - 1)[level]
    elif len(present):
        edges = np.unique(np.quantile(present, np.arange(1, _N_BINS) / _N_BINS))
        codes[~missing] = 1 + np.searchsorted(edges, present, side="left")
    return np.unique(codes, return_inverse=True)[1]


def column_information(codes: IntArray, labels: IntArray) -> tuple[float, float]:
    """Normalized entropy of a column and its mutual information with the labels."""
    n_levels, n_classes = codes.max() + 1, labels.max() + 1
    joint = np.bincount(codes * n_classes + labels, minlength=n_levels * n_classes)
    shares = joint.reshape(n_levels, n_classes) / len(codes)
    own = entropy(shares.sum(axis=1))
    information = own + entropy(shares.sum(axis=0)) - entropy(shares.ravel())
    return own / math.log(max(n_levels, 2)), max(information, 0.0)


def _landmarks(
    table: FloatArray, labels: IntArray, is_category: BoolArray, rng: np.random.Generator
) -> dict[str, float]:
    """Cohen's kappa of fast classifiers by two-fold cross-validation."""
    learners = {
        "landmark_stump": DecisionTreeClassifier(max_depth=1, random_state=0),
        "landmark_tree": DecisionTreeClassifier(random_state=0),
        "landmark_naive_bayes": GaussianNB(),
        "landmark_nearest_neighbor": KNeighborsClassifier(1, n_jobs=1),
        "landmark_linear": LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.1),
    }
    folds = _halves(labels, rng)
    Z = _landmark_table(table, is_category, rng)
    if folds is None or Z.shape[1] == 0:
        return dict.fromkeys(learners, math.nan)
    features = {}
    for name, learner in learners.items():
        predicted, truth = [], []
        for train, test in (folds, folds[::-1]):
            predicted.append(learner.fit(Z[train], labels[train]).predict(Z[test]))
            truth.append(labels[test])
        features[name] = cohen_kappa_score(np.concatenate(truth), np.concatenate(predicted))
    return features


def _halves(labels: IntArray, rng: np.random.Generator) -> tuple[IntArray, IntArray] | None:
    """Two stratified halves of some rows; None if fewer than two classes have four rows."""
    counts = np.bincount(labels)
    common = np.argsort(-counts, kind="stable")[:_MAX_LANDMARK_CLASSES]
    common = common[counts[common] >= 4]
    if len(common) < 2:
        return None
    share = min(1.0, _MAX_LANDMARK_ROWS / counts[common].sum())
    halves: tuple[list[IntArray], list[IntArray]] = ([], [])
    for label in common:
        members = rng.permutation(np.flatnonzero(labels == label))
        half = max(2, int(len(members) * share / 2))
        halves[0].append(members[:half])
        halves[1].append(members[half : 2 * half])
    return np.concatenate(halves[0]), np.concatenate(halves[1])


def _landmark_table(
    table: FloatArray, is_category: BoolArray, rng: np.random.Generator
) -> FloatArray:
    """Standardized numeric columns and one-hot columns of common levels, imputed."""
    n_columns = table.shape[1]
    chosen = np.arange(n_columns)
    if n_columns > _MAX_LANDMARK_COLUMNS:
        chosen = np.sort(rng.choice(n_columns, _MAX_LANDMARK_COLUMNS, replace=False))
    numeric = np.nan_to_num(standardized(table[:, chosen[~is_category[chosen]]]))
    indicators = [
        codes[:, None] == np.argsort(-np.bincount(codes), kind="stable")[:_N_BINS]
        for codes in (levels_of(table[:, j], True) for j in chosen[is_category[chosen]])
    ]
    return np.hstack([numeric, *indicators]).astype(np.float64)

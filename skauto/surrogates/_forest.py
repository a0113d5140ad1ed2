"""Random forest with the standard deviation over its trees (the surrogate of SMAC)."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.tree import DecisionTreeRegressor

from skauto.utils import FloatArray, IntArray


@dataclass(kw_only=True, eq=False, repr=False)
class RandomForest(BaseEstimator):
    """Random forest that predicts the mean and the standard deviation over its trees.

    The defaults are from SMAC: 10 trees on bootstrap samples, and 5/6 of the features at each
    split. Prediction reads the arrays of scikit-learn's trees directly, so that 10,000 points take
    a few milliseconds.

    Parameters
    ----------
    n_trees : int, default=10
        Number of trees.
    max_features : float, default=5/6
        Share of the features that is sampled at each split.
    min_samples_split : int, default=3
        Minimum number of observations of a node to be split.
    min_samples_leaf : int, default=3
        Minimum number of observations of a leaf.

    Attributes
    ----------
    trees_ : list of DecisionTreeRegressor
        The fitted trees.

    References
    ----------
    .. [1] F. Hutter, H. H. Hoos, K. Leyton-Brown, "Sequential Model-Based Optimization for
       General Algorithm Configuration", LION 2011, section 4.1.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.surrogates import RandomForest
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((200, 2))
    >>> forest = RandomForest().fit(X, X[:, 0], rng)
    >>> mean, std = forest.predict(np.array([[0.1, 0.5], [0.9, 0.5]]))
    >>> bool(mean[0] < mean[1])
    True
    """

    n_trees: int = 10
    max_features: float = 5 / 6
    min_samples_split: int = 3
    min_samples_leaf: int = 3

    def fit(self, X: FloatArray, y: FloatArray, rng: np.random.Generator) -> Self:
        """Fit the trees; see `Surrogate.fit`."""
        points = np.ascontiguousarray(X, dtype=np.float32)
        values = np.ascontiguousarray(y, dtype=np.float64)
        self.trees_ = [self._grow(points, values, rng)]
        # The first tree has checked the settings. Checks take a quarter of the time.
        with config_context(skip_parameter_validation=True, assume_finite=True):
            self.trees_ += [self._grow(points, values, rng) for _ in range(1, self.n_trees)]
        return self

    def predict(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Predict mean and standard deviation over the trees; see `Surrogate.predict`."""
        values = zip(self.trees_, self.apply(X), strict=True)
        means = np.array([tree.tree_.value[leaf, 0, 0] for tree, leaf in values])
        return means.mean(axis=0), means.std(axis=0)

    def apply(self, X: FloatArray) -> IntArray:
        """Leaf of each point in each tree, of shape (n_trees, n_samples)."""
        points = np.ascontiguousarray(X, dtype=np.float32)
        return np.array([tree.tree_.apply(points) for tree in self.trees_])

    def _grow(
        self, X: NDArray[np.float32], y: FloatArray, rng: np.random.Generator
    ) -> DecisionTreeRegressor:
        drawn = rng.integers(len(y), size=len(y))
        weights = np.bincount(drawn, minlength=len(y)).astype(np.float64)
        tree = DecisionTreeRegressor(
            max_features=self.max_features,
            min_samples_split=self.min_samples_split,
            min_samples_leaf=self.min_samples_leaf,
            random_state=int(rng.integers(2**31)),
        )
        # X is float32 and y float64, so the tree need not check its input
        return tree.fit(X, y, sample_weight=weights, check_input=False)

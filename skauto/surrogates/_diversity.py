"""Surrogate of the diversity of the predictions of two configurations (DivBO)."""

from dataclasses import dataclass
from typing import Any, Self

import lightgbm
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from skauto.utils import FloatArray, IntArray


@dataclass(kw_only=True, eq=False, repr=False)
class DiversitySurrogate(BaseEstimator):
    """Ensemble of LightGBM models that predict the diversity of pairs of configurations [1]_.

    Each model is fitted to ordered pairs of observed configurations: both orders of each pair, and
    each configuration with itself. The models differ in the features that are sampled for each
    tree and, if there are more than ``max_pairs`` pairs, in the sampled pairs. A prediction is the
    mean over both orders of the pair, and therefore symmetric.

    :meth:`update` is cheaper than :meth:`fit`: it fits only the models with the oldest data. Their
    number is such that they read ``max_pairs`` pairs in total, at least one. With
    ``max_pairs=None`` (the paper) all models are fitted to all pairs.

    Parameters
    ----------
    n_models : int, default=10
        Number of models.
    n_trees : int, default=50
        Number of trees of each model.
    learning_rate : float, default=0.06
        Shrinkage of each tree.
    max_pairs : int, default=10000
        Maximum number of pairs that a model is fitted to; a random sample of all pairs. None means
        no limit.

    Attributes
    ----------
    models_ : list of lightgbm.Booster
        The fitted models.
    n_seen_ : list of int
        Number of configurations that each model was fitted to.

    References
    ----------
    .. [1] Y. Shen, Y. Lu, Y. Li, Y. Tu, W. Zhang, B. Cui, "DivBO: Diversity-aware CASH for
       Ensemble Learning", NeurIPS 2022, section 3.1.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.surrogates import DiversitySurrogate
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((40, 2))
    >>> diversity = abs(X[:, None, 0] - X[None, :, 0])
    >>> surrogate = DiversitySurrogate(n_models=3, n_trees=50).fit(X, diversity, rng)
    >>> mean, _ = surrogate.predict(np.array([[0.1, 0.5]] * 2), np.array([[0.9, 0.5], [0.2, 0.5]]))
    >>> bool(mean[0] > mean[1])
    True
    """

    n_models: int = 10
    n_trees: int = 50
    learning_rate: float = 0.06
    max_pairs: int | None = 10_000

    def fit(self, X: FloatArray, diversity: FloatArray, rng: np.random.Generator) -> Self:
        """Fit all models.

        The diversity of the configurations ``X`` (n_samples, n_features) is a symmetric matrix
        (n_samples, n_samples).
        """
        self._points = points = np.ascontiguousarray(X, dtype=np.float32)
        self.models_ = [self._grow(points, diversity, rng) for _ in range(self.n_models)]
        self.n_seen_ = [len(points)] * self.n_models
        return self

    def update(self, X: FloatArray, diversity: FloatArray, rng: np.random.Generator) -> Self:
        """Fit the models with the oldest data again, as many as ``max_pairs`` allows.

        The arguments are those of `fit`. New configurations are appended to those of the last
        call.
        """
        if not hasattr(self, "models_"):
            return self.fit(X, diversity, rng)
        self._points = points = np.ascontiguousarray(X, dtype=np.float32)
        n = len(points)
        n_fits = self.n_models
        if self.max_pairs is not None:
            n_fits = max(1, self.max_pairs // min(n * n, self.max_pairs))
        for k in np.argsort(self.n_seen_, kind="stable")[:n_fits].tolist():
            if self.n_seen_[k] < n:
                self.models_[k] = self._grow(points, diversity, rng)
                self.n_seen_[k] = n
        return self

    def predict(self, first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Predict the diversity of pairs: mean and standard deviation over the models, (n_pairs,).

        ``first`` and ``second`` are the configurations of the pairs, of shape (n_pairs,
        n_features).
        """
        values = self._values(first, second)
        return values.mean(axis=0), values.std(axis=0)

    def sample(self, members: IntArray, X: FloatArray) -> FloatArray:
        """Predict the diversity of configurations ``X`` to observed ones, by each model.

        ``members`` has the rows of the observed ones. The shape is (n_models, n_members,
        n_samples). Each model is one joint sample of the predictive distribution.
        """
        first = np.repeat(self._points[members], len(X), axis=0)
        values = self._values(first, np.tile(X, (len(members), 1)))
        return values.reshape(-1, len(members), len(X))

    def _values(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Prediction of each model (n_models, n_pairs): the mean over both orders of the pairs."""
        pairs = np.hstack([first, second]).astype(np.float32)
        swapped = np.hstack([second, first]).astype(np.float32)
        values = np.array([m.predict(pairs, num_threads=1) for m in self.models_])
        values += np.array([m.predict(swapped, num_threads=1) for m in self.models_])
        return np.clip(0.5 * values, 0.0, 1.0)

    def _grow(
        self, X: NDArray[np.float32], diversity: FloatArray, rng: np.random.Generator
    ) -> lightgbm.Booster:
        first, second = _draw_pairs(len(X), self.max_pairs, rng)
        parameters: dict[str, Any] = {
            "objective": "regression",
            "learning_rate": self.learning_rate,
            "num_leaves": 22,
            "max_depth": 10,
            "min_data_in_leaf": 3,
            "feature_fraction": 5 / 6,  # otherwise all models would be equal
            "bin_construct_sample_cnt": 2000,  # binning all pairs takes as long as a fit
            "seed": int(rng.integers(2**31)),
            "deterministic": True,
            "force_col_wise": True,  # otherwise LightGBM times both options
            "num_threads": 1,
            "verbose": -1,
        }
        data = lightgbm.Dataset(
            np.hstack([X[first], X[second]]), diversity[first, second], params=parameters
        )
        return lightgbm.train(parameters, data, self.n_trees)


def _draw_pairs(
    n: int, max_pairs: int | None, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Return all ordered pairs of n indices, or a random sample of pairs in both orders."""
    if max_pairs is None or n * n <= max_pairs:
        codes = np.arange(n * n)
        return codes // n, codes % n
    low, high = np.triu_indices(n)
    drawn = rng.choice(len(low), max(1, max_pairs // 2), replace=False, shuffle=False)
    return np.concatenate([low[drawn], high[drawn]]), np.concatenate([high[drawn], low[drawn]])

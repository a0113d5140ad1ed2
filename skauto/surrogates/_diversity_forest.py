"""Random forest of the diversity of the predictions of two configurations (DivBO)."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator

from skauto.surrogates._forest import RandomForest
from skauto.utils import FloatArray, IntArray


@dataclass(kw_only=True, eq=False, repr=False)
class DiversityForest(BaseEstimator):
    r"""Random forest of the diversity of pairs, fitted to one point per configuration.

    The diversity of [1]_ is a mean of Euclidean distances. It is therefore of negative type [2]_:
    there are points :math:`\varphi_i` with

    .. math:: D_{ij} = \| \varphi_i - \varphi_j \|^2 .

    Classical scaling [3]_ gives their first coordinates, and the trees of the forest are fitted to
    all of these at once. A tree predicts the mean diversity of the configurations in one leaf to
    those in the other, which is the squared distance of the means of the leaves, plus the
    variances within them. An observed configuration needs no prediction: `sample` uses its
    diversities to the configurations in a leaf.

    n configurations give n points to learn from, and not :math:`n^2` pairs as for
    :class:`DiversitySurrogate`, so that all trees are fitted again after each trial.

    Parameters
    ----------
    n_trees : int, default=50
        Number of trees.
    n_components : int, default=10
        Number of coordinates that the trees are fitted to.

    Attributes
    ----------
    forest_ : RandomForest
        The fitted trees, with leaves of single configurations.
    diversity_ : ndarray of shape (n_samples, n_samples)
        Diversity of the observed configurations.

    See Also
    --------
    DiversitySurrogate : The model of the paper, fitted to pairs.

    References
    ----------
    .. [1] Y. Shen, Y. Lu, Y. Li, Y. Tu, W. Zhang, B. Cui, "DivBO: Diversity-aware CASH for
       Ensemble Learning", NeurIPS 2022, section 3.1.
    .. [2] I. J. Schoenberg, "Metric spaces and positive definite functions", Transactions of the
       American Mathematical Society 44, 1938.
    .. [3] W. S. Torgerson, "Multidimensional scaling: I. Theory and method", Psychometrika 17,
       1952.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.surrogates import DiversityForest
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((40, 2))
    >>> diversity = abs(X[:, None, 0] - X[None, :, 0])
    >>> surrogate = DiversityForest().fit(X, diversity, rng)
    >>> mean, _ = surrogate.predict(np.array([[0.1, 0.5]] * 2), np.array([[0.9, 0.5], [0.2, 0.5]]))
    >>> bool(mean[0] > mean[1])
    True
    """

    n_trees: int = 50
    n_components: int = 10

    def fit(self, X: FloatArray, diversity: FloatArray, rng: np.random.Generator) -> Self:
        """Fit the trees; see `DiversitySurrogate.fit`."""
        forest = RandomForest(n_trees=self.n_trees, min_samples_split=2, min_samples_leaf=1)
        self.forest_ = forest.fit(X, classical_scaling(diversity, self.n_components), rng)
        self.diversity_ = diversity
        self._averages = [_average_by_leaf(leaves) for leaves in self.forest_.apply(X)]
        return self

    def update(self, X: FloatArray, diversity: FloatArray, rng: np.random.Generator) -> Self:
        """Fit the trees again if there are new configurations; see `DiversitySurrogate.fit`."""
        if hasattr(self, "diversity_") and len(self.diversity_) == len(X):
            return self
        return self.fit(X, diversity, rng)

    def predict(self, first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Predict the diversity of pairs by all trees; see `DiversitySurrogate.predict`."""
        leaves = zip(self.forest_.apply(first), self.forest_.apply(second), strict=True)
        values = np.array(
            [
                (average @ self.diversity_ @ average.T)[i, j]
                for average, (i, j) in zip(self._averages, leaves, strict=True)
            ]
        )
        return values.mean(axis=0), values.std(axis=0)

    def sample(self, members: IntArray, X: FloatArray) -> FloatArray:
        """Predict the diversity to observed ones by each tree; see `DiversitySurrogate.sample`."""
        columns = self.diversity_[:, members]
        pairs = zip(self._averages, self.forest_.apply(X), strict=True)
        return np.array([(average @ columns)[leaves].T for average, leaves in pairs])


def classical_scaling(diversity: FloatArray, n_components: int) -> FloatArray:
    """Coordinates (n, n_components) whose squared distances approximate a matrix (n, n)."""
    n = len(diversity)
    means = diversity.mean(axis=0)
    products = -0.5 * (diversity - means - means[:, None] + means.mean())
    largest = (max(0, n - n_components), n - 1)
    values, vectors = eigh(products, subset_by_index=largest)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def _average_by_leaf(leaves: IntArray) -> csr_array:
    """Matrix (n_nodes, n) that averages the values of n configurations by their leaves."""
    weights = 1.0 / np.bincount(leaves)[leaves]
    return csr_array((weights, (leaves, np.arange(len(leaves)))))

"""The fitted ensemble: the one model that trials, constraints, exports and users hold."""

import contextlib
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier

from skauto.data._table import as_table
from skauto.model._decision import Decision
from skauto.model._pipeline import as_matrix, make_pipeline, predict_probabilities
from skauto.utils import FloatArray, n_rows, single_thread, take_rows

# Up to this many rows are predicted by one thread.
_FEW_ROWS = 1000
# The quick tree is fitted to at most so many cells, or to so many rows of a wide table.
_QUICK_CELLS, _QUICK_ROWS = 1_000_000, 100
# Its weight beside the frequencies of the labels, which keep probabilities away from 0.
_QUICK_WEIGHT = 0.9


class PipelineEnsemble(ClassifierMixin, BaseEstimator):
    """Weighted mean of the class probabilities of fitted pipelines that share a reader.

    A single pipeline is an ensemble of one member. Constraints are measured on this type, and
    exports are copies of it.

    Parameters
    ----------
    reader : TableReader
        Fitted reader, which turns the table into the numeric matrix.
    members : list of Pipeline
        Pipelines that are fitted on the numeric matrix.
    weights : array-like of shape (n_members,)
        Weights of the members, which sum to 1.
    classes : ndarray of shape (n_classes,)
        Labels of the columns of ``predict_proba``.
    decision : Decision, default=None
        Temperature of the probabilities and class offsets of the labels. None leaves the
        probabilities unchanged and predicts the most probable class.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The same as ``classes``.
    decision_ : Decision
        The same as ``decision``; offsets 0 and temperature 1 for None.
    diversity_ : ndarray of shape (n_members, n_members) or None
        Diversity of each pair of members, see :func:`~skauto.selection.pairwise_diversity`. It is
        measured on the out-of-fold predictions, with members in the order of ``member_weights_``;
        None if the ensemble was not built by ``fit``.
    disagreement_ : float or None
        Mean over the pairs of the fraction of rows with different labels.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skauto import AutoClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> automl = AutoClassifier(max_evals=3, cv=3, random_state=0).fit(X, y)
    >>> automl.ensemble_.predict_proba(X).shape
    (150, 3)
    """

    diversity_: FloatArray | None = None
    disagreement_: float | None = None

    def __init__(
        self,
        reader: Any,
        members: list[Pipeline],
        weights: Any,
        classes: NDArray[Any],
        *,
        decision: Decision | None = None,
    ) -> None:
        self.reader = reader
        self.members = members
        self.weights = weights
        self.classes = classes
        self.decision = decision

    @property
    def classes_(self) -> NDArray[Any]:
        """Labels of the columns of ``predict_proba``."""
        return self.classes

    @property
    def decision_(self) -> Decision:
        """Temperature and class offsets."""
        return Decision(np.zeros(len(self.classes))) if self.decision is None else self.decision

    @property
    def pipelines(self) -> list[Pipeline]:
        """Pipelines that predict the raw table: the reader and the steps of each member."""
        return [make_pipeline([("reader", self.reader), *m.steps]) for m in self.members]

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __len__(self) -> int:
        return len(self.members)

    def fit(self, X: Any, y: Any) -> Self:
        """Do nothing: the members are already fitted."""
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Weighted mean of the probabilities (n_samples, n_classes), calibrated."""
        return self._average(self._read(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable class after the class offsets, of shape (n_samples,)."""
        probabilities, decision = self.read(X)
        return self.classes[decision.labels(probabilities)]

    def read(self, X: Any) -> tuple[FloatArray, Decision]:
        """Return the output of ``predict_proba``, and the decision that gives its labels."""
        Z = self._read(X)
        probabilities = self._average(Z)
        decision = self.decision_.at(X, Z, probabilities)
        return probabilities, replace(decision, temperature=1.0, shift=None)

    def _read(self, X: Any) -> Any:
        """Transform the raw table to the numeric matrix."""
        if n_rows(X) == 0:
            shape = as_table(X).shape
            raise ValueError(
                f"Found array with 0 sample(s) (shape={shape}) while a minimum of 1 is required."
            )
        return as_matrix(self.reader.transform(X))

    def _average(self, Z: Any) -> FloatArray:
        """Weighted mean of the probabilities of rows of the numeric matrix."""
        total = np.zeros((Z.shape[0], len(self.classes)))
        # For few rows, starting threads costs more than it saves.
        few = Z.shape[0] <= _FEW_ROWS
        with single_thread() if few else contextlib.nullcontext():
            for weight, member in zip(self.weights, self.members, strict=True):
                total += weight * predict_probabilities(member, Z, self.classes)
        return self.decision_.scale(total / total.sum(axis=1, keepdims=True))


def constant_ensemble(
    reader: Any, classes: NDArray[Any], y: ArrayLike, sample_weight: ArrayLike | None = None
) -> PipelineEnsemble:
    """Ensemble that reads the table and predicts the frequencies of the labels y."""
    y = np.asarray(y)
    shares = DummyClassifier().fit(np.zeros((len(y), 1)), y, sample_weight=sample_weight)
    return PipelineEnsemble(reader, [Pipeline([("classifier", shares)])], [1.0], classes)


def quick_ensemble(
    reader: Any, classes: NDArray[Any], Z: Any, y: NDArray[Any], sample_weight: FloatArray | None
) -> PipelineEnsemble:
    """Ensemble of a small decision tree, fitted in about a second whatever the table.

    Z is the numeric matrix, of which large tables give a sample of rows, and y are the labels.
    """
    n_sampled = max(_QUICK_ROWS, _QUICK_CELLS // Z.shape[1])
    rows = np.random.default_rng(0).permutation(len(y))[:n_sampled]
    imputers = [("imputer", SimpleImputer())] if sparse.issparse(Z) else []
    n_tried = min(Z.shape[1], max(1, _QUICK_CELLS // n_sampled))
    tree = DecisionTreeClassifier(
        max_leaf_nodes=50, min_samples_leaf=5, max_features=n_tried, random_state=0
    )
    pipeline = make_pipeline([*imputers, ("classifier", tree)])
    weights = None if sample_weight is None else sample_weight[rows]
    pipeline.fit(take_rows(Z, rows), y[rows], classifier__sample_weight=weights)
    members = [pipeline, *constant_ensemble(reader, classes, y, sample_weight).members]
    return PipelineEnsemble(reader, members, [_QUICK_WEIGHT, 1 - _QUICK_WEIGHT], classes)

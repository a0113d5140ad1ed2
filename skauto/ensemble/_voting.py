"""The model that a search ends with: a weighted vote of fitted pipelines."""

import contextlib
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from skauto.engines import thread_pools
from skauto.evaluation import transform_and_predict
from skauto.selection import Decision
from skauto.utils import FloatArray, n_rows

# Up to so many rows are predicted by one thread.
_FEW_ROWS = 1000


class PipelineEnsemble(ClassifierMixin, BaseEstimator):
    """Average the class probabilities of fitted pipelines that share their reader.

    Parameters
    ----------
    pipelines : list of Pipeline
        Fitted, with one and the same `TableReader` as their first step.
    weights : array-like of shape (n_pipelines,)
        Share of each in the vote, summing to 1.
    classes : ndarray of shape (n_classes,)
        Labels of the columns of ``predict_proba``.
    decision : Decision, default=None
        How the vote is read: a temperature for the probabilities and offsets for the labels. None
        leaves the probabilities as they are and labels rows with the most probable class.
    diversity : ndarray of shape (n_members, n_members), default=None
        Diversity of each pair of members, see :func:`~skauto.selection.pairwise_diversity`.
    disagreement : float, default=None
        Share of the rows that two members label differently, on average over the pairs.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The same as ``classes``.
    decision_ : Decision
        The same as ``decision``; zeros and a temperature of 1 in place of None.
    diversity_ : ndarray of shape (n_members, n_members) or None
        The same as ``diversity``: that of an estimator's ``ensemble_`` is measured on the
        out-of-fold predictions, its members in the order of ``member_weights_``.
    disagreement_ : float or None
        The same as ``disagreement``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skauto import AutoClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> automl = AutoClassifier(max_evals=3, random_state=0).fit(X, y)
    >>> automl.ensemble_.predict_proba(X).shape
    (150, 3)
    """

    def __init__(
        self,
        pipelines: list[Any],
        weights: Any,
        classes: NDArray[Any],
        *,
        decision: Decision | None = None,
        diversity: FloatArray | None = None,
        disagreement: float | None = None,
    ) -> None:
        self.pipelines = pipelines
        self.weights = weights
        self.classes = classes
        self.decision = decision
        self.diversity = diversity
        self.disagreement = disagreement

    @property
    def classes_(self) -> NDArray[Any]:
        """Labels of the columns of ``predict_proba``."""
        return self.classes

    @property
    def decision_(self) -> Decision:
        """How the vote is read."""
        return Decision(np.zeros(len(self.classes))) if self.decision is None else self.decision

    @property
    def diversity_(self) -> FloatArray | None:
        """Diversity of each pair of members."""
        return self.diversity

    @property
    def disagreement_(self) -> float | None:
        """Share of the rows that two members label differently, on average over the pairs."""
        return self.disagreement

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __len__(self) -> int:
        return len(self.pipelines)

    def fit(self, X: Any, y: Any) -> Self:
        """Do nothing: the pipelines are fitted already.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Ignored.
        y : array-like of shape (n_samples,)
            Ignored.

        Returns
        -------
        self : PipelineEnsemble
        """
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Weighted mean of the pipelines' class probabilities, at the temperature.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The raw table.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return self._average(self._read(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of the largest probability, after the offsets of the classes.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The raw table.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Labels.
        """
        probabilities, decision = self.read(X)
        return self.classes[decision.labels(probabilities)]

    def read(self, X: Any) -> tuple[FloatArray, Decision]:
        """Probabilities and how they are read, row by row.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The raw table.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Those of ``predict_proba``.
        decision : Decision
            For these rows and probabilities.
        """
        Z = self._read(X)
        probabilities = self._average(Z)
        decision = self.decision_.at(Z, probabilities)
        return probabilities, replace(decision, temperature=1.0)

    def _read(self, X: Any) -> Any:
        """Numeric matrix of the raw table."""
        if n_rows(X) == 0:
            raise ValueError(
                f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of 1 is required."
            )
        return self.pipelines[0].steps[0][1].transform(X)

    def _average(self, Z: Any) -> FloatArray:
        """Weighted mean of the probabilities of rows of the numeric matrix."""
        total = np.zeros((Z.shape[0], len(self.classes)))
        # Waking threads for a few rows costs more than they save, most of all on a busy machine.
        few = Z.shape[0] <= _FEW_ROWS
        with thread_pools().limit(limits=1) if few else contextlib.nullcontext():
            for weight, pipeline in zip(self.weights, self.pipelines, strict=True):
                total += weight * transform_and_predict(pipeline.steps[1:], Z, self.classes)
        return self.decision_.scale(total / total.sum(axis=1, keepdims=True))

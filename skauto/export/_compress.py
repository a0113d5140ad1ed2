"""Selection of a smaller or faster ensemble among fitted members."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skauto.constraints import Constraint, Evidence, ModelSize, PredictionLatency
from skauto.data._table import as_table
from skauto.exceptions import InfeasibleError
from skauto.export._fitted import fitted_ensemble
from skauto.model import Decision, PipelineEnsemble
from skauto.model._ensemble import constant_ensemble
from skauto.selection import (
    BrierLoss,
    LogLoss,
    Loss,
    SmoothedLoss,
    choose_decision,
    get_loss,
    greedy_selection,
)
from skauto.utils import n_rows, scorer_function

# Number of members, with repetitions, of the greedy selection.
_N_MEMBERS = 25


def compress(
    estimator: Any,
    *,
    max_size: float | None = None,
    max_latency: float | None = None,
    X: Any = None,
) -> PipelineEnsemble:
    """Select a smaller or faster ensemble among the fitted members, without a new search.

    Members are selected greedily on their out-of-fold predictions under the limits. Size and
    latency are measured on each member and on the selected ensemble.

    Parameters
    ----------
    estimator : AutoClassifier or ConstrainedAutoClassifier
        A fitted estimator. Its constraints may be on size and latency only, because others are not
        measured again.
    max_size : float, default=None
        Largest size of the pickled ensemble, in bytes.
    max_latency : float, default=None
        Largest time of ``predict_proba`` for one row, in seconds.
    X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features), default=None
        Rows on which latency is measured; required with ``max_latency``.

    Returns
    -------
    ensemble : PipelineEnsemble
        With ``predict`` and ``predict_proba``. It is ``ensemble_`` if that keeps the limits. The
        estimator is not changed.

    Raises
    ------
    InfeasibleError
        If no single member keeps the limits. The message has the smallest values.
    ValueError
        If there is no limit, or the estimator has constraints on its predictions.

    Notes
    -----
    A scorer that needs the rows of the table is replaced by log loss. A search under the limits
    (`skauto.constraints.ModelSize`) finds better small models, because it also searches for small
    pipelines.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skauto import AutoClassifier
    >>> from skauto.export import compress
    >>> X, y = load_iris(return_X_y=True)
    >>> automl = AutoClassifier(max_evals=3, cv=3, random_state=0).fit(X, y)
    >>> ensemble = compress(automl, max_latency=0.1, X=X)
    >>> len(ensemble) <= len(automl.ensemble_)
    True
    """
    limits = _limits(max_size, max_latency, X)
    ensemble = fitted_ensemble(estimator)
    if ensemble is estimator:
        raise TypeError(
            "The 'estimator' of compress must be the fitted AutoClassifier, which has the "
            "out-of-fold predictions. Got its ensemble_ instead."
        )
    if any(not constraint.additive for constraint in getattr(estimator, "constraints", ())):
        raise ValueError(
            "compress does not measure constraints on predictions again. Fit with ModelSize or "
            "PredictionLatency among the constraints instead."
        )
    compression = _Compression(estimator, ensemble, limits, None if X is None else as_table(X))
    return ensemble if compression.keeps_limits(ensemble) else compression.run()


def _limits(max_size: float | None, max_latency: float | None, X: Any) -> list[Constraint]:
    for name, value in (("max_size", max_size), ("max_latency", max_latency)):
        if value is not None and not value > 0:
            raise ValueError(f"The '{name}' of compress must be above 0. Got {value!r} instead.")
    if max_size is None and max_latency is None:
        raise ValueError(
            "compress needs a limit: max_size in bytes, max_latency in seconds, or both. Got none."
        )
    if max_latency is not None and X is None:
        raise ValueError(
            "The 'max_latency' of compress needs rows to measure it on: pass X as well."
        )
    limits: list[Constraint] = [] if max_size is None else [ModelSize(max_size)]
    if max_latency is not None:
        limits.append(PredictionLatency(max_latency, batch_size=1))
    return limits


class _Compression:
    """Selection of members under limits that are additive over the members."""

    def __init__(
        self, estimator: Any, ensemble: PipelineEnsemble, limits: list[Constraint], table: Any
    ) -> None:
        self.estimator = estimator
        self.ensemble = ensemble
        self.limits = limits
        self.table = table
        self.upper = np.array([limit.limit for limit in limits])
        self.numbers = list(estimator.member_weights_)
        # Without a refit a member is a model of each fold, and its weight is divided among them.
        ends = np.cumsum(list(estimator.member_weights_.values()))
        weights = np.asarray(ensemble.weights)
        self.member_of = np.searchsorted(ends, np.cumsum(weights) - weights / 2)

    def measure(self, model: PipelineEnsemble) -> NDArray[np.float64]:
        """Measure the values that are limited, shape (n_limits,)."""
        rows = np.zeros(1 if self.table is None else n_rows(self.table), dtype=np.intp)
        classes = self.ensemble.classes
        evidence = Evidence(np.empty((0, 0)), rows, classes, X=self.table, model=model)
        return np.array([limit.measure(evidence) for limit in self.limits])

    def keeps_limits(self, model: PipelineEnsemble) -> bool:
        return bool((self.measure(model) <= self.upper).all())

    def run(self) -> PipelineEnsemble:
        """Select members, then remove the smallest weights until the ensemble keeps the limits."""
        goal = self.estimator.history_.goal
        predictions = [self.estimator.history_[number].predictions for number in self.numbers]
        rows = np.flatnonzero(~np.isnan([p[:, 0] for p in predictions]).any(axis=0))
        weight = None if goal.sample_weight is None else goal.sample_weight[rows]
        y, sampled = goal.targets[rows], [p[rows] for p in predictions]
        base, alone = self._costs()

        def within_limits(counts: NDArray[np.integer], candidate: int) -> bool:
            chosen = counts > 0
            chosen[candidate] = True
            return bool((base + (alone[chosen] - base).sum(axis=0) <= self.upper).all())

        scorer = self.estimator.scorer_
        known = scorer_function(scorer) is not None
        loss: Loss = get_loss(scorer, self.ensemble.classes) if known else LogLoss()
        smooth = loss if isinstance(loss, LogLoss | BrierLoss) else SmoothedLoss(loss)
        counts = greedy_selection(
            sampled, y, smooth, _N_MEMBERS, feasible=within_limits, sample_weight=weight
        ).weights.copy()
        if not counts.any():
            raise self._infeasible(alone)
        small = self._ensemble(counts)
        while not self.keeps_limits(small):
            if (counts > 0).sum() == 1:
                raise self._infeasible(alone)
            counts[np.argmin(np.where(counts > 0, counts, np.inf))] = 0.0
            small = self._ensemble(counts)
        small.decision = self.ensemble.decision
        if type(small.decision) is Decision:  # other types of decisions keep limits on rates
            mean = sum(w * p for w, p in zip(counts / counts.sum(), sampled, strict=True))
            rng = np.random.default_rng(0)
            small.decision = choose_decision(mean, y, loss, rng=rng, sample_weight=weight)
        return small

    def _costs(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Measure the reader, shape (n_limits,), and each member, shape (n_members, n_limits)."""
        classes = self.ensemble.classes
        empty = constant_ensemble(self.ensemble.reader, classes, classes)
        alone = [self.measure(self._ensemble(row)) for row in np.eye(len(self.numbers))]
        return self.measure(empty), np.array(alone).reshape(-1, len(self.limits))

    def _ensemble(self, counts: NDArray[np.floating]) -> PipelineEnsemble:
        n_models = np.bincount(self.member_of, minlength=len(counts))
        chosen = np.flatnonzero(counts[self.member_of] > 0)
        shares = (counts / n_models)[self.member_of[chosen]]
        members = [self.ensemble.members[i] for i in chosen]
        shares = shares / shares.sum()
        return PipelineEnsemble(self.ensemble.reader, members, shares, self.ensemble.classes)

    def _infeasible(self, alone: NDArray[np.float64]) -> InfeasibleError:
        if not len(alone):
            return InfeasibleError(
                "The ensemble has no member: the search ended before one was fitted."
            )
        least = ", ".join(
            f"{value:.4g} for {limit.key!r} (limit {limit.limit:.4g}, trial "
            f"{self.numbers[int(np.argmin(column))]})"
            for limit, column, value in zip(self.limits, alone.T, alone.min(axis=0), strict=True)
        )
        return InfeasibleError(
            f"No member of the ensemble keeps the limits of compress. The smallest values "
            f"of single members are {least}. Give wider limits, or search under them with "
            "ConstrainedAutoClassifier."
        )

"""A smaller vote of members that are fitted already."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier

from skauto.constraints import Constraint, Evidence, ModelSize, PredictionLatency
from skauto.data import as_table
from skauto.ensemble import PipelineEnsemble
from skauto.evaluation import assemble
from skauto.exceptions import InfeasibleError
from skauto.export._vote import vote_of
from skauto.selection import (
    BrierLoss,
    Decision,
    LogLoss,
    Loss,
    SmoothedLoss,
    choose_decision,
    get_loss,
    greedy_selection,
)
from skauto.utils import n_rows, scorer_function

# Numbers of votes among which the members' shares are divided.
_N_VOTES = 25


def compress(
    estimator: Any,
    *,
    max_size: float | None = None,
    max_latency: float | None = None,
    X: Any = None,
) -> PipelineEnsemble:
    """Select a smaller vote among the fitted members of an ensemble, without a new search.

    Greedy selection on the out-of-fold predictions that the estimator keeps of its members, under
    the limits. Sizes and seconds are measured on each member and at last on the vote itself.

    Parameters
    ----------
    estimator : AutoClassifier or ConstrainedAutoClassifier
        Fitted. Its constraints may be on size and latency only: others are not measured again.
    max_size : float, default=None
        Bytes of the pickled vote.
    max_latency : float, default=None
        Seconds of ``predict_proba`` for one row.
    X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features), default=None
        Rows on which latency is measured; only with ``max_latency``.

    Returns
    -------
    vote : PipelineEnsemble
        With ``predict`` and ``predict_proba``; the estimator's own ``ensemble_`` where that keeps
        the limits. The estimator itself is left as it is.

    Raises
    ------
    InfeasibleError
        If no member alone keeps the limits. The message has the smallest values.
    ValueError
        If there is no limit, or the estimator has constraints on its predictions.

    Notes
    -----
    A scorer that reads the rows cannot be computed any more; log loss takes its place. A fit
    within the limits (`skauto.constraints.ModelSize`) searches for small pipelines and so finds
    better ones than are left here.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skauto import AutoClassifier
    >>> from skauto.export import compress
    >>> X, y = load_iris(return_X_y=True)
    >>> automl = AutoClassifier(max_evals=4, random_state=0).fit(X, y)
    >>> vote = compress(automl, max_latency=0.1, X=X)
    >>> len(vote) <= len(automl.ensemble_)
    True
    """
    limits = _limits(max_size, max_latency, X)
    vote = vote_of(estimator)
    if vote is estimator:
        raise TypeError(
            "The 'estimator' of compress must be the fitted AutoClassifier: its ensemble_ alone "
            "does not hold the out-of-fold predictions. Got the ensemble_ instead."
        )
    if any(not constraint.additive for constraint in getattr(estimator, "constraints", ())):
        raise ValueError(
            "compress does not measure constraints on predictions again. Add ModelSize or "
            "PredictionLatency to the constraints of fit instead, which keeps all of them."
        )
    table = None if X is None else as_table(X)

    def measure(model: PipelineEnsemble) -> NDArray[np.float64]:
        rows = np.zeros(1 if table is None else n_rows(table), dtype=np.intp)
        evidence = Evidence(np.empty((0, 0)), rows, vote.classes, X=table, model=model)
        return np.array([limit.measure(evidence) for limit in limits])

    upper = np.array([limit.limit for limit in limits])
    if (measure(vote) <= upper).all():
        return vote
    return _Compression(estimator, vote, limits, upper, measure).run()


def _limits(max_size: float | None, max_latency: float | None, X: Any) -> list[Constraint]:
    """Give the limits as constraints."""
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
    """Selection of members under limits that add up."""

    def __init__(
        self,
        estimator: Any,
        vote: PipelineEnsemble,
        limits: list[Constraint],
        upper: NDArray[np.float64],
        measure: Callable[[PipelineEnsemble], NDArray[np.float64]],
    ) -> None:
        self.estimator = estimator
        self.vote = vote
        self.limits = limits
        self.upper = upper
        self.measure = measure
        self.numbers = list(estimator.member_weights_)
        # Without refitting a member has a model of each fold, which share its weight.
        ends = np.cumsum(list(estimator.member_weights_.values()))
        weights = np.asarray(vote.weights)
        self.member_of = np.searchsorted(ends, np.cumsum(weights) - weights / 2)

    def run(self) -> PipelineEnsemble:
        """Select the members, and drop the smallest shares while the vote is too heavy."""
        goal = self.estimator.history_.goal
        predictions = [self.estimator.history_[number].predictions for number in self.numbers]
        rows = np.flatnonzero(~np.isnan([p[:, 0] for p in predictions]).any(axis=0))
        weight = None if goal.sample_weight is None else goal.sample_weight[rows]
        y, sampled = goal.targets[rows], [p[rows] for p in predictions]
        base, alone = self._costs()

        def light_enough(counts: NDArray[np.integer], candidate: int) -> bool:
            chosen = counts > 0
            chosen[candidate] = True
            return bool((base + (alone[chosen] - base).sum(axis=0) <= self.upper).all())

        loss = self._loss()
        smooth = loss if isinstance(loss, LogLoss | BrierLoss) else SmoothedLoss(loss)
        counts = greedy_selection(
            sampled, y, smooth, _N_VOTES, feasible=light_enough, sample_weight=weight
        ).weights.copy()
        if not counts.any():
            raise self._infeasible(alone)
        small = self._vote(counts)
        while not (self.measure(small) <= self.upper).all():
            if (counts > 0).sum() == 1:
                raise self._infeasible(alone)
            counts[np.argmin(np.where(counts > 0, counts, np.inf))] = 0.0
            small = self._vote(counts)
        small.decision = self.vote.decision
        if type(small.decision) is Decision:  # others keep limits of rates
            mean = sum(w * p for w, p in zip(counts / counts.sum(), sampled, strict=True))
            rng = np.random.default_rng(0)
            small.decision = choose_decision(mean, y, loss, rng=rng, sample_weight=weight)
        return small

    def _costs(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Measure the reader alone, (n_limits,), and each member alone, (n_members, n_limits)."""
        classes = self.vote.classes
        shares = DummyClassifier().fit(np.zeros((len(classes), 1)), np.arange(len(classes)))
        reader = self.vote.pipelines[0].steps[0][1]
        empty = PipelineEnsemble([assemble(reader, [("classifier", shares)])], [1.0], classes)
        alone = [self.measure(self._vote(row)) for row in np.eye(len(self.numbers))]
        return self.measure(empty), np.array(alone).reshape(-1, len(self.limits))

    def _vote(self, counts: NDArray[np.floating]) -> PipelineEnsemble:
        """Put members together, in these shares."""
        n_models = np.bincount(self.member_of, minlength=len(counts))
        chosen = np.flatnonzero(counts[self.member_of] > 0)
        shares = (counts / n_models)[self.member_of[chosen]]
        pipelines = [self.vote.pipelines[i] for i in chosen]
        return PipelineEnsemble(pipelines, shares / shares.sum(), self.vote.classes)

    def _loss(self) -> Loss:
        scorer = self.estimator.scorer_
        if scorer_function(scorer) is None:
            return LogLoss()
        return get_loss(scorer, self.vote.classes)

    def _infeasible(self, alone: NDArray[np.float64]) -> InfeasibleError:
        if not len(alone):
            return InfeasibleError(
                "The vote has no member: the search ended before one was fitted."
            )
        least = ", ".join(
            f"{value:.4g} for {limit.key!r} (limit {limit.limit:.4g}, trial "
            f"{self.numbers[int(np.argmin(column))]})"
            for limit, column, value in zip(self.limits, alone.T, alone.min(axis=0), strict=True)
        )
        return InfeasibleError(
            f"No member of the vote keeps the limits of compress. The smallest values of single "
            f"members are {least}. Give wider limits, or fit within them by "
            "ConstrainedAutoClassifier."
        )

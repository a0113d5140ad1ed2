"""The gate: whether a vote keeps every limit."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skauto.constraints._base import Constraint
from skauto.constraints._evidence import Evidence, Margin, cautious_mean
from skauto.constraints._groups import GroupConstraint
from skauto.data import TrainingData
from skauto.history import Trial
from skauto.selection import Decision
from skauto.utils import FloatArray, IntArray


@dataclass(frozen=True)
class Measurement:
    """What was measured of one constraint on a vote.

    Parameters
    ----------
    constraint : Constraint
        The constraint.
    folds : tuple of float
        Its value on the validation rows of each fold; of an additive constraint the sum of the
        members' values.
    value : float
        What is held against the limit: measured on the fitted vote if the constraint is additive
        and the vote is fitted; otherwise the mean over the folds with its safety margin.
    fitted : float, default=nan
        Measured on the fitted vote; NaN for what is not additive or not fitted.

    Examples
    --------
    >>> from skauto.constraints import Measurement, ModelSize
    >>> Measurement(ModelSize(1000), folds=(800.0, 820.0), value=1200.0).met
    False
    """

    constraint: Constraint
    folds: tuple[float, ...]
    value: float
    fitted: float = math.nan

    @property
    def met(self) -> bool:
        """Whether the limit is kept; never where the value is not defined."""
        return bool(math.isinf(self.constraint.limit) or self.value <= self.constraint.limit)

    @property
    def mean(self) -> float:
        """Mean over the folds on which the constraint is defined; NaN where there is none."""
        return cautious_mean(self.folds, 0.0)

    @property
    def error(self) -> float:
        """Standard error of the mean; NaN for fewer than two folds."""
        defined = [value for value in self.folds if not math.isnan(value)]
        return cautious_mean(defined, 1.0) - self.mean if len(defined) > 1 else math.nan

    @property
    def violation(self) -> float:
        """How far the limit is exceeded, in units of the limit; 0 where it is kept."""
        if self.met:
            return 0.0
        if math.isnan(self.value):
            return math.inf
        limit = self.constraint.limit
        return float((self.value - limit) / (abs(limit) or 1.0))


@dataclass(frozen=True)
class Verdict:
    """The answer of the gate about a vote.

    Parameters
    ----------
    measurements : tuple of Measurement, default=()
        One for each constraint.

    Examples
    --------
    >>> from skauto.constraints import Verdict
    >>> Verdict().passes
    True
    """

    measurements: tuple[Measurement, ...] = ()

    @property
    def passes(self) -> bool:
        """Whether every limit is kept."""
        return all(measurement.met for measurement in self.measurements)

    @property
    def violation(self) -> float:
        """Sum over the constraints of how far the limits are exceeded, in units of the limits."""
        return sum(measurement.violation for measurement in self.measurements)

    def __getitem__(self, key: str) -> Measurement:
        return next(m for m in self.measurements if m.constraint.key == key)


class Gate:
    """Decide whether a vote of trials may be deployed.

    Additive constraints (seconds, bytes) are measured on the fitted vote. Before it is fitted they
    are predicted: the values of the members' fold models are added up, and those that grow with
    the training rows are scaled to all rows in proportion. No model of the catalog grows faster,
    so that the prediction errs towards refusing. All other constraints are measured on the
    averaged out-of-fold predictions of the members.

    Parameters
    ----------
    constraints : sequence of Constraint, default=()
        What is limited or only measured.
    data : TrainingData, default=None
        Rows, classes and folds; not needed without constraints.
    margin : Margin, default=Margin()
        How cautious the values are.
    refit : bool, default=True
        Whether members are fitted anew on all rows; otherwise the models of all folds are kept.

    Attributes
    ----------
    errors : dict of str to str
        Text of the first error of each constraint that could not be measured on a vote. Such a
        vote is refused.

    Examples
    --------
    >>> from skauto.constraints import Gate
    >>> Gate().judge([], []).passes
    True
    """

    def __init__(
        self,
        constraints: Sequence[Constraint] = (),
        data: TrainingData | None = None,
        *,
        margin: Margin | None = None,
        refit: bool = True,
    ) -> None:
        self.constraints = list(constraints)
        self.data: Any = data
        self.margin = margin or Margin()
        self.refit = refit
        self.errors: dict[str, str] = {}

    def check_groups(self, names: Mapping[str, Sequence[str]]) -> None:
        """Refuse constraints on groups that are too small, and warn where some of them are.

        Parameters
        ----------
        names : mapping of str to sequence of str
            Names of the groups of each sensitive feature, in the order of their codes.
        """
        for constraint in self.constraints:
            if isinstance(constraint, GroupConstraint):
                folds = [fold.evidence for fold in self._folds]
                constraint.check_groups(folds, self._validated.evidence, names)

    def estimates(
        self,
        folds: Mapping[str, tuple[float, ...]],
        predictions: NDArray[Any] | None,
        fidelity: float = 1.0,
    ) -> dict[str, float]:
        """Values of a trial that are held against the limits, before it is fitted anew.

        Parameters
        ----------
        folds : mapping of str to tuple of float
            Measured value of each constraint by fold.
        predictions : ndarray of shape (n_samples, n_classes) or None
            Out-of-fold predictions; None if the trial was not completed.
        fidelity : float, default=1.0
            Share of the rows that the trial was evaluated on.

        Returns
        -------
        estimates : dict of str to float
            By constraint; NaN where it is not defined.
        """
        values = {}
        for constraint in self.constraints:
            if constraint.key not in folds:
                continue
            measured = folds[constraint.key]
            if constraint.additive:
                value = self._predicted(constraint, measured, fidelity)
            elif predictions is None:
                value = cautious_mean(measured, self.margin.n_errors)
            else:
                pooled = self._pooled(predictions)
                value = self._cautious(constraint, measured, pooled, resample=False)
            values[constraint.key] = value
        return values

    def judge(
        self,
        trials: Sequence[Trial],
        weights: Sequence[float] | NDArray[Any],
        model: object = None,
        *,
        decision: Decision | None = None,
    ) -> Verdict:
        """Measure every constraint on a vote.

        Parameters
        ----------
        trials : sequence of Trial
            The members, with their out-of-fold predictions.
        weights : array-like of shape (n_members,)
            Votes of each member.
        model : object, default=None
            The fitted vote; None to predict what is measured on it.
        decision : Decision, default=None
            How the vote is read; None labels rows with the most probable class.

        Returns
        -------
        verdict : Verdict
            Whether every limit is kept, and what was measured.
        """
        measured = self._measurements(
            self.constraints, trials, weights, model, decision, resample=True
        )
        return Verdict(tuple(measured))

    def without(self, keys: Sequence[str]) -> "Gate":
        """Give the gate without some of its constraints.

        Parameters
        ----------
        keys : sequence of str
            Keys of constraints.

        Returns
        -------
        gate : Gate
            Of the others; itself without any key.
        """
        if not keys:
            return self
        others = [c for c in self.constraints if c.key not in keys]
        return Gate(others, self.data, margin=self.margin, refit=self.refit)

    def allows(self, trials: Sequence[Trial], weights: Sequence[float] | NDArray[Any]) -> bool:
        """Whether a vote that is not fitted yet would keep every limit.

        As ``judge``, but it stops at the first limit that is missed, and bounds at a confidence
        that need many resamples are approximated by the error over the folds.

        Parameters
        ----------
        trials : sequence of Trial
            The members, with their out-of-fold predictions.
        weights : array-like of shape (n_members,)
            Votes of each member.

        Returns
        -------
        allowed : bool
            False too where a limited constraint is not defined.
        """
        limited = [c for c in self.constraints if math.isfinite(c.limit)]
        measured = self._measurements(limited, trials, weights, None, None, resample=False)
        return all(measurement.met for measurement in measured)

    def _measurements(
        self,
        constraints: Sequence[Constraint],
        trials: Sequence[Trial],
        weights: Sequence[float] | NDArray[Any],
        model: object,
        decision: Decision | None,
        *,
        resample: bool,
    ) -> Iterator[Measurement]:
        """Measure one constraint after the other, each when asked for."""
        if not constraints:
            return
        shares = np.asarray(weights, dtype=float) / np.sum(weights)
        mean = self._mean(trials, shares)
        pooled = self._pooled(mean, decision)
        for constraint in constraints:
            if constraint.additive:
                yield self._additive(constraint, trials, pooled, model)
                continue
            evidence = self._by_fold(mean, decision)
            folds = tuple(self._measure(constraint, fold) for fold in evidence)
            value = self._cautious(constraint, folds, pooled, resample=resample)
            yield Measurement(constraint, folds, value)

    @staticmethod
    def _mean(trials: Sequence[Trial], shares: FloatArray) -> NDArray[Any]:
        """Out-of-fold predictions of the vote, of shape (n_samples, n_classes)."""
        members = zip(shares, trials, strict=True)
        return np.asarray(sum(share * np.asarray(trial.predictions) for share, trial in members))

    def _additive(
        self,
        constraint: Constraint,
        trials: Sequence[Trial],
        pooled: Callable[[], Evidence],
        model: object,
    ) -> Measurement:
        unknown = (math.nan,) * len(self.data.splits)  # a search may go on with other constraints
        members = [trial.fold_constraints.get(constraint.key, unknown) for trial in trials]
        folds = tuple(float(value) for value in np.sum(members, axis=0))
        if model is None:
            return Measurement(constraint, folds, self._predicted(constraint, folds))
        fitted = self._measure(constraint, replace(pooled(), model=model))
        return Measurement(constraint, folds, fitted, fitted)

    def _predicted(
        self, constraint: Constraint, folds: Sequence[float], fidelity: float = 1.0
    ) -> float:
        """Value of an additive constraint on the fitted vote, from those of the fold models."""
        if not self.refit:
            return float(np.sum(folds))
        value = cautious_mean(folds, self.margin.n_errors)
        if not constraint.grows:
            return value
        n_train = np.mean([train.size for train, _ in self.data.splits])
        return float(value * len(self.data.y) / (fidelity * n_train))

    def _cautious(
        self,
        constraint: Constraint,
        folds: Sequence[float],
        pooled: Callable[[], Evidence],
        *,
        resample: bool,
    ) -> float:
        """Value that is held against the limit, of a constraint that is not additive."""
        confidence = self.margin.confidence
        if confidence is not None and (resample or not constraint.resampled or len(folds) == 1):
            return self._measure(constraint, pooled(), confidence)
        value = cautious_mean(folds, self.margin.n_errors)
        # Where no single fold defines it, all rows at once may.
        return self._measure(constraint, pooled()) if math.isnan(value) else value

    def _measure(
        self, constraint: Constraint, evidence: Evidence, confidence: float | None = None
    ) -> float:
        """Measure, or bound, a constraint; NaN, with a note of the error, where that fails."""
        try:
            if confidence is not None:
                return float(constraint.bound(evidence, confidence))
            return float(constraint.measure(evidence))
        except Exception as exc:
            self.errors.setdefault(constraint.key, f"{type(exc).__name__}: {exc}")
            return math.nan

    def _pooled(
        self, predictions: NDArray[Any], decision: Decision | None = None
    ) -> Callable[[], Evidence]:
        """Give all out-of-fold predictions at once, when asked for."""

        def pooled() -> Evidence:
            rows = np.flatnonzero(~np.isnan(predictions[:, 0]))
            evidence = (
                self._validated.evidence
                if np.array_equal(rows, self._validated.rows)
                else Evidence.of(self.data, predictions[rows], rows)
            )
            return replace(
                evidence,
                probabilities=predictions[rows],
                decision=None if decision is None else decision.take(rows),
            )

        return pooled

    def _by_fold(self, predictions: NDArray[Any], decision: Decision | None) -> list[Evidence]:
        return [
            replace(
                fold.evidence,
                probabilities=predictions[fold.rows],
                decision=None if decision is None else decision.take(fold.rows),
            )
            for fold in self._folds
        ]

    # Rows are taken out of the table once: a selection asks about hundreds of votes.

    @cached_property
    def _folds(self) -> list["_Validation"]:
        return [self._validation(test) for _, test in self.data.splits]

    @cached_property
    def _validated(self) -> "_Validation":
        return self._validation(np.unique(np.concatenate([t for _, t in self.data.splits])))

    def _validation(self, rows: IntArray) -> "_Validation":
        return _Validation(rows, Evidence.of(self.data, np.empty((rows.size, 0)), rows))


@dataclass(frozen=True)
class _Validation:
    """Rows that are validated, with an evidence that lacks its predictions."""

    rows: IntArray
    evidence: Evidence

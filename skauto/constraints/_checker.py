"""Measure all constraints of an ensemble and decide whether it may be deployed."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skauto.constraints._base import Constraint
from skauto.constraints._evidence import Evidence, Margin, cautious_mean
from skauto.constraints._groups import GroupConstraint
from skauto.history import OutOfFold, Trial
from skauto.model import Decision, PipelineEnsemble
from skauto.utils import IntArray

# Confidence of the upper bound that is reported.
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Measurement:
    """Measured value of one constraint on an ensemble."""

    constraint: Constraint
    #: Value on the validation rows of each fold; for additive constraints the sum over members.
    folds: tuple[float, ...]
    #: Value that is compared with the limit. An additive constraint is measured on the fitted
    #: ensemble if there is one. Otherwise it is the mean over the folds, or the value on all
    #: out-of-fold predictions if the constraint is ``pooled``, with safety margin.
    value: float
    #: Value of an additive constraint on the fitted ensemble; else NaN.
    fitted: float = math.nan
    #: Value of a ``pooled`` constraint on all out-of-fold predictions; else NaN.
    pooled: float = math.nan
    #: Upper bound of a 95% confidence interval for the value on new rows; NaN if not measured.
    upper: float = math.nan

    @property
    def met(self) -> bool:
        """Whether the limit is kept; False if the value is NaN."""
        return bool(math.isinf(self.constraint.limit) or self.value <= self.constraint.limit)

    @property
    def estimate(self) -> float:
        """Value without safety margin: ``pooled``, else the mean over the folds."""
        return cautious_mean(self.folds, 0.0) if math.isnan(self.pooled) else self.pooled

    @property
    def error(self) -> float:
        """Standard error of the mean over the folds; NaN for fewer than two folds."""
        defined = [value for value in self.folds if not math.isnan(value)]
        return _error(defined, 1.0) if len(defined) > 1 else math.nan

    @property
    def violation(self) -> float:
        """Relative excess over the limit; 0 if the limit is kept, infinite if undefined."""
        if self.met:
            return 0.0
        if math.isnan(self.value):
            return math.inf
        limit = self.constraint.limit
        return float((self.value - limit) / (abs(limit) or 1.0))


@dataclass(frozen=True)
class CheckResult:
    """Measurements of all constraints of an ensemble."""

    measurements: tuple[Measurement, ...] = ()

    @property
    def passes(self) -> bool:
        """Whether every limit is kept."""
        return all(measurement.met for measurement in self.measurements)

    @property
    def violation(self) -> float:
        """Sum of the violations of all constraints."""
        return sum(measurement.violation for measurement in self.measurements)

    def __getitem__(self, key: str) -> Measurement:
        return next(m for m in self.measurements if m.constraint.key == key)


@dataclass(eq=False)
class ConstraintChecker:
    """Decide whether an ensemble of trials may be deployed.

    Additive constraints (seconds, bytes) are measured on the fitted ensemble. Before the refit
    they are predicted by the sum of the values of the members' fold models. Values that grow are
    scaled in proportion to the training rows, which is an upper estimate, or as those of refitted
    trials of the same classifier (``learn_growth``). The part that all members share, the reader,
    counts once and does not grow. All other constraints are measured on the averaged out-of-fold
    predictions of the members.

    With `refit`, members are refitted on all rows; otherwise the models of all folds are kept. The
    data may be missing without constraints. `errors` has the first error text of each constraint
    that could not be measured on an ensemble, which is then refused.
    """

    constraints: Sequence[Constraint] = ()
    data: Any = None
    margin: Margin = field(default_factory=Margin, kw_only=True)
    refit: bool = field(default=True, kw_only=True)
    errors: dict[str, str] = field(default_factory=dict, kw_only=True)
    # Values that members share by constraint, and growth by constraint and classifier.
    _shared_values: dict[str, float] = field(default_factory=dict, kw_only=True)
    _growth: dict[tuple[str, str], float] = field(default_factory=dict, kw_only=True)

    @property
    def limits(self) -> dict[str, float]:
        """Finite limits by the key of their constraint."""
        return {c.key: c.limit for c in self.constraints if math.isfinite(c.limit)}

    def check_groups(self, names: Mapping[str, Sequence[str]]) -> None:
        """Check the sizes of the groups, see `GroupConstraint.check_groups`."""
        for constraint in self.constraints:
            if isinstance(constraint, GroupConstraint):
                constraint.check_groups(self._validated.evidence, names)

    def estimates(
        self,
        folds: Mapping[str, tuple[float, ...]],
        predictions: NDArray[Any] | None,
        fidelity: float = 1.0,
    ) -> dict[str, float]:
        """Estimate the constraint values of a trial before its refit, by constraint key.

        `folds` has the measured value of each constraint by fold. The out-of-fold predictions are
        None if the trial is not complete. `fidelity` is its fraction of the rows.
        """
        values = {}
        for constraint in self.constraints:
            if constraint.key not in folds:
                continue
            measured = folds[constraint.key]
            if constraint.additive:
                value = self._after_refit(constraint, [("", measured)], fidelity)
            elif predictions is None:
                value = cautious_mean(measured, self.margin.n_errors)
            else:
                pooled = partial(self._pooled, predictions)
                value = self._with_margin(constraint, measured, pooled, resample=False)
            values[constraint.key] = value
        return values

    def check(
        self,
        trials: Sequence[Trial],
        weights: Sequence[float] | NDArray[Any],
        model: PipelineEnsemble | None = None,
        *,
        decision: Decision | None = None,
    ) -> CheckResult:
        """Measure every constraint on an ensemble of trials with out-of-fold predictions.

        Without the fitted `model`, additive constraints are predicted. Without a decision, the
        most probable class is predicted.
        """
        measured = self._measurements(
            self.constraints, trials, weights, model, decision, resample=True
        )
        return CheckResult(tuple(measured))

    def without(self, keys: Sequence[str]) -> "ConstraintChecker":
        """Return a checker without the constraints of these keys, which learns with this one."""
        return replace(self, constraints=[c for c in self.constraints if c.key not in keys])

    def learn_growth(self, trial: Trial, model: PipelineEnsemble) -> None:
        """Measure how additive values of a classifier grow from the folds to all rows."""
        for constraint in self.constraints:
            folds = trial.fold_constraints.get(constraint.key)
            if not (constraint.grows and math.isfinite(constraint.limit) and folds):
                continue
            shared = self._shared(constraint)
            fitted = self._measure(constraint, replace(self._validated.evidence, model=model))
            own = float(np.mean(folds)) - shared
            if own > 0 and fitted > shared:
                self._growth[constraint.key, trial.configuration.algorithm] = (
                    fitted - shared
                ) / own

    def learned(self, trial: Trial) -> dict[str, float]:
        """Predict the additive values of a trial whose growth was learned, by constraint key."""
        name = trial.configuration.algorithm
        return {
            c.key: self._after_refit(c, [(name, trial.fold_constraints[c.key])])
            for c in self.constraints
            if (c.key, name) in self._growth and c.key in trial.fold_constraints
        }

    def with_upper_bounds(
        self,
        check: CheckResult,
        trials: Sequence[Trial],
        weights: Sequence[float],
        decision: Decision | None,
    ) -> CheckResult:
        """Return the result with 95% upper bounds of the limited values that are not additive."""

        def is_limited(measured: Measurement) -> bool:
            return math.isfinite(measured.constraint.limit) and not measured.constraint.additive

        if not any(map(is_limited, check.measurements)):
            return check
        evidence = self._pooled(OutOfFold.mean(trials, weights).predictions, decision)
        bounded = [
            replace(m, upper=self._measure(m.constraint, evidence, _CONFIDENCE))
            if is_limited(m)
            else m
            for m in check.measurements
        ]
        return CheckResult(tuple(bounded))

    def allows(self, trials: Sequence[Trial], weights: Sequence[float] | NDArray[Any]) -> bool:
        """Whether an ensemble keeps every limit before the refit; False also if one is undefined.

        This is faster than ``check``: it stops at the first violation, and approximates bootstrap
        bounds by standard errors over the folds.
        """
        limited = [c for c in self.constraints if math.isfinite(c.limit)]
        measured = self._measurements(limited, trials, weights, None, None, resample=False)
        return all(measurement.met for measurement in measured)

    def _measurements(
        self,
        constraints: Sequence[Constraint],
        trials: Sequence[Trial],
        weights: Sequence[float] | NDArray[Any],
        model: PipelineEnsemble | None,
        decision: Decision | None,
        *,
        resample: bool,
    ) -> Iterator[Measurement]:
        """Measure the constraints lazily, one after the other."""
        if not constraints:
            return
        mean = OutOfFold.mean(trials, weights).predictions
        pooled = partial(self._pooled, mean, decision)
        for constraint in constraints:
            if constraint.additive:
                yield self._additive(constraint, trials, pooled, model)
                continue
            folds: tuple[float, ...] = ()
            if resample or not constraint.pooled or self.margin.n_errors:
                evidence = [fold.predicted(mean, decision) for fold in self._folds]
                folds = tuple(self._measure(constraint, fold) for fold in evidence)
            value = self._with_margin(constraint, folds, pooled, resample=resample)
            together = math.nan
            if resample and constraint.pooled:
                together = self._measure(constraint, pooled())
            yield Measurement(constraint, folds, value, pooled=together)

    def _additive(
        self,
        constraint: Constraint,
        trials: Sequence[Trial],
        pooled: Callable[[], Evidence],
        model: PipelineEnsemble | None,
    ) -> Measurement:
        # Trials of a resumed search may lack new constraints.
        unknown = (math.nan,) * len(self.data.splits)
        members = [trial.fold_constraints.get(constraint.key, unknown) for trial in trials]
        folds = tuple(float(value) for value in np.sum(members, axis=0))
        if model is None:
            algorithms = [trial.configuration.algorithm for trial in trials]
            named = list(zip(algorithms, members, strict=True))
            return Measurement(constraint, folds, self._after_refit(constraint, named))
        fitted = self._measure(constraint, replace(pooled(), model=model))
        return Measurement(constraint, folds, fitted, fitted)

    def _after_refit(
        self,
        constraint: Constraint,
        members: Sequence[tuple[str, Sequence[float]]],
        fidelity: float = 1.0,
    ) -> float:
        """Predict an additive value after the refit of members: classifiers and values by fold."""
        shared = self._shared(constraint)
        usual = 1.0
        if constraint.grows and self.refit:
            n_train = float(np.mean([train.size for train, _ in self.data.splits]))
            usual = len(self.data.y) / (fidelity * n_train)
        growth = [self._growth.get((constraint.key, name), usual) for name, _ in members]
        own = [np.maximum(np.array(values) - shared, 0.0) for _, values in members]
        folds = np.sum([g * values for g, values in zip(growth, own, strict=True)], axis=0)
        value = cautious_mean(folds, self.margin.n_errors) if self.refit else np.sum(folds)
        return float(shared + value)

    def _shared(self, constraint: Constraint) -> float:
        """Part of an additive value that all members share (cached)."""
        if self.data.reader is None:
            return 0.0
        if constraint.key not in self._shared_values:
            shared = constraint.shared(self._validated.evidence, self.data.reader)
            self._shared_values[constraint.key] = shared
        return self._shared_values[constraint.key]

    def _with_margin(
        self,
        constraint: Constraint,
        folds: Sequence[float],
        pooled: Callable[[], Evidence],
        *,
        resample: bool,
    ) -> float:
        """Value of a constraint that is not additive, with safety margin."""
        exact = self.margin.confidence is not None and (resample or not constraint.resampled)
        has_error = np.count_nonzero(~np.isnan(folds)) >= 2
        if exact or (self.margin.n_errors and not has_error):
            return self._measure(constraint, pooled(), self.margin.level)
        value = cautious_mean(folds, self.margin.n_errors)
        if constraint.pooled:
            return self._measure(constraint, pooled()) + _error(folds, self.margin.n_errors)
        # If it is undefined on every fold, it may be defined on all rows.
        return self._measure(constraint, pooled()) if math.isnan(value) else value

    def _measure(
        self, constraint: Constraint, evidence: Evidence, confidence: float | None = None
    ) -> float:
        """Measure a constraint or its confidence bound; store an error and return NaN."""
        try:
            if confidence is not None:
                return float(constraint.bound(evidence, confidence))
            return float(constraint.measure(evidence))
        except Exception as exc:
            self.errors.setdefault(constraint.key, f"{type(exc).__name__}: {exc}")
            return math.nan

    def _pooled(self, predictions: NDArray[Any], decision: Decision | None = None) -> Evidence:
        """Evidence of all out-of-fold predictions, which are NaN on other rows."""
        rows = OutOfFold(predictions).rows
        same = np.array_equal(rows, self._validated.rows)
        part = self._validated if same else self._validation(rows)
        return part.predicted(predictions, decision)

    @cached_property
    def _folds(self) -> list["_Validation"]:
        """Validation rows of each fold; cached, because selection checks hundreds of ensembles."""
        return [self._validation(test) for _, test in self.data.splits]

    @cached_property
    def _validated(self) -> "_Validation":
        return self._validation(np.unique(np.concatenate([t for _, t in self.data.splits])))

    def _validation(self, rows: IntArray) -> "_Validation":
        return _Validation(rows, Evidence.of(self.data, np.empty((rows.size, 0)), rows))


def _error(folds: Sequence[float], n_errors: float) -> float:
    """Standard errors of the mean over the folds; 0 for values of fewer than two folds."""
    error = cautious_mean(folds, n_errors) - cautious_mean(folds, 0.0)
    return 0.0 if math.isnan(error) else error


@dataclass(frozen=True)
class _Validation:
    """Validation rows and their evidence without predictions."""

    rows: IntArray
    evidence: Evidence

    def predicted(self, predictions: NDArray[Any], decision: Decision | None) -> Evidence:
        """Evidence with the predictions (n_samples, n_classes) of these rows."""
        return replace(
            self.evidence,
            probabilities=predictions[self.rows],
            decision=None if decision is None else decision.take(self.rows),
        )

"""ConstrainedAutoClassifier: classification under constraints."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike, NDArray
from sklearn.callback import with_callbacks
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from skauto.constraints import Constraint
from skauto.constraints._checker import CheckResult
from skauto.data._training import ReadTable
from skauto.ensemble._build import EnsembleBuilder
from skauto.ensemble._decide import DecisionChooser
from skauto.ensemble._model import BuiltEnsemble, CheckedEnsemble
from skauto.estimators._base import BaseAutoClassifier
from skauto.estimators._infeasible import infeasibility_message
from skauto.estimators._keywords import ADVICE, FIT_ADVICE
from skauto.estimators._options import SearchOptions
from skauto.estimators._pareto import pareto_trials
from skauto.exceptions import (
    InfeasibleError,
    InfeasibleWarning,
    TrialFailedWarning,
    UncertainLimitWarning,
)
from skauto.history import History, Trial
from skauto.space import Configuration, SearchSpace
from skauto.strategies import Strategy, get_strategy
from skauto.utils import (
    Interval,
    StrOptions,
    explain_keywords,
    fit_context,
    level_of_caller,
)

if TYPE_CHECKING:
    import pandas as pd


# Columns of ``constraint_values_``.
_COLUMNS = ["model", "constraint", "limit", "value", "error", "fitted", "bound", "met", "upper"]


class ConstrainedAutoClassifier(BaseAutoClassifier):
    """Classifier that searches pipelines and ensembles under constraints.

    The score is maximized subject to limits on latency, size, error rates, differences between
    groups, or any score or callable. All are measured in the evaluation of a trial. A member
    enters the ensemble only if the ensemble keeps every limit. The fitted ensemble is measured
    again.

    With a strategy for several objectives, the loss and all constraints are minimized. The result
    is their Pareto front, and each pipeline of the front is fitted. ``predict`` delegates to the
    most accurate of them that keeps the limits. If no constraint has a limit, it delegates to the
    knee of the front: the pipeline nearest to the ideal point, which has the best value of each
    objective, with the objectives scaled to [0, 1] over the front.

    Parameters
    ----------
    constraints : list of Constraint, default=()
        See `skauto.constraints`.
    strategy : str or Strategy, default="auto"
        Search strategy. "admm" uses the limits in the search (Algorithm 2 of [1]_), except those
        that decision thresholds keep afterwards: rates of labels of two classes, unless
        ``decision="argmax"``. "fang_hpo" [2]_ and "parego" search the Pareto front of the loss and
        the constraints. Other strategies search for the score alone, and the limits select among
        their trials. "auto" is "admm" if the search has limits to keep, else "alternating_bo".
    on_infeasible : {"warn", "raise"}, default="warn"
        What to do if no model keeps all limits: warn and use the model that violates them least,
        or raise an error.
    safety_margin : float or str, default=0.0
        Margin that is added to a measured value before it is compared with the limit. A number of
        standard errors: ``safety_margin * std / sqrt(n_folds)`` over the folds. Or a
        confidence such as ``"95%"``: the upper end of a one-sided confidence interval for the
        value on new rows. With a single validation split, a number is replaced by its confidence
        under a normal distribution, 1.645 by 95%. Seconds and bytes of the fitted model have no
        margin.
    scoring : str, callable, list, tuple, dict or None, default=None
        See `AutoClassifier` for this and all further parameters.
    time_limit : float, default=None
        Seconds of wall clock for the whole of ``fit``.
    max_evals : int, default=None
        Number of trials.
    cv : None, int, float, splitter or iterable, default=None
        Validation of a trial.
    space : str or SearchSpace, default="default"
        Search space.
    initial : {"portfolio", "defaults", "metalearning"}, list of Configuration or None, \
            default="portfolio"
        First configurations.
    ensemble_size : int, default=25
        Number of members of the ensemble, counting repetitions; not used by strategies for
        several objectives.
    decision : {"auto", "argmax", "group_thresholds"}, default="auto"
        How probabilities become labels. "auto" keeps limits on rates of labels by decision
        thresholds that do not need the groups in ``predict``. With "group_thresholds", each group
        of a sensitive feature has a threshold of its own, so that ``predict`` reads the group of a
        row from ``X``: the sensitive features must be columns of ``X``. In many countries such
        decisions are not allowed.
    column_kinds : dict or array-like, default=None
        Kinds of columns that override the kinds found by the reader.
    options : SearchOptions or dict, default=None
        Further settings.
    verbose : int, default=None
        Whether the progress is shown; None shows it in a terminal or a notebook.
    n_jobs : int, default=None
        Number of worker processes.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Attributes
    ----------
    feasible_ : bool
        Whether the ensemble keeps every limit. Seconds and bytes are measured on the fitted
        ensemble, everything else on the out-of-fold predictions of its members. False only if no
        ensemble and no single pipeline that was fitted in time keeps them.
    constraint_values_ : pandas.DataFrame
        One row for each model ("best", "ensemble") and constraint. The columns are "limit";
        "value", the mean over the folds, or for differences between groups the value on all
        out-of-fold predictions; "error", the standard error over the folds; "fitted", seconds
        and bytes of the model fitted on all rows; "bound", the value compared with the limit;
        "upper", the upper bound of a 95% confidence interval for new rows, of constraints on
        predictions; and
        "met".
        "value" of seconds and bytes is that of models trained on fewer rows.
    pareto_front_ : pandas.DataFrame
        Non-dominated trials by the loss and all constraints, sorted by loss.
    selected_ : int
        Row of ``pareto_front_`` that ``predict`` delegates to; only with a strategy for several
        objectives.
    best_estimator_ : Pipeline
        The best single pipeline within the limits, fitted on all rows, or on the training rows of
        a hold-out set if the time did not suffice. It predicts the most probable class, so it may
        exceed limits that the thresholds of the ensemble keep. With a strategy for several
        objectives it is that of row ``selected_``.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if ``X`` has names.

    See Also
    --------
    AutoClassifier : Without constraints. Its other attributes are available here too.

    References
    ----------
    .. [1] S. Liu et al., "An ADMM Based Framework for AutoML Pipeline Configuration", AAAI 2020.
    .. [2] A. Candelieri, A. Ponti, F. Archetti, "Fair and Green Hyperparameter Optimization via
       Multi-objective and Multiple Information Source Bayesian Optimization", 2022.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from skauto import ConstrainedAutoClassifier
    >>> from skauto.constraints import FalseNegativeRate, ModelSize
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = ConstrainedAutoClassifier(
    ...     [ModelSize(100_000), FalseNegativeRate(0.1)], max_evals=4, cv=3, random_state=0
    ... ).fit(X, y)
    >>> clf.feasible_
    True

    The Pareto front of accuracy and size:

    >>> clf = ConstrainedAutoClassifier(
    ...     [ModelSize()], "parego", max_evals=4, cv=3, random_state=0
    ... ).fit(X, y)
    >>> front = clf.pareto_front_[["loss", "model_size"]]
    >>> smallest = clf.select(len(front) - 1)
    """

    _parameter_constraints = {
        **BaseAutoClassifier._parameter_constraints,
        "constraints": [list, tuple],
        "decision": [StrOptions({"auto", "argmax", "group_thresholds"})],
        "on_infeasible": [StrOptions({"warn", "raise"})],
        "safety_margin": [Interval(Real, 0, None, closed="left"), str],
    }

    @explain_keywords(ADVICE)
    def __init__(
        self,
        constraints: Sequence[Constraint] = (),
        strategy: str | Strategy = "auto",
        *,
        on_infeasible: str = "warn",
        safety_margin: float | str = 0.0,
        scoring: Any = None,
        time_limit: float | None = None,
        max_evals: int | None = None,
        cv: Any = None,
        space: str | SearchSpace = "default",
        initial: str | Sequence[Configuration] | None = "portfolio",
        ensemble_size: int = 25,
        decision: str = "auto",
        column_kinds: Mapping[Any, str] | ArrayLike | None = None,
        options: SearchOptions | Mapping[str, Any] | None = None,
        verbose: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            strategy,
            scoring=scoring,
            time_limit=time_limit,
            max_evals=max_evals,
            cv=cv,
            space=space,
            initial=initial,
            ensemble_size=ensemble_size,
            decision=decision,
            column_kinds=column_kinds,
            options=options,
            verbose=verbose,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.constraints = constraints
        self.on_infeasible = on_infeasible
        self.safety_margin = safety_margin

    @explain_keywords(FIT_ADVICE)
    @with_callbacks  # type: ignore[untyped-decorator]
    @fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: str | ArrayLike | None = None,
        sensitive_features: Any = None,
    ) -> Self:
        """Search pipelines, select an ensemble of them that keeps the limits and refit it.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The table. Columns can hold numbers, booleans, strings, categories, dates and missing
            entries.
        y : array-like of shape (n_samples,)
            Class of each row: strings, integers or booleans.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights for the classifiers and the scorers; rows of weight 0 are left out.
        groups : str or array-like of shape (n_samples,), default=None
            All rows of a group are in the same part of each split. A str is a column of ``X``,
            which is not a feature then, unless ``column_kinds`` has a kind for it.
        sensitive_features : dataframe or array-like of shape (n_samples,), default=None
            Groups that constraints compare and that are not features. Constraints find the columns
            by name; an array without names serves all constraints.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        metadata = {"sample_weight": sample_weight, "groups": groups}
        return self._fit(X, y, {**metadata, "sensitive_features": sensitive_features})

    @property
    def constraint_values_(self) -> pd.DataFrame:
        """Limits and measured values of the constraints (needs pandas)."""
        import pandas as pd

        check_is_fitted(self)
        return pd.DataFrame(self._constraint_rows, columns=_COLUMNS)

    @property
    def pareto_front_(self) -> pd.DataFrame:
        """Non-dominated trials by the loss and all constraints (needs pandas)."""
        check_is_fitted(self)
        return self.history_.to_frame().iloc[self._front_numbers].reset_index(drop=True)

    @property
    def best_trial_(self) -> Trial | None:
        """Best trial of the search; with several objectives, the selected trial of the front."""
        if hasattr(self, "selected_"):
            return self.history_[self._front_numbers[self.selected_]]
        return super().best_trial_

    def select(self, which: int | Constraint) -> Pipeline:
        """Select a fitted pipeline of the Pareto front of a strategy for several objectives.

        Parameters
        ----------
        which : int or Constraint
            A row of ``pareto_front_``. Or one of the constraints with any limit: then the most
            accurate pipeline that keeps this limit is selected.

        Returns
        -------
        pipeline : Pipeline
            The pipeline, fitted on all rows.

        Raises
        ------
        InfeasibleError
            If no pipeline keeps the limit.
        """
        check_is_fitted(self)
        if not self._front:
            raise ValueError(
                "'select' needs the fitted pipelines of a Pareto front. Fit with a strategy for "
                "several objectives, such as strategy='fang_hpo', at least one constraint, and "
                "refit=True."
            )
        row = self._row_within(which) if isinstance(which, Constraint) else which
        n_rows = len(self._front_numbers)
        if not (isinstance(row, Integral) and 0 <= row < n_rows):
            raise ValueError(
                "The 'which' parameter of select must be a constraint or a row of pareto_front_, "
                f"0 to {n_rows - 1}. Got {which!r} instead."
            )
        if self._front_numbers[row] not in self._front:
            raise ValueError(
                f"Row {row} of pareto_front_ could not be fitted within the time limit; rows "
                f"{self._fitted_rows()} were. Give a longer time_limit."
            )
        model = self._front[self._front_numbers[row]].model
        assert model is not None
        return model.pipelines[0]

    def _row_within(self, constraint: Constraint) -> int:
        """First fitted row of the front, which is sorted by loss, that keeps a limit."""
        key = constraint.key
        if key not in self._constraint_keys:
            raise ValueError(
                "The 'which' parameter of select must be one of the constraints of fit, "
                f"{self._constraint_keys}. Got {key!r} instead."
            )
        rows = self._fitted_rows()
        values = [self._front[self._front_numbers[row]].check[key].value for row in rows]
        for row, value in zip(rows, values, strict=True):
            if value <= constraint.limit:
                return row
        raise InfeasibleError(
            f"No pipeline of the front keeps {key!r} within "
            f"{constraint.reported(constraint.limit):.4g}; the nearest has "
            f"{constraint.reported(min(values)):.4g}."
        )

    def _fitted_rows(self) -> list[int]:
        return [row for row, n in enumerate(self._front_numbers) if n in self._front]

    def _read(self, X: Any, y: ArrayLike, metadata: Mapping[str, Any]) -> ReadTable:
        """Read the table; refuse groups that ``predict`` could not read."""
        if self.decision == "group_thresholds" and metadata.get("sensitive_features") is not None:
            raise ValueError(
                "With decision='group_thresholds', predict reads the groups from columns of X. "
                "Got 'sensitive_features' in fit; make them columns of X instead. "
                "column_kinds={name: 'drop'} hides a column from the pipelines."
            )
        return super()._read(X, y, metadata)

    def _constraints(self, classes: NDArray[Any]) -> list[Constraint]:
        keys = set()
        for constraint in self.constraints:
            if not isinstance(constraint, Constraint):
                hint = "wrap a function as CallableConstraint(function, upper)"
                if isinstance(constraint, type):
                    hint = f"write {constraint.__name__}(...) to make an object of the class"
                raise TypeError(
                    "The 'constraints' parameter must hold constraints, such as those of "
                    f"skauto.constraints. Got {constraint!r} instead; {hint}."
                )
            constraint.check(classes)
            if constraint.key in keys:
                raise ValueError(
                    "The 'constraints' parameter must hold constraints with different keys, "
                    f"which name them in the results. Got {constraint.key!r} twice; leave one out."
                )
            keys.add(constraint.key)
        return list(self.constraints)

    def _make_strategy(self, decisions: DecisionChooser) -> Strategy:
        if self.strategy != "auto":
            return get_strategy(self.strategy, also=("auto",))
        return get_strategy("admm" if decisions.search_checker.limits else "alternating_bo")

    def _set_model(self, builder: EnsembleBuilder, model: BuiltEnsemble, history: History) -> None:
        self.feasible_ = bool(model.weights) and model.check.passes
        if not self.feasible_ and history.goal.limits:
            text = infeasibility_message(model, history)
            if self.on_infeasible == "raise":
                raise InfeasibleError(text)
            if model.weights:
                text += " The model that violates the limits least is used."
            warnings.warn(text, InfeasibleWarning, stacklevel=level_of_caller())
        for key, error in builder.checker.errors.items():
            warnings.warn(
                f"The constraint {key!r} could not be measured on some ensembles, which were "
                f"refused. The first error was {error}",
                TrialFailedWarning,
                stacklevel=level_of_caller(),
            )
        self._warn_of_uncertain_limits(model)
        super()._set_model(builder, model, history)
        keys = [constraint.key for constraint in self.constraints]
        front = [trial.number for trial in pareto_trials(history, keys)]
        self._front = dict(model.front)
        best = model.best_number
        if len(history.goal.objectives) > 1 and best is not None:
            if best not in front:  # no pipeline of the front keeps all limits
                front.append(best)
                self._front[best] = CheckedEnsemble({best: 1.0}, model.best, model.best_check)
            self.selected_ = front.index(best)
        self._front_numbers = front
        self._constraint_keys = keys
        self._constraint_rows = [
            *_constraint_rows("best", model.best_check),
            *_constraint_rows("ensemble", model.check),
        ]

    def _warn_of_uncertain_limits(self, model: BuiltEnsemble) -> None:
        """Warn if a limit is kept on the rows of ``fit`` and perhaps not on new rows."""
        uncertain = [
            f"{m.constraint.key!r}: {m.constraint.reported(m.value):.4g}, limit "
            f"{m.constraint.reported(m.constraint.limit):.4g}, bound "
            f"{m.constraint.reported(m.upper):.4g}"
            for m in model.check.measurements
            if m.met and m.upper > m.constraint.limit
        ]
        if uncertain:
            warnings.warn(
                "Limits are kept on the out-of-fold predictions, but the 95% bound for new rows "
                f"is beyond them: {'; '.join(uncertain)}. More rows, above all of small groups, "
                "make the bound narrower. safety_margin='95%' keeps the bound within the limits.",
                UncertainLimitWarning,
                stacklevel=level_of_caller(),
            )


def _constraint_rows(name: str, check: CheckResult) -> list[dict[str, Any]]:
    return [
        {
            "model": name,
            "constraint": measured.constraint.key,
            "limit": measured.constraint.reported(measured.constraint.limit),
            "value": measured.constraint.reported(measured.estimate),
            "error": measured.error,
            "fitted": measured.constraint.reported(measured.fitted),
            "bound": measured.constraint.reported(measured.value),
            "met": measured.met,
            "upper": measured.constraint.reported(measured.upper),
        }
        for measured in check.measurements
    ]

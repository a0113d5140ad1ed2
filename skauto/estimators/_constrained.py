"""ConstrainedAutoClassifier: the best model among those that a deployment allows."""

import warnings
from numbers import Integral, Real

from sklearn.utils.validation import check_is_fitted

from skauto.constraints import Constraint, Gate, Margin
from skauto.data import METADATA
from skauto.estimators._base import BaseAutoClassifier
from skauto.estimators._pareto import FrontBuilder, pareto_trials
from skauto.estimators._refusal import describe_refusal
from skauto.exceptions import InfeasibleError, InfeasibleWarning, TrialFailedWarning
from skauto.utils import Interval, StrOptions


class ConstrainedAutoClassifier(BaseAutoClassifier):
    """Classifier that searches pipelines and ensembles within constraints.

    The score is maximised subject to limits on whatever is measured at the same evaluation:
    seconds a row, bytes, error rates, differences between groups, any score or callable. A member
    enters the ensemble only if the whole ensemble keeps every limit, and the fitted ensemble is
    measured again.

    With a strategy for several objectives, the values of all constraints are minimised besides the
    loss. The search is for the whole Pareto front then, and each of its pipelines is fitted.
    ``predict`` delegates to the most accurate one that keeps the limits or, where no constraint
    states a limit, to the knee of the front: the pipeline nearest to the best value of every
    objective, each on a scale from 0 to 1 over the front.

    Parameters
    ----------
    constraints : list of Constraint, default=()
        See `skauto.constraints`.
    strategy : str or Strategy, default="admm"
        How to search. "admm" knows the limits (Algorithm 2 of [1]_). "fang_hpo" [2]_ and "parego"
        look for the Pareto front of the loss and the constraints. Any other strategy searches for
        the score alone and the limits choose among what it tried.
    on_infeasible : {"warn", "raise"}, default="warn"
        What to do when no trial keeps all limits: warn and predict with the one that violates
        them least, or raise an error.
    safety_margin : float or str, default=0.0
        How cautious a measured value is before it is held against its limit. A number of standard
        errors: ``mean + safety_margin * std / sqrt(n_folds)`` over the folds. Or a confidence such
        as ``"95%"``: the upper end of a one-sided confidence interval for the value on new rows.
        Seconds and bytes of the fitted model are measured without a margin.
    scoring : str, callable, list, tuple, dict or None, default=None
        See `AutoClassifier`, here and for all the following.
    time_limit : float, default=None
        Seconds of wall clock for the whole of ``fit``.
    max_evals : int, default=None
        Number of trials.
    cv : None, int, float, splitter or iterable, default=None
        How a trial is validated.
    space : str or SearchSpace, default="default"
        What may be tried.
    initial : {"portfolio", "defaults", "metalearning"}, list of Configuration or None, \
            default="portfolio"
        What is tried first.
    ensemble_size : int, default=25
        Number of votes in the ensemble; not used by strategies for several objectives.
    decision : {"auto", "argmax"}, default="auto"
        How the vote of the ensemble is read.
    column_kinds : dict or array-like, default=None
        What columns hold, where it differs from what the reader finds.
    options : SearchOptions, default=None
        Settings that are rarely changed.
    n_jobs : int, default=None
        Number of worker processes.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Attributes
    ----------
    feasible_ : bool
        Whether the ensemble keeps every limit: seconds and bytes as measured on the fitted
        ensemble, everything else by the out-of-fold predictions of its members. False only if no
        ensemble and no single trial that was fitted in time does.
    constraint_values_ : pandas.DataFrame
        One row for each model ("best", "ensemble") and constraint, with the columns "limit";
        "value", the mean over the folds, and "error", its standard error; "fitted", the value of
        the model that is fitted on all rows, for seconds and bytes; "bound", what is held against
        the limit; and "met". The fold models of seconds and bytes were trained on fewer rows.
    pareto_front_ : pandas.DataFrame
        Trials that no other one beats in the loss and every constraint at once, in the order of
        their loss.
    selected_ : int
        Row of ``pareto_front_`` that ``predict`` delegates to; only with a strategy for several
        objectives.
    ensemble_ : PipelineEnsemble
        What ``predict`` delegates to.
    best_estimator_ : Pipeline
        The best single pipeline within the limits, fitted on all rows. With a strategy for several
        objectives it is that of row ``selected_``.
    history_ : History
        All trials, with their constraint values.
    reader_ : TableReader
        How the table is read; ``table_report()`` tells what each column holds.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where ``X`` has them.

    See Also
    --------
    AutoClassifier : Without constraints; its other attributes are here too.

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
    ...     [ModelSize(100_000), FalseNegativeRate(0.1)], max_evals=8, random_state=0
    ... ).fit(X, y)
    >>> clf.feasible_
    True

    The whole trade between accuracy and size:

    >>> clf = ConstrainedAutoClassifier(
    ...     [ModelSize()], "parego", max_evals=8, random_state=0
    ... ).fit(X, y)
    >>> front = clf.pareto_front_[["loss", "model_size"]]
    >>> smallest = clf.select(len(front) - 1)
    """

    _metadata = METADATA
    __metadata_request__fit = dict.fromkeys(METADATA)

    _parameter_constraints = {
        **BaseAutoClassifier._parameter_constraints,
        "constraints": [list, tuple],
        "on_infeasible": [StrOptions({"warn", "raise"})],
        "safety_margin": [Interval(Real, 0, None, closed="left"), str],
    }

    def __init__(
        self,
        constraints=(),
        strategy="admm",
        *,
        on_infeasible="warn",
        safety_margin=0.0,
        scoring=None,
        time_limit=None,
        max_evals=None,
        cv=None,
        space="default",
        initial="portfolio",
        ensemble_size=25,
        decision="auto",
        column_kinds=None,
        options=None,
        n_jobs=None,
        random_state=None,
    ):
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
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.constraints = constraints
        self.on_infeasible = on_infeasible
        self.safety_margin = safety_margin

    @property
    def constraint_values_(self):
        """Limits and what was measured, as a table (needs pandas)."""
        import pandas as pd

        check_is_fitted(self)
        return pd.DataFrame(self._constraint_rows)

    @property
    def pareto_front_(self):
        """Trials that no other one beats in the loss and every constraint (needs pandas)."""
        check_is_fitted(self)
        return self.history_.to_frame().iloc[self._front_numbers].reset_index(drop=True)

    @property
    def best_trial_(self):
        """Best trial of the search; the selected one of the front with several objectives."""
        if hasattr(self, "selected_"):
            return self.history_[self._front_numbers[self.selected_]]
        return super().best_trial_

    def select(self, which):
        """Take a pipeline out of the Pareto front of a strategy for several objectives.

        Parameters
        ----------
        which : int or Constraint
            A row of ``pareto_front_``, or one of the constraints with any limit: the most accurate
            pipeline of the front that keeps the limit.

        Returns
        -------
        pipeline : Pipeline
            Fitted on all rows at the end of ``fit``.

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
        return self._front[self._front_numbers[row]]

    def _row_within(self, constraint):
        """First fitted row of the front, and so the most accurate, that keeps a limit."""
        key = constraint.key
        if key not in self._constraint_keys:
            raise ValueError(
                "The 'which' parameter of select must be one of the constraints of fit, "
                f"{self._constraint_keys}. Got {key!r} instead."
            )
        rows = self._fitted_rows()
        values = [self._front_verdicts[self._front_numbers[row]][key].value for row in rows]
        for row, value in zip(rows, values, strict=True):
            if value <= constraint.limit:
                return row
        raise InfeasibleError(
            f"No pipeline of the front keeps {key!r} within "
            f"{constraint.reported(constraint.limit):.4g}; the nearest has "
            f"{constraint.reported(min(values)):.4g}."
        )

    def _fitted_rows(self):
        return [row for row, n in enumerate(self._front_numbers) if n in self._front]

    def _constraints(self, classes):
        """The constraints, each checked against the classes."""
        keys = set()
        for constraint in self.constraints:
            if not isinstance(constraint, Constraint):
                raise TypeError(
                    "The 'constraints' parameter must hold constraints, such as those of "
                    f"skauto.constraints. Got {constraint!r} instead; wrap a function as "
                    "CallableConstraint(function, upper)."
                )
            constraint.check(classes)
            if constraint.key in keys:
                raise ValueError(
                    f"The 'constraints' parameter must hold each constraint once. Got "
                    f"{constraint.key!r} twice."
                )
            keys.add(constraint.key)
        return list(self.constraints)

    def _minimized(self, strategy, constraints):
        return [c.key for c in constraints] if strategy.multi_objective else []

    def _builder(self, strategy):
        multi_objective = strategy.multi_objective and self.constraints
        return FrontBuilder if multi_objective else super()._builder(strategy)

    def _gate(self, constraints, data):
        margin = Margin.of(self.safety_margin)
        return Gate(constraints, data, margin=margin, refit=self._options().refit)

    def _set_model(self, builder, model, history):
        self.feasible_ = bool(model.weights) and model.verdict.passes
        if not self.feasible_ and history.limits:
            self._report_infeasible(model, history)
        for key, error in builder.gate.errors.items():
            warnings.warn(
                f"The constraint {key!r} could not be measured on some ensembles, which were "
                f"refused. The first error was {error}",
                TrialFailedWarning,
                stacklevel=5,
            )
        super()._set_model(builder, model, history)
        keys = [constraint.key for constraint in self.constraints]
        front = [trial.number for trial in pareto_trials(history, keys)]
        self._front_verdicts = {n: candidate.verdict for n, candidate in model.front.items()}
        self._front = {n: candidate.model for n, candidate in model.front.items()}
        if len(history.objectives) > 1 and model.weights:
            if model.best_number not in front:  # the only one that keeps the limits when refitted
                front.append(model.best_number)
                self._front_verdicts[model.best_number] = model.best_verdict
                self._front[model.best_number] = model.best
            self.selected_ = front.index(model.best_number)
        self._front_numbers = front
        self._constraint_keys = keys
        self._constraint_rows = [
            *_constraint_rows("best", model.best_verdict),
            *_constraint_rows("ensemble", model.verdict),
        ]

    def _report_infeasible(self, model, history):
        """Say which limit was missed, and how near the search came."""
        text = describe_refusal(model, history)
        if self.on_infeasible == "raise":
            raise InfeasibleError(text)
        if model.weights:
            text += " The model that violates the limits least is used."
        warnings.warn(text, InfeasibleWarning, stacklevel=6)


def _constraint_rows(name, verdict):
    """One row for each constraint: its limit, its values by fold and on the fitted model."""
    return [
        {
            "model": name,
            "constraint": measured.constraint.key,
            "limit": measured.constraint.reported(measured.constraint.limit),
            "value": measured.constraint.reported(measured.mean),
            "error": measured.error,
            "fitted": measured.constraint.reported(measured.fitted),
            "bound": measured.constraint.reported(measured.value),
            "met": measured.met,
        }
        for measured in verdict.measurements
    ]

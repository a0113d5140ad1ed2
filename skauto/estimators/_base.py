"""Base class of the estimators: ``fit`` reads the data, searches, selects and refits."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from skauto import export
from skauto.data import TableReader
from skauto.data._reader import kinds_as_dict
from skauto.data._table import as_table, names_or_numbers
from skauto.data._training import ReadTable, plain_labels, read_training_data
from skauto.display._predictions import name_of_classes
from skauto.display._progress import start_progress
from skauto.ensemble._build import EnsembleBuilder
from skauto.ensemble._cross_fit import shown_predictions
from skauto.ensemble._model import BuiltEnsemble
from skauto.estimators._doubts import check_target
from skauto.estimators._failures import report_failed_refits, report_failures
from skauto.estimators._keywords import ADVICE, FIT_ADVICE
from skauto.estimators._observer import Observer
from skauto.estimators._operating_point import OperatingPointMixin
from skauto.estimators._options import SearchOptions
from skauto.estimators._plan import Plan, PlanMixin
from skauto.estimators._resume import LastSearch
from skauto.estimators._scores import score_of_ensemble
from skauto.estimators._stopping import stopping_rule
from skauto.exceptions import BudgetWarning
from skauto.history import History
from skauto.schedule import limits_of_texts
from skauto.selection._scores import scorer_takes_weights
from skauto.space import Configuration, SearchSpace
from skauto.strategies import Strategy, get_strategy
from skauto.utils import (
    Budget,
    FloatArray,
    Interval,
    StrOptions,
    explain_keywords,
    fit_context,
    warn,
)

# Trials without gain that end a search without columns, which all give the class frequencies.
PATIENCE_WITHOUT_COLUMNS = 5


class BaseAutoClassifier(
    PlanMixin, OperatingPointMixin, CallbackSupportMixin, ClassifierMixin, BaseEstimator
):
    """Base class of the estimators; a subclass can add constraints and objectives.

    Warning: This class should not be used directly. Use its subclasses.
    """

    _last_search: LastSearch | None = None
    _parameter_constraints: dict[str, Any] = {
        "strategy": [str, Strategy],
        "scoring": [str, callable, list, tuple, dict, None],
        "time_limit": [Interval(Real, 0, None, closed="neither"), None],
        "max_evals": [Interval(Integral, 1, None, closed="left"), None],
        "cv": "no_validation",
        "space": [str, SearchSpace],
        "initial": [StrOptions({"portfolio", "defaults", "metalearning"}), "array-like", None],
        "ensemble_size": [Interval(Integral, 1, None, closed="left")],
        "decision": [StrOptions({"auto", "argmax"})],
        "column_kinds": [dict, "array-like", None],
        "options": [SearchOptions, Mapping, None],
        "verbose": ["verbose", None],
        "n_jobs": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Integral, None, -1, closed="right"),
            None,
        ],
        "random_state": ["random_state"],
    }

    @explain_keywords(ADVICE)
    def __init__(
        self,
        strategy: str | Strategy = "alternating_bo",
        *,
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
        self.strategy = strategy
        self.scoring = scoring
        self.time_limit = time_limit
        self.max_evals = max_evals
        self.cv = cv
        self.space = space
        self.initial = initial
        self.ensemble_size = ensemble_size
        self.decision = decision
        self.options = options
        self.column_kinds = column_kinds
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also nested ones of ``options`` and ``strategy``.

        Parameters
        ----------
        **params : dict
            Values by name, such as ``time_limit=60`` or ``options__patience=20``. A dict of
            options or the name of a strategy becomes an object first.

        Returns
        -------
        self : object
            The estimator.
        """
        nested = {name for name in params if "__" in name}
        super().set_params(**{name: params[name] for name in params.keys() - nested})
        owners = {name.partition("__")[0] for name in nested}
        if "options" in owners:
            self.options = self._options()
        if "strategy" in owners and isinstance(self.strategy, str):
            self.strategy = get_strategy(self.strategy)
        return super().set_params(**{name: params[name] for name in nested})

    @explain_keywords(FIT_ADVICE)
    @with_callbacks  # type: ignore[untyped-decorator]
    @fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: str | ArrayLike | None = None,
    ) -> Self:
        """Search pipelines, select an ensemble of them and refit it.

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

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._fit(X, y, {"sample_weight": sample_weight, "groups": groups})

    def _fit(self, X: Any, y: ArrayLike, metadata: Mapping[str, Any]) -> Self:
        budget = Budget(self.time_limit)  # starts the clock
        options = self._options()
        options.check()
        last = self._last_search if options.warm_start else None
        table = self._read(X, y, metadata)
        budget.end_phase("reading")
        with contextlib.ExitStack() as stack:
            plan = self._plan(table, options, last, budget, stack)
            history, builder = plan.history, plan.builder
            self._replace_last_fit(last, plan)
            self._target = name_of_classes(y)
            engine = stack.enter_context(self._engine(plan.evaluator, options))
            with start_progress(
                self, history, lambda: self._score_so_far(builder, history)
            ) as line:
                patience = options.patience if table.has_columns else PATIENCE_WITHOUT_COLUMNS
                stop = stopping_rule(patience, history, builder)
                observer = Observer(self, history, stop, line)
                search = plan.search(engine, budget, observer)
                budget.end_phase("preparation")
                self.interrupted_ = search.run(plan.rng)
                self.converged_ = observer.converged
                budget.end_phase("search")
                if line is not None:
                    line.end_of_search(self.interrupted_, self.converged_)
                report_failures(history, options.trial_time_limit)
                model = builder.build(history, engine, budget)
                self._set_model(builder, model, history)
                if plan.cache is not None:
                    self.cache_ = plan.cache.report()
                stack.close()
                budget.end_phase("ensemble")
                self.search_time_ = budget.elapsed
                self.history_ = history
                self._record_scores(builder.data, model.best_out_of_fold)
                budget.end_phase("scores")
                if line is not None:
                    line.of_ensemble = self.ensemble_score_
        self.strategy_ = plan.strategy
        self.seconds_ = budget.phases
        keep = range(len(history)) if options.warm_start else list(self.member_weights_)
        self.history_ = history.without_data(keep)
        if options.warm_start:
            self._last_search = LastSearch(
                self.history_, plan.seed, plan.evaluator.data.splits, plan.facts
            )
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Class probabilities of the ensemble, calibrated.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The table, with the columns of ``fit``.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``; rows sum to 1.
        """
        check_is_fitted(self)
        return self.ensemble_.predict_proba(X)

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Logarithms of the class probabilities.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The table, with the columns of ``fit``.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Class with the largest log probability plus offset, for each row.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The table, with the columns of ``fit``.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Labels.
        """
        check_is_fitted(self)
        return self.ensemble_.predict(X)

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Score of the ensemble by the scorer that the search maximized.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The table, with the columns of ``fit``.
        y : array-like of shape (n_samples,)
            True classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; scorers whose metric does not take them ignore them.

        Returns
        -------
        score : float
            Greater is better.
        """
        check_is_fitted(self)
        weighted = sample_weight is not None and scorer_takes_weights(self.scorer_)
        weights = {"sample_weight": sample_weight} if weighted else {}
        return float(self.scorer_(self.ensemble_, X, plain_labels(y), **weights))

    # Functions of a fitted estimator, as methods.
    compress = export.compress
    export_code = export.export_code

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "ensemble_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(TableReader()).input_tags
        return tags

    # --- the parts of fit, in the order of their use

    def _read(self, X: Any, y: ArrayLike, metadata: Mapping[str, Any]) -> ReadTable:
        # Steps pass arrays, also under set_config(transform_output="pandas").
        kinds = self.column_kinds
        groups = metadata.get("groups")
        if isinstance(groups, str):
            kinds = kinds_as_dict(kinds, len(names_or_numbers(as_table(X))))
            kinds = {groups: "drop", **kinds}  # new rows have other groups
        random_folds = groups is None and (self.cv is None or isinstance(self.cv, Real))
        limits = limits_of_texts(self.time_limit)
        reader = TableReader(kinds, *limits, text_scores=random_folds)
        reader.set_output(transform="default")
        table = read_training_data(X, y, metadata, reader)
        check_target(table, name_of_classes(y))
        return table

    def _replace_last_fit(self, last: LastSearch | None, plan: Plan) -> None:
        """Delete the fitted attributes and set those that are known before the search.

        Bad input was refused before: then the last model is kept.
        """
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        table, worker = plan.table, plan.evaluator.worker
        self._last_search = last
        self.reader_ = table.reader
        self.n_features_in_ = table.reader.n_features_in_
        if hasattr(table.reader, "feature_names_in_"):
            self.feature_names_in_ = table.reader.feature_names_in_
        self.classes_ = table.classes
        self.n_splits_ = len(worker.data.splits)
        self._kept_rows = table.kept
        self._row_hashes = table.hashes
        self.scorer_ = next(iter(worker.scorers.values()))
        if plan.neighbors is not None:
            self.neighbors_ = plan.neighbors

    def _score_so_far(self, builder: EnsembleBuilder, history: History) -> float:
        """Score of the ensemble of the trials so far, with the most probable class as label."""
        weights = builder.select(history, checker=builder.decisions.search_checker)
        if not weights:
            return math.nan
        predictions = shown_predictions(builder.selector, history, weights, self.ensemble_size)
        return score_of_ensemble(self.scorer_, predictions, builder.data)

    def _set_model(self, builder: EnsembleBuilder, model: BuiltEnsemble, history: History) -> None:
        if model.fallback and not model.refit_errors:
            finished = any(trial.ok for trial in history)
            done = "no pipeline was refitted" if finished else "no trial was finished"
            cause, advice = f"The budget was too short: {done} in time", "give a longer time_limit"
            if self.interrupted_ and not finished:
                cause, advice = f"The search was interrupted: {done}", "fit again"
            warn(f"{cause}. A small decision tree predicts; {advice}.", BudgetWarning)
        report_failed_refits(model.refit_errors, fallback=model.fallback)
        self._refit_errors = model.refit_errors
        self.ensemble_ = model.ensemble
        self.member_weights_ = model.weights
        self._out_of_fold = model.out_of_fold
        self._out_of_fold_labels = model.labels
        self._before = self._point = None  # of an operating point
        if model.best is not None:
            self.best_estimator_ = model.best.pipelines[0]

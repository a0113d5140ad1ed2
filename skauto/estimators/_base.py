"""Base class of the estimators: ``fit`` reads the data, searches, selects and refits."""

from __future__ import annotations

import contextlib
import math
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, Self

import joblib
import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from skauto import export
from skauto._search import Search
from skauto.constraints import Constraint
from skauto.constraints._checker import ConstraintChecker
from skauto.constraints._smaller import SmallerVariants
from skauto.data import TableReader, TrainingData, make_splits
from skauto.data._dependence import warn_of_dependent_rows
from skauto.data._reader import kinds_as_dict
from skauto.data._splits import Split
from skauto.data._table import as_table, column_names, column_of, names_or_numbers
from skauto.data._training import ReadTable, plain_labels, read_training_data
from skauto.display._predictions import name_of_classes
from skauto.display._progress import start_progress
from skauto.engines import Engine, make_engine
from skauto.ensemble._build import EnsembleBuilder
from skauto.ensemble._cross_fit import shown_predictions
from skauto.ensemble._decide import DecisionChooser
from skauto.ensemble._model import BuiltEnsemble
from skauto.estimators._failures import report_failed_refits, report_failures
from skauto.estimators._initial import initial_configurations, similar_configurations
from skauto.estimators._keywords import ADVICE, FIT_ADVICE
from skauto.estimators._observer import Observer
from skauto.estimators._operating_point import OperatingPointMixin
from skauto.estimators._options import SearchOptions
from skauto.estimators._pareto import FrontBuilder
from skauto.estimators._resume import (
    LastSearch,
    checkpoint_facts,
    longer_history,
    resumed_history,
    warm_start_facts,
)
from skauto.estimators._scores import ScoreMixin, score_of_ensemble
from skauto.estimators._scoring import check_scorers, named_scorers, primary_scoring
from skauto.evaluation import (
    PipelineBuilder,
    PipelineEvaluator,
    PipelineWorker,
    PrefixCache,
)
from skauto.evaluation._cache import cache_report
from skauto.exceptions import BudgetWarning
from skauto.history import Checkpoint, Goal, History
from skauto.metalearning import FitTimeModel
from skauto.metalearning._fit_times import load_fit_time_model
from skauto.model._groups import group_codes, group_names
from skauto.schedule import TaskSchedule, affordable_folds
from skauto.selection._scores import scorer_takes_weights
from skauto.space import Configuration, SearchSpace
from skauto.space.catalog import get_space
from skauto.strategies import Strategy, get_strategy
from skauto.utils import (
    Budget,
    FloatArray,
    Interval,
    StrOptions,
    explain_keywords,
    fit_context,
    level_of_caller,
    row_hashes,
    scorer_function,
)

# Trials without gain that end a search without columns, which all give the class frequencies.
PATIENCE_WITHOUT_COLUMNS = 5
# Number of trials if neither max_evals nor time_limit is set.
DEFAULT_MAX_EVALS = 50
# Size of the cache if SearchOptions.cache is a directory.
DEFAULT_CACHE_BYTES = 2**30


class BaseAutoClassifier(
    OperatingPointMixin, ScoreMixin, CallbackSupportMixin, ClassifierMixin, BaseEstimator
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
        budget = Budget(self._max_evals(), self.time_limit)  # starts the clock
        options = self._options()
        options.check()
        last = self._last_search if options.warm_start else None
        table = self._read(X, y, metadata)
        budget.end_phase("reading")
        with contextlib.ExitStack() as shown, contextlib.ExitStack() as stack:
            checkpoint = None
            if options.checkpoint is not None:
                checkpoint = stack.enter_context(Checkpoint(options.checkpoint))
            seed = self._seed(checkpoint, last)
            rng = np.random.default_rng(seed)
            scorers = named_scorers(self.scoring, table.facts.n_classes)
            space = self._space(table.classes).for_data(table.facts)
            facts = {}
            if options.warm_start:
                facts = warm_start_facts(self.cv, self.scoring, table, space)
            if last is not None:
                last.check(facts)
            time_model = None if self.time_limit is None else load_fit_time_model()
            fold_seed, search_seed = (int(seed) for seed in rng.integers(2**31, size=2))
            initial, neighbors = self._initial(space, table, rng, time_model)
            splits = last.splits if last else self._folds(table, initial, time_model, fold_seed)
            cache = None
            if options.cache is not None:
                cache = stack.enter_context(self._prefix_cache(table, options.cache))
            evaluator = self._evaluator(
                table, splits, scorers, space, search_seed, cache, time_model, budget
            )
            decisions = DecisionChooser(evaluator.data, evaluator.checker, self.decision, budget)
            strategy = self._make_strategy(decisions)
            builder = self._model_builder(strategy, evaluator, options, decisions)
            goal = self._goal(strategy, evaluator, builder, budget)
            if checkpoint is not None:
                about = checkpoint_facts(seed, self.scoring, table, splits, goal)
                history = resumed_history(checkpoint, about, space, goal, budget)
            elif last is not None:
                history = longer_history(last, goal, budget)
            else:
                history = History(goal)
            self._replace_last_fit(last, table, splits, scorers, neighbors)
            self._target = name_of_classes(y)
            engine = stack.enter_context(self._engine(evaluator, options))
            line = shown.enter_context(
                start_progress(self, history, lambda: self._score_so_far(builder, history))
            )
            patience = options.patience if table.has_columns else PATIENCE_WITHOUT_COLUMNS
            observer = Observer(self, history, budget.max_evals, patience, line)
            known = {trial.configuration for trial in history}
            search = Search(
                strategy,
                space,
                evaluator,
                engine,
                history,
                budget,
                initial=[c for c in initial if c not in known],
                variant=SmallerVariants(space, evaluator.constraints),
                reserve=lambda trials: builder.reserve(trials, engine.n_workers, budget),
                record=None if checkpoint is None else checkpoint.append,
                on_start=observer.begin,
                on_trial=observer.end,
            )
            budget.end_phase("preparation")
            self.interrupted_ = search.run(rng)
            budget.end_phase("search")
            if self.interrupted_ and line is not None:
                line.interrupt()
            report_failures(history, options.trial_time_limit)
            model = builder.build(history, engine, budget)
            self._set_model(builder, model, history)
            stack.close()
            if cache is not None:
                self.cache_ = cache_report(evaluator.aggregator.reuses)
            self.strategy_ = strategy
            budget.end_phase("ensemble")
            self.search_time_ = budget.elapsed
            self.history_ = history
            self._record_scores(evaluator.data, model.best_out_of_fold)
            budget.end_phase("scores")
            if line is not None:
                line.of_ensemble = self.ensemble_score_
        self.seconds_ = budget.phases
        keep = range(len(history)) if options.warm_start else list(self.member_weights_)
        self.history_ = history.without_data(keep)
        if options.warm_start:
            self._last_search = LastSearch(self.history_, seed, splits, facts)
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Class probabilities of the ensemble, after temperature scaling.

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
        return float(self.scorer_(self, X, plain_labels(y), **weights))

    # Functions of a fitted estimator, as methods.
    compress = export.compress
    export_code = export.export_code

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "ensemble_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        return tags

    # --- the parts of fit, in the order of their use

    def _max_evals(self) -> int | None:
        if self.max_evals is None and self.time_limit is None:
            return DEFAULT_MAX_EVALS
        return self.max_evals

    def _options(self) -> SearchOptions:
        if isinstance(self.options, SearchOptions):
            return self.options
        return SearchOptions(**(self.options or {}))

    def _read(self, X: Any, y: ArrayLike, metadata: Mapping[str, Any]) -> ReadTable:
        # Steps pass arrays, also under set_config(transform_output="pandas").
        kinds = self.column_kinds
        groups = metadata.get("groups")
        if isinstance(groups, str):
            kinds = kinds_as_dict(kinds, len(names_or_numbers(as_table(X))))
            kinds = {groups: "drop", **kinds}  # new rows have other groups
        reader = TableReader(kinds, self.time_limit).set_output(transform="default")
        table = read_training_data(X, y, metadata, reader)
        _check_that_columns_are_not(y, X, table.reader)
        return table

    def _replace_last_fit(
        self,
        last: LastSearch | None,
        table: ReadTable,
        splits: list[Split],
        scorers: Mapping[str, Any],
        neighbors: list[str] | None,
    ) -> None:
        """Delete the fitted attributes and set those that are known before the search.

        Bad input was refused before: then the last model is kept.
        """
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        self._last_search = last
        self.reader_ = table.reader
        self.n_features_in_ = table.reader.n_features_in_
        if hasattr(table.reader, "feature_names_in_"):
            self.feature_names_in_ = table.reader.feature_names_in_
        self.classes_ = table.classes
        self.n_splits_ = len(splits)
        self._kept_rows = table.kept
        self._row_hashes = row_hashes(table.Z)
        self.scorer_ = next(iter(scorers.values()))
        if neighbors is not None:
            self.neighbors_ = neighbors

    def _space(self, classes: NDArray[Any]) -> SearchSpace:
        if isinstance(self.space, SearchSpace):
            return self.space
        constraints = self._constraints(classes)
        reweighable = [c for c in constraints if c.reweighable]
        sensitive = dict.fromkeys(name for c in reweighable for name in c.sensitive_names)
        vary_size = any(constraint.grows for constraint in constraints)
        return get_space(self.space, tuple(sensitive), vary_size=vary_size)

    def _constraints(self, classes: NDArray[Any]) -> list[Constraint]:
        """Constraints of the model; a subclass has some."""
        return []

    def _checker(self, constraints: list[Constraint], data: TrainingData) -> ConstraintChecker:
        """ConstraintChecker that decides whether a fitted ensemble may be deployed."""
        return ConstraintChecker(constraints, data, refit=self._options().refit)

    def _make_strategy(self, decisions: DecisionChooser) -> Strategy:
        return get_strategy(self.strategy)

    def _initial(
        self,
        space: SearchSpace,
        table: ReadTable,
        rng: np.random.Generator,
        time_model: FitTimeModel | None,
    ) -> tuple[list[Configuration], list[str] | None]:
        """Configurations that are tried before the strategy is asked, and similar data sets."""
        if isinstance(self.initial, str) and self.initial == "metalearning":
            return similar_configurations(space, table, rng)
        # Thresholds keep differences between groups at less loss than weights do.
        weigh_groups = self.decision == "argmax" or table.facts.n_classes > 2
        configurations = initial_configurations(
            self.initial,
            space,
            table.facts,
            time_model,
            processor_seconds=self._processor_seconds(),
            weigh_groups=weigh_groups,
        )
        return configurations, None

    def _processor_seconds(self) -> float:
        """Seconds of the whole search, over all workers."""
        limit = math.inf if self.time_limit is None else self.time_limit
        return limit * joblib.effective_n_jobs(self.n_jobs)

    def _folds(
        self,
        table: ReadTable,
        initial: list[Configuration],
        time_model: FitTimeModel | None,
        seed: int,
    ) -> list[Split]:
        """Folds of ``cv``, whose default depends on the predicted seconds under a time limit."""
        cv = self.cv
        if table.groups is None and (cv is None or isinstance(cv, Real)):
            warn_of_dependent_rows(table)
        if cv is None and time_model is not None:
            seconds = [time_model.seconds(configuration, table.facts) for configuration in initial]
            cv = affordable_folds(len(table.y), seconds, self._processor_seconds())
        return make_splits(cv, table.X, table.y, table.groups, kept=table.kept, seed=seed)

    def _seed(self, checkpoint: Checkpoint | None, last: LastSearch | None) -> int:
        """Seed of the search; that of a warm start; by default that of the checkpoint."""
        if last is not None:
            return last.seed
        header = None if checkpoint is None else checkpoint.header()
        if header is not None and self.random_state is None:
            return int(header["seed"])
        return int(check_random_state(self.random_state).randint(2**31))

    def _model_builder(
        self,
        strategy: Strategy,
        evaluator: PipelineEvaluator,
        options: SearchOptions,
        decisions: DecisionChooser,
    ) -> EnsembleBuilder:
        multi_objective = strategy.multi_objective and evaluator.constraints
        return (FrontBuilder if multi_objective else EnsembleBuilder)(
            evaluator,
            evaluator.data.reader,
            n_members=self.ensemble_size,
            decisions=decisions,
            refit=options.refit,
            pool=options.pool,
            scoring=primary_scoring(self.scoring, evaluator.data.n_classes),
        )

    def _goal(
        self,
        strategy: Strategy,
        evaluator: PipelineEvaluator,
        builder: EnsembleBuilder,
        budget: Budget,
    ) -> Goal:
        minimized = evaluator.constraints if strategy.multi_objective else []
        return Goal(
            ("loss", *(constraint.key for constraint in minimized)),
            limits=builder.checker.limits,
            search_limits=builder.decisions.search_checker.limits,
            max_evals=budget.max_evals,
            time_limit=budget.time_limit,
            targets=evaluator.data.y,
            sample_weight=evaluator.data.sample_weight,
            ensemble_loss=builder.selector.selection_loss,
        )

    def _engine(self, evaluator: PipelineEvaluator, options: SearchOptions) -> Engine:
        return make_engine(
            evaluator.function,
            n_jobs=self.n_jobs,
            isolate=bool(self.time_limit or options.trial_time_limit),
            memory_limit=options.memory_limit,
            # The threads of polars do not survive a fork: selecting rows would not end.
            survives_fork=not nw.dependencies.is_polars_dataframe(evaluator.data.X),
        )

    def _evaluator(
        self,
        table: ReadTable,
        splits: list[Split],
        scorers: Mapping[str, Any],
        space: SearchSpace,
        seed: int,
        cache: PrefixCache | None,
        time_model: FitTimeModel | None,
        budget: Budget,
    ) -> PipelineEvaluator:
        constraints = self._constraints(table.classes)
        sensitive = {
            name: table.sensitive_feature(name)
            for constraint in constraints
            for name in constraint.sensitive_names
        }
        if table.sensitive_features is not None and not sensitive:
            raise ValueError(
                "'sensitive_features' are groups that constraints compare. Got them, and no "
                "constraint that names a group; add one, such as StatisticalParity('sex', 0.05), "
                "or leave them out."
            )
        groups = {name: group_names(values, name) for name, values in sensitive.items()}
        codes = {name: group_codes(v, name, groups[name]) for name, v in sensitive.items()}
        with_table = bool(constraints) or any(
            scorer_function(scorer) is None for scorer in scorers.values()
        )
        data = table.training_data(splits, codes, with_table=with_table)
        check_scorers(scorers, data)
        checker = self._checker(constraints, data)
        checker.check_groups(groups)
        reader = table.reader
        pipelines = PipelineBuilder(
            space, reader.categorical_indices_, reader.n_levels_, seed, cache
        )
        worker = PipelineWorker(pipelines, data, scorers, constraints=constraints, seed=seed)
        facts = replace(table.facts, n_samples=len(splits[0][0]))
        n_workers = joblib.effective_n_jobs(self.n_jobs)
        return PipelineEvaluator(
            worker,
            trial_time_limit=self._options().trial_time_limit,
            out_of_bag=self.cv is None and table.groups is None,
            checker=checker,
            schedule=TaskSchedule(facts, time_model, budget, n_workers),
        )

    def _prefix_cache(
        self, table: ReadTable, cache: int | str | os.PathLike[str]
    ) -> contextlib.AbstractContextManager[PrefixCache]:
        """Cache of transformed data in a directory that is removed after the search."""
        content = (table.Z, table.y, table.sample_weight)
        if isinstance(cache, str | os.PathLike):
            return PrefixCache.temporary(DEFAULT_CACHE_BYTES, content, parent=cache)
        return PrefixCache.temporary(int(cache), content)

    def _score_so_far(self, builder: EnsembleBuilder, history: History) -> float:
        """Score of the ensemble of the trials so far, with the most probable class as label."""
        weights = builder.select(history, checker=builder.decisions.search_checker)
        if not weights:
            return math.nan
        predictions = shown_predictions(builder.selector, history, weights, self.ensemble_size)
        return score_of_ensemble(self.scorer_, predictions, builder.data)

    def _set_model(self, builder: EnsembleBuilder, model: BuiltEnsemble, history: History) -> None:
        if model.fallback and not model.refit_errors:
            warnings.warn(
                "The budget was too short: "
                + ("no trial was finished" if not len(history) else "no pipeline was refitted")
                + " in time. A small decision tree predicts; give a longer time_limit.",
                BudgetWarning,
                stacklevel=level_of_caller(),
            )
        report_failed_refits(model.refit_errors, fallback=model.fallback)
        self._refit_errors = model.refit_errors
        self.ensemble_ = model.ensemble
        self.member_weights_ = model.weights
        self._out_of_fold = model.out_of_fold
        self._out_of_fold_labels = model.labels
        self._before = self._point = None  # of an operating point
        if model.best is not None:
            self.best_estimator_ = model.best.pipelines[0]


def _check_that_columns_are_not(y: Any, X: Any, reader: TableReader) -> None:
    """Refuse a table that holds the classes in a column of their name, which is not dropped."""
    name = name_of_classes(y)
    read = [column for column in reader.columns_ or [] if column.name == name]
    if name is None or column_names(X) is None or not read or read[0].kind.name == "drop":
        return
    if np.array_equal(np.asarray(column_of(X, name)), np.asarray(y).ravel()):
        raise ValueError(
            f"X must not hold the class of each row. Its column {name!r} is y; leave it out, for "
            f"instance by X.drop(columns={name!r}) in pandas, or by column_kinds={{{name!r}: "
            "'drop'}."
        )

"""What ``fit`` prepares for its search: folds, evaluator, strategy and first configurations."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import joblib
import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from skauto._search import Search
from skauto.constraints import Constraint
from skauto.constraints._checker import ConstraintChecker
from skauto.constraints._evidence import Margin
from skauto.constraints._smaller import SmallerVariants
from skauto.data import make_splits
from skauto.data._splits import Split
from skauto.data._training import ReadTable
from skauto.engines import Engine, make_engine
from skauto.ensemble._build import EnsembleBuilder
from skauto.ensemble._decide import DecisionChooser
from skauto.estimators._doubts import warn_of_dependent_rows
from skauto.estimators._initial import initial_configurations, similar_configurations
from skauto.estimators._observer import Observer
from skauto.estimators._options import SearchOptions
from skauto.estimators._pareto import FrontBuilder
from skauto.estimators._resume import (
    LastSearch,
    checkpoint_facts,
    longer_history,
    resumed_history,
    warm_start_facts,
)
from skauto.estimators._scoring import check_scorers, named_scorers, primary_scoring
from skauto.evaluation import (
    CachedPipelineBuilder,
    PipelineBuilder,
    PipelineEvaluator,
    PipelineWorker,
    PrefixCache,
)
from skauto.history import Checkpoint, Goal, History, Trial
from skauto.metalearning import FitTimeModel
from skauto.metalearning._fit_times import load_fit_time_model
from skauto.model._groups import group_codes, group_names
from skauto.schedule import TaskSchedule, affordable_folds
from skauto.space import Configuration, SearchSpace
from skauto.space.catalog import get_space
from skauto.strategies import Strategy, get_strategy
from skauto.utils import Budget, scorer_function

# Number of trials if neither max_evals nor time_limit is set.
DEFAULT_MAX_EVALS = 50
# Size of the cache if SearchOptions.cache is a directory.
DEFAULT_CACHE_BYTES = 2**30


@dataclass(frozen=True)
class Plan:
    """What a search needs, and its history, which holds the trials of a search that continues."""

    table: ReadTable
    evaluator: PipelineEvaluator
    strategy: Strategy
    builder: EnsembleBuilder
    history: History
    known: list[Trial]
    initial: list[Configuration]
    neighbors: list[str] | None
    checkpoint: Checkpoint | None
    cache: PrefixCache | None
    facts: dict[str, Any]
    seed: int
    rng: np.random.Generator

    def search(self, engine: Engine, budget: Budget, observer: Observer) -> Search:
        """Return the search, which tries only configurations that the history lacks."""
        tried = {trial.configuration for trial in self.history}
        space = self.evaluator.worker.builder.space
        return Search(
            self.strategy,
            space,
            self.evaluator,
            engine,
            self.history,
            budget,
            known=self.known,
            initial=[c for c in self.initial if c not in tried],
            variant=SmallerVariants(space, self.evaluator.constraints),
            reserve=lambda trials: self.builder.reserve(trials, engine.n_workers, budget),
            record=None if self.checkpoint is None else self.checkpoint.append,
            on_start=observer.begin,
            on_trial=observer.end,
        )


class PlanMixin:
    """Methods that prepare a search.

    Warning: This class should not be used directly. Use the estimators.
    """

    strategy: str | Strategy
    scoring: Any
    time_limit: float | None
    max_evals: int | None
    cv: Any
    space: str | SearchSpace
    initial: str | Sequence[Configuration] | None
    ensemble_size: int
    decision: str
    options: SearchOptions | Mapping[str, Any] | None
    n_jobs: int | None
    random_state: Any

    def _plan(
        self,
        table: ReadTable,
        options: SearchOptions,
        last: LastSearch | None,
        budget: Budget,
        stack: contextlib.ExitStack,
    ) -> Plan:
        """Prepare a search; the stack closes its files."""
        checkpoint = cache = None
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
        if options.cache is not None:
            cache = stack.enter_context(self._prefix_cache(table, options.cache))
        reader = table.reader
        categories = reader.categorical_indices_, reader.n_levels_
        arguments = space, *categories, search_seed, reader.text_scores
        pipelines = PipelineBuilder(*arguments)
        if cache is not None:
            pipelines = CachedPipelineBuilder(*arguments, cache=cache)
        n_workers = joblib.effective_n_jobs(self.n_jobs)
        facts_of_fold = replace(table.facts, n_samples=len(splits[0][0]))
        schedule = TaskSchedule(facts_of_fold, time_model, budget, n_workers)
        evaluator = self._evaluator(table, splits, scorers, pipelines, schedule)
        decisions = DecisionChooser(evaluator.data, evaluator.checker, self.decision, budget)
        strategy = self._make_strategy(decisions)
        builder = self._model_builder(strategy, evaluator, options, decisions)
        goal = self._goal(strategy, evaluator, builder)
        if checkpoint is not None:
            about = checkpoint_facts(seed, self.scoring, table, splits, goal)
            history, known = resumed_history(checkpoint, about, space, goal)
        else:
            history = History(goal) if last is None else longer_history(last, goal)
            known = []
        return Plan(
            table,
            evaluator,
            strategy,
            builder,
            history,
            known,
            initial,
            neighbors,
            checkpoint,
            cache,
            facts,
            seed,
            rng,
        )

    def _options(self) -> SearchOptions:
        if isinstance(self.options, SearchOptions):
            return self.options
        return SearchOptions(**(self.options or {}))

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
            n_members=self.ensemble_size,
            bagged=not strategy.selects_ensemble,
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
    ) -> Goal:
        minimized = evaluator.constraints if strategy.multi_objective else []
        unlimited = self.max_evals is None and self.time_limit is None
        return Goal(
            ("loss", *(constraint.key for constraint in minimized)),
            limits=builder.checker.limits,
            search_limits=builder.decisions.search_checker.limits,
            max_evals=DEFAULT_MAX_EVALS if unlimited else self.max_evals,
            time_limit=self.time_limit,
            targets=evaluator.data.y,
            sample_weight=evaluator.data.sample_weight,
            ensemble_loss=builder.selector.selection_loss,
        )

    def _engine(self, evaluator: PipelineEvaluator, options: SearchOptions) -> Engine:
        return make_engine(
            evaluator.worker,
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
        pipelines: PipelineBuilder,
        schedule: TaskSchedule,
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
        options, margin = self._options(), Margin.of(getattr(self, "safety_margin", 0.0))
        checker = ConstraintChecker(constraints, data, margin=margin, refit=options.refit)
        checker.check_groups(groups)
        worker = PipelineWorker(pipelines, data, scorers, constraints=constraints)
        return PipelineEvaluator(
            worker,
            trial_time_limit=options.trial_time_limit,
            out_of_bag=self.cv is None and table.groups is None,
            checker=checker,
            schedule=schedule,
        )

    def _prefix_cache(
        self, table: ReadTable, cache: int | str | os.PathLike[str]
    ) -> contextlib.AbstractContextManager[PrefixCache]:
        """Cache of transformed data in a directory that is removed after the search."""
        content = (table.Z, table.y, table.sample_weight)
        if isinstance(cache, str | os.PathLike):
            return PrefixCache.temporary(DEFAULT_CACHE_BYTES, content, parent=cache)
        return PrefixCache.temporary(int(cache), content)

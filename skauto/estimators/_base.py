"""The template of ``fit``: read, search, select, refit."""

import contextlib
import warnings
from dataclasses import replace
from numbers import Integral, Real

import joblib
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.metrics import check_scoring, get_scorer, get_scorer_names
from sklearn.utils import check_random_state, check_scalar
from sklearn.utils.validation import check_is_fitted

from skauto._search import Search
from skauto.constraints import Gate, group_codes, group_names
from skauto.data import TableReader, affordable_folds, make_splits, read_training_data
from skauto.engines import make_engine
from skauto.ensemble import EnsembleBuilder
from skauto.estimators._accounting import cost_report
from skauto.estimators._deployment import DeploymentMixin
from skauto.estimators._options import SearchOptions
from skauto.estimators._reporting import ReportMixin
from skauto.evaluation import (
    PipelineBuilder,
    PipelineEvaluator,
    PipelineWorker,
    PrefixCache,
    worker_data,
)
from skauto.exceptions import AllTrialsFailedError, BudgetWarning, TrialFailedWarning
from skauto.history import Checkpoint, Goal, History
from skauto.metalearning import (
    Shape,
    load_archive,
    load_prices,
    meta_features,
    nearest_configurations,
    portfolio_configurations,
)
from skauto.selection import score_probabilities
from skauto.space import Configuration, SearchSpace
from skauto.space.catalog import get_space
from skauto.strategies import Strategy, get_strategy
from skauto.utils import Budget, Interval, StrOptions, closest, fit_context, scorer_function

# Number of trials when the user bounds neither trials nor time.
DEFAULT_MAX_EVALS = 50
# Size of the cache where the user says only where it is.
DEFAULT_CACHE_BYTES = 2**30


class BaseAutoClassifier(
    ReportMixin, DeploymentMixin, CallbackSupportMixin, ClassifierMixin, BaseEstimator
):
    """Base class of the estimators: a search wrapped behind ``fit``.

    A subclass adds what it constrains or minimises besides the scorer.

    Warning: This class should not be used directly. Use its subclasses.
    """

    # Asked for by name, so that fit(X, y, **metadata) can be routed to.
    _metadata: tuple[str, ...] = ("sample_weight", "groups")
    __metadata_request__fit = dict.fromkeys(_metadata)

    _parameter_constraints = {
        "strategy": [str, Strategy],
        "scoring": [str, callable, list, tuple, dict, None],
        "time_limit": [Interval(Real, 0, None, closed="neither"), None],
        "max_evals": [Interval(Integral, 1, None, closed="left"), None],
        "cv": "no_validation",
        "space": [str, SearchSpace],
        "initial": [
            StrOptions({"portfolio", "defaults", "metalearning"}),
            "array-like",
            None,
        ],
        "ensemble_size": [Interval(Integral, 1, None, closed="left")],
        "decision": [StrOptions({"auto", "argmax"})],
        "column_kinds": [dict, "array-like", None],
        "options": [SearchOptions, None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        strategy="alternating_bo",
        *,
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
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, **metadata):
        """Search pipelines, select an ensemble among them and fit it.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The table: numbers, booleans, strings, categories, dates, with or without missing
            entries.
        y : array-like of shape (n_samples,)
            Class of each row: strings, integers or booleans.
        **metadata : dict
            ``sample_weight``, array-like of shape (n_samples,): weights for the classifiers and
            the scorers; rows of weight 0 are left out. ``groups``, array-like of shape
            (n_samples,): rows of a group are never split between training and validation.
            ``sensitive_features``, dataframe or array-like of shape (n_samples,): groups that
            constraints compare and that are no features; only `ConstrainedAutoClassifier` takes
            it. Columns are found by the names in the constraints; a single one without a name
            stands for any.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        # The clock runs from here: reading the data counts too.
        budget = Budget(self._max_evals(), self.time_limit)
        options = self._options()
        previous = self._forget_last_fit(options)
        data = self._read(X, y, metadata)
        with contextlib.ExitStack() as stack:
            checkpoint = None
            if options.checkpoint is not None:
                checkpoint = stack.enter_context(Checkpoint(options.checkpoint))
            seed = self._seed(checkpoint)
            rng = np.random.default_rng(seed)
            scorers = self._scorers(data.n_classes)
            space = self._space(data.classes).for_data(data.facts)
            strategy = get_strategy(self.strategy)
            prices = None if self.time_limit is None else load_prices()
            fold_seed, search_seed = (int(seed) for seed in rng.integers(2**31, size=2))
            initial = self._initial(space, data, rng, prices)
            cv = self._folds(data, initial, prices)
            data = replace(
                data, splits=make_splits(cv, data.X, data.y, data.groups, seed=fold_seed)
            )
            cache = None
            if options.cache is not None:
                cache = stack.enter_context(self._prefix_cache(data, options.cache))
            evaluator = self._evaluator(data, scorers, space, search_seed, cache, prices, budget)
            builder = self._model_builder(strategy, evaluator, data, options)
            goal = self._goal(strategy, evaluator, builder, data, budget)
            about = {} if checkpoint is None else self._about(seed, data, goal)
            history = self._history(goal, previous, checkpoint, about, space, budget)
            self._remember(data, scorers)
            engine = stack.enter_context(self._engine(evaluator, options))
            observer = _Observer(self, history, budget.max_evals, options.patience)
            search = Search(
                strategy,
                space,
                evaluator,
                engine,
                history,
                budget,
                initial=[c for c in initial if not _tried(c, history)],
                reserve=lambda known: builder.reserve(known, engine.n_workers, budget),
                record=None if checkpoint is None else checkpoint.append,
                on_start=observer.begin,
                on_trial=observer.end,
            )
            self.interrupted_ = search.run(rng)
            self._report_failures(history)
            self._set_model(builder, builder.build(history, engine, budget), history)
        if cache is not None:
            self.cache_ = evaluator.cache_report()
        self.strategy_ = strategy
        self.search_time_ = budget.elapsed
        keep = range(len(history)) if options.warm_start else list(self.member_weights_)
        self.history_ = history.without_data(keep)
        return self

    def predict_proba(self, X):
        """Class probabilities of the ensemble, at its temperature.

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

    def predict_log_proba(self, X):
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

    def predict(self, X):
        """Class of each row: the most probable one, after the offsets of the classes.

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

    def score(self, X, y, sample_weight=None):
        """Score of the ensemble by the scorer that the search maximised.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The table, with the columns of ``fit``.
        y : array-like of shape (n_samples,)
            True classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, for scorers that take them.

        Returns
        -------
        score : float
            Greater is better.
        """
        check_is_fitted(self)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(self.scorer_(self, X, y, **weights))

    def table_report(self):
        """Tell what each column of the table holds and why (needs pandas).

        Returns
        -------
        report : pandas.DataFrame
            One row a column, see `skauto.data.TableReader.table_report`.
        """
        check_is_fitted(self)
        return self.reader_.table_report()

    def leaderboard(self, top=None):
        """Trials in the order of their loss, as a table (needs pandas).

        Parameters
        ----------
        top : int, default=None
            Number of rows; None for all.

        Returns
        -------
        leaderboard : pandas.DataFrame
            One row a trial, with its weight in the ensemble.
        """
        check_is_fitted(self)
        frame = self.history_.to_frame()
        frame.insert(2, "weight", frame["trial"].map(self.member_weights_).fillna(0.0))
        complete = frame["status"] == "ok"
        order = frame.assign(_complete=~complete).sort_values(
            ["_complete", *self.history_.objectives], kind="stable"
        )
        return (
            order.drop(columns="_complete")
            .reset_index(drop=True)
            .head(len(frame) if top is None else top)
        )

    def cost_report(self, watts_per_core=10.0):
        """Processor time and energy that the trials took, by share of the rows (needs pandas).

        What the strategy itself computes and what is fitted after the search are not in it.

        Parameters
        ----------
        watts_per_core : float, default=10.0
            Power of one busy core. The default is an assumption: the thermal design power of a
            server processor divided by its cores.

        Returns
        -------
        report : pandas.DataFrame
            One row a fidelity and a row "total". ``n_trials``; ``cpu_seconds`` of all cores, in
            which folds that gave no result count with the seconds that they ran; ``watt_hours``,
            the energy; ``full_cpu_seconds`` and ``full_watt_hours``, what the same trials would
            have taken on all rows, if time grows in proportion to the rows.
        """
        check_is_fitted(self)
        check_scalar(watts_per_core, "watts_per_core", Real, min_val=0)
        return cost_report(self.history_, watts_per_core)

    @property
    def decision_offsets_(self):
        """What is added to the logarithms of the probabilities before ``predict`` compares."""
        check_is_fitted(self)
        return self.ensemble_.decision_.offsets

    @property
    def decision_threshold_(self):
        """Probability of the second of two classes from which on ``predict`` gives it."""
        check_is_fitted(self)
        return self.ensemble_.decision_.threshold

    @property
    def temperature_(self):
        """What the logarithms of the vote's probabilities are divided by."""
        check_is_fitted(self)
        return self.ensemble_.decision_.temperature

    @property
    def cv_results_(self):
        """Trials in the form of ``GridSearchCV.cv_results_``."""
        check_is_fitted(self)
        return self.history_.to_cv_results()

    @property
    def best_trial_(self):
        """Best trial of the search."""
        check_is_fitted(self)
        return self.history_.incumbent

    @property
    def best_params_(self):
        """Configuration of the best trial, as a dict of steps."""
        return None if self.best_trial_ is None else self.best_trial_.configuration.to_dict()

    @property
    def best_score_(self):
        """Mean score of the best trial over the folds."""
        if self.best_trial_ is None:
            return float("nan")
        return float(np.nanmean(next(iter(self.best_trial_.fold_scores.values()))))

    def __sklearn_is_fitted__(self):
        return hasattr(self, "ensemble_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        return tags

    # --- the parts of fit, in the order of their use

    def _max_evals(self):
        if self.max_evals is None and self.time_limit is None:
            return DEFAULT_MAX_EVALS
        return self.max_evals

    def _options(self):
        return SearchOptions() if self.options is None else self.options

    def _forget_last_fit(self, options):
        """Check the options and delete what the last fit learned.

        Returns the history that a warm start goes on from.
        """
        options.check()
        previous = getattr(self, "history_", None) if options.warm_start else None
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        return previous

    def _read(self, X, y, metadata):
        """Read the table; its names and its number of columns become attributes."""
        reader = TableReader(self.column_kinds)
        data = read_training_data(X, y, metadata, reader, self._metadata)
        self.n_features_in_ = reader.n_features_in_
        if hasattr(reader, "feature_names_in_"):
            self.feature_names_in_ = reader.feature_names_in_
        return data

    def _remember(self, data, scorers):
        self.classes_ = data.classes
        self.reader_ = data.reader
        self.n_splits_ = len(data.splits)
        self.scorer_ = next(iter(scorers.values()))

    def _primary_scoring(self, n_classes):
        scoring = self.scoring
        if isinstance(scoring, dict):
            scoring = next(iter(scoring.values()))
        elif isinstance(scoring, list | tuple):
            scoring = scoring[0]
        return _for_classes(scoring, n_classes)

    def _scorers(self, n_classes):
        """Scorers by name; the first is maximised."""
        scoring = self.scoring
        if isinstance(scoring, dict):
            named = dict(scoring)
        elif isinstance(scoring, list | tuple):
            named = {name: name for name in scoring}
        else:
            named = {scoring if isinstance(scoring, str) else "score": scoring}
        if not named:
            raise ValueError(
                "The 'scoring' parameter must name at least one scorer. Got an empty "
                f"{type(scoring).__name__} instead."
            )
        return {name: self._scorer(value, n_classes) for name, value in named.items()}

    def _scorer(self, scoring, n_classes):
        scoring = _for_classes(scoring, n_classes)
        if isinstance(scoring, str):
            if scoring not in get_scorer_names():
                raise ValueError(
                    "The 'scoring' parameter must be the name of a scikit-learn scorer, a "
                    f"callable, or several of them. Got {scoring!r} instead."
                    + closest(scoring, get_scorer_names())
                )
            return get_scorer(scoring)
        return check_scoring(self, scoring)

    def _space(self, classes):
        if isinstance(self.space, SearchSpace):
            return self.space
        reweighable = [c for c in self._constraints(classes) if c.reweighable]
        sensitive = dict.fromkeys(name for c in reweighable for name in c.sensitive_names)
        return get_space(self.space, tuple(sensitive))

    def _constraints(self, classes):
        """What the model must respect; a subclass says."""
        return []

    def _gate(self, constraints, data):
        """What decides whether a fitted vote may be deployed."""
        return Gate(constraints, data, refit=self._options().refit)

    def _minimized(self, strategy, constraints):
        """Names of the constraints whose values are minimised besides the loss."""
        return ()

    def _builder(self, strategy):
        """Class of what makes the model of the trials."""
        return EnsembleBuilder

    def _initial(self, space, data, rng, prices):
        """Configurations that are tried before the strategy's own design."""
        if self.initial is None:
            return []
        if isinstance(self.initial, str):
            return self._named_initial(space, data, rng, prices)
        for configuration in self.initial:
            if not isinstance(configuration, Configuration):
                raise TypeError(
                    "The 'initial' parameter must hold Configuration objects. Got "
                    f"{type(configuration).__name__} instead."
                )
            space.validate(configuration)
        return list(self.initial)

    def _named_initial(self, space, data, rng, prices):
        if self.initial == "metalearning":
            return self._advised(space, data, rng)
        defaults = space.default_configurations()
        if self.initial == "defaults" or any(
            c.balancing == "groups" for step in space.steps for c in space.components(step)
        ):
            return defaults
        shape = Shape.of(data)
        return portfolio_configurations(
            space,
            n_classes=data.n_classes,
            has_categories=data.facts.has_categories,
            price=None if prices is None else lambda c: prices.seconds(c, shape),
        )

    def _advised(self, space, data, rng):
        """Configurations that did well on similar data sets."""
        other = "Pass 'portfolio', 'defaults', None or a list of Configuration objects."
        try:
            archive = load_archive(space.name)
        except ValueError as exc:
            raise ValueError(
                "The 'initial' parameter 'metalearning' needs a named space with an archive, "
                f"or a part of one. {exc} {other}"
            ) from exc
        features = meta_features(
            data.Z, data.y, categorical=data.reader.categorical_indices_, rng=rng
        )
        self.neighbors_ = [known.name for known in archive.neighbors(features)]
        configurations = nearest_configurations(archive, features, space)
        if not configurations:
            raise ValueError(
                "The 'initial' parameter 'metalearning' found no configuration of the archive "
                f"that lies in this part of the space {space.name!r}. {other}"
            )
        return configurations

    def _folds(self, data, initial, prices):
        """Number of folds: by the rows, and under a time limit also by the price of the start."""
        if self.cv is not None or prices is None:
            return self.cv
        n_workers = joblib.effective_n_jobs(self.n_jobs)
        seconds = [prices.seconds(configuration, Shape.of(data)) for configuration in initial]
        return affordable_folds(len(data.y), seconds, self.time_limit * n_workers)

    def _seed(self, checkpoint):
        """Seed of everything random; that of the search on disk where the user gave none."""
        header = None if checkpoint is None else checkpoint.header()
        if header is not None and self.random_state is None:
            return header["seed"]
        return int(check_random_state(self.random_state).randint(2**31))

    def _about(self, seed, data, goal):
        """What must be the same for a checkpoint to be continued."""
        return {
            "seed": seed,
            "data": joblib.hash((data.Z, data.y, data.classes, data.sample_weight)),
            "folds": joblib.hash(data.splits),
            "scoring": str(self.scoring),
            "objectives": ", ".join(goal.objectives),
        }

    def _model_builder(self, strategy, evaluator, data, options):
        return self._builder(strategy)(
            evaluator,
            data.reader,
            n_members=self.ensemble_size,
            decision=self.decision,
            refit=options.refit,
            scoring=self._primary_scoring(data.n_classes),
        )

    def _goal(self, strategy, evaluator, builder, data, budget):
        """What the search is to reach."""
        return Goal(
            ("loss", *self._minimized(strategy, evaluator.constraints)),
            limits={c.key: c.limit for c in evaluator.constraints if np.isfinite(c.limit)},
            max_evals=budget.max_evals,
            time_limit=budget.time_limit,
            targets=data.y,
            sample_weight=data.sample_weight,
            ensemble_loss=builder.selection_loss,
        )

    def _engine(self, evaluator, options):
        return make_engine(
            evaluator.function,
            n_jobs=self.n_jobs,
            isolate=bool(self.time_limit or options.trial_time_limit),
            memory_limit=options.memory_limit,
        )

    def _history(self, goal, previous, checkpoint, about, space, budget):
        """Give a new history, or the one of the search to resume."""
        if checkpoint is not None:
            history = History(goal)
            for trial in checkpoint.resume(about, space):
                history.append(trial)
            if budget.max_evals is not None:
                budget.max_evals = max(0, budget.max_evals - len(history))
        elif previous is not None:
            if previous.objectives != goal.objectives:
                raise ValueError(
                    "With 'warm_start', the search must go on with the objectives "
                    f"{previous.objectives}. Got {goal.objectives} instead; set warm_start=False "
                    "to start anew."
                )
            history = previous
            if budget.max_evals is not None:
                goal = replace(goal, max_evals=len(history) + budget.max_evals)
        else:
            return History(goal)
        if budget.time_limit is not None:
            goal = replace(goal, time_limit=history.elapsed + budget.time_limit)
        return history.towards(goal)

    def _evaluator(self, data, scorers, space, seed, cache, prices, budget):
        constraints = self._constraints(data.classes)
        sensitive = {
            name: data.sensitive_feature(name)
            for constraint in constraints
            for name in constraint.sensitive_names
        }
        if data.sensitive_features is not None and not sensitive:
            raise ValueError(
                "'sensitive_features' are groups that constraints compare. Got them, and no "
                "constraint that names a group; add one, such as StatisticalParity('sex', 0.05), "
                "or leave them out."
            )
        codes = {name: group_codes(values, name) for name, values in sensitive.items()}
        with_table = bool(constraints) or any(
            scorer_function(scorer) is None for scorer in scorers.values()
        )
        data = replace(worker_data(data, with_table=with_table), sensitive=codes)
        self._try_scorers(data, scorers)
        gate = self._gate(constraints, data)
        gate.check_groups({name: group_names(v, name) for name, v in sensitive.items()})
        pipelines = PipelineBuilder(
            space,
            categorical=data.reader.categorical_indices_,
            n_levels=data.reader.n_levels_,
            seed=seed,
        )
        worker = PipelineWorker(
            pipelines, data, scorers, constraints=constraints, seed=seed, cache=cache
        )
        return PipelineEvaluator(
            worker,
            trial_time_limit=self._options().trial_time_limit,
            out_of_bag=self.cv is None and data.groups is None,
            gate=gate,
            prices=prices,
            seconds_left=lambda: budget.remaining,
        )

    def _prefix_cache(self, data, cache):
        """Transformed data in a private directory that is removed with the search."""
        table = (data.Z, data.y, data.sample_weight)
        if isinstance(cache, Integral):
            return PrefixCache.temporary(int(cache), table)
        return PrefixCache.temporary(DEFAULT_CACHE_BYTES, table, parent=cache)

    @staticmethod
    def _try_scorers(data, scorers):
        """Let a scorer that cannot work fail before the search, on the class shares."""
        share = np.bincount(data.y) / len(data.y)
        probabilities = np.tile(share.astype(np.float32), (len(data.y), 1))
        for name, scorer in scorers.items():
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # constant predictions make metrics warn
                    score_probabilities(
                        scorer, probabilities, data.y, data.classes, data.sample_weight, data.X
                    )
            except Exception as exc:
                raise ValueError(
                    f"The 'scoring' parameter holds {name!r}, which cannot score "
                    f"{len(data.classes)} classes {data.classes[:5].tolist()}: {exc}"
                ) from exc

    def _report_failures(self, history):
        counts = history.counts()
        bad = {s: n for s, n in counts.items() if s not in ("ok", "stopped", "skipped")}
        if not bad:
            return
        causes = _commonest_errors(history)
        if not counts.get("ok"):
            raise AllTrialsFailedError(
                f"All {len(history)} trials failed ({_listed(bad)}). Most frequent causes:\n"
                f"{causes}\nSee the data and the space; a single pipeline can be tried by hand."
            )
        warnings.warn(
            f"{sum(bad.values())} of {len(history)} trials gave no score ({_listed(bad)}). "
            f"Most frequent causes:\n{causes}\nAll are in leaderboard(), column 'error'.",
            TrialFailedWarning,
            stacklevel=5,
        )

    def _set_model(self, builder, model, history):
        if model.fallback:
            warnings.warn(
                "The budget was too short: "
                + ("no trial was finished" if not len(history) else "no pipeline was refitted")
                + " in time. The class shares of y are predicted; give a longer time_limit.",
                BudgetWarning,
                stacklevel=5,
            )
        self.ensemble_ = model.ensemble
        self.member_weights_ = model.weights
        if model.best is not None:
            self.best_estimator_ = model.best


class _Observer:
    """What happens at each trial: scikit-learn's callbacks, and patience."""

    def __init__(self, estimator, history, max_evals, patience):
        self.patience = patience
        self.estimator = estimator
        self.history = history
        self.context = estimator._init_callback_context(max_subtasks=max_evals)
        self.context.call_on_fit_task_begin(estimator=estimator, metadata={"history": history})
        self.pending = []  # proposals under way, each with its context
        self.front = set()
        self.waited = 0

    def begin(self, proposal):
        """Tell the callbacks that a trial begins."""
        context = self.context.subcontext(task_name="trial")
        self.pending.append((proposal, context))
        metadata = {"proposal": proposal}
        context.call_on_fit_task_begin(estimator=self.estimator, metadata=metadata)

    def end(self, trial):
        """Tell the callbacks that a trial has ended; whether to end the search."""
        known = [proposal.configuration for proposal, _ in self.pending]
        _, context = self.pending.pop(known.index(trial.configuration))
        metadata = {"trial": trial}
        stop = context.call_on_fit_task_end(estimator=self.estimator, metadata=metadata)
        return bool(stop) or self._out_of_patience()

    def _out_of_patience(self):
        if self.patience is None:
            return False
        # With one objective the front is the least loss.
        front = {trial.losses for trial in self.history.front()}
        self.waited = 0 if front != self.front else self.waited + 1
        self.front = front
        return self.waited >= self.patience


def _for_classes(scoring, n_classes):
    """Give the scorer that is meant: ROC AUC of several classes is one-vs-rest."""
    if scoring is None:
        return "accuracy"
    return "roc_auc_ovr" if scoring == "roc_auc" and n_classes > 2 else scoring


def _tried(configuration, history):
    return any(trial.configuration == configuration for trial in history)


def _listed(counts):
    return ", ".join(f"{n} {status}" for status, n in counts.items())


def _commonest_errors(history, n_shown=3):
    """Last lines of the errors, most frequent first."""
    counts = {}
    for trial in history:
        if trial.error:
            lines = [line for line in trial.error.strip().splitlines() if line.strip()]
            last = lines[-1].strip() if lines else trial.status
            counts[last] = counts.get(last, 0) + 1
    shown = sorted(counts.items(), key=lambda item: -item[1])[:n_shown]
    return "\n".join(f"  {n} x {text[:300]}" for text, n in shown)

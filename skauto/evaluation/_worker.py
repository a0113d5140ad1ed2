"""What runs inside a worker: fit a configuration on rows, predict, score."""

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from skauto.constraints import Constraint, Evidence, group_weights
from skauto.data import TrainingData, stratified_subset
from skauto.evaluation._cache import PrefixCache
from skauto.evaluation._pipeline import PipelineBuilder, Reuse, Steps, transform_and_predict
from skauto.selection import score_probabilities
from skauto.space import Configuration
from skauto.utils import FloatArray, IntArray, take_rows


@dataclass(frozen=True, eq=False)
class FoldResult:
    """What one fold of one configuration gave.

    Parameters
    ----------
    probabilities : ndarray of shape (n_validation, n_classes), dtype float32
        Predictions for the validation rows.
    scores : mapping of str to float
        Greater is better; NaN where a score is not defined on the fold.
    fit_time, score_time : float
        Seconds.
    cpu_time : float
        Seconds of processors, from the first line to the last.
    constraints : mapping of str to float
        Measured values.
    rounds : int, default=None
        Rounds that early stopping chose, where the classifier has them.
    reuse : Reuse, default=None
        What the cache did, if there was one.
    steps : list of (str, estimator), default=None
        The fitted steps, where they are kept.
    """

    probabilities: NDArray[np.float32]
    scores: Mapping[str, float]
    fit_time: float
    score_time: float
    cpu_time: float
    constraints: Mapping[str, float]
    rounds: int | None = None
    reuse: Reuse | None = None
    steps: Steps | None = None


@dataclass(frozen=True, eq=False)
class FittedPipeline:
    """A fitted pipeline that gives aligned probabilities from the raw table.

    Parameters
    ----------
    reader : TableReader
        Its first step.
    steps : list of (str, estimator)
        The others.
    classes : ndarray of shape (n_classes,)
        Columns of the probabilities.
    """

    reader: Any
    steps: Steps
    classes: NDArray[Any]

    def predict_proba(self, X: Any) -> NDArray[np.float32]:
        """Class probabilities of rows of the raw table."""
        return transform_and_predict(self.steps, self.reader.transform(X), self.classes)


class Task(Protocol):
    """Something for a worker to do."""

    def run(self, worker: "PipelineWorker") -> Any:
        """Do it and return the result."""


@dataclass(frozen=True, eq=False)
class FoldTask:
    """Fit on the training rows of a fold, predict and score its validation rows.

    Parameters
    ----------
    configuration : Configuration
        What to fit.
    fold : int
        Which split.
    fidelity : float, default=1.0
        Share of the training and of the validation rows.
    share : float, default=1.0
        Share of the training rows alone.
    keep : bool, default=False
        Whether the result holds the fitted steps, which then predict the user's labels.
    """

    configuration: Configuration
    fold: int
    fidelity: float = 1.0
    share: float = 1.0
    keep: bool = False

    def run(self, worker: "PipelineWorker") -> FoldResult:
        """Evaluate the fold."""
        train, test = worker.rows(self.fold, self.fidelity)
        if self.share < 1.0:
            rng = np.random.default_rng(worker.seed)
            train = train[stratified_subset(worker.data.y[train], self.share, rng)]
        where = (self.fold, self.fidelity, self.share, worker.seed)
        return worker.evaluate(self.configuration, train, test, where, keep=self.keep)


@dataclass(frozen=True, eq=False)
class OutOfBagTask:
    """Fit once on all rows and score each fold on its rows' out-of-bag predictions.

    Parameters
    ----------
    configuration : Configuration
        A forest of bootstrap samples behind steps that do not read the classes.
    """

    configuration: Configuration

    def run(self, worker: "PipelineWorker") -> list[FoldResult]:
        """Evaluate all folds."""
        return worker.evaluate_out_of_bag(self.configuration)


@dataclass(frozen=True, eq=False)
class RefitTask:
    """Fit on all the rows, or on the training rows of a fold, with the user's labels.

    Parameters
    ----------
    configuration : Configuration
        What to fit.
    fold : int, default=None
        Which split's training rows; None for all rows.
    rounds : int, default=None
        Rounds of the classifier, where early stopping chose them.
    """

    configuration: Configuration
    fold: int | None = None
    rounds: int | None = None

    def run(self, worker: "PipelineWorker") -> Steps:
        """Fit the steps."""
        return worker.refit(self.configuration, self.fold, self.rounds)


class PipelineWorker:
    """The function that engines call: it holds the data and does the fitting.

    Parameters
    ----------
    builder : PipelineBuilder
        Fits the steps of a configuration.
    data : TrainingData
        Rows, classes and folds.
    scorers : mapping of str to callable
        scikit-learn scorers by name; the first one is what the search maximises.
    constraints : sequence of Constraint, default=()
        Measured on the validation rows of each fold.
    seed : int, default=0
        Seed of the sub-samples of lower fidelities.
    cache : PrefixCache, default=None
        Keeps transformed data of the folds. Not asked where constraints are measured, which need
        the fitted steps.
    """

    def __init__(
        self,
        builder: PipelineBuilder,
        data: TrainingData,
        scorers: Mapping[str, Any],
        *,
        constraints: Sequence[Constraint] = (),
        seed: int = 0,
        cache: PrefixCache | None = None,
    ) -> None:
        self.builder = builder
        self.data = data
        self.scorers = scorers
        self.constraints = list(constraints)
        self.seed = seed
        self.cache = None if self.constraints else cache

    def __call__(self, task: Task) -> Any:
        """Run a task."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a solver's warning is no user's business here
            return task.run(self)

    def evaluate(
        self,
        configuration: Configuration,
        train: IntArray,
        test: IntArray,
        where: tuple[Any, ...],
        *,
        keep: bool = False,
    ) -> FoldResult:
        """Fit on some rows, predict and score others.

        Parameters
        ----------
        configuration : Configuration
            What to fit.
        train, test : ndarray of int
            Row numbers.
        where : tuple
            What the transformed data depend on besides the steps, for the cache.
        keep : bool, default=False
            See `FoldTask`.

        Returns
        -------
        result : FoldResult
        """
        data = self.data
        labels = data.classes if keep else np.arange(data.n_classes)
        cpu_started, started = time.process_time(), time.perf_counter()
        fitted = self.builder.fit_validated(
            configuration,
            (data.Z[train], labels[data.y[train]]),
            (data.Z[test], labels[data.y[test]]),
            self._weights(configuration, train),
            cache=None if keep else self.cache,
            where=where,
        )
        fit_time = time.perf_counter() - started
        probabilities = transform_and_predict(fitted.steps[-1:], fitted.Z_validation, labels)
        scores = self._scores(probabilities, test)
        score_time = time.perf_counter() - started - fit_time
        measured = {}
        if self.constraints:
            model = FittedPipeline(data.reader, fitted.steps, labels)
            evidence = Evidence.of(data, probabilities, test, model)
            measured = {c.key: float(c.measure(evidence)) for c in self.constraints}
        return FoldResult(
            probabilities,
            scores,
            fit_time,
            score_time,
            time.process_time() - cpu_started,
            measured,
            getattr(fitted.steps[-1][1], "n_rounds_", None),
            fitted.reuse,
            fitted.steps if keep else None,
        )

    def evaluate_out_of_bag(self, configuration: Configuration) -> list[FoldResult]:
        """Fit a forest once on all rows and score every fold out of bag.

        Parameters
        ----------
        configuration : Configuration
            One for which ``builder.validates_out_of_bag`` is true.

        Returns
        -------
        results : list of FoldResult
            One a fold. Processor seconds are shared out among them. Rows that every tree was
            fitted on get the class shares.
        """
        data = self.data
        cpu_started, started = time.process_time(), time.perf_counter()
        weights = self._weights(configuration, slice(None))
        steps = self.builder.fit(configuration, data.Z, data.y, weights, out_of_bag=True)
        fit_time = time.perf_counter() - started
        probabilities = np.array(steps[-1][1].oob_decision_function_, dtype=np.float32)
        never = np.isnan(probabilities).any(axis=1) | (probabilities.sum(axis=1) == 0)
        probabilities[never] = np.bincount(data.y, minlength=data.n_classes) / len(data.y)
        scored = [(probabilities[test], self._scores(probabilities[test], test))
                  for _, test in data.splits]  # fmt: skip
        score_time = time.perf_counter() - started - fit_time
        cpu_time = time.process_time() - cpu_started
        n_folds = len(scored)
        return [
            FoldResult(of_fold, scores, fit_time, score_time / n_folds, cpu_time / n_folds, {})
            for of_fold, scores in scored
        ]

    def refit(
        self, configuration: Configuration, fold: int | None = None, rounds: int | None = None
    ) -> Steps:
        """Fit on all the rows, or on the training rows of a fold, with the user's labels.

        Parameters
        ----------
        configuration : Configuration
            What to fit.
        fold : int, default=None
            Which split; None for all rows.
        rounds : int, default=None
            Rounds of the classifier, where early stopping chose them.

        Returns
        -------
        steps : list of (str, estimator)
            The fitted steps.
        """
        data = self.data
        rows = slice(None) if fold is None else data.splits[fold][0]
        return self.builder.fit(
            configuration,
            data.Z[rows],
            data.classes[data.y][rows],
            self._weights(configuration, rows),
            rounds=rounds,
        )

    def rows(self, fold: int, fidelity: float) -> tuple[IntArray, IntArray]:
        """Training and validation rows of a fold at a fidelity.

        Parameters
        ----------
        fold : int
            Which split.
        fidelity : float
            Share of the rows.

        Returns
        -------
        train, test : ndarray of int
            Row numbers.
        """
        train, test = self.data.splits[fold]
        if fidelity == 1.0:
            return train, test
        chosen = stratified_subset(self.data.y, fidelity, np.random.default_rng(self.seed))
        return train[chosen[train]], test[chosen[test]]

    def score(self, scorer: Any, probabilities: NDArray[Any], rows: IntArray) -> float:
        """Score stored probabilities of some rows.

        Parameters
        ----------
        scorer : callable
            ``scorer(estimator, X, y)``, greater is better.
        probabilities : ndarray of shape (n_rows, n_classes)
            Predictions.
        rows : ndarray of int of shape (n_rows,)
            Which rows they are for.

        Returns
        -------
        score : float
            See `score_probabilities`.
        """
        data = self.data
        weights = None if data.sample_weight is None else data.sample_weight[rows]
        X = None if data.X is None else take_rows(data.X, rows)
        return score_probabilities(scorer, probabilities, data.y[rows], data.classes, weights, X)

    def _scores(self, probabilities: NDArray[Any], rows: IntArray) -> dict[str, float]:
        return {
            name: self.score(scorer, probabilities, rows) for name, scorer in self.scorers.items()
        }

    def _weights(self, configuration: Configuration, rows: IntArray | slice) -> FloatArray | None:
        """Weights of the rows: the user's, times those of sensitive groups and classes."""
        given = self.data.sample_weight
        weights: FloatArray | None = None if given is None else given[rows]
        for feature, strength in self._group_strengths(configuration).items():
            groups, y = self.data.sensitive[feature][rows], self.data.y[rows]
            weights = group_weights(groups, y, strength, weights)
        return weights

    def _group_strengths(self, configuration: Configuration) -> dict[str, float]:
        """How strongly rows are weighed by each sensitive feature."""
        space = self.builder.space
        for step, algorithm in configuration.components:
            if space.component(step, algorithm).balancing == "groups":
                chosen = configuration.parameters(step)
                strengths = {name: chosen.get(f"strength_{name}") for name in self.data.sensitive}
                return {name: s for name, s in strengths.items() if s is not None}
        return {}


def worker_data(data: TrainingData, *, with_table: bool) -> TrainingData:
    """Give the part of the data that workers need.

    Parameters
    ----------
    data : TrainingData
        All of it.
    with_table : bool
        Whether a scorer or a constraint looks at the raw table.

    Returns
    -------
    data : TrainingData
        Without the raw table, unless it is needed, and without what was only passed along.
    """
    return replace(data, X=data.X if with_table else None, sensitive_features=None, groups=None)

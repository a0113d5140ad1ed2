"""What runs inside a worker: fit a configuration on a fold, predict, score."""

import time
import warnings
from dataclasses import dataclass, field

import numpy as np

from skauto.constraints import Evidence, group_weights
from skauto.data import stratified_subset
from skauto.evaluation._pipeline import Reuse, transform_and_predict
from skauto.selection import score_probabilities
from skauto.utils import take_rows


@dataclass(frozen=True)
class FoldResult:
    """What one fold of one configuration gave.

    Parameters
    ----------
    probabilities : ndarray of shape (n_validation, n_classes), dtype float32
        Predictions for the validation rows.
    scores : dict of str to float
        Greater is better; NaN where a score is not defined on the fold.
    fit_time, score_time : float
        Seconds.
    cpu_time : float
        Seconds of processors, from the first line to the last.
    constraints : dict of str to float
        Measured values.
    reuse : Reuse, default=None
        What the cache did, if there was one.
    """

    probabilities: np.ndarray
    scores: dict
    fit_time: float
    score_time: float
    cpu_time: float
    constraints: dict
    reuse: Reuse | None = None


@dataclass(frozen=True)
class EvaluationData:
    """Everything that the evaluation of a configuration reads.

    Parameters
    ----------
    Z : ndarray or CSR matrix of shape (n_samples, n_columns)
        The numeric matrix.
    y : ndarray of int of shape (n_samples,)
        Class codes.
    classes : ndarray of shape (n_classes,)
        Labels of the codes.
    splits : list of (ndarray, ndarray)
        Training and validation rows of each fold.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights for the classifier and the scorers.
    X : array-like of shape (n_samples, n_features), default=None
        The raw table, for scorers and constraints that look at it.
    groups : dict of str to ndarray of int of shape (n_samples,), default={}
        Group codes of each sensitive feature.
    """

    Z: object
    y: np.ndarray
    classes: np.ndarray
    splits: list
    sample_weight: np.ndarray | None = None
    X: object = None
    groups: dict = field(default_factory=dict)

    def evidence(self, probabilities, rows, model=None):
        """Give what constraints are measured on.

        Parameters
        ----------
        probabilities : ndarray of shape (n_rows, n_classes)
            Predictions.
        rows : ndarray of int of shape (n_rows,)
            Which rows they are for.
        model : object, default=None
            What predicted.

        Returns
        -------
        evidence : Evidence
            Of these rows.
        """
        return Evidence(
            probabilities=probabilities,
            y=self.y[rows],
            classes=self.classes,
            groups={name: codes[rows] for name, codes in self.groups.items()},
            X=None if self.X is None else take_rows(self.X, rows),
            model=model,
        )

    def score(self, scorer, probabilities, rows):
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
            See ``score_probabilities``.
        """
        weights = None if self.sample_weight is None else self.sample_weight[rows]
        X = None if self.X is None else take_rows(self.X, rows)
        return score_probabilities(scorer, probabilities, self.y[rows], self.classes, weights, X)


@dataclass(frozen=True)
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

    reader: object
    steps: list
    classes: np.ndarray

    def predict_proba(self, X):
        """Class probabilities of rows of the raw table."""
        return transform_and_predict(self.steps, self.reader.transform(X), self.classes)


class PipelineWorker:
    """The function that engines call: it holds the data and does the fitting.

    Parameters
    ----------
    builder : PipelineBuilder
        Fits the steps of a configuration.
    data : EvaluationData
        Rows, classes and folds.
    scorers : dict of str to callable
        scikit-learn scorers by name; the first one is what the search maximises.
    constraints : list of Constraint, default=()
        Measured on the validation rows of each fold.
    reader : TableReader, default=None
        Stands before the steps where a constraint is measured on the model.
    seed : int, default=0
        Seed of the sub-samples of lower fidelities.
    cache : PrefixCache, default=None
        Keeps transformed data of the folds. Not asked where constraints are measured, which need
        the fitted steps.
    """

    def __init__(self, builder, data, scorers, *, constraints=(), reader=None, seed=0, cache=None):
        self.builder = builder
        self.data = data
        self.scorers = scorers
        self.constraints = list(constraints)
        self.reader = reader
        self.seed = seed
        self.cache = None if self.constraints else cache

    def __call__(self, method, *args):
        """Call one of the methods below by its name."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a solver's warning is no user's business here
            return getattr(self, method)(*args)

    def evaluate_fold(self, configuration, fold, fidelity):
        """Fit on the training rows of a fold, predict and score its validation rows."""
        data = self.data
        cpu_started = time.process_time()
        train, test = self.rows(fold, fidelity)
        started = time.perf_counter()
        reuse, Z_test = None, data.Z[test]
        if self.cache is None:
            steps = self._fit(configuration, train, data.y)
        else:
            steps, Z_test, reuse = self.builder.fit_on_fold(
                configuration,
                data.Z[train],
                data.y[train],
                Z_test,
                self._weights(configuration, train),
                cache=self.cache,
                fold=(fold, fidelity, self.seed),
            )
        fitted = time.perf_counter()
        probabilities = transform_and_predict(steps, Z_test, np.arange(len(data.classes)))
        scores = {
            name: data.score(scorer, probabilities, test) for name, scorer in self.scorers.items()
        }
        scored = time.perf_counter()
        measured = {}
        if self.constraints:
            model = FittedPipeline(self.reader, steps, np.arange(len(data.classes)))
            evidence = data.evidence(probabilities, test, model)
            measured = {c.key: float(c.measure(evidence)) for c in self.constraints}
        return FoldResult(
            probabilities,
            scores,
            fitted - started,
            scored - fitted,
            time.process_time() - cpu_started,
            measured,
            reuse,
        )

    def refit(self, configuration, fold=None):
        """Fit on all the rows, or on the training rows of a fold, with the user's labels."""
        rows = slice(None) if fold is None else self.data.splits[fold][0]
        return self._fit(configuration, rows, self.data.classes[self.data.y])

    def rows(self, fold, fidelity):
        """Training and validation rows of a fold at a fidelity."""
        train, test = self.data.splits[fold]
        if fidelity == 1.0:
            return train, test
        chosen = stratified_subset(self.data.y, fidelity, np.random.default_rng(self.seed))
        return train[chosen[train]], test[chosen[test]]

    def _fit(self, configuration, rows, y):
        weights = self._weights(configuration, rows)
        return self.builder.fit(configuration, self.data.Z[rows], y[rows], weights)

    def _weights(self, configuration, rows):
        """Weights of the rows: the user's, times those of sensitive groups and classes."""
        weights = self.data.sample_weight
        weights = None if weights is None else weights[rows]
        for feature, strength in self._group_strengths(configuration).items():
            groups, y = self.data.groups[feature][rows], self.data.y[rows]
            weights = group_weights(groups, y, strength, weights)
        return weights

    def _group_strengths(self, configuration):
        """How strongly rows are weighed by each sensitive feature."""
        space = self.builder.space
        for step, algorithm in configuration.components:
            if space.component(step, algorithm).balancing == "groups":
                chosen = configuration.parameters(step)
                strengths = {name: chosen.get(f"strength_{name}") for name in self.data.groups}
                return {name: s for name, s in strengths.items() if s is not None}
        return {}

"""The tasks of a worker: fit a configuration on rows, predict and score."""

import math
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from skauto.constraints import Constraint, Evidence
from skauto.data import TrainingData
from skauto.data._splits import stratified_subset
from skauto.evaluation._pipeline import PipelineBuilder
from skauto.evaluation._promotion import decisive_rows
from skauto.model import PipelineEnsemble
from skauto.model._pipeline import class_probabilities, final_classifier, predict_probabilities
from skauto.selection._scores import score_probabilities
from skauto.space import Configuration
from skauto.space.catalog._rounds import Stage
from skauto.utils import IntArray, take_rows

N_CHECKED = 100  # rows that a refitted pipeline must predict


@dataclass(frozen=True, eq=False)
class FoldResult:
    """Result of one configuration on one fold, without `pipeline` unless the task keeps it."""

    probabilities: NDArray[np.float32]  # of the validation rows, (n_validation, n_classes)
    scores: Mapping[str, float]  # greater is better; NaN if a score is undefined on the fold
    fit_time: float  # wall-clock seconds, like score_time
    score_time: float
    cpu_time: float  # processor seconds of the whole task
    constraints: Mapping[str, float]
    rounds: int | None = None  # boosting rounds or epochs that early stopping chose
    stages: Sequence[Stage] = ()  # validation rows after other numbers of rounds
    pipeline: Pipeline | None = None  # fitted on the numeric matrix


@dataclass(frozen=True, eq=False)
class FoldTask:
    """Fit on the training rows of a fold, predict and score its validation rows."""

    configuration: Configuration
    fold: int
    fidelity: float = 1.0  # fraction of the training and validation rows
    share: float = 1.0  # fraction of the training rows only
    preview: bool = False  # predict only the validation rows that decide about the promotion
    keep: bool = False  # return the fitted pipeline, which then predicts the user's labels
    seconds: float = math.inf  # after which no further boosting round starts
    ends: float = math.inf  # time of the clock `time.time` after which none starts

    def run(self, worker: "PipelineWorker") -> FoldResult:
        """Evaluate the fold."""
        deadline = time.monotonic() + min(self.seconds, self.ends - time.time())
        train, test = worker.rows(self.fold, self.fidelity)
        if self.share < 1.0:
            rng = np.random.default_rng(worker.builder.seed)
            train = train[stratified_subset(worker.data.y[train], self.share, rng)]
        if self.preview:
            test = test[decisive_rows(len(test))]
        where = (self.fold, self.fidelity, self.share)
        return worker.evaluate(
            self.configuration, train, test, where, keep=self.keep, deadline=deadline
        )


@dataclass(frozen=True, eq=False)
class OutOfBagTask:
    """Fit once on all rows and score each fold by the out-of-bag predictions of its rows."""

    configuration: Configuration  # bootstrap forest whose other steps do not use the classes
    keep: bool = False  # return the fitted pipeline with the first fold, see `FoldTask`

    def run(self, worker: "PipelineWorker") -> list[FoldResult]:
        """Evaluate all folds; each result has an equal part of the processor seconds."""
        data = worker.data
        cpu_started, started = time.process_time(), time.perf_counter()
        y = data.classes[data.y] if self.keep else data.y
        pipeline = worker.builder.fit(
            self.configuration,
            data.Z,
            y,
            data.weights_of(slice(None)),
            groups=data.sensitive,
            out_of_bag=True,
        )
        fit_time = time.perf_counter() - started
        probabilities = np.array(final_classifier(pipeline).oob_decision_function_, np.float32)
        # A row without out-of-bag trees gets the class frequencies.
        never = np.isnan(probabilities).any(axis=1) | (probabilities.sum(axis=1) == 0)
        frequencies = np.bincount(data.y, data.sample_weight, data.n_classes)
        probabilities[never] = frequencies / frequencies.sum()
        scored = [(probabilities[test], worker.scores(probabilities[test], test))
                  for _, test in data.splits]  # fmt: skip
        score_time = time.perf_counter() - started - fit_time
        cpu_time = time.process_time() - cpu_started
        n_folds = len(scored)
        results = [
            FoldResult(of_fold, scores, fit_time, score_time / n_folds, cpu_time / n_folds, {})
            for of_fold, scores in scored
        ]
        return [replace(results[0], pipeline=pipeline), *results[1:]] if self.keep else results


@dataclass(frozen=True, eq=False)
class RefitTask:
    """Fit on all rows, or on the training rows of a fold, with the user's labels."""

    configuration: Configuration
    fold: int | None = None  # None for all rows
    rounds: int | None = None  # of the classifier, that early stopping chose
    n_seeds: int = 1  # of a classifier with ``set_seeds``

    def run(self, worker: "PipelineWorker") -> Pipeline:
        """Fit the pipeline, and check that what it predicts is finite."""
        data = worker.data
        rows = slice(None) if self.fold is None else data.splits[self.fold][0]
        pipeline = worker.builder.fit(
            self.configuration,
            data.Z[rows],
            data.classes[data.y][rows],
            data.weights_of(rows),
            groups=worker.groups(rows),
            rounds=self.rounds,
            n_seeds=self.n_seeds,
        )
        predict_probabilities(pipeline, data.Z[rows][:N_CHECKED], data.classes)
        return pipeline


Task = FoldTask | OutOfBagTask | RefitTask


@dataclass(eq=False)
class PipelineWorker:
    """The function that engines call: it holds the data and runs tasks.

    The search maximizes the first of the scorers. Constraints are measured on the validation rows
    of each fold. The seed of the builder is also that of subsamples.
    """

    builder: PipelineBuilder
    data: TrainingData
    scorers: Mapping[str, Any]
    constraints: Sequence[Constraint] = ()

    def __call__(self, task: Task) -> Any:
        if warnings.filters[:1] == [("ignore", None, Warning, None, 0)]:
            return task.run(self)  # threads leave the filters alone, see the JoblibEngine
        with warnings.catch_warnings(action="ignore"):  # such as those of convergence
            return task.run(self)

    def evaluate(
        self,
        configuration: Configuration,
        train: IntArray,
        test: IntArray,
        where: tuple[Any, ...],
        *,
        keep: bool = False,
        deadline: float = math.inf,
    ) -> FoldResult:
        """Fit on training rows, score validation rows; `where` names the rows for a cache.

        The cache is not used where the fitted steps are needed, as for constraints.
        """
        data = self.data
        labels = data.classes if keep else np.arange(data.n_classes)
        cpu_started, started = time.process_time(), time.perf_counter()
        whole = keep or bool(self.constraints)
        pipeline, Z_validation = self.builder.fit_validated(
            configuration,
            (data.Z[train], labels[data.y[train]]),
            (data.Z[test], labels[data.y[test]]),
            data.weights_of(train),
            groups=self.groups(train),
            where=None if whole else where,
            deadline=deadline,
        )
        fit_time = time.perf_counter() - started
        fitted = vars(final_classifier(pipeline))
        known = fitted.pop("validation_probabilities_", None)
        probabilities = class_probabilities(pipeline.steps[-1][1], Z_validation, labels, known)
        stages = fitted.pop("validation_stages_", [])
        if [stage.probabilities.shape for stage in stages[:1]] != [probabilities.shape]:
            stages = []  # a class has no rows to train on
        scores = self.scores(probabilities, test)
        score_time = time.perf_counter() - started - fit_time
        measured = {}
        if self.constraints:
            model = PipelineEnsemble(data.reader, [pipeline], [1.0], labels)
            evidence = Evidence.of(data, probabilities, test, model)
            measured = {c.key: float(c.measure(evidence)) for c in self.constraints}
        return FoldResult(
            probabilities,
            scores,
            fit_time,
            score_time,
            time.process_time() - cpu_started,
            measured,
            getattr(final_classifier(pipeline), "n_rounds_", None),
            stages,
            pipeline if keep else None,
        )

    def rows(self, fold: int, fidelity: float) -> tuple[IntArray, IntArray]:
        """Return the training and validation rows of a fold at a fidelity.

        They are those of a subset, which is the same for all folds, or all if it has none of them.
        """
        train, test = self.data.splits[fold]
        if fidelity == 1.0:
            return train, test
        chosen = stratified_subset(self.data.y, fidelity, np.random.default_rng(self.builder.seed))
        train, test = (
            part[chosen[part]] if chosen[part].any() else part for part in (train, test)
        )
        return train, test

    def score(self, scorer: Any, probabilities: NDArray[Any], rows: IntArray) -> float:
        """Score predicted probabilities of shape (n_rows, n_classes) of some rows."""
        data = self.data
        X = None if data.X is None else take_rows(data.X, rows)
        y, weights = data.y[rows], data.weights_of(rows)
        return score_probabilities(scorer, probabilities, y, data.classes, weights, X)

    def scores(self, probabilities: NDArray[Any], rows: IntArray) -> dict[str, float]:
        """Score predicted probabilities of some rows by every scorer."""
        return {
            name: self.score(scorer, probabilities, rows) for name, scorer in self.scorers.items()
        }

    def groups(self, rows: IntArray | slice) -> dict[str, IntArray]:
        """Codes of the sensitive groups of some rows, by feature."""
        return {name: codes[rows] for name, codes in self.data.sensitive.items()}

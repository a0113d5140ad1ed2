"""The predictions that a report is about."""

import time
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from skauto.data._table import as_table
from skauto.data._training import plain_labels
from skauto.display._predictions import (
    LabeledPredictions,
    answers_of,
    are_rows_of_fit,
    name_of_classes,
    sample_of,
)
from skauto.exceptions import UnreadableCellsWarning
from skauto.selection._intervals import Answers, ScoreInterval
from skauto.utils import n_rows

OUT_OF_FOLD, HELD_OUT = "out-of-fold predictions", "held-out rows"
WITHOUT_CLASSES = "rows without classes"
# Keys of a score and of its interval, in the fit and on held-out rows.
SCORE_KEYS = ("score", "low", "high")
HELD_OUT_KEYS = ("held_out", "held_out_low", "held_out_high")
# Rows of which the importance is measured; more of them change little.
MAX_ROWS = 1_000


@dataclass(frozen=True)
class Evidence:
    """A fitted estimator with its out-of-fold predictions and those of held-out rows, if any.

    `target` is the name of the classes, if they have one. `given` are the answers for the rows of
    `X`, which may be without classes.
    """

    estimator: Any
    out_of_fold: LabeledPredictions | None
    held_out: LabeledPredictions | None = None
    X: Any = None
    target: str | None = None
    given: Answers | None = None

    @classmethod
    def of(cls, estimator: Any, X: Any, y: Any) -> Self:
        """Predict held-out rows, or rows without classes; X and y are None without them."""
        out_of_fold = LabeledPredictions.out_of_fold(estimator)
        target = name_of_classes(y) or estimator._target
        if X is None:
            return cls(estimator, out_of_fold, target=target)
        X = as_table(X)
        if y is not None:
            held_out = LabeledPredictions.held_out(estimator, X, np.asarray(plain_labels(y)))
            if not are_rows_of_fit(estimator, X, "The report is as without their classes."):
                return cls(estimator, out_of_fold, held_out, X, target, held_out.answers)
        X = sample_of(X, MAX_ROWS)
        # They may be rows of `fit`, which has warned of them.
        with warnings.catch_warnings(action="ignore", category=UnreadableCellsWarning):
            answers = answers_of(estimator, X)
        return cls(estimator, out_of_fold, None, X, target, answers)

    @property
    def shown(self) -> LabeledPredictions | None:
        """The predictions that scores, errors and curves are computed of."""
        return self.out_of_fold if self.held_out is None else self.held_out

    @property
    def measured_on(self) -> str:
        """What the scores are measured on."""
        return OUT_OF_FOLD if self.held_out is None else HELD_OUT

    @cached_property
    def held_out_scores(self) -> dict[str, ScoreInterval]:
        """Scores on the held-out rows by model, see `score_models`."""
        found: dict[str, ScoreInterval] = self.estimator._held_out_scores(self.held_out, self.X)
        return found

    @cached_property
    def seconds_per_row(self) -> float:
        """Seconds that the model takes to predict a row of `X`, in a table of `MAX_ROWS` rows."""
        rows, started = sample_of(self.X, MAX_ROWS), time.perf_counter()
        answers_of(self.estimator, rows)
        return (time.perf_counter() - started) / n_rows(rows)

    @property
    def counts(self) -> NDArray[np.intp]:
        """Number of rows of each class in ``fit``."""
        targets = self.estimator.history_.goal.targets
        n_classes = len(self.estimator.classes_)
        if targets is None:
            return np.zeros(n_classes, dtype=np.intp)
        return np.bincount(targets, minlength=n_classes)

    @property
    def majority(self) -> Any:
        """The most frequent class in ``fit``, by the weights of the rows."""
        goal = self.estimator.history_.goal
        counts = self.counts
        if goal.targets is not None:
            counts = np.bincount(goal.targets, goal.sample_weight, minlength=len(counts))
        return self.estimator.classes_[np.argmax(counts)]

    @property
    def n_rows_of_table(self) -> int:
        """Number of rows that ``fit`` read, also those of weight 0."""
        kept = self.estimator._kept_rows
        return int(self.counts.sum()) if kept is None else len(kept)

"""Scores of the ensemble beside those of simpler answers, on the same rows."""

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from skauto.data import TrainingData
from skauto.data._splits import Split
from skauto.data._training import plain_labels
from skauto.display._base import score_name, than_guessing
from skauto.display._predictions import LabeledPredictions, are_rows_of_fit
from skauto.estimators._reporting import ReportMixin
from skauto.estimators._scoring import primary_scoring
from skauto.exceptions import NoBetterThanGuessingWarning, UnreadableCellsWarning
from skauto.history import OutOfFold
from skauto.selection import get_loss
from skauto.selection._intervals import (
    BEST,
    ENSEMBLE,
    LEAD,
    MAJORITY,
    MODELS,
    Answers,
    ScoreInterval,
    Truth,
    better_guess,
    is_guessing,
    score_answers,
    score_models,
)
from skauto.utils import BoolArray, FloatArray, scorer_function, take_rows, warn

if TYPE_CHECKING:
    import pandas as pd

_UNKNOWN = (math.nan, math.nan, math.nan)
# Mean number of rows of a class below which numbers are taken for the target of a regression.
_ROWS_PER_NUMBER = 10


class ScoreMixin(ReportMixin):
    """Results of a fitted estimator, with its scores on out-of-fold predictions.

    Warning: This class should not be used directly. Use the estimators.
    """

    scoring: Any
    classes_: NDArray[Any]
    _kept_rows: BoolArray | None
    _out_of_fold: Any
    _scores: dict[str, ScoreInterval]
    _fold_scores: tuple[float, ...]

    @property
    def ensemble_score_(self) -> float:
        """Score of the ensemble on its out-of-fold predictions, of all rows together.

        Up to 3,000 rows, fewer with more than ten classes, each part of the rows is predicted by
        the ensemble that is selected on the other parts, if there are no limits: the score of the
        selected ensemble on the rows that selected it would be too high.
        """
        check_is_fitted(self)
        return self._scores.get(ENSEMBLE, _UNKNOWN)[0]

    @property
    def ensemble_score_interval_(self) -> tuple[float, float]:
        """Bounds of a 95% bootstrap interval over the rows for ``ensemble_score_``."""
        check_is_fitted(self)
        _, low, high = self._scores.get(ENSEMBLE, _UNKNOWN)
        return low, high

    @property
    def majority_score_(self) -> float:
        """Score of always answering the most frequent class, on the same rows.

        Scorers of probabilities get the class frequencies.
        """
        check_is_fitted(self)
        return self._scores.get(MAJORITY, _UNKNOWN)[0]

    @property
    def out_of_fold_proba_(self) -> FloatArray:
        """Out-of-fold class probabilities of the ensemble, in the order of the rows of ``X``."""
        check_is_fitted(self)
        goal = self.history_.goal
        n_rows = 0 if goal.targets is None else len(goal.targets)
        kept = np.ones(n_rows, dtype=bool) if self._kept_rows is None else self._kept_rows
        every = np.full((len(kept), len(self.classes_)), np.nan)
        known = LabeledPredictions.out_of_fold(self)
        if known is not None and known.rows is not None:
            every[np.flatnonzero(kept)[known.rows]] = known.probabilities
        return every

    def score_report(self, X: Any = None, y: ArrayLike | None = None) -> "pd.DataFrame":
        """Score of the ensemble beside those of simpler answers (needs pandas).

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features), default=None
            Held-out rows.
        y : array-like of shape (n_samples,), default=None
            Classes of ``X``; required with ``X``.

        Returns
        -------
        report : pandas.DataFrame
            The rows are "ensemble", "best pipeline" and "majority class". The last one answers
            the most frequent class, with the class frequencies as probabilities. The columns are
            ``score`` on the out-of-fold predictions, ``low`` and ``high``, the bounds of its 95%
            bootstrap interval over the rows; with held-out rows also ``held_out``,
            ``held_out_low`` and ``held_out_high``.

        Raises
        ------
        ValueError
            If only one of X and y is given, or y holds a class that ``fit`` has not seen.
        """
        import pandas as pd

        check_is_fitted(self)
        if (X is None) != (y is None):
            raise ValueError(
                "Scores on held-out rows need both of 'X' and 'y'. Got only "
                f"{'y' if X is None else 'X'}."
            )
        held_out: dict[str, ScoreInterval] = {}
        if X is not None:
            known = LabeledPredictions.held_out(self, X, np.asarray(plain_labels(y)))
            are_rows_of_fit(self, X, "Their scores are too high.")
            held_out = self._held_out_scores(known, X)
        names = [name for name in MODELS if name in self._scores or name in held_out]
        values = [self._scores.get(name, _UNKNOWN) for name in names]
        frame = pd.DataFrame(values, names, ["score", "low", "high"])
        if X is None:
            return frame
        columns = ["held_out", "held_out_low", "held_out_high"]
        return frame.join(pd.DataFrame.from_dict(held_out, orient="index", columns=columns))

    def _held_out_scores(self, known: LabeledPredictions, X: Any) -> dict[str, ScoreInterval]:
        """Score predictions of held-out rows X, see `score_models`."""
        models = {ENSEMBLE: known.answers}
        if hasattr(self, "best_estimator_"):
            # The ensemble has read the same rows.
            with warnings.catch_warnings(action="ignore", category=UnreadableCellsWarning):
                best = np.asarray(self.best_estimator_.predict_proba(X))
            models[BEST] = Answers(best, np.argmax(best, axis=1))
        goal = self.history_.goal
        if goal.targets is not None:
            models[MAJORITY] = Answers.guesses(
                goal.targets, len(known.classes), goal.sample_weight, n_rows=len(known.truth)
            )
        return self._score_models(models, known.truth_of(None, X))

    def _score_models(
        self, models: Mapping[str, Answers], truth: Truth
    ) -> dict[str, ScoreInterval]:
        loss = get_loss(primary_scoring(self.scoring, len(self.classes_)), self.classes_)
        return score_models(self.scorer_, loss, models, truth)

    @property
    def _is_guessing(self) -> bool:
        return is_guessing(self._scores)

    def _record_scores(self, data: TrainingData, best: OutOfFold | None) -> None:
        """Score the out-of-fold predictions at the end of ``fit``, and warn of a poor model.

        `best` are those of the best pipeline.
        """
        self._scores, self._fold_scores = {ENSEMBLE: _UNKNOWN}, ()
        known = LabeledPredictions.out_of_fold(self)
        if known is None or known.rows is None or best is None:
            return
        truth = known.truth_of(self.history_.goal.sample_weight, data.X)
        alone = best.predictions[known.rows]
        models = {ENSEMBLE: known.answers, BEST: Answers(alone, np.argmax(alone, axis=1))}
        self._scores = self._score_models(models, truth)
        self._fold_scores = _by_fold(self.scorer_, known, truth, data.splits)
        limits = list(self.history_.goal.limits)
        _warn_of_guessing(self._scores, score_name(self), limits, data)

    def _rescore(self) -> None:
        """Score the ensemble again after its decision was changed.

        Scores of a callable that reads the table are not defined without the table.
        """
        known = LabeledPredictions.out_of_fold(self)
        if known is None:
            return
        if scorer_function(self.scorer_) is None:
            self._scores = {**self._scores, ENSEMBLE: _UNKNOWN, LEAD: _UNKNOWN}
            return
        truth = known.truth_of(self.history_.goal.sample_weight)
        self._scores = {**self._scores, **self._score_models({ENSEMBLE: known.answers}, truth)}


def score_of_ensemble(scorer: Any, out_of_fold: OutOfFold, data: TrainingData) -> float:
    """Score of out-of-fold predictions of an ensemble, with the most probable class."""
    mean, rows = out_of_fold.predictions, out_of_fold.rows
    X = None if data.X is None else take_rows(data.X, rows)
    truth = Truth(data.y[rows], data.classes, data.weights_of(rows), X)
    return score_answers(scorer, Answers(mean[rows], np.argmax(mean[rows], axis=1)), truth)


def _by_fold(
    scorer: Any, known: LabeledPredictions, truth: Truth, splits: Sequence[Split]
) -> tuple[float, ...]:
    """Scores of the ensemble on the validation rows of each fold; NaN where not defined."""
    assert known.rows is not None
    folds = [np.flatnonzero(np.isin(known.rows, test)) for _, test in splits]
    return tuple(
        score_answers(scorer, known.answers.take(fold), truth.take(fold))
        if fold.size
        else math.nan
        for fold in folds
    )


def _warn_of_guessing(
    scores: Mapping[str, ScoreInterval], name: str, limits: Sequence[str], data: TrainingData
) -> None:
    """Warn if the ensemble is not clearly better than a guess.

    `name` is that of the score. Limits are the cause if the most probable classes of the best
    pipeline, which no decision changes, are better. Numbers of few rows each are no classes.
    """
    if not is_guessing(scores):
        return
    better = better_guess(scores)
    (score, low, high), (guess, _, _) = scores[ENSEMBLE], scores[better]
    what = "the same answers in random order give"
    if better == MAJORITY:
        what = "always answering the most frequent class, with the class frequencies as "
        what += "probabilities, gives"
    advice = (
        "Check that the columns hold something that decides the class, and give more rows. If a "
        "class is rare, maximize a score that ranks the rows: scoring='roc_auc'."
    )
    if data.classes.dtype.kind in "iuf" and len(data.y) < _ROWS_PER_NUMBER * data.n_classes:
        advice = (
            f"y has {data.n_classes} different numbers in {len(data.y)} rows: make a few classes "
            "of them, for instance with pandas.cut. To predict the numbers, use a regressor."
        )
    best, least, _ = scores[BEST]
    if limits and least > guess:
        advice = (
            f"The limits on {', '.join(map(repr, limits))} are the cause: the best pipeline "
            f"without them has {best:.4g}. Set wider limits, or give more rows."
        )
    warn(
        f"The model {than_guessing(score, guess)} guessing: its out-of-fold {name} is "
        f"{score:.4g} (95% interval {low:.4g} to {high:.4g}), and {what} {guess:.4g}. {advice}",
        NoBetterThanGuessingWarning,
    )

"""Scores of stored predictions with bootstrap intervals."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skauto.selection._label_losses import ErrorLoss, LabelLoss
from skauto.selection._losses import BrierLoss, LogLoss, Loss
from skauto.selection._scorer_loss import ScorerLoss
from skauto.selection._scores import score_probabilities
from skauto.utils import FloatArray, IntArray, take_rows

# Resamples, and maximum number of rows of a resample, for vectorized losses and for scorers.
_N_RESAMPLES, _MAX_ROWS = 200, 5_000
_N_SCORER_RESAMPLES, _MAX_SCORER_ROWS = 60, 2_000
# Fewest resamples with many classes, and the resamples times classes otherwise.
_FEWEST_RESAMPLES, _MAX_CLASSES = 40, 2_000
# Bounds of a central interval of 95%, as quantiles.
_LOW, _HIGH = 0.025, 0.975


# A score and the bounds of its 95% interval.
ScoreInterval = tuple[float, float, float]
# Names of the models that are scored.
MODELS = ENSEMBLE, BEST, MAJORITY = "ensemble", "best pipeline", "majority class"
# Score of the ensemble's answers in random order, and its lead over the better guess.
SHUFFLED, LEAD = "shuffled", "lead"


@dataclass(frozen=True)
class Answers:
    """Stored answers of one model: probabilities (n_samples, n_classes) and label codes."""

    probabilities: FloatArray
    labels: IntArray

    @classmethod
    def guesses(
        cls, y: IntArray, n_classes: int, weight: FloatArray | None, n_rows: int | None = None
    ) -> "Answers":
        """Class frequencies of the codes y as probabilities, the most frequent class as label.

        The number of answers is that of the codes, or `n_rows`.
        """
        shares = np.bincount(y, weights=weight, minlength=n_classes)
        shares = shares / shares.sum()
        n_rows = len(y) if n_rows is None else n_rows
        return cls(np.tile(shares, (n_rows, 1)), np.full(n_rows, np.argmax(shares)))

    def take(self, rows: IntArray) -> "Answers":
        """The answers for some rows."""
        return Answers(self.probabilities[rows], self.labels[rows])


@dataclass(frozen=True)
class Truth:
    """True class codes (n_samples,), class labels, and row weights and table, or None."""

    y: IntArray
    classes: NDArray[Any]
    weight: FloatArray | None = None
    X: Any = None

    def take(self, rows: IntArray) -> "Truth":
        """The truth of some rows."""
        weight = None if self.weight is None else self.weight[rows]
        X = None if self.X is None else take_rows(self.X, rows)
        return Truth(self.y[rows], self.classes, weight, X)


def score_answers(scorer: Callable[..., float], answers: Answers, truth: Truth) -> float:
    """Score the answers of one model by a scikit-learn scorer."""
    return score_probabilities(
        scorer,
        answers.probabilities,
        truth.y,
        truth.classes,
        truth.weight,
        truth.X,
        labels=answers.labels,
    )


def resampled_scores(
    scorer: Callable[..., float], loss: Loss, models: Sequence[Answers], truth: Truth
) -> FloatArray:
    """Scores of several models on bootstrap resamples of the rows, (n_resamples, n_models).

    The generator has a fixed seed. With many rows, a sample of the rows is resampled, and the
    deviations from the scores on this sample are scaled to the number of all rows. The scores are
    therefore centered on the scores of all rows. The loss is that of the scorer.

    References
    ----------
    B. Efron and R. J. Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13.
    """
    rng = np.random.default_rng(0)
    by_scorer = isinstance(loss, ScorerLoss)
    most = _MAX_SCORER_ROWS if by_scorer else _MAX_ROWS
    n_rows = len(truth.y)
    scale = 1.0
    if n_rows > most:
        rows = np.sort(rng.choice(n_rows, most, replace=False))
        truth, models = truth.take(rows), [answers.take(rows) for answers in models]
        scale = float(np.sqrt(most / n_rows))
    score = scores_of_rows(scorer, loss, models, truth)
    every = score(np.arange(len(truth.y)))
    n_resamples = _N_SCORER_RESAMPLES if by_scorer else _N_RESAMPLES
    n_resamples = min(n_resamples, max(_FEWEST_RESAMPLES, _MAX_CLASSES // len(truth.classes)))
    drawn = [score(rng.integers(len(truth.y), size=len(truth.y))) for _ in range(n_resamples)]
    return scale * (np.array(drawn) - every)


def score_models(
    scorer: Any, loss: Loss, models: Mapping[str, Answers], truth: Truth
) -> dict[str, ScoreInterval]:
    """Score models and the majority class on the same rows, with 95% intervals.

    The entry "shuffled" is the score of the answers of the ensemble in random order, which may be
    above that of the majority class, as F1 of the answer "positive". The entry "lead" is the score
    of the ensemble minus the better one of these two.
    """
    if MAJORITY not in models:
        guesses = Answers.guesses(truth.y, len(truth.classes), truth.weight)
        models = {**models, MAJORITY: guesses}
    order = np.random.default_rng(0).permutation(len(truth.y))
    models = {**models, SHUFFLED: models[ENSEMBLE].take(order)}
    scores = {name: score_answers(scorer, answers, truth) for name, answers in models.items()}
    deviations = resampled_scores(scorer, loss, list(models.values()), truth)
    by_name = dict(zip(models, deviations.T, strict=True))
    found = {name: interval_of(scores[name], by_name[name]) for name in models}
    for name, answers in models.items():
        found[name] = exact_interval(loss, answers, truth) or found[name]
    guess = better_guess(found)
    lead = scores[ENSEMBLE] - scores[guess]
    found[LEAD] = interval_of(lead, by_name[ENSEMBLE] - by_name[guess])
    return found


def better_guess(scores: Mapping[str, ScoreInterval]) -> str:
    """Name the better one of the majority class and the answers in random order."""
    return SHUFFLED if scores[SHUFFLED][0] > scores[MAJORITY][0] else MAJORITY


def is_guessing(scores: Mapping[str, ScoreInterval]) -> bool:
    """Whether the lead of the ensemble over a guess may be chance, or is negative."""
    lead, low, _ = scores.get(LEAD, (math.nan,) * 3)
    return bool(lead <= 0 if math.isnan(low) else low <= 0)


def interval_of(score: float, deviations: FloatArray) -> ScoreInterval:
    """Return a score with the bounds of its 95% interval, from the deviations of resamples."""
    known = deviations[~np.isnan(deviations)]
    if not known.size or np.isnan(score):
        return score, float("nan"), float("nan")
    # Without rounding, a bound at 0 may be negative by the error of the floats; -0 + 0 is 0.
    low, high = np.round(score + np.quantile(known, [_LOW, _HIGH]), 12) + 0.0
    return score, float(low), float(high)


def exact_interval(loss: Loss, answers: Answers, truth: Truth) -> ScoreInterval | None:
    """Return an accuracy of 1 or 0 with its exact 95% interval; None for other scores.

    All resamples of right answers are right, so the bootstrap says nothing about the errors that
    may come.
    """
    n_right = np.count_nonzero(answers.labels == truth.y)
    if not isinstance(loss, ErrorLoss) or 0 < n_right < len(truth.y):
        return None
    least = float(_LOW ** (1.0 / len(truth.y)))
    return (1.0, least, 1.0) if n_right else (0.0, 0.0, 1.0 - least)


def scores_of_rows(
    scorer: Callable[..., float], loss: Loss, models: Sequence[Answers], truth: Truth
) -> Callable[[IntArray], FloatArray]:
    """Return a function that scores several models on some rows, by the loss if it is vectorized.

    The loss is that of the scorer.
    """
    if isinstance(loss, ScorerLoss):
        return _scores_by_scorer(scorer, models, truth)
    return _scores(loss, models, truth)


def _scores_by_scorer(
    scorer: Callable[..., float], models: Sequence[Answers], truth: Truth
) -> Callable[[IntArray], FloatArray]:
    def score(rows: IntArray) -> FloatArray:
        some = truth.take(rows)
        return np.array([score_answers(scorer, answers.take(rows), some) for answers in models])

    return score


def _scores(
    loss: Any, models: Sequence[Answers], truth: Truth
) -> Callable[[IntArray], FloatArray]:
    n_classes = len(truth.classes)
    if isinstance(loss, LabelLoss):
        predictions = np.stack([np.eye(n_classes)[answers.labels] for answers in models])
    else:
        predictions = np.stack([answers.probabilities for answers in models])
    best = 0.0 if isinstance(loss, LogLoss | BrierLoss) else 1.0

    def score(rows: IntArray) -> FloatArray:
        weight = None if truth.weight is None else truth.weight[rows]
        return best - np.asarray(loss(truth.y[rows], predictions[:, rows], weight))

    return score

"""Base class and early stopping of classifiers that are trained in rounds."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

# Number of boosting rounds times the learning rate, for fits without validation rows.
TOTAL_STEP = 10.0
# Maximum number of probabilities of the validation rows that stages are recorded for, and the
# ratio of the numbers of rounds of two stages.
_MAX_PROBABILITIES = 10_000
_RATIO = 1.2


class Stage(NamedTuple):
    """Prediction of the validation rows after a number of rounds."""

    n_rounds: int
    probabilities: NDArray[np.float32]  # (n_validation, n_classes)


def takes_stages(n_samples: int, n_classes: int) -> bool:
    """Whether stages of this number of validation rows are recorded."""
    return n_samples * n_classes <= _MAX_PROBABILITIES


def is_stage(n_rounds: int) -> bool:
    """Whether the prediction after this number of rounds is recorded."""
    return ceil(log(n_rounds, _RATIO)) < ceil(log(n_rounds + 1, _RATIO))


class RoundsClassifier(ClassifierMixin, BaseEstimator, ABC):
    """Base class of classifiers that are trained in rounds, with a parameter `n_rounds`."""

    classes_: Any

    def set_rounds(self, n: int) -> Self:
        """Set the number of rounds, at least 1, of fits without validation rows."""
        return self.set_params(n_rounds=int(n))

    def predict(self, X: Any) -> Any:
        """Predict the most probable class of each row."""
        codes = self.predict_proba(X).argmax(axis=1)  # raises NotFittedError first
        return self.classes_[codes]

    @abstractmethod
    def predict_proba(self, X: Any) -> Any:
        """Predict class probabilities, shape (n_samples, n_classes)."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@dataclass(kw_only=True, eq=False, repr=False)
class BoostedTrees(RoundsClassifier):
    """Base class of boosted trees of other libraries, with early stopping and any class labels.

    A subclass has the parameters of the library, and defines `_boost` and `predict_proba`. The
    columns `categorical_features` are category codes. `max_rounds` is the maximum number of rounds
    with validation rows, `n_rounds` the number without them; None means ``10 / learning_rate``.
    """

    categorical_features: Sequence[int] = ()
    learning_rate: float = 0.1
    max_rounds: int = 1000
    n_rounds: int | None = None
    random_state: Any = None

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, eval_set: tuple[Any, Any] | None = None
    ) -> Self:
        """Fit the boosted trees.

        With validation rows ``eval_set=(X_val, y_val)``, boosting stops early by their log loss.
        """
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.n_features_in_ = np.shape(X)[1]
        held_out = None if eval_set is None else known_rows(eval_set, self.classes_)
        if held_out is None:
            usual = min(self.max_rounds, ceil(TOTAL_STEP / self.learning_rate))
            boosted = self._boost(X, codes, sample_weight, self.n_rounds or usual)
        else:
            validation = held_out[0], np.searchsorted(self.classes_, held_out[1])
            boosted = self._boost(X, codes, sample_weight, self.max_rounds, validation)
        self.model_, self.n_rounds_ = boosted
        return self

    @abstractmethod
    def _boost(
        self, X: Any, codes: Any, sample_weight: Any, n_rounds: int, validation: Any = None
    ) -> tuple[Any, int]:
        """Return the fitted model and its number of rounds: `n_rounds`, or fewer with stopping."""

    def _patience(self, X: Any) -> int:
        """Return the number of rounds without a lower loss after which boosting stops."""
        return ceil(min(10.0 + 2.0 / self.learning_rate, max_patience(np.shape(X)[0])))

    def _library_settings(self) -> dict[str, Any]:
        own = {"categorical_features", "max_rounds", "n_rounds"}
        return {k: v for k, v in self.get_params(deep=False).items() if k not in own}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def max_patience(n_samples: int) -> float:
    """Return the maximum number of rounds without a lower loss, from 20 to 150.

    It is half the patience of AutoGluon, and decreases for many rows, whose loss has less noise.
    """
    return max(20.0, 150.0 * min(1.0, 10_000 / n_samples))


def known_rows(eval_set: tuple[Any, Any], classes: Any) -> tuple[Any, Any] | None:
    """Drop the validation rows whose class is not in `classes`; None if no row remains."""
    X, y = eval_set[0], np.asarray(eval_set[1])
    known = np.isin(y, classes)
    return (X[known], y[known]) if known.any() else None

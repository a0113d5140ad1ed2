"""LightGBM with early stopping and categorical columns as a constructor parameter."""

import time
import warnings
from collections.abc import Sequence
from math import ceil, inf
from typing import Any

import numpy as np
from lightgbm import LGBMClassifier
from lightgbm.callback import CallbackEnv, EarlyStopException
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_random_state

from skauto.space.catalog._rounds import (
    TOTAL_STEP,
    Stage,
    is_stage,
    known_rows,
    max_patience,
    takes_stages,
)
from skauto.utils import OwnParameters

# Minimum decrease of the log loss (nats per row) that counts as an improvement.
_MIN_DELTA = 1e-4


class LightGBMClassifier(OwnParameters, LGBMClassifier):
    """LightGBM with early stopping on a validation set and categorical columns.

    Parameters
    ----------
    categorical_features : list of int, default=None
        Columns of category codes; None means that all columns are numeric.
    max_rounds : int, default=1000
        Maximum number of rounds; it does not bound `n_estimators`.
    n_estimators : int, default=None
        Number of rounds of a fit without validation rows; None means ``10 / learning_rate``.
    learning_rate : float, default=0.1
        Shrinkage of each round.
    n_seeds : int, default=1
        Number of models with different seeds, as many rounds and the same training rows.
        Predictions are means over them.
    **kwargs : dict
        Other parameters of :class:`lightgbm.LGBMClassifier`.

    Attributes
    ----------
    n_rounds_ : int
        Number of rounds that predictions use.
    others_ : list of LightGBMClassifier
        Models with other seeds.
    validation_probabilities_ : ndarray of shape (n_validation, n_classes)
        Predictions of the validation rows after the best round.
    validation_stages_ : list of Stage
        The same before and after the best round, for few validation rows.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.space.catalog import LightGBMClassifier
    >>> codes = np.tile([0.0, 1.0, 2.0, 3.0], 50)[:, None]
    >>> y = np.tile([0, 1, 0, 1], 50)
    >>> classifier = LightGBMClassifier(categorical_features=[0], verbose=-1).set_rounds(5)
    >>> classifier.fit(codes, y).score(codes, y)
    1.0
    """

    _own_parameters = ("categorical_features", "max_rounds", "n_seeds")

    def __init__(
        self,
        *,
        categorical_features: Sequence[int] | None = None,
        max_rounds: int = 1000,
        n_estimators: int | None = None,
        learning_rate: float = 0.1,
        n_seeds: int = 1,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.n_estimators: Any = n_estimators  # `fit` sets an int while LightGBM reads it
        self.categorical_features = categorical_features
        self.max_rounds = max_rounds
        self.n_seeds = n_seeds

    def set_rounds(self, n: int) -> "LightGBMClassifier":
        """Set the number of rounds of fits without validation rows; see `RoundsClassifier`."""
        return self.set_params(n_estimators=int(n))

    def set_seeds(self, n: int) -> "LightGBMClassifier":
        """Set the number of models with different seeds."""
        return self.set_params(n_seeds=int(n))

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        eval_set: tuple[Any, Any] | None = None,
        deadline: float = inf,
        **fit_params: Any,
    ) -> "LightGBMClassifier":
        """Fit the boosted trees.

        With ``eval_set=(X_val, y_val)``, boosting stops early by the log loss and the best round
        is kept. Rows whose class is not in `y` are dropped; if no row remains, `eval_set` is
        ignored. Boosting also stops after the round in which the clock `time.monotonic` passes
        the `deadline`. Other keywords are arguments of :meth:`lightgbm.LGBMClassifier.fit`.
        """
        given = dict(fit_params, sample_weight=sample_weight)
        columns = [] if self.categorical_features is None else list(self.categorical_features)
        if columns:
            fit_params.setdefault("categorical_feature", columns)
        held_out = None if eval_set is None else known_rows(eval_set, np.unique(y))
        fixed, stopping = self.n_estimators, None
        if held_out is not None:
            self.n_estimators = self.max_rounds
            n_validated, n_classes = np.shape(held_out[0])[0], len(np.unique(y))
            stages: list[Stage] | None = [] if takes_stages(n_validated, n_classes) else None
            stopping = _EarlyStopping(self.learning_rate, np.shape(X)[0], deadline, stages)
            record = stopping.record
            fit_params |= {
                "eval_set": [held_out],
                "eval_class_weight": None if self.class_weight is None else [self.class_weight],
                "callbacks": [*fit_params.get("callbacks", ()), stopping],
                # a function, because LightGBM copies other objects
                "eval_metric": lambda _, predicted: record(predicted),
            }
        elif fixed is None:
            self.n_estimators = min(self.max_rounds, ceil(TOTAL_STEP / self.learning_rate))
        try:
            with warnings.catch_warnings():  # the replacement of `eval_set` needs LightGBM 4.7
                warnings.filterwarnings("ignore", "The argument 'eval_set' is deprecated")
                super().fit(X, y, sample_weight=sample_weight, **fit_params)
        finally:
            self.n_estimators = fixed
        self.n_rounds_ = max(1, self.booster_.current_iteration())
        if stopping is not None:
            self.validation_stages_ = stopping.stages or []
            self.validation_probabilities_ = stopping.best
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=self.n_seeds - 1)
        other = clone(self).set_params(n_seeds=1, n_estimators=self.n_rounds_)
        self.others_ = [clone(other).set_params(random_state=s).fit(X, y, **given) for s in seeds]
        return self

    def predict_proba(self, X: Any, **predict_params: Any) -> Any:  # type: ignore[override]
        """Predict class probabilities, shape (n_samples, n_classes)."""
        found = self._predict_proba(X, **predict_params)
        if not self.others_:
            return found
        others = [other._predict_proba(X, **predict_params) for other in self.others_]
        return np.mean([found, *others], axis=0)

    def _predict_proba(self, X: Any, **predict_params: Any) -> Any:
        """Predict the class probabilities of the first model.

        An array goes to the booster at once: for 100 rows, the checks and the parameters of
        LightGBM's estimator take longer than the trees. A sparse array becomes a sparse matrix,
        because LightGBM warns of the former in every call.
        """
        is_sparse = sparse.issparse(X)  # no type narrowing
        if is_sparse:
            X = sparse.csr_matrix(X)
        plain = isinstance(X, np.ndarray) and X.dtype == np.float64 and len(X) > 0
        if not plain or X.shape[1:] != (self.n_features_in_,) or predict_params:
            return super().predict_proba(X, **predict_params)
        n_threads = self._process_n_jobs(self.n_jobs)
        found = np.asarray(self.booster_.predict(X, num_threads=n_threads))
        return found if found.ndim == 2 else np.column_stack([1.0 - found, found])


class _EarlyStopping:
    """Callback for early stopping, whose patience grows with the best round.

    With the metric `record`, it keeps the predictions of the validation rows after the best round,
    and some of those after other rounds if there is a list of `stages`.
    """

    def __init__(
        self, learning_rate: float, n_samples: int, deadline: float, stages: list[Stage] | None
    ) -> None:
        self.learning_rate, self.bound = learning_rate, max_patience(n_samples)
        self.deadline, self.stages = deadline, stages
        self.best_round, self.best_loss = -1, np.inf
        self.predicted = self.best = np.empty((0, 2))

    def record(self, predicted: Any) -> tuple[str, float, bool]:
        """Keep the predictions of the last round; a metric that is always 0."""
        self.predicted = predicted
        return "constant", 0.0, False

    def __call__(self, env: CallbackEnv) -> None:
        results = env.evaluation_result_list or []
        loss = next(value for _, name, value, *_ in results if name != "constant")
        if loss < self.best_loss - _MIN_DELTA:
            self.best_round, self.best_loss = env.iteration, loss
            self.best = self._of_classes(np.float64)
        if self.stages is not None and is_stage(env.iteration + 1):
            self.stages.append(Stage(env.iteration + 1, self._of_classes(np.float32)))
        patience = min(1.0 / self.learning_rate + 0.15 * self.best_round, self.bound)
        last = env.iteration == env.end_iteration - 1 or time.monotonic() > self.deadline
        if last or env.iteration - self.best_round >= patience:
            raise EarlyStopException(max(0, self.best_round), results)

    def _of_classes(self, dtype: type) -> Any:
        """Return a copy of the last predictions, (n_validation, n_classes)."""
        found: Any = np.array(self.predicted, dtype=dtype)
        return found if found.ndim == 2 else np.column_stack([1.0 - found, found])

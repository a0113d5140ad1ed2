"""XGBoost with early stopping (`extended` space)."""

from collections.abc import Sequence
from math import ceil
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skauto.space.catalog._rounds import TOTAL_STEP, RoundsClassifier, fixed_patience, known_rows


class XGBoostClassifier(RoundsClassifier):
    """XGBoost with early stopping on a validation set and any class labels.

    Parameters
    ----------
    categorical_features : sequence of int, default=()
        Columns of category codes.
    learning_rate : float, default=0.1
        Shrinkage of each round.
    max_depth : int, default=6
        Maximum depth of the trees.
    min_child_weight : float, default=1.0
        Minimum sum of second derivatives in a leaf.
    subsample : float, default=0.9
        Share of the rows that is sampled for each round.
    colsample_bytree : float, default=0.7
        Share of the columns that is sampled for each tree.
    reg_alpha : float, default=0.0
        Strength of the L1 penalty.
    reg_lambda : float, default=1.0
        Strength of the L2 penalty.
    max_rounds : int, default=1000
        Maximum number of rounds; it does not bound `n_rounds`.
    n_rounds : int, default=None
        Number of rounds of a fit without validation rows; None means ``10 / learning_rate``.
    random_state : int, RandomState instance or None, default=None
        Seed of the samples of rows and columns.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    model_ : xgboost.XGBClassifier
        The fitted trees.
    n_features_in_ : int
        Number of columns.
    n_rounds_ : int
        Number of rounds that predictions use.
    """

    def __init__(
        self,
        *,
        categorical_features: Sequence[int] = (),
        learning_rate: float = 0.1,
        max_depth: int = 6,
        min_child_weight: float = 1.0,
        subsample: float = 0.9,
        colsample_bytree: float = 0.7,
        reg_alpha: float = 0.0,
        reg_lambda: float = 1.0,
        max_rounds: int = 1000,
        n_rounds: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.categorical_features = categorical_features
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.min_child_weight = min_child_weight
        self.subsample = subsample
        self.colsample_bytree = colsample_bytree
        self.reg_alpha = reg_alpha
        self.reg_lambda = reg_lambda
        self.max_rounds = max_rounds
        self.n_rounds = n_rounds
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        eval_set: tuple[Any, Any] | None = None,
    ) -> "XGBoostClassifier":
        """Fit the boosted trees.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        eval_set : tuple (X_val, y_val), default=None
            Validation rows for early stopping by the log loss.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.n_features_in_ = np.shape(X)[1]
        held_out = None if eval_set is None else known_rows(eval_set, self.classes_)
        if held_out is None:
            usual = ceil(TOTAL_STEP / self.learning_rate)
            model = self._model(self.n_rounds or min(self.max_rounds, usual))
            self.model_ = model.fit(X, codes, sample_weight=sample_weight)
        else:
            from xgboost.callback import EarlyStopping

            X_val, y_val = held_out
            rounds = fixed_patience(self.learning_rate, np.shape(X)[0])
            stop = EarlyStopping(rounds=rounds, save_best=True, min_delta=1e-4)
            model = self._model(self.max_rounds, callbacks=[stop])
            known = [(X_val, np.searchsorted(self.classes_, y_val))]
            model.fit(X, codes, sample_weight=sample_weight, eval_set=known, verbose=False)
            self.model_ = model.set_params(callbacks=None)
        self.n_rounds_ = self.model_.get_booster().num_boosted_rounds()
        return self

    def _model(self, n_rounds: int, callbacks: Any = None) -> Any:
        from xgboost import XGBClassifier

        kinds = ["q"] * self.n_features_in_
        for j in self.categorical_features:
            kinds[j] = "c"
        own = {"categorical_features", "max_rounds", "n_rounds"}
        settings = {k: v for k, v in self.get_params(deep=False).items() if k not in own}
        return XGBClassifier(
            n_estimators=n_rounds,
            feature_types=kinds,
            enable_categorical=True,
            tree_method="hist",
            n_jobs=1,
            callbacks=callbacks,
            **settings,
        )

    def predict_proba(self, X: Any) -> Any:
        """Predict class probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Data.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities; rows sum to 1.
        """
        check_is_fitted(self)
        return self.model_.predict_proba(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

"""XGBoost with early stopping (`extended` space)."""

from collections.abc import Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from skauto.space.catalog._rounds import BoostedTrees


class XGBoostClassifier(BoostedTrees):
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

    def _boost(
        self,
        X: Any,
        codes: Any,
        sample_weight: Any,
        n_rounds: int,
        validation: tuple[Any, Any] | None = None,
    ) -> tuple[Any, int]:
        from xgboost.callback import EarlyStopping

        model = self._model(n_rounds)
        if validation is None:
            model.fit(X, codes, sample_weight=sample_weight)
        else:
            stop = EarlyStopping(rounds=self._patience(X), save_best=True, min_delta=1e-4)
            model.set_params(callbacks=[stop])
            model.fit(X, codes, sample_weight=sample_weight, eval_set=[validation], verbose=False)
            model.set_params(callbacks=None)
        return model, model.get_booster().num_boosted_rounds()

    def _model(self, n_rounds: int) -> Any:
        from xgboost import XGBClassifier

        kinds = ["q"] * self.n_features_in_
        for j in self.categorical_features:
            kinds[j] = "c"
        return XGBClassifier(
            n_estimators=n_rounds,
            feature_types=kinds,
            enable_categorical=True,
            tree_method="hist",
            n_jobs=1,
            **self._library_settings(),
        )

    def predict_proba(self, X: Any) -> Any:
        """Predict class probabilities."""
        check_is_fitted(self)
        return self.model_.predict_proba(X)

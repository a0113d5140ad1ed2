"""XGBoost with early stopping (`extended` space)."""

from dataclasses import dataclass
from typing import Any

from sklearn.utils.validation import check_is_fitted

from skauto.space.catalog._rounds import BoostedTrees


@dataclass(kw_only=True, eq=False, repr=False)
class XGBoostClassifier(BoostedTrees):
    """XGBoost with early stopping on a validation set and any class labels.

    Parameters are those of :class:`xgboost.XGBClassifier` with the same names, and those of
    `BoostedTrees`.
    """

    max_depth: int = 6
    min_child_weight: float = 1.0
    subsample: float = 0.9
    colsample_bytree: float = 0.7
    reg_alpha: float = 0.0
    reg_lambda: float = 1.0

    def _boost(
        self, X: Any, codes: Any, sample_weight: Any, n_rounds: int, validation: Any = None
    ) -> tuple[Any, int]:
        from xgboost import XGBClassifier
        from xgboost.callback import EarlyStopping

        kinds = ["q"] * self.n_features_in_
        for j in self.categorical_features:
            kinds[j] = "c"
        model = XGBClassifier(
            n_estimators=n_rounds,
            feature_types=kinds,
            enable_categorical=True,
            tree_method="hist",
            n_jobs=1,
            **self._library_settings(),
        )
        if validation is None:
            model.fit(X, codes, sample_weight=sample_weight)
        else:
            stop = EarlyStopping(rounds=self._patience(X), save_best=True, min_delta=1e-4)
            model.set_params(callbacks=[stop])
            model.fit(X, codes, sample_weight=sample_weight, eval_set=[validation], verbose=False)
            model.set_params(callbacks=None)
        return model, model.get_booster().num_boosted_rounds()

    def predict_proba(self, X: Any) -> Any:
        """Predict class probabilities."""
        check_is_fitted(self)
        return self.model_.predict_proba(X)

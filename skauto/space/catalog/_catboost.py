"""CatBoost with early stopping (`extended` space)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from skauto.space.catalog._rounds import BoostedTrees


@dataclass(kw_only=True, eq=False, repr=False)
class CatBoostClassifier(BoostedTrees):
    """CatBoost with early stopping on a validation set and any class labels.

    Parameters are those of :class:`catboost.CatBoostClassifier` with the same names, and those of
    `BoostedTrees`.
    """

    depth: int = 6
    l2_leaf_reg: float = 3.0
    random_strength: float = 1.0
    subsample: float = 0.9
    rsm: float = 1.0

    def _boost(
        self, X: Any, codes: Any, sample_weight: Any, n_rounds: int, validation: Any = None
    ) -> tuple[Any, int]:
        train = self._pool(X, codes, sample_weight)
        if validation is None:
            model = self._model(n_rounds).fit(train)
        else:
            model = self._model(n_rounds, od_type="Iter", od_wait=self._patience(X))
            model.fit(train, eval_set=self._pool(*validation), use_best_model=True)
        return model, model.tree_count_

    def _model(self, n_rounds: int, **stopping: Any) -> Any:
        from catboost import CatBoostClassifier as Model  # of the same name as this class

        several = len(self.classes_) > 2
        return Model(
            iterations=n_rounds,
            loss_function="MultiClass" if several else "Logloss",
            bootstrap_type="Bernoulli",
            thread_count=1,
            allow_writing_files=False,
            logging_level="Silent",
            **stopping,
            **self._library_settings(),
        )

    def _pool(self, X: Any, codes: Any = None, sample_weight: Any = None) -> Any:
        """Build a pool with numeric columns first, then categories as strings."""
        from catboost import FeaturesData, Pool

        if sparse.issparse(X):
            matrix: Any = X
            return Pool(sparse.csr_matrix(matrix), codes, weight=sample_weight)
        X = np.asarray(X, dtype=np.float32)
        categorical = np.zeros(X.shape[1], dtype=bool)
        categorical[list(self.categorical_features)] = True
        columns = FeaturesData(
            num_feature_data=np.ascontiguousarray(X[:, ~categorical]),
            cat_feature_data=X[:, categorical].astype(bytes).astype(object),
        )
        return Pool(columns, codes, weight=sample_weight)

    def predict_proba(self, X: Any) -> Any:
        """Predict class probabilities."""
        check_is_fitted(self)
        return self.model_.predict_proba(self._pool(X))

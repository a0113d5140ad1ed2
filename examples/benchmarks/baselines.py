"""What skauto is compared with: gradient boosting as it comes.

Each takes the raw DataFrame, whose categorical columns are strings or have pandas' category type.
"""

from lightgbm import LGBMClassifier
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_selector
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

CATEGORIES = make_column_selector(dtype_include=["category", "object", "string", "bool"])


def for_lightgbm(X):
    """Make categories of strings; rename the columns, as some characters are refused in names."""
    X = X.set_axis([f"column_{i}" for i in range(X.shape[1])], axis=1)
    return X.astype(dict.fromkeys(X.select_dtypes(["object", "string"]), "category"))


class CatBoost(ClassifierMixin, BaseEstimator):
    """CatBoost with its defaults, fitted to the end; strings are categories."""

    def __init__(self, random_state=None, n_jobs=None):
        self.random_state, self.n_jobs = random_state, n_jobs

    def fit(self, X, y):
        from catboost import CatBoostClassifier

        self.names = CATEGORIES(X)
        settings = {"thread_count": self.n_jobs, "verbose": 0, "allow_writing_files": False}
        model = CatBoostClassifier(random_seed=self.random_state, **settings)
        self.model = model.fit(self._strings(X), y, cat_features=self.names)
        self.classes_ = self.model.classes_
        return self

    def predict_proba(self, X):
        return self.model.predict_proba(self._strings(X))

    def _strings(self, X):
        filled = {name: X[name].astype(object).fillna("missing") for name in self.names}
        return X.assign(**filled).astype(dict.fromkeys(self.names, str))


def catboost(random_state, n_jobs):
    return CatBoost(random_state, n_jobs)


def lightgbm(random_state, n_jobs):
    model = LGBMClassifier(random_state=random_state, n_jobs=n_jobs, verbose=-1)
    return make_pipeline(FunctionTransformer(for_lightgbm), model)

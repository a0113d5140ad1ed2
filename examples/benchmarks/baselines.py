"""What skauto is compared with: good learners as they come, behind the plainest preprocessing.

Each takes the raw DataFrame, whose categorical columns are strings or have pandas' category type.
"""

from lightgbm import LGBMClassifier
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)

CATEGORIES = make_column_selector(dtype_include=["category", "object", "string", "bool"])
NUMBERS = make_column_selector(dtype_include="number")


def for_lightgbm(X):
    """Make categories of strings; rename the columns, as some characters are refused in names."""
    X = X.set_axis([f"column_{i}" for i in range(X.shape[1])], axis=1)
    return X.astype(dict.fromkeys(X.select_dtypes(["object", "string"]), "category"))


def native(model):
    """For LightGBM, which encodes pandas' categories itself."""
    return make_pipeline(FunctionTransformer(for_lightgbm), model)


def ordinal(model):
    """For models that take category codes and missing values."""
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    return make_pipeline(
        make_column_transformer((encoder, CATEGORIES), remainder="passthrough"), model
    )


def one_hot(model):
    """For models that need complete numbers of one scale."""
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    return make_pipeline(make_column_transformer((encoder, CATEGORIES), (numbers, NUMBERS)), model)


def lightgbm(random_state, n_jobs):
    return native(LGBMClassifier(random_state=random_state, n_jobs=n_jobs, verbose=-1))


def hist_gradient_boosting(random_state, n_jobs):
    return HistGradientBoostingClassifier(random_state=random_state)


def random_forest(random_state, n_jobs):
    return ordinal(RandomForestClassifier(500, random_state=random_state, n_jobs=n_jobs))


def logistic_regression(random_state, n_jobs):
    return one_hot(LogisticRegression(max_iter=1000))

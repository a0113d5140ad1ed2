"""Fit AutoClassifier and compare it with plain gradient boosting.

Run it on the handwritten digits of scikit-learn, or on your own table::

    python examples/quickstart.py
    python examples/quickstart.py my_table.csv --time-limit 60

The last column of the table is the target. Columns can have strings and missing values.
"""

import argparse
import time

import pandas as pd
from sklearn.base import ClassifierMixin
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_digits
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from skauto import AutoClassifier


def load(path: str | None) -> tuple[pd.DataFrame, pd.Series]:
    """Features and target."""
    if path is None:
        return load_digits(return_X_y=True, as_frame=True)
    table = pd.read_csv(path)
    return table.iloc[:, :-1], table.iloc[:, -1]


def plain_boosting() -> ClassifierMixin:
    """HistGradientBoostingClassifier with its defaults and ordinal encoding of strings."""
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    columns = make_column_transformer(
        (codes, make_column_selector(dtype_exclude="number")), remainder="passthrough"
    )
    return make_pipeline(columns, HistGradientBoostingClassifier(random_state=0))


def held_out_scores(model: ClassifierMixin, X: pd.DataFrame, y: pd.Series) -> dict[str, float]:
    return {
        "accuracy": accuracy_score(y, model.predict(X)),
        "log_loss": log_loss(y, model.predict_proba(X), labels=model.classes_),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("csv", nargs="?", help="a table whose last column is the target")
    parser.add_argument("--time-limit", type=float, default=30, help="seconds (default: 30)")
    arguments = parser.parse_args()

    X, y = load(arguments.csv)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.2, stratify=y, random_state=0
    )
    auto = AutoClassifier(time_limit=arguments.time_limit, n_jobs=2, random_state=0)
    models = {"skauto": auto, "HistGradientBoosting": plain_boosting()}
    rows = {}
    for name, model in models.items():
        start = time.perf_counter()
        model.fit(X_train, y_train)
        seconds = time.perf_counter() - start
        rows[name] = held_out_scores(model, X_test, y_test) | {"fit_seconds": seconds}

    print("Leaderboard: the best ten trials by cross-validation on the training rows\n")
    print(auto.leaderboard(top=10).drop(columns="error").round(4).to_string(index=False))
    print(f"\nHeld-out scores on {len(X_test)} rows\n")
    print(pd.DataFrame(rows).T.round(4).to_string())


if __name__ == "__main__":
    main()

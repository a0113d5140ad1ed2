"""Validation on later rows, and on rows of other groups, by a column of the table."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier

from skauto import AutoClassifier
from skauto.data import TimeSplit
from tests.strategy_settings import quick_space

N = 120
DAYS = pd.date_range("2024-01-01", periods=N, freq="D")
ORDER = np.random.default_rng(0).permutation(N)


@pytest.mark.parametrize(
    "times",
    [
        DAYS,
        DAYS.strftime("%d/%m/%Y"),
        DAYS.strftime("%d.%m.%Y %H:%M"),
        np.arange(N),
        np.arange(N).astype(str),
        DAYS.strftime("%Y%m%d").astype(int),
    ],
    ids=["dates", "strings", "times", "numbers", "digits", "compact"],
)
@pytest.mark.parametrize("column", ["t", 1])
def test_validation_rows_are_later(times, column):
    X = pd.DataFrame({"x": 0.0, "t": np.asarray(times)[ORDER]})
    folds = list(TimeSplit(column, 4).split(X))
    assert len(folds) == 4
    for train, test in folds:
        assert ORDER[train].max() < ORDER[test].min()
        assert set(ORDER[train]) == set(range(ORDER[test].min()))
    assert sorted(ORDER[np.concatenate([test for _, test in folds])]) == list(range(24, N))


def test_rows_of_the_same_time_are_on_one_side():
    X = pd.DataFrame({"t": np.arange(N) // 30})
    for train, test in TimeSplit("t", 5).split(X):
        assert X["t"][train].max() < X["t"][test].min()


def test_other_libraries_and_arrays():
    pl = pytest.importorskip("polars")
    X = pd.DataFrame({"x": 0.0, "t": ORDER})
    expected = list(TimeSplit("t").split(X))
    for table, column in ((pl.from_pandas(X), "t"), (X.to_numpy(), 1)):
        for (a, b), (c, d) in zip(expected, TimeSplit(column).split(table), strict=True):
            assert (a == c).all() and (b == d).all()


def test_errors():
    X = pd.DataFrame({"time": [1.0, np.nan, 3.0], "word": ["a", "b", "c"]})
    with pytest.raises(ValueError, match="'tim'. Did you mean 'time'"):
        next(TimeSplit("tim").split(X))
    with pytest.raises(ValueError, match="time in every row. Got 1 rows"):
        next(TimeSplit("time").split(X))
    with pytest.raises(ValueError, match="'word' of X cannot be read as 'date'"):
        next(TimeSplit("word").split(X))


def test_it_is_a_splitter_of_scikit_learn():
    X = pd.DataFrame({"x": ORDER % 7, "t": ORDER})
    splitter = clone(TimeSplit("t", n_splits=3))
    assert len(cross_val_score(DecisionTreeClassifier(), X, ORDER % 2, cv=splitter)) == 3
    clf = AutoClassifier(max_evals=2, cv=splitter, space=quick_space(), initial=None).fit(
        X, ORDER % 2
    )
    assert clf.n_splits_ == 3
    assert np.isnan(clf.out_of_fold_proba_[ORDER < 30]).all()


def test_groups_are_a_column():
    rng = np.random.default_rng(0)
    customer = rng.integers(40, size=400)
    kind = rng.integers(2, size=40)  # of a customer: rows of new ones cannot be known
    X = pd.DataFrame({"customer": customer, "x": rng.normal(size=400) + 0.3 * kind[customer]})
    y = kind[customer]
    settings = {
        "max_evals": 3,
        "cv": 4,
        "space": quick_space(),
        "initial": None,
        "random_state": 0,
    }
    clf = AutoClassifier(**settings).fit(X, y, groups="customer")
    by_array = AutoClassifier(**settings, column_kinds={"customer": "drop"}).fit(
        X, y, groups=customer
    )
    np.testing.assert_array_equal(clf.predict_proba(X), by_array.predict_proba(X))
    assert clf.table_report().set_index("column")["kind"]["customer"] == "drop"
    kept = AutoClassifier(**settings, column_kinds={"customer": "categorical"})
    kept.fit(X, y, groups="customer")
    assert kept.table_report().set_index("column")["kind"]["customer"] == "categorical"
    with pytest.raises(ValueError, match="name of a column of X. Got 'customers'. Did you mean"):
        AutoClassifier(**settings).fit(X, y, groups="customers")
